//! Netlink messages to and from the kernel, as bytes.

pub mod message;
pub mod queue;
pub mod route;
