//! 802.11: the hardware (phy, EDCA, air), the drivers above it, and the receiving side.

pub mod aggregate;
pub mod config;
pub mod edca_params;
pub mod frame;
pub mod phy;
pub mod timing;
