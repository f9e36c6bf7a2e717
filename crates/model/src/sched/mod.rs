//! Fairness between queues: deficit rounds, and flow queues shared by many users.

pub mod drr;
pub mod flow_queues;
pub(crate) mod longest;
#[cfg(test)]
pub(crate) mod testing;
