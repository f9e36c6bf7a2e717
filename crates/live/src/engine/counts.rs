//! Counts of packets from hosts that did not enter the model, and of other errors.

use serde::Serialize;

/// Packets by what happened to them between hosts and model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Entered the model.
    pub entered: u64,
    /// Left the model and were delivered to a host.
    pub left: u64,
    /// Had no destination in the scenario: broadcast, multicast, and addresses that no interface has.
    pub no_route: u64,
    /// Were not IP packets, or were truncated.
    pub malformed: u64,
    /// Were too long for the model.
    pub too_long: u64,
    /// Pings answered on behalf of a modelled host.
    pub answered: u64,
    /// Reached a modelled host that does not answer them.
    pub unanswered: u64,
    /// Were refused by the kernel of the destination host.
    pub refused_by_host: u64,
}
