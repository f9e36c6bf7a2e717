//! Read-only access to a world: accounts that must balance, queue lengths, qdisc counters, and the meaning of
//! numbers in the trace.

mod backlog;
mod layout;
mod ledger;
mod qdiscs;

use stillair_model::app::{Due, ResponsivenessOutcome};
use stillair_model::metrics::responsiveness::ProbeTimes;
use stillair_model::transport::tcp::info::TcpInfo;
use stillair_model::types::{FlowId, IfId, Instant};
use stillair_model::wifi::power::saver::SaverCounters;

use super::air::Air;
use super::hosts::{Hosts, TcpSocket};
use super::network::Network;
use super::state::SimState;
use crate::recorder::{Payload, QuicEnds};

pub use layout::{DevLayout, InterfaceLayout, WorldLayout};
pub use qdiscs::QdiscCounters;

/// A read-only view of a world at one instant.
#[derive(Debug)]
pub struct Accounts<'a, S> {
    pub(super) core: &'a SimState<S>,
    pub(super) hosts: &'a Hosts,
    pub(super) network: &'a Network,
    pub(super) air: &'a Air,
}

impl<S> Clone for Accounts<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Accounts<'_, S> {}

impl<'a, S> Accounts<'a, S> {
    /// State of each TCP sender with its flow, in the order of the flows.
    pub fn tcp_senders(self) -> impl Iterator<Item = (FlowId, TcpInfo)> + 'a {
        self.hosts.tcp_senders(self.core.now)
    }

    /// Power save and scan counters of stations, by interface.
    pub fn savers(self) -> impl Iterator<Item = (IfId, SaverCounters)> + 'a {
        self.air.savers(self.core.now)
    }

    /// The TCP sockets of bulk transfers, in the order of the flows; the connecting end comes before the
    /// listening end. Sockets of pages are left out, as they are opened and closed during the run.
    pub fn tcp_sockets(self) -> impl Iterator<Item = TcpSocket<'a>> + 'a {
        self.hosts.tcp_sockets()
    }

    /// The outcome of each responsiveness test that has begun, as if it ended now, in the order of the flows.
    pub fn tests(
        self,
        now: Instant,
    ) -> impl Iterator<Item = (FlowId, (ResponsivenessOutcome, ProbeTimes))> + 'a {
        self.hosts.tests(now)
    }

    /// Start of the page load under way of each client, in the order of the flows.
    pub fn loads_under_way(self) -> impl Iterator<Item = (FlowId, Option<Instant>)> + 'a {
        self.hosts.loads_under_way()
    }

    /// Payload of external hosts' packets that was delivered in the measured time.
    pub fn external_payload(self) -> &'a Payload {
        self.hosts.external().payload()
    }

    /// Datagrams of each source that are due in the measured time, of a run that ends at `end`, in the order
    /// of the flows.
    pub fn due(self, end: Instant) -> impl Iterator<Item = (FlowId, Due)> + 'a {
        self.hosts.due(end)
    }

    /// State of both ends of each QUIC flow, the sender of the data first, in the order of the flows.
    pub fn quic_ends(self) -> impl Iterator<Item = QuicEnds> + 'a {
        self.hosts.quic_ends(self.core.now)
    }
}
