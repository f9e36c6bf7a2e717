//! Requirements for queueing disciplines.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use super::{STEPS, stream, try_all};
use crate::qdisc::{Enqueue, NextSend, Qdisc, QdiscConfig};
use crate::types::{
    Ctx, Duration, Fate, FlowId, Instant, NewPacket, Packets, Pkt, PlaceId, RandomStream, Reason, Sink,
    TraceEvent, skb_len,
};

/// Guarantee about the order of each flow's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServiceOrder {
    /// Packets of a flow stay in order.
    Kept,
    /// Packets of a flow may be reordered.
    Any,
}

/// Checks the requirements of a discipline ([`crate::qdisc::custom::Discipline`]): each packet ends once,
/// results of `enqueue` agree with drops, backlog and counters are correct, no wake-up is lost, all packets
/// come out, and the same calls give the same results.
///
/// There are 30 flows, each with one priority. Every second script has packets of several segments (TSO,
/// GSO), unless the discipline splits them: such a packet counts once in the backlog, with an Ethernet header
/// per segment, and by its segments in `sent`.
pub fn discipline(config: &QdiscConfig, order: ServiceOrder) -> Result<(), String> {
    try_all(|script, step| {
        let mut bench = Bench::new(config, order, script)?;
        for n in 1..=STEPS {
            *step = n;
            bench.step()?;
        }
        bench.drain()?;
        Ok(bench.log)
    })
}

/// Runs a script. Returns the log of the discipline's actions.
#[cfg(test)]
pub(super) fn log_of(config: &QdiscConfig, script: u64) -> Vec<(char, u32)> {
    let mut bench = Bench::new(config, ServiceOrder::Kept, script).expect("a discipline");
    (0..STEPS).for_each(|_| bench.step().expect("nothing is broken"));
    bench.log
}

const FLOWS: u32 = 30;
const HERE: PlaceId = PlaceId(3);
/// Maximum number of wake-ups until the queue must be empty.
const WAKES: u32 = 200_000;

#[derive(Default)]
struct Drops(Vec<(u32, Reason, PlaceId)>);

impl Sink for Drops {
    fn event(&mut self, _: Instant, what: &TraceEvent) {
        if let TraceEvent::Dropped { seq, reason, place, .. } = *what {
            self.0.push((seq, reason, place));
        }
    }
}

#[derive(Clone, Copy)]
struct Inside {
    pkt: Pkt,
    seq: u32,
    flow: u32,
    bytes: u64,
    segs: u16,
}

/// Returns true if the discipline splits packets of several segments.
fn splits(config: &QdiscConfig) -> bool {
    match config {
        QdiscConfig::Cake(_) | QdiscConfig::Tbf(_) => true,
        QdiscConfig::Htb(p) => splits(&p.child),
        QdiscConfig::Netem(_, child) => child.as_ref().is_some_and(|child| splits(child)),
        _ => false,
    }
}

struct Bench {
    qdisc: Qdisc,
    order: ServiceOrder,
    gso: bool,
    packets: Packets,
    drops: Drops,
    stream: RandomStream,
    now: Instant,
    made: u32,
    inside: Vec<Inside>,
    /// Segments and bytes that left, and packets dropped.
    out: (u64, u64),
    dropped: u64,
    /// Number of the last packet that left, by flow.
    last: Vec<Option<u32>>,
    /// Probability in eighths that a step enqueues a packet, and maximum duration of a step in us.
    load: u32,
    pause: u32,
    /// Log: results of enqueues, packets that left, packets dropped.
    log: Vec<(char, u32)>,
}

impl Bench {
    fn new(config: &QdiscConfig, order: ServiceOrder, script: u64) -> Result<Self, String> {
        let qdisc = Qdisc::new(config, HERE, &mut stream(script, "part")).ok_or("no discipline")?;
        Ok(Self {
            qdisc,
            order,
            gso: script % 2 == 1 && !splits(config),
            packets: Packets::new(),
            drops: Drops::default(),
            stream: stream(script, "script"),
            now: Instant::ZERO,
            made: 0,
            inside: Vec::new(),
            out: (0, 0),
            dropped: 0,
            last: vec![None; FLOWS as usize],
            load: 4,
            pause: 500,
            log: Vec::new(),
        })
    }

    fn step(&mut self) -> Result<(), String> {
        if self.stream.below(40) == 0 {
            self.load = 1 + self.stream.below(7);
            self.pause = [1, 50, 500, 2_000, 40_000][self.stream.below(5) as usize];
        }
        self.now += Duration::from_micros(u64::from(self.stream.below(self.pause)));
        if self.stream.below(8) < self.load {
            self.enqueue()?;
        } else if self.stream.below(4) > 0 {
            self.dequeue()?;
        } else {
            while self.dequeue()? {}
        }
        self.look()
    }

    /// Processes the drops since the last call.
    fn take_drops(&mut self) -> Result<Vec<(u32, Reason)>, String> {
        let mut all = Vec::new();
        for (seq, reason, place) in mem::take(&mut self.drops.0) {
            let Some(n) = self.inside.iter().position(|p| p.seq == seq) else {
                return Err(format!("it dropped packet {seq}, which it does not hold"));
            };
            if place != HERE {
                return Err(format!("it booked the drop of packet {seq} elsewhere"));
            }
            self.inside.remove(n);
            self.dropped += 1;
            self.log.push(('d', seq));
            all.push((seq, reason));
        }
        Ok(all)
    }

    fn enqueue(&mut self) -> Result<(), String> {
        let (seq, flow) = (self.made, self.stream.below(FLOWS));
        self.made += 1;
        let tos = (flow as u8).wrapping_mul(0x1c) & !3 | [0, 1, 2, 0][self.stream.below(4) as usize];
        let segs = if self.gso && self.stream.below(3) == 0 { 2 + self.stream.below(43) as u16 } else { 1 };
        let pkt = self.packets.create(NewPacket {
            now: self.now,
            flow: FlowId(flow),
            flow_hash: flow.wrapping_mul(0x9e37_79b9),
            len: (20 + self.stream.below(1481)) * u32::from(segs),
            truesize: NewPacket::PLAIN.truesize * u32::from(segs),
            seq,
            tos,
            ..NewPacket::PLAIN
        });
        let hot = self.packets.get_mut(pkt);
        (hot.prio, hot.segs) = ((flow % 16) as u8, segs);
        self.inside.push(Inside { pkt, seq, flow, bytes: u64::from(skb_len(hot)), segs });
        let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.drops };
        let answer = self.qdisc.enqueue(self.now, pkt, ctx);
        let drops = self.take_drops()?;
        let own = drops.iter().find(|drop| drop.0 == seq);
        self.log.push((['q', 'c', 'r'][answer as usize], seq));
        match (answer, own) {
            // linux: net/sched/sch_netem.c netem_enqueue (6.1) - does not report a simulated loss.
            (Enqueue::Queued, Some((_, reason))) if *reason != Reason::Loss => {
                Err(format!("it said Queued and dropped packet {seq} itself ({})", reason.name()))
            }
            (Enqueue::Dropped, None) => Err(format!("it said Dropped and did not drop packet {seq}")),
            (Enqueue::Congested, None) if drops.is_empty() => {
                Err(format!("it said Congested for packet {seq} and dropped nothing"))
            }
            _ => Ok(()),
        }
    }

    /// Dequeues a packet. Returns false if the discipline returned none.
    fn dequeue(&mut self) -> Result<bool, String> {
        let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.drops };
        let came = self.qdisc.dequeue(self.now, ctx);
        self.take_drops()?;
        let Some(pkt) = came else {
            return match self.qdisc.next(self.now) {
                NextSend::Now => Err(format!(
                    "it gave no packet and then said NextSend::Now, with {} inside: nobody would ask again",
                    self.inside.len()
                )),
                NextSend::Never | NextSend::At(_) => Ok(false),
            };
        };
        let Some(n) = self.inside.iter().position(|p| p.pkt == pkt) else {
            return Err("it gave a packet that it does not hold".to_owned());
        };
        let Inside { seq, flow, bytes, segs, .. } = self.inside.remove(n);
        let last = self.last[flow as usize].replace(seq);
        if self.order == ServiceOrder::Kept && last.is_some_and(|last| last > seq) {
            return Err(format!("of flow {flow} packet {seq} came out behind a later one"));
        }
        self.out = (self.out.0 + u64::from(segs), self.out.1 + bytes);
        self.log.push(('o', seq));
        self.packets.free(pkt, Fate::Delivered);
        Ok(true)
    }

    /// Compares the discipline's backlog, counters and `next` with the expected state.
    fn look(&self) -> Result<(), String> {
        let inside = (self.inside.len() as u32, self.inside.iter().map(|p| p.bytes).sum());
        let (backlog, stats) = (self.qdisc.backlog(), self.qdisc.stats());
        if backlog != inside {
            return Err(format!(
                "its backlog is {} packets of {} bytes, but {} of {} came and are not gone",
                backlog.0, backlog.1, inside.0, inside.1
            ));
        }
        for (what, says, is) in [
            ("segments in packets", stats.packets, self.out.0),
            ("bytes", stats.bytes, self.out.1),
            ("drops", stats.drops, self.dropped),
        ] {
            if says != is {
                return Err(format!("it counts {says} {what}, and there were {is}"));
            }
        }
        match self.qdisc.next(self.now) {
            NextSend::Never if inside.0 > 0 => {
                Err(format!("it said NextSend::Never with {} inside", inside.0))
            }
            NextSend::Now if inside.0 == 0 => Err("it said NextSend::Now with nothing inside".to_owned()),
            NextSend::At(at) if inside.0 == 0 => {
                Err(format!("it said NextSend::At({at:?}) with nothing inside"))
            }
            NextSend::At(at) if at <= self.now => {
                Err(format!("it said NextSend::At({at:?}), which is not to come at {:?}", self.now))
            }
            NextSend::At(_) if !self.qdisc.holds_back() => {
                Err("it said NextSend::At and holds nothing back".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Checks that all packets leave if `dequeue` is called at the times that `next` returns.
    fn drain(&mut self) -> Result<(), String> {
        for _ in 0..WAKES {
            while self.dequeue()? {}
            self.look()?;
            match self.qdisc.next(self.now) {
                NextSend::At(at) => self.now = at,
                // The queue is empty, or `look` would have failed.
                NextSend::Never | NextSend::Now => return Ok(()),
            }
        }
        Err(format!("{} packets did not come out in {WAKES} wakes", self.inside.len()))
    }
}
