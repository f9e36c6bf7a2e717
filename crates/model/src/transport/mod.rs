//! Transport protocols: TCP, QUIC and congestion control.
//!
//! Everything here is sans-I/O. The caller passes in segments and the current time; a socket hands outgoing
//! segments to an [`tcp::Outlet`] and returns the time of its next timer.

pub mod cc;
pub mod quic;
pub mod seq;
pub mod tcp;
