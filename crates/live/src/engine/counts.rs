//! Counts of packets from hosts that did not enter the model, and of other errors.

use serde::Serialize;
use stillair_sim::run::DoorCounts;

/// Packets by what became of them at the doors of the model and behind these.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// At the doors.
    #[serde(flatten)]
    pub doors: DoorCounts,
    /// Came out, and were not taken by the kernel of the host they were for; they are not among those that left.
    pub refused_by_host: u64,
}
