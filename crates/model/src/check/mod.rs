//! What our own tests ask of each kind of part, for those who write one of their own.
//!
//! Each function makes parts and puts them through lists of random events, the same lists in each run. An error says what did not
//! hold and after which event.

pub mod controller;

pub use controller::controller;
