//! Counts of packets from hosts that did not enter the model, and of other errors.

use serde::Serialize;
use stillair_sim::run::DoorCounts;

/// Counters of packets, by what became of each at the model's doors or after leaving the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Counters at the doors.
    #[serde(flatten)]
    pub doors: DoorCounts,
    /// Packets that left the model and were not accepted by the kernel of their host. `doors.left` does not include them.
    pub refused_by_host: u64,
}
