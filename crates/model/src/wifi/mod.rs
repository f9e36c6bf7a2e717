//! 802.11: the hardware (phy, EDCA, air), the drivers above it, and the receiving side.
//!
//! A packet's way down: [`dev`] takes it from the interface, [`driver`] queues and schedules it, [`tx`] puts
//! it into a PPDU within the limits of an aggregate at the rates that [`rate`] chose, and [`air`] holds the
//! PPDU while its function contends for the medium, for as long as [`phy`] says. At the other end [`rx`]
//! takes the frames apart and puts them in order.

pub mod air;
pub mod config;
mod deadlines;
pub mod dev;
pub mod driver;
pub mod marks;
pub mod phy;
pub mod power;
pub mod rate;
pub mod rx;
pub mod seq_window;
pub mod stations;
#[cfg(test)]
pub(crate) mod testing;
pub mod timeline;
pub mod tx;
