//! AQM algorithms, shared by qdiscs and mac80211's flow queues.

pub mod algorithm;
pub mod cobalt;
pub mod codel;
pub mod pie;
