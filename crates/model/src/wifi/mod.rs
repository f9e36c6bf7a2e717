//! 802.11: the hardware (phy, EDCA, air), the drivers above it, and the receiving side.
//!
//! A packet's way down: [`dev`] takes it from the interface, [`driver`] queues and schedules it, [`tx_tid`] puts it into
//! a [`ppdu`] within the limits of [`aggregate`], [`radio`] holds the PPDU while its function contends on the [`medium`].
//! At the other end [`rx`] takes the frames apart and [`reorder`] puts them in order.

pub mod account;
pub mod aggregate;
pub mod config;
mod deadlines;
pub mod dev;
pub mod driver;
pub mod edca_params;
pub mod expected;
pub mod frame;
pub mod medium;
pub mod phy;
pub mod ppdu;
pub mod radio;
pub mod reorder;
pub mod rx;
pub mod seq_window;
#[cfg(test)]
pub(crate) mod testing;
pub mod timing;
pub mod transmitter;
pub mod tx_tid;
