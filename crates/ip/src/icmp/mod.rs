//! Messages of ICMP and ICMPv6 that routers and hosts send: the answer to a ping, and why a packet went no further.
//!
//! Each is written into the caller's buffer, with its IP header. How often errors may be sent is for the caller to say, who has
//! the time (rfc1812 4.3.2.8, rfc4443 2.4(f)).

mod due;
mod echo;
mod errors;
mod write;

pub use echo::echo_reply;
pub use errors::{Problem, Unreachable, error};

/// Bytes before the payload of an echo message, and before what an error quotes.
const HEADER: usize = 8;

/// Bytes of the longest error: with a buffer of so many, errors always have room.
pub const LONGEST_ERROR: usize = errors::LONGEST_V6;
