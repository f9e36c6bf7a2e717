//! 802.11: the hardware (phy, EDCA, air), the drivers above it, and the receiving side.

pub mod account;
pub mod config;
pub mod medium;
pub mod phy;
pub mod ppdu;
pub mod radio;
pub mod reorder;
pub mod seq_window;
