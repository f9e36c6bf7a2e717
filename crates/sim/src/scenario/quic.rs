//! A flow over QUIC, as a scenario describes it.

use stillair_model::app::Page;
use stillair_model::transport::quic::{HostCost, Preset, QuicConfig};
use stillair_model::vocabulary::Duration;

use super::CongestionControl;
use super::quinn::QuicStack;

/// What goes over a connection, and what its ends are like.
#[derive(Clone, PartialEq, Debug)]
pub struct QuicFlow {
    /// The preset that it began with, for reports.
    pub preset: Preset,
    /// The stack of both ends.
    pub stack: QuicStack,
    /// All parts of the model, with what the scenario changes.
    pub config: QuicConfig,
    /// A congestion control of TCP's instead of the model's, at both ends.
    pub law: Option<CongestionControl>,
    /// What it carries.
    pub load: QuicLoad,
    /// Work of the end that sends the data, and of the other.
    pub costs: [HostCost; 2],
}

/// UDP payload of the largest packets that quinn looks for by probes.
pub(super) const LARGEST_PROBE: u32 = 1_452;

impl QuicFlow {
    /// Most bytes of UDP payload in a packet.
    pub fn largest(&self) -> u32 {
        match &self.stack {
            QuicStack::Model => self.config.packet,
            QuicStack::Quinn(options) => options.packet.map_or(LARGEST_PROBE, u32::from),
        }
    }
}

/// What goes over a connection.
#[derive(Clone, PartialEq, Debug)]
pub enum QuicLoad {
    /// So many bytes, or as many as it can until it stops.
    Transfer {
        /// Bytes over all streams.
        bytes: Option<u64>,
        /// Streams that share them.
        streams: u32,
        /// Bytes of the request on each; none if the sender of the data opens the connection and is not asked.
        request: Option<u32>,
    },
    /// A page that is loaded over and over, each time over a connection of its own.
    Page {
        /// The page.
        page: Page,
        /// Least time from the beginning of a load to that of the next.
        interval: Duration,
    },
}
