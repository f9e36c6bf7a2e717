//! A user-defined qdisc, AQM and station scheduler, written with public items only: they pass the conformance
//! checks and work in the model.

#[path = "common/pair.rs"]
mod pair;

use pair::{End, Pair, Try};
use stillair_model::aqm::algorithm::{AqmAlgorithm, AqmFactory, Seen, Verdict};
use stillair_model::conformance::{self, ServiceOrder};
use stillair_model::node::interface::{Port, QueueLayout, TxQueues};
use stillair_model::qdisc::aqm::AqmParams;
use stillair_model::qdisc::custom::{Discipline, DisciplineFactory, Room};
use stillair_model::qdisc::fq_aqm::FqAqmParams;
use stillair_model::qdisc::htb::HtbParams;
use stillair_model::qdisc::netem::NetemParams;
use stillair_model::qdisc::tbf::TbfParams;
use stillair_model::qdisc::{Enqueue, NextSend, QdiscConfig, QdiscStats, Xstats};
use stillair_model::types::{
    Ac, Ctx, Duration, Fate, Instant, NewPacket, NoSink, Packets, PeerId, Pkt, PktList, PlaceId, Rate,
    Reason, Seed,
};
use stillair_model::wifi::config::{DriverConfig, MacFqParams, Scheduler, SchedulerFactory, WhenFull};
use stillair_model::wifi::driver::{AirtimeUse, DeviceView, StationScheduler};
use stillair_model::wifi::tx::transmitter::{Attempt, TIDS, TidIndex};

/// Sends urgent packets first, limits other packets to one per gap, and marks packets that wait too long.
#[derive(Debug)]
struct Gap {
    gap: Duration,
    urgent: PktList,
    rest: PktList,
    ready: Instant,
    marks: u64,
    stats: QdiscStats,
}

impl Discipline for Gap {
    fn enqueue(&mut self, now: Instant, p: Pkt, room: &mut dyn Room) -> Enqueue {
        let list = if room.packet(p).prio >= 6 { &mut self.urgent } else { &mut self.rest };
        let mut answer = Enqueue::Queued;
        if list.packets() >= 20 {
            // The oldest packet makes room for the new one.
            let oldest = room.pop(list).expect("it is full");
            self.stats.drops += 1;
            room.drop(oldest, Reason::Overlimit);
            answer = Enqueue::Congested;
        }
        room.stamp(p, now);
        room.push(list, p);
        answer
    }

    fn dequeue(&mut self, now: Instant, room: &mut dyn Room) -> Option<Pkt> {
        let p = match room.pop(&mut self.urgent) {
            Some(p) => p,
            None if now < self.ready => {
                self.stats.overlimits += 1;
                return None;
            }
            None => {
                let p = room.pop(&mut self.rest)?;
                self.ready = now + self.gap;
                p
            }
        };
        if now.saturating_since(room.packet(p).t_enqueue) > Duration::from_millis(5) {
            self.marks += u64::from(room.mark(p));
        }
        self.stats.sent(room.packet(p));
        Some(p)
    }

    fn next(&self, now: Instant) -> NextSend {
        match (self.urgent.packets(), self.rest.packets()) {
            (0, 0) => NextSend::Never,
            (0, _) if now < self.ready => NextSend::At(self.ready),
            _ => NextSend::Now,
        }
    }

    fn backlog(&self) -> (u32, u64) {
        (self.urgent.packets() + self.rest.packets(), self.urgent.bytes() + self.rest.bytes())
    }

    fn stats(&self) -> QdiscStats {
        self.stats
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("ecn_mark", self.marks)]
    }
}

fn gap() -> QdiscConfig {
    let own = DisciplineFactory::new("gap", "gap = 1 ms", |_| {
        Box::new(Gap {
            gap: Duration::from_millis(1),
            urgent: PktList::default(),
            rest: PktList::default(),
            ready: Instant::ZERO,
            marks: 0,
            stats: QdiscStats::default(),
        })
    });
    QdiscConfig::Custom(own)
}

/// Marks packets whose sojourn time exceeds a threshold; drops packets that are not ECN-capable with
/// probability 0.1.
#[derive(Debug)]
struct Step {
    target: Duration,
    stream: stillair_model::types::RandomStream,
    hits: u64,
}

impl AqmAlgorithm for Step {
    fn leaves(&mut self, seen: &Seen) -> Verdict {
        let target = if seen.slow { self.target * 3 } else { self.target };
        if seen.sojourn <= target || seen.queued_packets == 0 {
            return Verdict::Pass;
        }
        let hit = seen.ecn || self.stream.chance(0.1);
        self.hits += u64::from(hit);
        if hit { Verdict::Mark } else { Verdict::Pass }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("hits", self.hits)]
    }
}

fn step() -> AqmFactory {
    AqmFactory::new("step", "target = 2 ms", |stream| {
        Box::new(Step { target: Duration::from_millis(2), stream, hits: 0 })
    })
}

/// Selects the station with the least airtime relative to its weight.
#[derive(Debug)]
struct Least {
    used: Vec<u64>,
    weights: Vec<u32>,
    /// By TID index: had its turn in this round without sending.
    in_vain: Vec<bool>,
}

impl StationScheduler for Least {
    fn weigh(&mut self, peer: PeerId, weight: u32) {
        self.weights[peer.index()] = weight;
    }

    fn schedule(&mut self, _now: Instant, _tid: TidIndex) {}

    fn charge(&mut self, _now: Instant, tid: TidIndex, used: Duration, kind: AirtimeUse) {
        if kind == AirtimeUse::Tx {
            let peer = tid.peer().index();
            self.used[peer] += used.nanos() * 256 / u64::from(self.weights[peer]);
        }
    }

    fn start(&mut self, _ac: Ac) {
        self.in_vain.fill(false);
    }

    fn next(&mut self, _now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex> {
        let all = (0..self.in_vain.len() as u32).map(TidIndex).filter(|t| t.ac() == ac);
        let may = all.filter(|&t| !self.in_vain[t.index()] && view.has_frames(t) && view.allows(t));
        // Among stations with equal airtime: the higher expected rate, then the larger backlog.
        may.min_by_key(|t| {
            let (expected, waits) = (view.expected(t.peer()).bps(), view.backlog(*t).1);
            (self.used[t.peer().index()], !expected, !waits)
        })
    }

    fn done(&mut self, _now: Instant, tid: TidIndex, attempt: Attempt, _view: &DeviceView<'_>) -> bool {
        self.in_vain[tid.index()] = attempt != Attempt::Sent;
        attempt != Attempt::Full
    }
}

fn least() -> Scheduler {
    Scheduler::Custom(SchedulerFactory::new("least", "", |peers| {
        Box::new(Least {
            used: vec![0; peers],
            weights: vec![256; peers],
            in_vain: vec![false; peers * TIDS],
        })
    }))
}

#[test]
fn parts_pass_the_conformance_checks() {
    assert_eq!(conformance::discipline(&gap(), ServiceOrder::Kept), Ok(()));
    assert_eq!(conformance::aqm(&step()), Ok(()));
    assert_eq!(conformance::scheduler(&least()), Ok(()));
    assert_eq!((gap().kind().to_owned(), gap() == gap()), ("gap".to_owned(), true));
}

#[test]
fn a_discipline_works_as_a_child() {
    let rate = Rate::from_mbps(20);
    let child = Box::new(gap());
    let netem = NetemParams { delay: Duration::from_millis(2), limit: 30, ..NetemParams::default() };
    for config in [
        QdiscConfig::Htb(HtbParams { rate, ceil: rate, burst: 3000, cburst: 3000, child: child.clone() }),
        QdiscConfig::Tbf(TbfParams { rate, burst: 3000, peak: None, child: child.clone() }),
        QdiscConfig::Netem(netem, Some(child)),
    ] {
        assert_eq!(conformance::discipline(&config, ServiceOrder::Kept), Ok(()), "{config:?}");
    }
}

/// A device that accepts all packets.
#[derive(Default)]
struct Device(Vec<u32>);

impl<S> Port<S> for Device {
    fn is_stopped(&self, _ac: Ac) -> bool {
        false
    }
    fn takes_gso(&self) -> bool {
        true
    }
    fn push(&mut self, _now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
        self.0.push(ctx.packets.get(p).seq);
        ctx.packets.free(p, Fate::Delivered);
    }
}

#[test]
fn an_interface_runs_it_and_its_watchdog() {
    let mut stream = Seed { seed: 1, run: 0 }.stream("qdisc");
    let mut queues = TxQueues::new(&gap(), QueueLayout::OneQueue, PlaceId(0), &mut stream);
    let (mut packets, mut device) = (Packets::new(), Device::default());
    let ctx = &mut Ctx { packets: &mut packets, trace: &mut NoSink };
    let queue = queues.queue_of(Ac::Be).expect("it is no noqueue");
    for seq in 0..5 {
        let p = ctx.packets.create(NewPacket { seq, tos: 1, ..NewPacket::PLAIN });
        ctx.packets.get_mut(p).prio = if seq == 4 { 6 } else { 0 };
        assert_eq!(queue.send(Instant::ZERO, p, &mut device, ctx), (Enqueue::Queued, false));
    }
    let mut now = Instant::ZERO;
    let mut came = Vec::new();
    while let Some(at) = queue.watchdog(now) {
        came.push((at - Instant::ZERO).nanos() / 1_000);
        now = at;
        queue.run(now, &mut device, ctx);
    }
    assert_eq!((device.0, came), (vec![0, 4, 1, 2, 3], vec![1_000, 2_000, 3_000]));
    assert_eq!((queue.qdisc().kind(), queue.stats().packets, queue.held()), ("gap", 5, 0));
    assert_eq!(queue.qdisc().xstats(), Xstats::Custom(vec![("ecn_mark", 0)]));
}

/// Sends packets of 40 flows over a channel with occasional losses, using these parts. Returns the number
/// received.
fn over_the_air(queues: MacFqParams, scheduler: Scheduler) -> usize {
    let mut pair = Pair::new(DriverConfig::Fq(queues, scheduler), &["ht20-mcs7-sgi"], 30);
    pair.air = (0..200)
        .map(|n| Try {
            whole: if n % 5 == 0 { 0xf0f0 } else { u64::MAX },
            acked: n % 7 != 0,
            pause: Duration::ZERO,
        })
        .collect();
    for round in 0..40 {
        (0..20).for_each(|_| {
            pair.offer(0, [0, 0, 3, 5][round % 4], 1500);
        });
        pair.run(3);
    }
    assert_eq!(pair.run(20_000), End::Drained);
    pair.check_drained();
    pair.up.len()
}

#[test]
fn an_aqm_and_a_scheduler_in_the_mac() {
    let with_aqm = MacFqParams { aqm: Some(step()), ..MacFqParams::default() };
    let round_robin = Scheduler::RoundRobin(WhenFull::KeepsTurn);
    let all = over_the_air(MacFqParams { codel: RELAXED, ..MacFqParams::default() }, round_robin.clone());
    let some = over_the_air(with_aqm.clone(), round_robin);
    // Frames outside a session are not retransmitted.
    assert!(all >= 790, "{all}");
    assert!(some < all - 10 && some > 100, "the aqm drops some: {some}");
    assert!(over_the_air(MacFqParams { codel: RELAXED, ..MacFqParams::default() }, least()) >= 790);
    assert!(over_the_air(with_aqm, least()) > 100);
}

/// CoDel that never acts.
const RELAXED: stillair_model::aqm::codel::CodelParams = stillair_model::aqm::codel::CodelParams {
    target: Duration::from_secs(100),
    interval: Duration::from_secs(100),
    ecn: false,
    mtu: 0,
};

#[test]
fn an_aqm_has_names_and_counters() {
    let aqm = QdiscConfig::Aqm(AqmParams { limit: 10, aqm: step() });
    let fq = QdiscConfig::FqAqm(FqAqmParams::new(step()));
    assert_eq!((aqm.kind(), fq.kind()), ("step", "fq_step"));
    let mut stream = Seed { seed: 1, run: 0 }.stream("qdisc");
    let mut queues = TxQueues::new(&aqm, QueueLayout::OneQueue, PlaceId(0), &mut stream);
    let own = queues.queue_of(Ac::Be).expect("a queue").qdisc().xstats();
    assert_eq!(own, Xstats::Custom(vec![("ecn_mark", 0), ("drop_overlimit", 0), ("hits", 0)]));
}
