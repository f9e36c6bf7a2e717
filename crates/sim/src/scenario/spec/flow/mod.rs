//! Flows: keys of every flow, and those of each kind.

pub mod quinn;
