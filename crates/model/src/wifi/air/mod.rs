//! Hardware and medium: PPDUs in a radio's hardware queues, contention of its EDCA functions, reception, and
//! airtime accounting.

pub mod account;
pub mod audibility;
pub mod capture;
mod contenders;
mod earliest;
pub mod edca;
pub mod filter;
pub mod given;
pub mod interfered;
pub mod interference;
pub mod medium;
pub mod overlap;
pub mod ppdu;
pub mod protection;
pub mod radio;
pub mod reception;
pub mod views;
