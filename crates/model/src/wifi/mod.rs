//! 802.11: the hardware (phy, EDCA, air), the drivers above it, and the receiving side.

pub mod config;
pub mod phy;
