//! From keys to the engine's parameters: conditions on several keys or tables, on the kernel profile and on
//! the device.

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
