//! Netlink: what is asked of the kernel and what it answers, as bytes.

pub mod message;
pub mod queue;
pub mod route;
