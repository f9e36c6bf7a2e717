//! What can be read of a world: accounts that must close, what waits where, what disciplines have counted, and what its numbers stand
//! for.

mod backlog;
mod layout;
mod ledger;
mod qdiscs;

pub use layout::{DevLayout, InterfaceLayout, Layout};
pub use qdiscs::QdiscCounters;
