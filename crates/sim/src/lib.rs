//! Engine, world, scenario and recorder: the model run in virtual time.

pub mod api;
pub mod batch;
pub mod capture;
pub mod engine;
pub mod recorder;
pub mod run;
pub mod scenario;
pub mod trace_file;
pub mod world;

pub use scenario::parts;
