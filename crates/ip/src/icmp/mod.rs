//! ICMP and ICMPv6 messages of routers and hosts: echo replies and errors.
//!
//! Each is written into the caller's buffer, with its IP header. The caller must limit the rate of errors,
//! because only it knows the time (rfc1812 4.3.2.8, rfc4443 2.4(f)).

mod due;
mod echo;
mod errors;
mod write;

pub use echo::echo_reply;
pub use errors::{Problem, Unreachable, error};

/// Bytes before the payload of an echo message, and before what an error quotes.
const HEADER: usize = 8;

/// Length of the longest error in bytes: a buffer of this size is always sufficient.
pub const LONGEST_ERROR: usize = errors::LONGEST_V6;
