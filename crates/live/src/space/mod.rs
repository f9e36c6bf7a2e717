//! Where live hosts live: namespaces of their own, which end with the process that has them.

pub mod attach;
pub mod host;
pub mod launcher;
pub mod mounts;
pub mod sandbox;
pub mod tool;
pub mod uplink;
