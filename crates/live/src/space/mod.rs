//! Network namespaces of live hosts, which end with their process.

pub mod attach;
pub mod host;
pub mod launcher;
pub mod mounts;
pub mod sandbox;
pub mod tool;
pub mod uplink;
