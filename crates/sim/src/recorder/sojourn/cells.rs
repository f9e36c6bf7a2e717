//! Layers and causes of a packet's delay, their names in reports, and the time for each pair of layer and
//! cause.

/// Layer that a packet is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Layer {
    /// Written to a socket, or due, but not yet handed to IP.
    Socket,
    /// In the qdisc of a transmit queue.
    Qdisc,
    /// In a Wi-Fi device, not yet in a PPDU.
    Driver,
    /// In a PPDU that does not contend yet, in a transmit ring, or in a modem buffer.
    Hardware,
    /// In the first PPDU of a hardware queue, contending for the channel.
    Contention,
    /// On the air, in a try that fails.
    Tries,
    /// On the air, in the try that succeeds.
    Air,
    /// In the reorder buffer, behind a missing frame.
    Reorder,
    /// On a wire or an access line.
    Wire,
    /// Received, not yet passed to the host's stack or process.
    Receiver,
}

impl Layer {
    /// Number of layers.
    pub const COUNT: usize = 10;
    /// Names of the layers, in order.
    pub const NAMES: [&str; Self::COUNT] = [
        "socket",
        "qdisc",
        "driver",
        "hardware",
        "contention",
        "tries",
        "air",
        "reorder",
        "wire",
        "receiver",
    ];
}

/// Cause of a packet's delay in a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Cause {
    /// The resource serves the packet's own flow.
    Own,
    /// The resource serves another flow of the same station.
    Station,
    /// The resource serves another station.
    Others,
    /// A neighbouring network is using the channel.
    Neighbour,
    /// Non-Wi-Fi interference.
    Noise,
    /// Beacons and management frames.
    Management,
    /// A frame exchange that fails or collides.
    Failed,
    /// Airtime beyond that at the first rate of the retry chain.
    SlowRate,
    /// The channel is idle, and a device has frames to send.
    Backoff,
    /// The resource is idle, and nothing is waiting to be sent.
    Idle,
    /// The peer is asleep, or a device is on another channel or about to switch.
    PowerSave,
    /// The qdisc delays its packets.
    Shaper,
    /// The packet's departure time has not been reached.
    Pacing,
    /// The packet's bits are being transmitted.
    Serialise,
    /// Propagation: all bits have been sent, and the last one has not arrived.
    Propagate,
    /// The device withholds the TID's frames during Block Ack session setup.
    BlockAckSession,
    /// The channel is idle, and the Block Ack window is full: its first frame is not acknowledged yet.
    BlockAckWindow,
    /// An earlier frame is missing.
    Missing,
    /// The host has not been notified, or has not polled the device.
    Wake,
    /// TCP small queues (TSQ).
    SmallQueues,
    /// The congestion window is full.
    Window,
    /// The receive window of the peer is full.
    PeerWindow,
    /// Other reasons for keeping data in a socket: handshake, Nagle, TSO deferral, a process that has not
    /// run.
    Deferral,
    /// The send buffer is full: a datagram is due, and its source waits for space.
    SendBuffer,
}

impl Cause {
    /// Number of causes.
    pub const COUNT: usize = 24;
    /// Names of the causes, in order.
    pub const NAMES: [&str; Self::COUNT] = [
        "own",
        "station",
        "others",
        "neighbour",
        "noise",
        "management",
        "failed",
        "slow_rate",
        "backoff",
        "idle",
        "power_save",
        "shaper",
        "pacing",
        "serialise",
        "propagate",
        "block_ack_session",
        "block_ack_window",
        "missing",
        "wake",
        "small_queues",
        "window",
        "peer_window",
        "deferral",
        "send_buffer",
    ];
}

/// Number of cells: one per layer and cause.
pub(super) const CELLS: usize = Layer::COUNT * Cause::COUNT;

/// Times in ns by layer and cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cells([u64; CELLS]);

impl Default for Cells {
    fn default() -> Self {
        Self([0; CELLS])
    }
}

impl Cells {
    /// Adds `ns` to one layer and cause.
    #[inline]
    pub fn add(&mut self, layer: Layer, cause: Cause, ns: u64) {
        self.0[layer as usize * Cause::COUNT + cause as usize] += ns;
    }

    /// Returns the time in ns of a layer and a cause, by number.
    pub fn of(&self, layer: usize, cause: usize) -> u64 {
        self.0[layer * Cause::COUNT + cause]
    }

    /// Returns the non-zero times in ns, with the names of layer and cause.
    pub fn show(&self) -> Vec<(&'static str, &'static str, u64)> {
        let name = |n: usize| (Layer::NAMES[n / Cause::COUNT], Cause::NAMES[n % Cause::COUNT]);
        let used = self.0.iter().enumerate().filter(|(_, ns)| **ns > 0);
        used.map(|(n, ns)| (name(n).0, name(n).1, *ns)).collect()
    }
}

/// Cells of one packet: a short list, possibly with repeated cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Few(Vec<(u16, u64)>);

impl Few {
    #[inline]
    pub(super) fn add(&mut self, layer: Layer, cause: Cause, ns: u64) {
        if ns > 0 {
            self.0.push((layer as u16 * Cause::COUNT as u16 + cause as u16, ns));
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the sum of all times.
    #[inline]
    pub(super) fn total(&self) -> u64 {
        self.0.iter().map(|(_, ns)| ns).sum()
    }

    /// Adds these times to `cells`.
    #[inline]
    pub(super) fn add_to(&self, cells: &mut Cells) {
        self.0.iter().for_each(|&(cell, ns)| cells.0[usize::from(cell)] += ns);
    }
}
