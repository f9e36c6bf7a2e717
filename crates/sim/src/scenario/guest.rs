//! A real Linux kernel in virtual time, as the scenario asks for it.

use serde_json::{Value, json};
use stillair_model::vocabulary::Duration;

/// A kernel that stands for a host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guest {
    /// A kernel of `stillair kernel list`.
    pub kernel: String,
    /// What its card can do.
    pub offload: Offload,
    /// What packets that come in take in memory.
    pub rx_buffers: RxBuffers,
    /// Where its packets wait.
    pub queue: GuestQueue,
    /// Its memory in MiB.
    pub memory: u32,
    /// Congestion control of what it sends, if not that of the flow; one that its kernel has.
    pub congestion_control: Option<String>,
    /// Its transfers use Multipath TCP, over all its interfaces.
    pub mptcp: bool,
    /// What a socket may have below it in small queues, whatever its rate, if the node's `tcp` says so.
    pub tsq_bytes: Option<u32>,
    /// Programs that run in it.
    pub run: Vec<Program>,
}

/// What a guest's card can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offload {
    /// Nothing: one segment a packet.
    None,
    /// Checksums: the kernel splits packets just above the card.
    Gso,
    /// It splits packets of TCP, and takes in merged ones.
    Tso,
}

/// What packets that come in take in a guest's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RxBuffers {
    /// A buffer for a whole packet each.
    Small,
    /// Pieces of pages that fit.
    Mergeable,
}

/// Where a guest's packets wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuestQueue {
    /// In the modelled discipline and driver.
    Model,
    /// In the guest's own discipline, above a card with a short ring.
    Guest,
}

/// A program of a guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// When it begins.
    pub at: Duration,
    /// What the guest's shell gets.
    pub command: String,
}

impl Guest {
    /// As results have it.
    pub(super) fn to_json(&self) -> Value {
        let offload = match self.offload {
            Offload::None => "none",
            Offload::Gso => "gso",
            Offload::Tso => "tso",
        };
        let rx_buffers = match self.rx_buffers {
            RxBuffers::Small => "small",
            RxBuffers::Mergeable => "mergeable",
        };
        let queue = match self.queue {
            GuestQueue::Model => "model",
            GuestQueue::Guest => "guest",
        };
        let run = |p: &Program| json!({ "at_ns": p.at.nanos(), "command": p.command });
        json!({
            "kind": "uml", "kernel": self.kernel, "offload": offload, "rx_buffers": rx_buffers, "queue": queue,
            "memory_mib": self.memory, "congestion_control": self.congestion_control, "mptcp": self.mptcp,
            "run": self.run.iter().map(run).collect::<Vec<_>>(),
        })
    }
}
