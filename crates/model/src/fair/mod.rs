//! Fairness between queues: deficit rounds, and flow queues shared by many users.

mod bitmap;
pub mod drr;
pub mod flow_queues;
#[cfg(test)]
pub(crate) mod testing;
