//! Packet delays by layer and cause, computed the slow way: keeps all steps, and scans all of them for each
//! packet.
//!
//! Written from `docs/sojourn.md`. Shares only the names of layers and causes with the recorder.

use std::collections::BTreeMap;

use stillair_model::types::{
    ChannelUse, Instant, PacketKind, Packets, Pkt, SocketWait, Step, TidWait, TryStep,
};
use stillair_sim::recorder::{Cause, Cells, Layer, SojournWorld};

/// Times in ns from which frames of a TID are withheld, with the reason.
type Reasons = Vec<(u64, Option<TidWait>)>;

/// An event of a packet.
#[derive(Clone, Debug)]
enum Event {
    /// `due` is the due time of a datagram, or the time of the event.
    Made {
        socket: Vec<(Cause, u64)>,
        due: u64,
    },
    Queued {
        at: usize,
        queue: u8,
        paced: u64,
        peer: usize,
    },
    Wired {
        at: usize,
        begins: u64,
        sent: u64,
        line: Option<(u64, u64)>,
        arrives: u64,
    },
    Pushed {
        dev: usize,
        peer: usize,
        tid: u8,
    },
    InHardware,
    GivenBack,
    Tried {
        begun: u64,
        slow: u64,
        whole: bool,
        queue: (usize, usize),
    },
    InOrder,
    Up,
}

/// A use of a resource.
#[derive(Clone, Debug)]
struct Did {
    from: u64,
    until: u64,
    what: ChannelUse,
    station: Option<usize>,
    flows: Vec<u32>,
}

/// Events of a packet: time, order, event.
type Steps = Vec<(u64, u32, Event)>;
/// Holds of a peer's frames: start, end, and true if still active.
type Held = Vec<(u64, u64, bool)>;

/// All steps reported.
pub struct Follower {
    world: SojournWorld,
    /// Packet in each slot, and its events with time and flow.
    packets: BTreeMap<usize, (Pkt, Steps)>,
    /// Uses by channel (0), wire (1) or line (2) of an interface.
    did: BTreeMap<(u8, usize), Vec<Did>>,
    /// Holds by interface and queue: time of the report, end of the hold, and pacing flag.
    held: BTreeMap<(usize, u8), Held>,
    /// Sleep reports by device and peer: time and state.
    sleeps: BTreeMap<(usize, usize), Vec<(u64, bool)>>,
    /// Reports of withheld frames by device, peer and TID: time and reason.
    withheld: BTreeMap<(usize, usize, u8), Reasons>,
    /// Actions of each socket: time, end of the data written by then, and reason for waiting.
    sockets: BTreeMap<usize, Vec<(u64, u32, Option<SocketWait>)>>,
    /// Current connection of each socket: index of its first action, and end of the data sent.
    sent: BTreeMap<usize, (usize, u32)>,
    /// End times of exchanges by radio and queue.
    ended: BTreeMap<(usize, usize), Vec<u64>>,
}

impl Follower {
    pub fn new(world: SojournWorld) -> Self {
        Self {
            world,
            packets: BTreeMap::new(),
            did: BTreeMap::new(),
            held: BTreeMap::new(),
            sleeps: BTreeMap::new(),
            withheld: BTreeMap::new(),
            sockets: BTreeMap::new(),
            sent: BTreeMap::new(),
            ended: BTreeMap::new(),
        }
    }

    fn note(&mut self, at: u64, p: Pkt, all: &Packets, event: Event) {
        let of = self.packets.entry(p.slot()).or_insert((p, Vec::new()));
        if of.0 != p {
            // The slot belonged to a packet that has ended.
            *of = (p, Vec::new());
        }
        of.1.push((at, all.get(p).flow.0, event));
    }

    fn link(&self, dev: usize, peer: usize) -> Option<usize> {
        self.world.links[dev].get(peer).map(|(station, _)| *station)
    }

    /// Records a step. Returns the cells of a packet that is delivered.
    pub fn step(&mut self, now: Instant, all: &Packets, what: &Step<'_>) -> Option<Cells> {
        let at = now.nanos();
        match *what {
            Step::Queued { p, at: interface, queue, paced } => {
                let paced = paced.map_or(0, Instant::nanos);
                let peer = all.get(p).peer.index();
                let known = self.packets.get(&p.slot()).is_some_and(|(known, _)| *known == p);
                if !known {
                    let socket = self.in_socket(at, p, all);
                    let due = all.get(p).t_sent.nanos();
                    self.note(at, p, all, Event::Made { socket, due });
                }
                let event = Event::Queued { at: interface.index(), queue, paced, peer };
                self.note(at, p, all, event);
            }
            Step::Socket { sock, written, waits } => {
                self.sockets.entry(sock.index()).or_default().push((at, written, waits))
            }
            Step::Held { at: interface, queue, paces, until } => {
                let of = self.held.entry((interface.index(), queue)).or_default();
                of.push((at, until.map_or(0, Instant::nanos), paces));
            }
            Step::Copied { from, to } => {
                if let Some((p, events)) = self.packets.get(&from.slot()).cloned()
                    && p == from
                {
                    self.packets.insert(to.slot(), (to, events));
                }
            }
            Step::WireChanged { .. } => unreachable!("the compared scenarios have no steps"),
            Step::Wired { p, from, times } => {
                let flow = all.get(p).flow.0;
                let station = self.world.stations[flow as usize];
                let mut busy = |which: u8, from_ns: Instant, until: Instant| {
                    let (from_ns, until) = (from_ns.nanos(), until.nanos());
                    let did =
                        Did { from: from_ns, until, what: ChannelUse::Serves, station, flows: vec![flow] };
                    self.did.entry((which, from.index())).or_default().push(did);
                };
                busy(1, times.begins, times.sent);
                if let Some((begins, sent)) = times.line {
                    busy(2, begins, sent);
                }
                let line = times.line.map(|(begins, sent)| (begins.nanos(), sent.nanos()));
                let (begins, sent, arrives) =
                    (times.begins.nanos(), times.sent.nanos(), times.arrives.nanos());
                self.note(at, p, all, Event::Wired { at: from.index(), begins, sent, line, arrives });
            }
            Step::Pushed { p, dev } => {
                let (peer, tid) = (all.get(p).peer.index(), all.get(p).tid);
                self.note(at, p, all, Event::Pushed { dev: dev.index(), peer, tid });
            }
            Step::InHardware { p } => self.note(at, p, all, Event::InHardware),
            Step::GivenBack { p } => self.note(at, p, all, Event::GivenBack),
            Step::Sleeps { dev, peer, held } => {
                self.sleeps.entry((dev.index(), peer.index())).or_default().push((at, held));
            }
            Step::Withheld { dev, peer, tid, why } => {
                self.withheld.entry((dev.index(), peer.index(), tid)).or_default().push((at, why));
            }
            Step::Used { channel, until, what, whose, packets } => {
                let station = whose.and_then(|(dev, peer)| self.link(dev.index(), peer.index()));
                let flows = packets.iter().map(|(p, _)| all.get(*p).flow.0).collect();
                let of = self.did.entry((0, channel.index())).or_default();
                let from = of.last().map_or(0, |last| last.until);
                let until = until.nanos();
                if until > from {
                    of.push(Did { from, until, what, station, flows });
                }
            }
            Step::Tried(TryStep { queue: (radio, queue), begun, slow, packets, .. }) => {
                let queue = (radio.index(), queue);
                for &(p, whole) in packets {
                    let event = Event::Tried { begun: begun.nanos(), slow: slow.nanos(), whole, queue };
                    self.note(at, p, all, event);
                }
                self.ended.entry(queue).or_default().push(at);
            }
            Step::InOrder { p } => self.note(at, p, all, Event::InOrder),
            Step::Up { p } => self.note(at, p, all, Event::Up),
            Step::Delivered { p } => {
                let (known, events) = self.packets.remove(&p.slot())?;
                return (known == p).then(|| self.cells(&events));
            }
        }
        None
    }

    /// Returns the time that data handed to IP now spent in its socket: since the socket had all of it.
    fn in_socket(&mut self, now: u64, p: Pkt, all: &Packets) -> Vec<(Cause, u64)> {
        let (hot, sock) = (all.get(p), all.charge(p));
        if hot.kind != PacketKind::Tcp || !sock.is_socket() || all.tcp(p).payload == 0 {
            return Vec::new();
        }
        let end = hot.seq.wrapping_add(all.tcp(p).payload);
        let told = self.sockets.get(&sock.index()).map_or(&[][..], Vec::as_slice);
        // Since the start of the current connection in this slot.
        let restart = told.windows(2).rposition(|w| (w[1].1.wrapping_sub(w[0].1) as i32) < 0);
        let own = &told[restart.map_or(0, |n| n + 1)..];
        let begun = restart.map_or(0, |n| n + 1);
        if self
            .sent
            .get(&sock.index())
            .is_some_and(|&(of, sent)| of == begun && (end.wrapping_sub(sent) as i32) <= 0)
        {
            return Vec::new();
        }
        self.sent.insert(sock.index(), (begun, end));
        let Some(first) = own.iter().position(|(_, written, _)| (written.wrapping_sub(end) as i32) >= 0)
        else {
            return Vec::new();
        };
        let ends = own[first + 1..].iter().map(|(at, ..)| *at).chain([now]);
        let spans = own[first..].iter().zip(ends);
        let cause = |wait| match wait {
            SocketWait::Pacing => Cause::Pacing,
            SocketWait::Window => Cause::Window,
            SocketWait::PeerWindow => Cause::PeerWindow,
            SocketWait::SmallQueues => Cause::SmallQueues,
            SocketWait::Deferral => Cause::Deferral,
        };
        spans.filter_map(|(&(at, _, waits), end)| Some((cause(waits?), end - at))).collect()
    }

    fn cells(&self, events: &[(u64, u32, Event)]) -> Cells {
        let mut cells = Cells::default();
        for (n, &(ref at, flow, ref event)) in events.iter().enumerate() {
            let after = &events[n + 1..];
            let next = after.first().map_or(*at, |(at, ..)| *at);
            match *event {
                Event::Made { ref socket, due } => {
                    socket.iter().for_each(|&(cause, ns)| cells.add(Layer::Socket, cause, ns));
                    cells.add(Layer::Socket, Cause::SendBuffer, at - due);
                }
                Event::Queued { at: interface, queue, paced, peer } => {
                    let dev = self.world.devs[interface];
                    let (resource, station) = match dev {
                        Some(dev) => {
                            let channel = self.world.channels[dev.index()].index();
                            ((0, channel), self.link(dev.index(), peer))
                        }
                        None => ((1, interface), self.world.stations[flow as usize]),
                    };
                    let first = |t: u64| {
                        if t < paced {
                            return Some(Cause::Pacing);
                        }
                        let told =
                            self.held.get(&(interface, queue))?.iter().rfind(|(when, ..)| *when <= t)?;
                        let cause = if told.2 { Cause::Pacing } else { Cause::Shaper };
                        (t < told.1).then_some(cause)
                    };
                    let held = self.held.get(&(interface, queue)).into_iter().flatten();
                    let mut edges: Vec<u64> = held.flat_map(|&(when, until, _)| [when, until]).collect();
                    edges.push(paced);
                    self.waits(
                        &mut cells,
                        Layer::Qdisc,
                        (*at, next),
                        resource,
                        (flow, station),
                        edges,
                        first,
                    );
                }
                Event::Wired { at: interface, begins, sent, line, arrives } => {
                    let whose = (flow, self.world.stations[flow as usize]);
                    let none = |_| None;
                    self.waits(
                        &mut cells,
                        Layer::Hardware,
                        (*at, begins),
                        (1, interface),
                        whose,
                        vec![],
                        none,
                    );
                    cells.add(Layer::Wire, Cause::Serialise, sent - begins);
                    let mut left = sent;
                    if let Some((from, until)) = line {
                        self.waits(
                            &mut cells,
                            Layer::Hardware,
                            (sent, from),
                            (2, interface),
                            whose,
                            vec![],
                            none,
                        );
                        cells.add(Layer::Wire, Cause::Serialise, until - from);
                        left = until;
                    }
                    cells.add(Layer::Wire, Cause::Propagate, arrives - left);
                    cells.add(Layer::Receiver, Cause::Wake, next - arrives);
                }
                Event::Pushed { .. } | Event::InHardware | Event::GivenBack => {
                    self.in_device(&mut cells, events, n);
                }
                Event::Tried { begun, slow, whole, .. } => {
                    if whole {
                        cells.add(Layer::Air, Cause::SlowRate, slow.min(at - begun));
                        cells.add(Layer::Air, Cause::Own, (at - begun).saturating_sub(slow));
                        // The in-order event may be reported more than once.
                        cells.add(Layer::Reorder, Cause::Missing, next - at);
                    } else {
                        cells.add(Layer::Tries, Cause::Failed, at - begun);
                        self.in_device(&mut cells, events, n);
                    }
                }
                Event::InOrder => cells.add(Layer::Receiver, Cause::Wake, next - at),
                Event::Up => assert_eq!(*at, next, "a host takes no time"),
            }
        }
        cells
    }

    /// Adds the causes of waiting in a Wi-Fi device between two events.
    fn in_device(&self, cells: &mut Cells, events: &[(u64, u32, Event)], n: usize) {
        let (at, flow) = (events[n].0, events[n].1);
        let (dev, peer, tid) = events[..=n]
            .iter()
            .rev()
            .find_map(|(.., event)| match event {
                Event::Pushed { dev, peer, tid } => Some((*dev, *peer, *tid)),
                _ => None,
            })
            .expect("it came to a device");
        let whose = (flow, self.link(dev, peer));
        let resource = (0, self.world.channels[dev].index());
        let told = self.sleeps.get(&(dev, peer));
        let asleep = |t: u64| {
            let last = told?.iter().rfind(|(when, _)| *when <= t)?;
            last.1.then_some(Cause::PowerSave)
        };
        let withheld = self.withheld.get(&(dev, peer, tid));
        let why = |t: u64| withheld?.iter().rfind(|(when, _)| *when <= t)?.1;
        let first =
            |t: u64| asleep(t).or((why(t) == Some(TidWait::Session)).then_some(Cause::BlockAckSession));
        let idle = |t: u64| {
            if why(t) == Some(TidWait::Window) { Cause::BlockAckWindow } else { Cause::Idle }
        };
        let edges: Vec<u64> = told.into_iter().flatten().map(|(when, _)| *when).collect();
        let edges: Vec<u64> =
            edges.into_iter().chain(withheld.into_iter().flatten().map(|(when, _)| *when)).collect();
        let mut wait = |layer, from, until| {
            let whole = (from, until);
            self.waits_or(cells, layer, whole, resource, whose, edges.clone(), first, idle);
        };
        match &events[n + 1] {
            (next, _, Event::InHardware) => wait(Layer::Driver, at, *next),
            (next, _, Event::GivenBack) => wait(Layer::Hardware, at, *next),
            (.., Event::Tried { begun, queue, .. }) => {
                let before = |ended: &&u64| **ended <= *begun;
                let last = self.ended[queue].iter().filter(before).max().copied().unwrap_or(0);
                let contends = last.max(at).min(*begun);
                wait(Layer::Hardware, at, contends);
                wait(Layer::Contention, contends, *begun);
            }
            other => panic!("in a device, and then {other:?}"),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "all that a stretch of waiting is")]
    fn waits(
        &self,
        cells: &mut Cells,
        layer: Layer,
        whole: (u64, u64),
        resource: (u8, usize),
        whose: (u32, Option<usize>),
        edges: Vec<u64>,
        first: impl Fn(u64) -> Option<Cause>,
    ) {
        self.waits_or(cells, layer, whole, resource, whose, edges, first, |_| Cause::Idle);
    }

    /// Scans all uses of a resource. `first` gives the cause of an instant that takes precedence over them,
    /// `idle` that of idle time. Both only change at `edges`.
    #[expect(clippy::too_many_arguments, reason = "all that a stretch of waiting is")]
    fn waits_or(
        &self,
        cells: &mut Cells,
        layer: Layer,
        (from, until): (u64, u64),
        resource: (u8, usize),
        (flow, station): (u32, Option<usize>),
        mut edges: Vec<u64>,
        first: impl Fn(u64) -> Option<Cause>,
        idle: impl Fn(u64) -> Cause,
    ) {
        let did: Vec<&Did> = self
            .did
            .get(&resource)
            .into_iter()
            .flatten()
            .filter(|d| d.from < until && d.until > from)
            .collect();
        edges.extend(did.iter().flat_map(|d| [d.from, d.until]));
        edges.extend([from, until]);
        edges.retain(|t| (from..=until).contains(t));
        edges.sort_unstable();
        edges.dedup();
        for pair in edges.windows(2) {
            let t = pair[0];
            let now = || did.iter().find(|d| d.from <= t && t < d.until);
            let cause = first(t).unwrap_or_else(|| match now() {
                None => idle(t),
                Some(d) => match d.what {
                    ChannelUse::Idle => idle(t),
                    ChannelUse::Wanted => Cause::Backoff,
                    ChannelUse::Slow => Cause::SlowRate,
                    ChannelUse::Failed => Cause::Failed,
                    ChannelUse::Management => Cause::Management,
                    ChannelUse::Neighbour => Cause::Neighbour,
                    ChannelUse::Noise => Cause::Noise,
                    ChannelUse::Serves if d.station == station && d.flows.contains(&flow) => Cause::Own,
                    ChannelUse::Serves if d.station.is_some() && d.station == station => Cause::Station,
                    ChannelUse::Serves => Cause::Others,
                },
            });
            cells.add(layer, cause, pair[1] - t);
        }
    }
}
