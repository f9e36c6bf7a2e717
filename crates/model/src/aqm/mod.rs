//! Control laws (AQM), shared by qdiscs and mac80211's flow queues.

pub mod cobalt;
pub mod codel;
pub mod law;
pub mod pie;
