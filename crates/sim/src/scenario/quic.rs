//! A QUIC flow, as a scenario describes it.

use stillair_model::app::Page;
use stillair_model::transport::quic::{HostCost, Preset, QuicConfig};
use stillair_model::types::Duration;

use super::CongestionControl;
use super::quinn::QuicStack;

/// The load of a QUIC flow, and the configuration of both ends.
#[derive(Clone, PartialEq, Debug)]
pub struct QuicFlow {
    /// The preset that the configuration is based on, for reports.
    pub preset: Preset,
    /// The stack of both ends.
    pub stack: QuicStack,
    /// Configuration of the QUIC model, with the scenario's changes.
    pub config: QuicConfig,
    /// A TCP congestion control that replaces the model's at both ends.
    pub control: Option<CongestionControl>,
    /// Load of the connection.
    pub load: QuicLoad,
    /// CPU costs of the end that sends the data, and of the other end.
    pub costs: [HostCost; 2],
}

/// UDP payload of quinn's largest path MTU probe.
pub(super) const LARGEST_PROBE: u32 = 1_452;

impl QuicFlow {
    /// Returns the maximum UDP payload of a packet in bytes.
    pub fn largest(&self) -> u32 {
        match &self.stack {
            QuicStack::Model => self.config.packet,
            QuicStack::Quinn(options) => options.packet.map_or(LARGEST_PROBE, u32::from),
        }
    }
}

/// Load of a QUIC connection.
#[derive(Clone, PartialEq, Debug)]
pub enum QuicLoad {
    /// A bulk transfer of a given size, or without limit until the flow stops.
    Transfer {
        /// Size in bytes, summed over all streams; `None` means unlimited.
        bytes: Option<u64>,
        /// Number of streams that share the transfer.
        streams: u32,
        /// Size of the request on each stream in bytes; `None` if the sender of the data opens the connection
        /// and needs no request.
        request: Option<u32>,
    },
    /// Repeated page loads, each over a new connection.
    Page {
        /// The page.
        page: Page,
        /// Minimum time between the starts of two loads.
        interval: Duration,
    },
}
