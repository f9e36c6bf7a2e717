//! Delays of packets by layer and cause, from their steps. `docs/sojourn.md` defines both.
//!
//! Uses of resources are kept as cumulative sums ([`track`]), so a packet's causes are differences of two
//! sums.

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

/// What the recorder needs to know of a world.
#[derive(Clone, Debug)]
pub struct SojournWorld {
    /// The measured time.
    pub measured: Range<Instant>,
    /// By flow: the station at which the flow begins or ends.
    pub stations: Vec<Option<usize>>,
    /// By flow: for QUIC, the address of the end that sends the data. Only datagrams from there count.
    pub senders: Vec<Option<Addr>>,
    /// By flow: its packets count by the instant at which they were due. All others count by their arrival or
    /// drop.
    pub by_due: Vec<bool>,
    /// By interface: the Wi-Fi device.
    pub devs: Vec<Option<DevId>>,
    /// By device: the channel.
    pub channels: Vec<ChannelId>,
    /// By device and peer: the station of the link, and the direction.
    pub links: Vec<Vec<(usize, Direction)>>,
}

impl SojournWorld {
    /// The instant that decides whether a packet is of the measured time: `due`, or `now`, its arrival or
    /// drop.
    fn counts_at(&self, flow: FlowId, due: Instant, now: Instant) -> Instant {
        if self.by_due.get(flow.index()).is_some_and(|by_due| *by_due) { due } else { now }
    }
}

/// Packets between two looks at what may be forgotten.
const FORGET: u32 = 4096;

/// Follows packets through a run, and measures their delays by layer and cause.
#[derive(Debug)]
pub struct Sojourn {
    world: SojournWorld,
    /// One packet of so many is followed.
    every: u64,
    /// Packets made so far.
    made: u64,
    /// By slot of the packet.
    walks: Vec<Option<Walk>>,
    /// The same of those that are not followed.
    skipped: Vec<Option<Pkt>>,
    /// Channels, behind them by interface a wire and a line.
    resources: Vec<Resource>,
    n_channels: usize,
    /// By interface and queue.
    holds: Vec<Holds>,
    /// Whether the discipline of a queue paces each flow.
    paces: Vec<bool>,
    /// By device and peer.
    sleeps: Vec<Vec<Holds>>,
    /// By device, then by peer and TID.
    withheld: Vec<Vec<Withheld>>,
    /// By radio and queue: when its last exchange ended.
    ended: Vec<u64>,
    /// By socket.
    writers: Vec<Writer>,
    /// Lists of stays of packets that have ended.
    spare: Pool<Stay>,
    until_forget: u32,
    parts: Parts,
    delivery: Deliveries,
    /// The cells of the packet at hand.
    few: Few,
    /// Where it was: interface and layer as one number, and how long.
    places: Vec<(u32, u64)>,
    /// By device: its interface.
    interfaces: Vec<usize>,
    /// Those of the last packet that was delivered.
    last: Option<Cells>,
    keeps_last: bool,
    problem: Option<String>,
}

/// Queues of a radio, and most of an interface.
const RADIO_QUEUES: usize = 5;
const QUEUES: usize = 4;
/// TIDs of a peer.
const TIDS: usize = stillair_model::wifi::tx::transmitter::TIDS;

impl Sojourn {
    /// A recorder that follows one in `every` packets.
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

    /// The description of the world.
    pub fn world(&self) -> &SojournWorld {
        &self.world
    }

    /// Keeps the cells of the packet that was delivered last, for [`Sojourn::take_last`].
    #[must_use]
    pub fn keeping_last(mut self) -> Self {
        self.keeps_last = true;
        self
    }

    /// The times of the last delivered packet, if a packet was delivered since the previous call.
    pub fn take_last(&mut self) -> Option<Cells> {
        self.last.take()
    }

    /// The first inconsistency found in a packet's path, as a message; `None` if there is none.
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

    /// A packet has come or gone: now and then what is past is forgotten.
    fn passes(&mut self, now: Instant, packets: &Packets) {
        self.until_forget -= 1;
        if self.until_forget == 0 {
            self.forget(now, packets);
        }
    }

    /// Forgets what no packet under way can ask for.
    fn forget(&mut self, now: Instant, packets: &Packets) {
        self.until_forget = FORGET;
        // Of packets that were dropped, consumed or merged nobody tells.
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
        // Before it was handed down, which the delay does not count.
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
        // Not before this packet's stays have been asked for.
        self.passes(now, packets);
    }

    /// Keeps the way of the slowest packet of its flow so far.
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

    /// The interface at which a packet was in a layer, if at one.
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

    /// Whether a packet is one of those whose delays a flow counts.
    fn counts(&self, flow: usize, kind: PacketKind, src: Addr) -> bool {
        kind != PacketKind::Quic || self.world.senders.get(flow).is_some_and(|sender| *sender == Some(src))
    }

    /// Adds the causes of a stretch to the cells.
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
                // In this order: the peer sleeps, the session is negotiated, the channel is used, the window
                // is full.
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

/// Of a stretch what is held has one cause, and the rest those of what the resource did.
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

/// Adds the uses of a channel to the cells of a layer. Idle time counts as a full Block Ack window where
/// `windows` says so.
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

/// Stretches in which a device withholds the frames of a TID, by reason.
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
