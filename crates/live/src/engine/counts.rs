//! Counts of packets from hosts that did not enter the model, and of other errors.

use serde::Serialize;

/// Packets by what became of them at the doors of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Went into the model.
    pub entered: u64,
    /// Came out of it, and were given to a host.
    pub left: u64,
    /// Were for nobody in the scenario: broadcast, multicast, and addresses that no interface has.
    pub no_route: u64,
    /// Were no packets of IP, or cut short.
    pub malformed: u64,
    /// Were too long for the model.
    pub too_long: u64,
    /// Were answered for a modelled host: pings.
    pub answered: u64,
    /// Came to a modelled host that has no answer for them.
    pub unanswered: u64,
    /// Were not taken by the kernel of the host they were for.
    pub refused_by_host: u64,
}
