//! Bytes of frames: radiotap, 802.11, Ethernet, IP and TCP headers, payload, and FCS.

pub mod beacon;
pub mod body;
pub mod buffer;
pub mod checksums;
pub mod dot11;
pub mod fcs;
pub mod ip;
pub mod mac;
pub mod pattern;
pub mod radiotap;
pub mod tcp;
