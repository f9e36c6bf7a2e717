//! A real Linux kernel in virtual time (guest), as the scenario describes it.

use serde_json::{Value, json};
use stillair_model::types::Duration;

/// A guest kernel that replaces a modelled host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guest {
    /// Name of the kernel in `stillair kernel list`.
    pub kernel: String,
    /// Offloads of the guest's network device.
    pub offload: Offload,
    /// Memory for received packets.
    pub rx_buffers: RxBuffers,
    /// Place where the guest's packets queue.
    pub queue: GuestQueue,
    /// Memory of the guest in MiB.
    pub memory: u32,
    /// Congestion control of the guest's transfers, if it differs from the flow's. The guest's kernel must
    /// have it.
    pub congestion_control: Option<String>,
    /// True if the guest's transfers use Multipath TCP over all its interfaces.
    pub mptcp: bool,
    /// TCP small queues: bytes that a socket may always have queued below it, if the node's `tcp` table sets
    /// the value.
    pub tsq_bytes: Option<u32>,
    /// Programs to run in the guest.
    pub run: Vec<Program>,
}

/// Offloads of a guest's network device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offload {
    /// No offload: one segment per packet.
    None,
    /// Checksum offload: the kernel segments packets just above the device (GSO).
    Gso,
    /// The device segments TCP packets (TSO), and accepts merged received packets.
    Tso,
}

/// Memory for packets received by a guest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RxBuffers {
    /// One buffer per packet.
    Small,
    /// Right-sized page fragments, like virtio's mergeable buffers.
    Mergeable,
}

/// Place where a guest's packets queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuestQueue {
    /// In the modelled queueing discipline and driver.
    Model,
    /// In the guest's own queueing discipline, above a device with a short ring.
    Guest,
}

/// A program to run in a guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Start time.
    pub at: Duration,
    /// Command for the guest's shell.
    pub command: String,
}

impl Guest {
    /// Converts to the JSON of results.
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
