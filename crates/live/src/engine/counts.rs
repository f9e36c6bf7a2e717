//! Counters of exchanged packets and of errors.

use serde::Serialize;
use stillair_sim::run::ExternalIoCounts;

/// Counters of packets that entered, left or were refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Packets that entered or left the model.
    #[serde(flatten)]
    pub external: ExternalIoCounts,
    /// Packets that left the model and were not accepted by the kernel of their host. `external.left` does
    /// not include them.
    pub refused_by_host: u64,
}
