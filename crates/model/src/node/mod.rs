//! Common parts of hosts, routers and access points: classification, interfaces with their transmit queues,
//! routes, jitter.

pub mod classify;
pub mod interface;
pub mod jitter;
pub mod routes;
pub mod wake;
