//! Transmit side shared by all drivers: peers, Block Ack sessions and windows, and the PPDU builder with its
//! limits.

pub mod aggregate;
pub mod expected;
pub mod starts;
pub mod tid;
pub mod transmitter;
