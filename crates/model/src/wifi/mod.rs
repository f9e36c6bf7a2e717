//! 802.11: hardware (PHY, EDCA, medium), drivers, and the receive side.
//!
//! Transmit path of a packet: [`dev`] takes the packet from the interface, [`driver`] queues and schedules
//! it, [`tx`] puts it into a PPDU within the aggregation limits and at the rates chosen by [`rate`]. [`air`]
//! holds the PPDU while its EDCA function contends for the medium; [`phy`] gives its duration. At the
//! receiver, [`rx`] extracts the frames and puts them in order.

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
