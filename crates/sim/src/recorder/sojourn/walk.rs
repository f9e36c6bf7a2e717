//! Path of one packet: the layers that it was in, with start and end of each stay.

use stillair_model::types::Pkt;

use super::cells::Layer;
use super::resource::Whose;
use super::socket::InSocket;

/// Reason why a packet waits in a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waits {
    /// Resource `resource` in transmit queue `queue`, not before the departure time `paced`.
    Queue { resource: u32, queue: u32, paced: u64 },
    /// A channel, in a Wi-Fi device, for a TID of one of its peers.
    Channel { resource: u32, dev: u16, peer: u16, tid: u8 },
    /// A wire or line.
    Wire { resource: u32 },
    /// Its own exchange by device `dev`; `slow` is the airtime beyond that at the first rate.
    Exchange { slow: u64, dev: u16 },
    /// Only time.
    Time,
}

/// Stay of a packet in a layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stay {
    pub(super) layer: Layer,
    /// On a wire or line: the packet's bits are being transmitted.
    pub(super) leaves: bool,
    pub(super) from: u64,
    pub(super) until: u64,
    pub(super) whose: Whose,
    pub(super) waits: Waits,
}

/// Last event of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// The packet is in a host's stack.
    Up,
    /// In the qdisc of a transmit queue.
    Queued,
    /// In a Wi-Fi device.
    Driver,
    /// In a PPDU.
    Hardware,
    /// An exchange has ended without receiving the frame correctly.
    Tried,
    /// The frame was received correctly.
    Came,
    /// No earlier frame is missing. Also for a packet that has arrived, or will arrive, over a wire.
    InOrder,
}

/// A packet in flight.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) pkt: Pkt,
    pub(super) state: State,
    /// Time of creation.
    pub(super) began: u64,
    /// Start of the current stay.
    pub(super) since: u64,
    /// Owner of the packet, and what it currently waits for.
    pub(super) whose: Whose,
    pub(super) waits: Waits,
    /// Station of its last exchange, and direction: 0 down, 1 up.
    pub(super) hop: Option<(u32, u8)>,
    pub(super) stays: Vec<Stay>,
    /// Time in the socket, which precedes the delay.
    pub(super) socket: InSocket,
}

impl Walk {
    /// Returns the path of a copy of the packet, with `stays` as its list.
    pub(super) fn copy(&self, pkt: Pkt, stays: Vec<Stay>) -> Self {
        let Self { state, began, since, whose, waits, hop, socket, .. } = *self;
        Self { pkt, state, began, since, whose, waits, hop, stays, socket }
    }

    /// Adds a stay in a layer.
    #[inline]
    pub(super) fn stay(&mut self, layer: Layer, from: u64, until: u64, waits: Waits) {
        if until > from {
            self.stays.push(Stay { layer, leaves: false, from, until, whose: self.whose, waits });
        }
    }

    /// Adds a stay in which its bits are transmitted.
    #[inline]
    pub(super) fn leaves(&mut self, from: u64, until: u64) {
        if until > from {
            let (layer, whose, waits) = (Layer::Wire, self.whose, Waits::Time);
            self.stays.push(Stay { layer, leaves: true, from, until, whose, waits });
        }
    }

    /// Discards planned stays after an instant.
    pub(super) fn cut(&mut self, at: u64) {
        while self.stays.pop_if(|stay| stay.from >= at).is_some() {}
        self.stays.last_mut().into_iter().for_each(|stay| stay.until = stay.until.min(at));
    }

    /// Ends the current stay, in which the packet waited for `waits`.
    #[inline]
    pub(super) fn left(&mut self, layer: Layer, now: u64, next: State) {
        self.stay(layer, self.since, now, self.waits);
        (self.since, self.state) = (now, next);
    }
}
