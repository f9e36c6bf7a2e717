//! Packets of several segments: splitting above a device without TSO (GSO), and merging at the receiver
//! (GRO).

pub mod gro;
pub mod gso;
