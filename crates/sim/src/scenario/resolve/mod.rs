//! From what was written to what the engine has: all that needs a look at several keys, at other tables, at the kernel or the device.

pub(super) mod power;
