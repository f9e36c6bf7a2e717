//! What hosts, routers and access points have in common: classification, interfaces with their transmit queues, routes,
//! segments split and merged at the edge of a device.

pub mod classify;
pub mod gro;
pub mod gso;
pub mod interface;
pub mod routes;
