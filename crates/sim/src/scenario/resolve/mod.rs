//! Converts keys to the engine's parameters, and checks conditions that involve several keys or tables, the
//! kernel profile and the device.

pub(super) mod address;
pub(super) mod channel;
pub(super) mod device;
mod edca;
pub(super) mod foreign;
pub(super) mod interface;
pub(super) mod link;
pub(super) mod names;
pub(super) mod path;
pub(super) mod position;
pub(super) mod power;
mod qdisc;
pub(super) mod scheme;
pub(super) mod wifi;
pub(super) mod wiring;
