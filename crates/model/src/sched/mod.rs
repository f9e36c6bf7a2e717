//! Fair scheduling between queues: deficit round-robin, and shared flow queues.

pub mod drr;
pub mod flow_queues;
pub(crate) mod longest;
#[cfg(test)]
pub(crate) mod testing;
