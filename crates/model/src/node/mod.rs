//! What hosts, routers and access points have in common: classification, interfaces with their transmit queues, routes.

pub mod classify;
pub mod interface;
pub mod routes;
pub mod wake;
