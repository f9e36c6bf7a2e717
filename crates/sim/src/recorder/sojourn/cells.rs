//! Layers and causes, by their names in reports, and a time for each of both.

/// Where a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Layer {
    /// Written to a socket and not handed down.
    Socket,
    /// In the discipline of a transmit queue.
    Qdisc,
    /// In a Wi-Fi device, and in no PPDU.
    Driver,
    /// In a PPDU that does not contend yet, in a transmit ring, or in a modem's buffer.
    Hardware,
    /// Its PPDU is the first of its queue, and not on the air.
    Contention,
    /// On the air, and it does not come whole.
    Tries,
    /// On the air, and it comes whole.
    Air,
    /// Waits for frames before it.
    Reorder,
    /// On a wire or line.
    Wire,
    /// Has come, and its host's stack or process does not have it.
    Receiver,
}

impl Layer {
    /// Number of layers.
    pub const COUNT: usize = 10;
    /// Their names, in order.
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

/// What keeps it there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Cause {
    /// The resource serves its own flow.
    Own,
    /// Another flow of its station.
    Station,
    /// Another station.
    Others,
    /// A neighbouring network.
    Neighbour,
    /// Interference that is not Wi-Fi.
    Noise,
    /// Beacons and management.
    Management,
    /// An exchange that fails or collides.
    Failed,
    /// Time beyond what the first rate of a chain would take.
    SlowRate,
    /// Nothing, though somebody wants to send.
    Backoff,
    /// Nothing, and nobody wants to.
    Idle,
    /// Someone sleeps or is on another channel.
    PowerSave,
    /// A discipline holds back.
    Shaper,
    /// Its time to depart has not come.
    Pacing,
    /// Its bits leave.
    Serialise,
    /// It travels.
    Propagate,
    /// A frame before it is missing.
    Missing,
    /// Its host has not been told, or has not looked.
    Wake,
    /// TCP small queues.
    SmallQueues,
    /// The congestion window.
    Window,
    /// The receiver's window.
    PeerWindow,
    /// Anything else that keeps data in a socket.
    Deferral,
}

impl Cause {
    /// Number of causes.
    pub const COUNT: usize = 21;
    /// Their names, in order.
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
        "missing",
        "wake",
        "small_queues",
        "window",
        "peer_window",
        "deferral",
    ];
}

/// Cells: causes of each layer.
pub(super) const CELLS: usize = Layer::COUNT * Cause::COUNT;

/// Time in ns by layer and cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cells([u64; CELLS]);

impl Default for Cells {
    fn default() -> Self {
        Self([0; CELLS])
    }
}

impl Cells {
    /// Adds time to a cell.
    #[inline]
    pub fn add(&mut self, layer: Layer, cause: Cause, ns: u64) {
        self.0[layer as usize * Cause::COUNT + cause as usize] += ns;
    }

    /// The time of a layer and a cause, by their numbers.
    pub fn of(&self, layer: usize, cause: usize) -> u64 {
        self.0[layer * Cause::COUNT + cause]
    }

    /// The cells that are not zero, by their names.
    pub fn show(&self) -> Vec<(&'static str, &'static str, u64)> {
        let name = |n: usize| (Layer::NAMES[n / Cause::COUNT], Cause::NAMES[n % Cause::COUNT]);
        let used = self.0.iter().enumerate().filter(|(_, ns)| **ns > 0);
        used.map(|(n, ns)| (name(n).0, name(n).1, *ns)).collect()
    }
}

/// The cells of one packet: few, and some of them more than once.
#[derive(Clone, Debug, Default)]
pub(super) struct Few(Vec<(u8, u64)>);

impl Few {
    #[inline]
    pub(super) fn add(&mut self, layer: Layer, cause: Cause, ns: u64) {
        if ns > 0 {
            self.0.push((layer as u8 * Cause::COUNT as u8 + cause as u8, ns));
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The sum of all.
    #[inline]
    pub(super) fn total(&self) -> u64 {
        self.0.iter().map(|(_, ns)| ns).sum()
    }

    /// Adds them to others.
    #[inline]
    pub(super) fn add_to(&self, cells: &mut Cells) {
        self.0.iter().for_each(|&(cell, ns)| cells.0[usize::from(cell)] += ns);
    }
}
