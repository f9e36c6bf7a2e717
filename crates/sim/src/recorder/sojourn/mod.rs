//! Packet delays by layer and cause, computed from the steps of packets. `docs/sojourn.md` defines layers and
//! causes.
//!
//! Resource use is kept as cumulative sums ([`track`]), so the causes of a packet's delay are differences of
//! two sums.

mod cells;
mod delivery;
mod follow;
mod parts;
mod pool;
mod report;
mod resource;
mod socket;
mod track;
mod walk;

pub use cells::{Cause, Cells, Layer};
pub use report::{SojournReport, SojournTimes};

use core::ops::Range;

use stillair_model::types::{
    Addr, ChannelId, DevId, FlowId, Instant, PacketKind, Packets, Pkt, Sink, Step, TraceEvent,
};

use super::Direction;
use cells::Few;
use delivery::Deliveries;
use parts::{Parts, SlowStay, Slowest};
use pool::Pool;
use resource::{Resource, Whose};
use socket::Writer;
use track::Holds;
use walk::{Stay, Waits, Walk};

/// Description of a world for the recorder.
#[derive(Clone, Debug)]
pub struct SojournWorld {
    /// Measurement interval.
    pub measured: Range<Instant>,
    /// Station at one end of each flow.
    pub stations: Vec<Option<usize>>,
    /// Data sender's address of each QUIC flow. Only datagrams from this address count.
    pub senders: Vec<Option<Addr>>,
    /// Flows whose packets count by due time. All others count by arrival or drop.
    pub by_due: Vec<bool>,
    /// Wi-Fi device of each interface.
    pub devs: Vec<Option<DevId>>,
    /// Channel of each device.
    pub channels: Vec<ChannelId>,
    /// Station and direction of each link, by device and peer.
    pub links: Vec<Vec<(usize, Direction)>>,
}

impl SojournWorld {
    /// Returns the instant that decides whether a packet is in the measurement interval: `due`, or `now` for
    /// its arrival or drop.
    fn counts_at(&self, flow: FlowId, due: Instant, now: Instant) -> Instant {
        if self.by_due.get(flow.index()).is_some_and(|by_due| *by_due) { due } else { now }
    }
}

/// Number of packets between clean-ups.
const FORGET: u32 = 4096;

/// Follows packets through a run and measures their delays by layer and cause.
#[derive(Debug)]
pub struct Sojourn {
    world: SojournWorld,
    /// One in `every` packets is followed.
    every: u64,
    /// Packets created so far.
    made: u64,
    /// Followed packets, by packet slot.
    walks: Vec<Option<Walk>>,
    /// Packets not followed, by packet slot.
    skipped: Vec<Option<Pkt>>,
    /// Channels, followed by a wire and an access line per interface.
    resources: Vec<Resource>,
    n_channels: usize,
    /// Times at which the qdisc delays packets, by interface and queue.
    holds: Vec<Holds>,
    /// True for queues whose qdisc paces each flow.
    paces: Vec<bool>,
    /// Times at which a peer is not reachable, by device and peer.
    sleeps: Vec<Vec<Holds>>,
    /// Times at which frames are withheld, by device, then by peer and TID.
    withheld: Vec<Vec<Withheld>>,
    /// End of the last exchange, by radio and queue.
    ended: Vec<u64>,
    /// TCP send state, by socket.
    writers: Vec<Writer>,
    /// Spare lists of stays.
    spare: Pool<Stay>,
    until_forget: u32,
    parts: Parts,
    delivery: Deliveries,
    /// Cells of the current packet.
    few: Few,
    /// Time of the current packet in each place, a number that combines interface and layer.
    places: Vec<(u32, u64)>,
    /// Interface of each device.
    interfaces: Vec<usize>,
    /// Cells of the last delivered packet.
    last: Option<Cells>,
    keeps_last: bool,
    problem: Option<String>,
}

/// Queues per radio, and maximum queues per interface.
const RADIO_QUEUES: usize = 5;
const QUEUES: usize = 4;
/// TIDs per peer.
const TIDS: usize = stillair_model::wifi::tx::transmitter::TIDS;

impl Sojourn {
    /// Creates a recorder that follows one in `every` packets.
    pub fn new(world: SojournWorld, every: u64) -> Self {
        let n_channels = world.channels.iter().map(|c| c.index() + 1).max().unwrap_or(0);
        let interfaces = world.devs.len();
        let parts = Parts::new(world.stations.len());
        let of = |dev: usize| world.devs.iter().position(|own| own.is_some_and(|own| own.index() == dev));
        let own = (0..world.channels.len()).map(|dev| of(dev).unwrap_or_default()).collect();
        let delivery = Deliveries::new(world.stations.len());
        let sleeps = world.channels.iter().map(|_| Vec::new()).collect();
        let withheld = world.channels.iter().map(|_| Vec::new()).collect();
        Self {
            world,
            every: every.max(1),
            made: 0,
            walks: Vec::new(),
            skipped: Vec::new(),
            resources: vec![Resource::default(); n_channels + 2 * interfaces],
            n_channels,
            holds: vec![Holds::default(); interfaces * QUEUES],
            paces: vec![false; interfaces * QUEUES],
            withheld,
            sleeps,
            ended: Vec::new(),
            writers: Vec::new(),
            spare: Pool::default(),
            until_forget: FORGET,
            parts,
            delivery,
            few: Few::default(),
            places: Vec::new(),
            interfaces: own,
            last: None,
            keeps_last: false,
            problem: None,
        }
    }

    /// Returns the description of the world.
    pub fn world(&self) -> &SojournWorld {
        &self.world
    }

    /// Keeps the cells of the last delivered packet for [`Sojourn::take_last`].
    #[must_use]
    pub fn keeping_last(mut self) -> Self {
        self.keeps_last = true;
        self
    }

    /// Returns the times of the last delivered packet, if any was delivered since the previous call.
    pub fn take_last(&mut self) -> Option<Cells> {
        self.last.take()
    }

    /// Returns the first inconsistency found in a packet's path, as a message.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    #[cold]
    fn trouble(&mut self, now: Instant, what: &str, p: Pkt) {
        if self.problem.is_none() {
            let walk = self.walks.get(p.slot()).and_then(Option::as_ref).filter(|w| w.pkt == p);
            let of = walk.map_or(String::new(), |w| format!(" of flow {} ({:?})", w.whose.flow, w.state));
            self.problem = Some(format!("at {} ns: a packet{of} {what}", now.nanos()));
        }
    }

    /// Counts a packet that appeared or ended, and cleans up periodically.
    fn passes(&mut self, now: Instant, packets: &Packets) {
        self.until_forget -= 1;
        if self.until_forget == 0 {
            self.forget(now, packets);
        }
    }

    /// Discards records that no packet in flight can need.
    fn forget(&mut self, now: Instant, packets: &Packets) {
        self.until_forget = FORGET;
        // Dropped, consumed and merged packets are not reported.
        for walk in &mut self.walks {
            if let Some(gone) = walk.take_if(|w| !packets.is_alive(w.pkt)) {
                self.spare.put(gone.stays);
            }
        }
        let oldest = self.walks.iter().flatten().map(|w| w.began).min().unwrap_or(now.nanos());
        let oldest = oldest.min(now.nanos());
        self.resources.iter_mut().for_each(|r| r.forget(oldest));
        self.holds.iter_mut().for_each(|h| h.forget(oldest));
        self.sleeps.iter_mut().flatten().for_each(|h| h.forget(oldest));
        for of in self.withheld.iter_mut().flatten() {
            of.session.forget(oldest);
            of.window.forget(oldest);
        }
        self.writers.iter_mut().for_each(|w| w.forget(oldest));
    }

    fn delivered(&mut self, now: Instant, packets: &Packets, p: Pkt) {
        let Some(walk) = self.walks.get_mut(p.slot()).and_then(|w| w.take_if(|w| w.pkt == p)) else { return };
        let hot = packets.get(p);
        let mut cells = core::mem::take(&mut self.few);
        cells.clear();
        for stay in &walk.stays {
            self.resolve(stay, &mut cells);
        }
        let delay = (now - hot.t_sent).nanos();
        if cells.total() != delay || walk.began != hot.t_sent.nanos() {
            let what = format!("had {} ns in all layers, and took {delay} ns", cells.total());
            self.trouble(now, &what, p);
        }
        // Time in the socket, before the packet was handed over; not part of the delay.
        socket::add(&walk.socket, &mut cells);
        let at = self.world.counts_at(hot.flow, hot.t_sent, now);
        if self.world.measured.contains(&at) && self.counts(hot.flow.index(), hot.kind, hot.src) {
            let round = matches!(hot.kind, PacketKind::EchoReply | PacketKind::UdpReply | PacketKind::Answer);
            let mut places = core::mem::take(&mut self.places);
            places.clear();
            for stay in &walk.stays {
                if let Some(interface) = self.interface(stay) {
                    let place = (interface * Layer::COUNT + stay.layer as usize) as u32;
                    places.push((place, stay.until - stay.from));
                }
            }
            self.parts.add(hot.flow.index(), walk.hop, round, delay, (&cells, &places));
            self.places = places;
            if self.parts.is_slowest(hot.flow.index(), delay) {
                self.keep_slowest(hot.flow.index(), delay, &walk);
            }
        }
        if self.keeps_last {
            cells.add_to(self.last.insert(Cells::default()));
        }
        self.few = cells;
        self.spare.put(walk.stays);
        // Only after this packet's stays have been resolved.
        self.passes(now, packets);
    }

    /// Keeps the path of the flow's slowest packet so far.
    #[cold]
    fn keep_slowest(&mut self, flow: usize, delay: u64, walk: &Walk) {
        let mut stays = Vec::with_capacity(walk.stays.len());
        for stay in &walk.stays {
            let (mut few, mut cells) = (Few::default(), Cells::default());
            self.resolve(stay, &mut few);
            few.add_to(&mut cells);
            let interface = self.interface(stay);
            stays.push(SlowStay { layer: stay.layer, interface, from: stay.from, until: stay.until, cells });
        }
        self.parts.slowest[flow] = Some(Slowest { delay, began: walk.began, stays });
    }

    /// Returns the interface of a stay, if it is at one.
    fn interface(&self, stay: &Stay) -> Option<usize> {
        match stay.waits {
            Waits::Queue { queue, .. } => Some(queue as usize / QUEUES),
            Waits::Wire { resource } => Some((resource as usize - self.n_channels) / 2),
            Waits::Channel { dev, .. } | Waits::Exchange { dev, .. } => {
                self.interfaces.get(usize::from(dev)).copied()
            }
            Waits::Time => None,
        }
    }

    /// Returns true if a packet counts towards its flow's delays.
    fn counts(&self, flow: usize, kind: PacketKind, src: Addr) -> bool {
        kind != PacketKind::Quic || self.world.senders.get(flow).is_some_and(|sender| *sender == Some(src))
    }

    /// Adds the causes of a stay to the cells.
    fn resolve(&mut self, stay: &Stay, cells: &mut Few) {
        let &Stay { layer, leaves, from, until, whose, waits } = stay;
        let whole = until - from;
        match waits {
            Waits::Time => cells.add(layer, parts::by_itself(layer, leaves), whole),
            Waits::Wire { resource } => {
                self.resources[resource as usize].causes(whose, (from, until), layer, Cause::Idle, cells);
            }
            Waits::Exchange { slow, .. } => {
                let slow = if layer == Layer::Air { slow.min(whole) } else { 0 };
                let rest = if layer == Layer::Air { Cause::Own } else { Cause::Failed };
                cells.add(layer, rest, whole - slow);
                cells.add(layer, Cause::SlowRate, slow);
            }
            Waits::Queue { resource, queue, paced } => {
                let own = paced.clamp(from, until);
                cells.add(layer, Cause::Pacing, own - from);
                let cause = if self.paces[queue as usize] { Cause::Pacing } else { Cause::Shaper };
                let holds = &self.holds[queue as usize];
                let at = &mut self.resources[resource as usize];
                between(
                    holds,
                    at,
                    cause,
                    (own, until),
                    |at, a, b, cells| at.causes(whose, (a, b), layer, Cause::Idle, cells),
                    layer,
                    cells,
                );
            }
            Waits::Channel { resource, dev, peer, tid } => {
                let none = Withheld::default();
                let holds = self.sleeps[usize::from(dev)].get(usize::from(peer)).unwrap_or(&none.session);
                let own = usize::from(peer) * TIDS + usize::from(tid);
                let withheld = self.withheld[usize::from(dev)].get(own).unwrap_or(&none);
                let at = &mut self.resources[resource as usize];
                // Order of precedence: the peer sleeps, the session is negotiated, the channel is in use, the
                // window is full.
                let awake = |at: &mut Resource, from, until, cells: &mut Few| {
                    let in_session = |at: &mut Resource, from, until, cells: &mut Few| {
                        full(&withheld.window, at, whose, (from, until), layer, cells);
                    };
                    let cause = Cause::BlockAckSession;
                    between(&withheld.session, at, cause, (from, until), in_session, layer, cells);
                };
                between(holds, at, Cause::PowerSave, (from, until), awake, layer, cells);
            }
        }
    }
}

/// Splits an interval: time within `holds` has the given cause, and `rest` handles the remainder.
#[inline]
fn between(
    holds: &Holds,
    at: &mut Resource,
    cause: Cause,
    (mut from, until): (u64, u64),
    mut rest: impl FnMut(&mut Resource, u64, u64, &mut Few),
    layer: Layer,
    cells: &mut Few,
) {
    for (begin, end) in holds.within(from, until) {
        if begin > from {
            rest(at, from, begin, cells);
        }
        cells.add(layer, cause, end - begin);
        from = end;
    }
    if until > from {
        rest(at, from, until, cells);
    }
}

/// Adds the uses of a channel to the cells of a layer. Idle time within `windows` counts as a full Block Ack
/// window.
fn full(
    windows: &Holds,
    at: &mut Resource,
    whose: Whose,
    (mut from, until): (u64, u64),
    layer: Layer,
    cells: &mut Few,
) {
    for (begin, end) in windows.within(from, until) {
        if begin > from {
            at.causes(whose, (from, begin), layer, Cause::Idle, cells);
        }
        at.causes(whose, (begin, end), layer, Cause::BlockAckWindow, cells);
        from = end;
    }
    if until > from {
        at.causes(whose, (from, until), layer, Cause::Idle, cells);
    }
}

/// Times at which a device withholds the frames of a TID, by reason.
#[derive(Clone, Debug, Default)]
struct Withheld {
    session: Holds,
    window: Holds,
}

impl Sink for Sojourn {
    const STEPS: bool = true;

    #[inline]
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        let measured = &self.world.measured;
        match what {
            TraceEvent::Delivered { flow, kind, delay, .. } => {
                let counts = measured.contains(&self.world.counts_at(*flow, now - *delay, now));
                self.delivery.received(now, flow.index(), *kind, counts);
            }
            TraceEvent::Dropped { flow, sent, reason, place, .. }
                if measured.contains(&self.world.counts_at(*flow, *sent, now)) =>
            {
                self.delivery.dropped(flow.index(), *place, *reason);
            }
            TraceEvent::Skipped { flow, datagrams } => {
                self.delivery.skipped(now, flow.index(), *datagrams);
            }
            _ => {}
        }
    }

    fn step(&mut self, now: Instant, packets: &Packets, what: &Step<'_>) {
        self.take(now, packets, what);
    }
}
