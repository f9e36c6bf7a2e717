//! Hardware and air: PPDUs in a radio's short queues, the contention of its functions for the medium, and the account of
//! what the air was used for.

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
