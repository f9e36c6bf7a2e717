//! ICMP and ICMPv6 messages of routers and hosts: echo replies and errors.
//!
//! Messages are written into the caller's buffer, including the IP header. The caller must rate-limit errors,
//! because only the caller knows the time (rfc1812 4.3.2.8, rfc4443 2.4(f)).

mod due;
mod echo;
mod errors;
mod write;

pub use echo::echo_reply;
pub use errors::{Problem, Unreachable, error};

/// Bytes before the payload of an echo message, and before the quoted packet of an error.
const HEADER: usize = 8;

/// Maximum length of an error in bytes: a buffer of this size is always sufficient.
pub const LONGEST_ERROR: usize = errors::LONGEST_V6;
