//! The path of one packet: the layers that it was in, each with its start and end.

use stillair_model::types::Pkt;

use super::cells::Layer;
use super::resource::Whose;
use super::socket::InSocket;

/// What a packet waits for in a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waits {
    /// A resource, by its number, in the transmit queue of this number, and not before this instant.
    Queue { resource: u32, queue: u32, paced: u64 },
    /// A channel, in a Wi-Fi device, for a TID of one of its peers.
    Channel { resource: u32, dev: u16, peer: u16, tid: u8 },
    /// A wire or line.
    Wire { resource: u32 },
    /// Its own exchange, sent by a device, of which so much was beyond its first rate.
    Exchange { slow: u64, dev: u16 },
    /// Nothing but time.
    Time,
}

/// A stretch of time in a layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stay {
    pub(super) layer: Layer,
    /// On a wire or line, its bits leave.
    pub(super) leaves: bool,
    pub(super) from: u64,
    pub(super) until: u64,
    pub(super) whose: Whose,
    pub(super) waits: Waits,
}

/// What happened to a packet last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// A stack has it.
    Up,
    /// In the discipline of a transmit queue.
    Queued,
    /// In a Wi-Fi device.
    Driver,
    /// In a PPDU.
    Hardware,
    /// An exchange has ended in which it did not come whole.
    Tried,
    /// It has come whole.
    Came,
    /// No frame before it is missing; or it has come, or will come, over a wire.
    InOrder,
}

/// A packet under way.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) pkt: Pkt,
    pub(super) state: State,
    /// When it was made.
    pub(super) began: u64,
    /// Since when it is where it is.
    pub(super) since: u64,
    /// What it waits for, and of whom it is there.
    pub(super) whose: Whose,
    pub(super) waits: Waits,
    /// The station of its last exchange, and which way it went: 0 down, 1 up.
    pub(super) hop: Option<(u32, u8)>,
    pub(super) stays: Vec<Stay>,
    /// Its time in the socket, which is before its delay.
    pub(super) socket: InSocket,
}

impl Walk {
    /// The same for a copy of the packet, with `stays` as its list.
    pub(super) fn copy(&self, pkt: Pkt, stays: Vec<Stay>) -> Self {
        let Self { state, began, since, whose, waits, hop, socket, .. } = *self;
        Self { pkt, state, began, since, whose, waits, hop, stays, socket }
    }

    /// It has been in a layer from then until then.
    #[inline]
    pub(super) fn stay(&mut self, layer: Layer, from: u64, until: u64, waits: Waits) {
        if until > from {
            self.stays.push(Stay { layer, leaves: false, from, until, whose: self.whose, waits });
        }
    }

    /// Its bits have left from then until then.
    #[inline]
    pub(super) fn leaves(&mut self, from: u64, until: u64) {
        if until > from {
            let (layer, whose, waits) = (Layer::Wire, self.whose, Waits::Time);
            self.stays.push(Stay { layer, leaves: true, from, until, whose, waits });
        }
    }

    /// Drops what was expected to happen after an instant.
    pub(super) fn cut(&mut self, at: u64) {
        while self.stays.pop_if(|stay| stay.from >= at).is_some() {}
        self.stays.last_mut().into_iter().for_each(|stay| stay.until = stay.until.min(at));
    }

    /// It leaves a layer, for what it waits for there.
    #[inline]
    pub(super) fn left(&mut self, layer: Layer, now: u64, next: State) {
        self.stay(layer, self.since, now, self.waits);
        (self.since, self.state) = (now, next);
    }
}
