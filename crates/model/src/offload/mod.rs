//! Packets of several segments: split above a device without TSO (GSO), and merged at the receiver (GRO).

pub mod gro;
pub mod gso;
