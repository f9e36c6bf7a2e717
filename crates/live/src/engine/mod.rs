//! The event loop between real hosts and the world, on a real clock.

mod counts;
mod external_io;
mod hold;
mod lateness;
mod run;

pub use counts::Counts;
pub use lateness::Lateness;
pub use run::{ChangeError, Engine, Limits, Pace};
