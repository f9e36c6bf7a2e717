//! Control laws for queues, written once and used by queueing disciplines and by the MAC.

pub mod cobalt;
pub mod codel;
pub mod law;
pub mod pie;
