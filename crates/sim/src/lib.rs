//! Engine, world, scenario and recorder: the model run in virtual time.

pub mod scenario;
