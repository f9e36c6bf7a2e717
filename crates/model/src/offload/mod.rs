//! Packets of several segments: split where a device cannot do it (GSO), and merged again where they arrive together (GRO).

pub mod gro;
pub mod gso;
