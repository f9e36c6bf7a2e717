//! Real IP packets as bytes, from the IP header on: parsing, changing fields, GRO, GSO and ICMP replies.
//!
//! In the modelled network a packet of an external host is a handle with a few fields. This crate reads these
//! fields ([`parse()`]), writes back changes of the network ([`patch`]), merges and splits segments as
//! devices do ([`gro`], [`gso`]) and writes ICMP messages of routers and hosts ([`icmp`]). It does no I/O,
//! reads no clock, and has no queues or routes. Nothing allocates per packet: callers pass buffers, and
//! [`gro::Gro`] allocates when it is built.
//!
//! ```
//! use stillair_ip::{checksum, parse, patch};
//!
//! // A datagram of 4 bytes from 10.0.0.1 port 49155 to 10.0.0.2 port 53, ECN-capable.
//! let mut packet = [
//!     0x45, 0x02, 0x00, 0x20, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00, 10, 0, 0, 1, 10, 0, 0, 2,
//!     0xc0, 0x03, 0x00, 0x35, 0x00, 0x0c, 0x00, 0x00, b'q', b'u', b'i', b'c',
//! ];
//! let right = checksum::ipv4_header(&packet[..20]);
//! packet[10..12].copy_from_slice(&right.to_be_bytes());
//!
//! let view = parse(&packet)?;
//! assert_eq!((view.protocol, view.ttl, view.tos), (parse::UDP, 64, 0x02));
//! assert_eq!(view.ports, Some(parse::Ports { source: 49_155, destination: 53 }));
//!
//! // A queue has marked it, and a router has passed it on.
//! patch::ecn(&mut packet, patch::CE)?;
//! patch::ttl(&mut packet, view.ttl - 1)?;
//! let after = parse(&packet)?;
//! assert_eq!((after.tos, after.ttl, after.flow_hash()), (0x03, 63, view.flow_hash()));
//! assert!(checksum::ipv4_header_holds(&packet[..20]));
//!
//! // What is cut short is refused, with the reason.
//! let refused = parse(&packet[..30]).unwrap_err();
//! assert_eq!(refused.to_string(), "an IP packet of 32 bytes in a buffer of 30");
//! # Ok::<(), parse::Malformed>(())
//! ```
//!
//! # Why no existing library
//!
//! etherparse also parses headers, and the tests check that both agree. No library has the other parts:
//! incremental checksum updates in place, GRO and GSO as in Linux, and ICMP errors that quote a packet. These
//! need offsets into the caller's bytes, as in [`parse::PacketView`], where libraries have slices. They also
//! need the packet's own lengths; etherparse replaces an IPv6 payload length of zero by that of the buffer.
//! smoltcp's `wire` writes fields in place, but computes whole checksums, and leaves extension headers to its
//! caller.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

pub mod checksum;
mod error;
mod flow;
pub mod gro;
pub mod gso;
pub mod icmp;
pub mod parse;
pub mod patch;
mod tcp;

pub use error::Error;
pub use parse::parse;
