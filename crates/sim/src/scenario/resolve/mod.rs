//! From keys to the engine's parameters: conditions on several keys or tables, on the kernel profile and on
//! the device.

pub(super) mod device;
pub(super) mod power;
pub(super) mod scheme;
