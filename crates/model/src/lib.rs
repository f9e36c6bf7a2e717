//! The Wi-Fi path as pure algorithms: no clock, no I/O, no event queue.
//!
//! Every part takes the time as an argument, acts on the world through a context ([`vocabulary::Ctx`]) and says when
//! it wants to be woken. Folders stand in stack order; see `docs/architecture.md` for a packet's walk through them.

pub mod app;
pub mod aqm;
pub mod check;
pub mod fair;
pub mod metrics;
pub mod node;
pub mod offload;
pub mod qdisc;
pub mod transport;
pub mod vocabulary;
pub mod wifi;
pub mod wire;
