//! Effects of each step on the packets in flight and on the state of resources.

use stillair_model::types::{Instant, PacketKind, Packets, Pkt, Step, TidWait, TryStep, WireTimes};

use super::cells::Layer;
use super::resource::{IDLE, NOBODY, SERVES, Whose, kind};
use super::socket::{InSocket, Writer};
use super::track::Holds;
use super::walk::{State, Stay, Waits, Walk};
use super::{QUEUES, RADIO_QUEUES, Sojourn, TIDS, Withheld};

/// Returns the socket whose data a packet carries, and the sequence number after its last byte.
fn carries(packets: &Packets, p: Pkt) -> Option<(usize, u32)> {
    let (hot, charge) = (packets.get(p), packets.charge(p));
    let of = hot.kind == PacketKind::Tcp && charge.is_socket() && packets.tcp(p).payload > 0;
    of.then(|| (charge.index(), hot.seq.wrapping_add(packets.tcp(p).payload)))
}

impl Sojourn {
    /// Returns the path of a followed packet.
    #[inline]
    fn walk(&mut self, p: Pkt) -> Option<&mut Walk> {
        self.walks.get_mut(p.slot())?.as_mut().filter(|w| w.pkt == p)
    }

    #[inline]
    fn place(&mut self, p: Pkt) -> &mut Option<Walk> {
        let slot = p.slot();
        if self.walks.len() <= slot {
            self.walks.resize_with(slot + 1, || None);
        }
        &mut self.walks[slot]
    }

    /// Starts following a packet, unless it is known.
    fn meet(&mut self, now: Instant, packets: &Packets, p: Pkt) {
        if self.is_skipped(p) || self.place(p).as_ref().is_some_and(|w| w.pkt == p) {
            return;
        }
        let hot = packets.get(p);
        self.made += 1;
        let counts = self.world.measured.contains(&self.world.counts_at(hot.flow, hot.t_sent, now));
        self.delivery.sent(now, hot.flow.index(), hot.kind, counts);
        if !is_chosen(self.made, self.every) {
            if let Some((socket, end)) = carries(packets, p)
                && let Some(writer) = self.writers.get_mut(socket)
            {
                writer.skips(end);
            }
            self.skip(p);
            return self.passes(now, packets);
        }
        let began = hot.t_sent.nanos();
        let held_up = hot.kind == PacketKind::Udp && hot.t_sent < now;
        if hot.t_sent != now && !held_up {
            self.trouble(now, "comes from nowhere", p);
        }
        let stays = self.place(p).take().map_or_else(|| self.spare.take(), |old| emptied(old.stays));
        let socket = self.in_socket(now, packets, p);
        let (whose, waits) = (Whose { flow: hot.flow.0, station: NOBODY }, Waits::Time);
        let mut walk =
            Walk { pkt: p, state: State::Up, began, since: began, whose, waits, hop: None, stays, socket };
        if held_up {
            // A full send buffer delayed the datagram from its due time on.
            walk.left(Layer::Socket, now.nanos(), State::Up);
        }
        *self.place(p) = Some(walk);
    }

    /// Returns the time that a packet's data spent in its socket.
    fn in_socket(&mut self, now: Instant, packets: &Packets, p: Pkt) -> InSocket {
        let Some((socket, end)) = carries(packets, p) else { return InSocket::default() };
        self.writers.get_mut(socket).map_or(InSocket::default(), |w| w.sends(now.nanos(), end))
    }

    /// Returns true if a packet is known but not followed.
    #[inline]
    fn is_skipped(&self, p: Pkt) -> bool {
        self.every > 1 && self.skipped.get(p.slot()) == Some(&Some(p))
    }

    fn skip(&mut self, p: Pkt) {
        let slot = p.slot();
        if self.skipped.len() <= slot {
            self.skipped.resize(slot + 1, None);
        }
        self.skipped[slot] = Some(p);
    }

    /// Returns the station and the direction of a link.
    fn station_of(&self, dev: usize, peer: usize) -> Option<(u32, u8)> {
        let (station, direction) = *self.world.links.get(dev)?.get(peer)?;
        Some((station as u32, direction as u8))
    }

    fn station_of_flow(&self, flow: u32) -> u32 {
        self.world.stations.get(flow as usize).copied().flatten().map_or(NOBODY, |station| station as u32)
    }

    fn wire_of(&self, interface: usize) -> usize {
        self.n_channels + 2 * interface
    }

    pub(super) fn take(&mut self, now: Instant, packets: &Packets, what: &Step<'_>) {
        let ns = now.nanos();
        match *what {
            Step::Queued { p, at, queue, paced } => {
                self.meet(now, packets, p);
                let hot = packets.get(p);
                let dev = self.world.devs[at.index()];
                let (resource, station) = match dev {
                    Some(dev) => {
                        let station = self.station_of(dev.index(), hot.peer.index());
                        (self.world.channels[dev.index()].index(), station.map_or(NOBODY, |(s, _)| s))
                    }
                    None => (self.wire_of(at.index()), self.station_of_flow(hot.flow.0)),
                };
                let queue = (at.index() * QUEUES + usize::from(queue)) as u32;
                let flow = hot.flow.0;
                let Some(walk) = self.walk(p) else { return };
                if walk.state != State::Up || walk.since != ns {
                    return self.trouble(now, "is queued, though no stack has it", p);
                }
                (walk.state, walk.whose) = (State::Queued, Whose { flow, station });
                let paced = paced.map_or(0, Instant::nanos);
                walk.waits = Waits::Queue { resource: resource as u32, queue, paced };
            }
            Step::Socket { sock, written, waits } => {
                if self.writers.len() <= sock.index() {
                    self.writers.resize(sock.index() + 1, Writer::default());
                }
                self.writers[sock.index()].acted(ns, written, waits);
            }
            Step::Held { at, queue, paces, until } => {
                let n = at.index() * QUEUES + usize::from(queue);
                self.holds[n].set(ns, until.map(Instant::nanos));
                self.paces[n] = paces;
            }
            Step::Copied { from, to } => {
                if self.is_skipped(from) {
                    return self.skip(to);
                }
                if from.slot() == to.slot() {
                    // A reply that reuses the slot of its request, which has ended.
                    self.walk(from).into_iter().for_each(|walk| walk.pkt = to);
                    return;
                }
                // Segments of a split packet end as packets of their own, so their lists come from the pool
                // as well.
                let mut stays =
                    self.place(to).take().map_or_else(|| self.spare.take(), |old| emptied(old.stays));
                let walk =
                    self.walks.get(from.slot()).and_then(Option::as_ref).filter(|walk| walk.pkt == from);
                let Some(walk) = walk else { return self.spare.put(stays) };
                stays.extend_from_slice(&walk.stays);
                let copy = walk.copy(to, stays);
                *self.place(to) = Some(copy);
            }
            Step::WireChanged { from } => {
                let wire = self.wire_of(from.index());
                self.resources[wire..wire + 2].iter_mut().for_each(|r| r.cut(ns));
            }
            Step::Wired { p, from, times } => self.wired(now, packets, p, from.index(), times),
            Step::Pushed { p, dev } => {
                let (peer, tid) = (packets.get(p).peer.0, packets.get(p).tid);
                let resource = self.world.channels[dev.index()].0.into();
                let station = self.station_of(dev.index(), usize::from(peer)).map_or(NOBODY, |(s, _)| s);
                let Some(walk) = self.walk(p) else { return };
                if walk.state != State::Queued {
                    return self.trouble(now, "comes to a device past its queue", p);
                }
                walk.left(Layer::Qdisc, ns, State::Driver);
                walk.whose.station = station;
                walk.waits = Waits::Channel { resource, dev: dev.0, peer, tid };
            }
            Step::InHardware { p } => {
                let Some(walk) = self.walk(p) else { return };
                match walk.state {
                    State::Driver | State::Tried => walk.left(Layer::Driver, ns, State::Hardware),
                    _ => self.trouble(now, "comes to the hardware and was in no driver", p),
                }
            }
            Step::GivenBack { p } => {
                let Some(walk) = self.walk(p) else { return };
                match walk.state {
                    State::Hardware | State::Tried => walk.left(Layer::Hardware, ns, State::Driver),
                    _ => self.trouble(now, "is given back and was in no hardware", p),
                }
            }
            Step::Sleeps { dev, peer, held } => {
                let of = &mut self.sleeps[dev.index()];
                if of.len() <= peer.index() {
                    of.resize(peer.index() + 1, Holds::default());
                }
                of[peer.index()].set(ns, held.then_some(u64::MAX));
            }
            Step::Withheld { dev, peer, tid, why } => {
                let (of, at) = (&mut self.withheld[dev.index()], peer.index() * TIDS + usize::from(tid));
                if of.len() <= at {
                    of.resize(at + 1, Withheld::default());
                }
                let until = |own| (why == Some(own)).then_some(u64::MAX);
                of[at].session.set(ns, until(TidWait::Session));
                of[at].window.set(ns, until(TidWait::Window));
            }
            Step::Used { channel, until, what, whose, packets: served } => {
                let station = whose.and_then(|(dev, peer)| self.station_of(dev.index(), peer.index()));
                let station = station.map_or(NOBODY, |(s, _)| s);
                let resource = &mut self.resources[channel.index()];
                let (from, until) = (resource.track.until(), until.nanos());
                if until <= from {
                    return;
                }
                resource.track.push(until, kind(what));
                if kind(what) == SERVES {
                    resource.serves_station(station, from, until);
                    let mut last = u32::MAX;
                    for (p, _) in served {
                        let flow = packets.get(*p).flow.0;
                        if core::mem::replace(&mut last, flow) != flow {
                            resource.serves(Whose { flow, station }, from, until);
                        }
                    }
                }
            }
            Step::Tried(tried) => self.tried(now, &tried),
            Step::InOrder { p } => {
                let Some(walk) = self.walk(p) else { return };
                if walk.state == State::Came {
                    walk.left(Layer::Reorder, ns, State::InOrder);
                }
            }
            Step::Up { p } => {
                let Some(walk) = self.walk(p) else { return };
                match walk.state {
                    State::Came => walk.left(Layer::Reorder, ns, State::Up),
                    State::InOrder if walk.since <= ns => walk.left(Layer::Receiver, ns, State::Up),
                    _ => self.trouble(now, "comes up and has not arrived", p),
                }
            }
            Step::Delivered { p } => {
                if let Some(walk) = self.walk(p)
                    && (walk.state != State::Up || walk.since != ns)
                {
                    self.trouble(now, "is delivered, though no stack has it", p);
                }
                self.delivered(now, packets, p);
            }
        }
    }

    fn wired(&mut self, now: Instant, packets: &Packets, p: Pkt, from: usize, times: WireTimes) {
        let wire = self.wire_of(from);
        let flow = packets.get(p).flow.0;
        let station = self.station_of_flow(flow);
        let whose = Whose { flow, station };
        let WireTimes { begins, sent, line, arrives } = times;
        let mut busy = |resource: usize, begins: Instant, sent: Instant| {
            let resource = &mut self.resources[resource];
            resource.track.push(begins.nanos(), IDLE);
            resource.track.push(sent.nanos(), SERVES);
            // The time before a change of the wire was already recorded.
            let begins = begins.max(now).nanos();
            if begins < sent.nanos() {
                resource.serves_station(station, begins, sent.nanos());
                resource.serves(whose, begins, sent.nanos());
            }
        };
        busy(wire, begins, sent);
        if let Some((begins, sent)) = line {
            busy(wire + 1, begins, sent);
        }
        let Some(walk) = self.walk(p) else { return };
        let ns = now.nanos();
        match walk.state {
            State::Queued => walk.left(Layer::Qdisc, ns, State::InOrder),
            // The wire has changed while the packet waited for it.
            State::InOrder if walk.since > ns => walk.cut(ns),
            _ => return self.trouble(now, "comes to a device past its queue", p),
        }
        walk.stay(Layer::Hardware, ns, begins.nanos(), Waits::Wire { resource: wire as u32 });
        walk.leaves(begins.nanos().max(ns), sent.nanos());
        let mut left = sent;
        if let Some((begins, gone)) = line {
            let resource = wire as u32 + 1;
            walk.stay(Layer::Hardware, sent.nanos().max(ns), begins.nanos(), Waits::Wire { resource });
            walk.leaves(begins.nanos().max(ns), gone.nanos());
            left = gone;
        }
        walk.stay(Layer::Wire, left.nanos(), arrives.nanos(), Waits::Time);
        (walk.since, walk.waits) = (arrives.nanos(), Waits::Time);
    }

    fn tried(&mut self, now: Instant, tried: &TryStep<'_>) {
        let (radio, queue) = tried.queue;
        let n = radio.index() * RADIO_QUEUES + queue;
        if self.ended.len() <= n {
            self.ended.resize(n + 1, 0);
        }
        let last = core::mem::replace(&mut self.ended[n], now.nanos());
        let hop = self.station_of(tried.dev.index(), tried.peer.index());
        let slow = tried.slow.nanos();
        for &(p, whole) in tried.packets {
            let Some(walk) = self.walk(p) else { continue };
            if !matches!(walk.state, State::Hardware | State::Tried) {
                return self.trouble(now, "is on the air and was in no hardware", p);
            }
            let begun = tried.begun.nanos();
            let contends = walk.since.max(last).min(begun);
            let (waits, since) = (walk.waits, walk.since);
            walk.stay(Layer::Hardware, since, contends, waits);
            walk.stay(Layer::Contention, contends, begun, waits);
            let layer = if whole { Layer::Air } else { Layer::Tries };
            walk.stay(layer, begun, now.nanos(), Waits::Exchange { slow, dev: tried.dev.0 });
            walk.since = now.nanos();
            walk.state = if whole { State::Came } else { State::Tried };
            if whole {
                (walk.waits, walk.hop) = (Waits::Time, hop);
            }
        }
    }
}

fn emptied(mut stays: Vec<Stay>) -> Vec<Stay> {
    stays.clear();
    stays
}

/// Returns true if packet `n` is among the one in `every` that are followed. Multiples of the golden ratio
/// are evenly spread and share no period with the patterns of segments and acknowledgements.
fn is_chosen(n: u64, every: u64) -> bool {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15) <= u64::MAX / every
}
