//! Transport: congestion controls, TCP, QUIC.
//!
//! Everything here is sans-I/O: a socket is told what came and what time it is, hands segments to an
//! [`tcp::Outlet`], and says when it wants to be called again.

pub mod cc;
pub mod quic;
pub mod seq;
pub mod tcp;
