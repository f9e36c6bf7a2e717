//! Read-only access to a world: accounts that must balance, queue lengths, qdisc counters, and names for the
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

/// Read-only view of a world at one instant.
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
    /// Returns the state of each TCP sender with its flow, in flow order.
    pub fn tcp_senders(self) -> impl Iterator<Item = (FlowId, TcpInfo)> + 'a {
        self.hosts.tcp_senders(self.core.now)
    }

    /// Returns the power save and scan counters of stations, by interface.
    pub fn savers(self) -> impl Iterator<Item = (IfId, SaverCounters)> + 'a {
        self.air.savers(self.core.now)
    }

    /// Returns the TCP sockets of bulk transfers in flow order, the connecting end before the listening end.
    /// Sockets of web pages are omitted, because they are opened and closed during the run.
    pub fn tcp_sockets(self) -> impl Iterator<Item = TcpSocket<'a>> + 'a {
        self.hosts.tcp_sockets()
    }

    /// Returns the outcome of each responsiveness test that has started, as if the test ended now, in flow
    /// order.
    pub fn tests(
        self,
        now: Instant,
    ) -> impl Iterator<Item = (FlowId, (ResponsivenessOutcome, ProbeTimes))> + 'a {
        self.hosts.tests(now)
    }

    /// Returns the start time of each client's current page load, in flow order.
    pub fn loads_under_way(self) -> impl Iterator<Item = (FlowId, Option<Instant>)> + 'a {
        self.hosts.loads_under_way()
    }

    /// Returns the payload of external hosts' packets delivered during the measurement interval.
    pub fn external_payload(self) -> &'a Payload {
        self.hosts.external().payload()
    }

    /// Returns the datagrams that each source has to send during the measurement interval of a run ending at
    /// `end`, in flow order.
    pub fn due(self, end: Instant) -> impl Iterator<Item = (FlowId, Due)> + 'a {
        self.hosts.due(end)
    }

    /// Returns the state of both ends of each QUIC flow in flow order, the data sender first.
    pub fn quic_ends(self) -> impl Iterator<Item = QuicEnds> + 'a {
        self.hosts.quic_ends(self.core.now)
    }
}
