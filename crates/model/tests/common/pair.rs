//! Two Wi-Fi devices connected by a lossy channel. A list defines the fate of each try of a PPDU. After the
//! end of the list nothing is lost, so that every run must end.

#![allow(dead_code, reason = "each test that includes this file uses a part of it")]

use std::collections::VecDeque;

use stillair_model::types::{
    Ac, ChannelId, Ctx, DevId, Duration, Fate, FlowId, Instant, NewPacket, Packets, PeerId, Pkt, PlaceId,
    RadioId, Reason, Seed, Sink, SockId, TraceEvent,
};
use stillair_model::wifi::air::edca::EdcaSet;
use stillair_model::wifi::air::medium::{EdcafId, Medium, TxOutcome};
use stillair_model::wifi::air::ppdu::Content;
use stillair_model::wifi::air::radio::{QUEUES, Radio};
use stillair_model::wifi::air::reception::RxOutcome;
use stillair_model::wifi::config::{DriverConfig, HardwareDepth};
use stillair_model::wifi::dev::{WifiDev, Woken};
use stillair_model::wifi::driver::Driver;
use stillair_model::wifi::marks::Marks;
use stillair_model::wifi::phy::timing::Timing;
use stillair_model::wifi::phy::{Band, PhyRate, RateTry, RetryChain, ppdu_duration};
use stillair_model::wifi::rate::RateControl;
use stillair_model::wifi::tx::starts::Starts;
use stillair_model::wifi::tx::transmitter::{Hardware, Peer, TidIndex, Transmitter, Windows};

/// Fate of one try of a PPDU.
#[derive(Clone, Copy, Debug)]
pub struct Try {
    /// Bit n: frames n, n + 64 and so on are received without error.
    pub whole: u64,
    /// The acknowledgement is received.
    pub acked: bool,
    /// Extra time until the medium is idle again.
    pub pause: Duration,
}

impl Try {
    /// Everything is received.
    pub const FINE: Self = Self { whole: u64::MAX, acked: true, pause: Duration::ZERO };
    /// Nothing is received.
    pub const LOST: Self = Self { whole: 0, acked: false, pause: Duration::ZERO };
}

/// One try of a PPDU on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    pub sender: usize,
    pub content: Content,
    pub in_session: bool,
    pub tid: u8,
    pub frames: usize,
    /// Sequence number of the first frame.
    pub first: Option<u16>,
}

/// Drops by packet number.
#[derive(Default)]
pub struct Drops(pub Vec<(u32, Reason, PlaceId)>);

impl Sink for Drops {
    fn event(&mut self, _: Instant, what: &TraceEvent) {
        if let TraceEvent::Dropped { seq, reason, place, .. } = *what {
            self.0.push((seq, reason, place));
        }
    }
}

struct Side {
    dev: WifiDev,
    radio: Radio,
    /// Packets queued above the device, by category.
    above: [VecDeque<Pkt>; 4],
    /// The queue above was stopped and not woken yet: only a wake-up restarts it.
    stopped: [bool; 4],
}

/// The two devices, 0 and 1, and the channel between them.
pub struct Pair {
    pub now: Instant,
    pub packets: Packets,
    pub drops: Drops,
    pub air: VecDeque<Try>,
    /// Fate of tries after the end of the list. `None`: nothing is lost.
    pub rule: Option<fn(&Seen) -> Try>,
    pub seen: Vec<Seen>,
    /// Packets passed up, in order: receiver, TID and number.
    pub up: Vec<(usize, u8, u32)>,
    /// Number of reorder buffer holes given up by a timer.
    pub timeouts: u32,
    medium: Medium,
    timing: Timing,
    sides: [Side; 2],
    made: u32,
    /// Sockets whose charges have ended.
    ended: Vec<u32>,
}

/// End of a run: everything was delivered or dropped, or the step limit was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Drained,
    StillBusy,
}

impl Pair {
    /// Creates two devices with the same driver, retry chain (two tries at each rate) and retry limit.
    pub fn new(driver: DriverConfig, rates: &[&str], retry_limit: u8) -> Self {
        let timing = Timing::of(Band::Ghz5);
        let mut medium = Medium::new(timing.sifs, timing.slot);
        let tries: Vec<_> = rates.iter().map(|n| RateTry::new(PhyRate::parse(n).unwrap(), 2)).collect();
        let chain = RetryChain::new(&tries).unwrap();
        let edca = EdcaSet::STATION;
        let sides = [0_u16, 1].map(|n| {
            let functions = [Ac::Vo, Ac::Vi, Ac::Be, Ac::Bk, Ac::Vo].map(|ac| {
                let stream = Seed { seed: 1, run: 0 }.stream(&format!("{n}.{}", ac.name()));
                medium.add(edca.get(ac), stream)
            });
            let radio = Radio::new(ChannelId(0), functions, HardwareDepth::default(), &edca);
            let mut tx = Transmitter::new(DevId(n));
            tx.add_peer(Peer::new((DevId(1 - n), PeerId(0)), RateControl::Fixed(chain)));
            let place = PlaceId(n);
            let dev =
                WifiDev::new(RadioId(n), tx, Driver::new(driver.clone(), 1, place, 1), retry_limit, place);
            Side { dev, radio, above: Default::default(), stopped: [false; 4] }
        });
        Self {
            now: Instant::ZERO,
            packets: Packets::new(),
            drops: Drops::default(),
            air: VecDeque::new(),
            rule: None,
            seen: Vec::new(),
            up: Vec::new(),
            timeouts: 0,
            medium,
            timing,
            sides,
            made: 0,
            ended: Vec::new(),
        }
    }

    /// Sets the maximum Block Ack window of each device, in frames.
    pub fn with_windows(mut self, frames: [u16; 2]) -> Self {
        for (side, frames) in self.sides.iter_mut().zip(frames) {
            let peer = &mut side.dev.tx.peers[0];
            peer.windows = Windows { asks: frames, grants: frames };
            peer.most.0 = u32::from(frames);
            peer.choose(|_| Duration::ZERO);
        }
        self
    }

    /// Adds delays of the hosts' work queues that set up and tear down sessions.
    pub fn with_work_queues(mut self) -> Self {
        for (n, side) in self.sides.iter_mut().enumerate() {
            let stream = Seed { seed: 1, run: 0 }.stream(&format!("{n}.sessions"));
            side.dev.tx.starts = Some(Starts::new(stream));
        }
        self
    }

    /// Creates a packet, charged to the socket of its own number, and offers it to a device.
    pub fn offer(&mut self, side: usize, tid: u8, len: u32) -> u32 {
        let seq = self.made;
        self.made += 1;
        let p = self.packets.create(NewPacket {
            now: self.now,
            flow: FlowId(u32::from(tid)),
            flow_hash: u32::from(tid),
            len,
            charge: SockId(seq),
            seq,
            ..NewPacket::PLAIN
        });
        self.packets.get_mut(p).tid = tid;
        let ac = Ac::of_tid(tid);
        self.sides[side].above[ac.index()].push_back(p);
        self.run_queue(side, ac);
        seq
    }

    pub fn dev(&self, side: usize) -> &WifiDev {
        &self.sides[side].dev
    }

    /// State of the sender's session for a TID.
    pub fn session(&self, side: usize, tid: u8) -> stillair_model::wifi::tx::tid::BlockAckSession {
        self.dev(side).tx.tids[TidIndex::new(PeerId(0), tid).index()].session
    }

    fn run_queue(&mut self, side: usize, ac: Ac) {
        let Side { dev, radio, above, stopped } = &mut self.sides[side];
        let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.drops };
        while !stopped[ac.index()] {
            let Some(p) = above[ac.index()].pop_front() else { break };
            dev.push(self.now, p, &mut Hardware { radio, medium: &mut self.medium }, ctx);
            stopped[ac.index()] = dev.is_stopped(ac);
        }
    }

    fn woken(&mut self, side: usize, woken: Woken) {
        for ac in Ac::ALL {
            if woken.has(ac) {
                self.sides[side].stopped[ac.index()] = false;
                self.run_queue(side, ac);
            }
        }
    }

    fn deliver(&mut self, side: usize, up: Vec<Pkt>) {
        for p in up {
            let hot = self.packets.get(p);
            self.up.push((side, hot.tid, hot.seq));
            self.packets.free(p, Fate::Delivered);
        }
    }

    /// Runs until nothing is left to do, for at most `steps` exchanges and timers.
    pub fn run(&mut self, steps: u32) -> End {
        for _ in 0..steps {
            if !self.step() {
                return End::Drained;
            }
        }
        End::StillBusy
    }

    /// Handles the next exchange or timer. Returns false if nothing is left.
    pub fn step(&mut self) -> bool {
        let timers = [0, 1].map(|n| self.sides[n].dev.next_timer());
        let timer = (0..2).filter_map(|n| timers[n].map(|at| (at.max(self.now), n))).min();
        match (timer, self.medium.start()) {
            (None, None) => return false,
            (Some((at, n)), start) if start.is_none_or(|s| at < s) => {
                self.now = at;
                self.timer(n);
            }
            (_, Some(start)) => self.exchange(start),
            (Some(_), None) => unreachable!("the arm above takes it"),
        }
        true
    }

    fn timer(&mut self, n: usize) {
        let mut up = Vec::new();
        let Side { dev, radio, .. } = &mut self.sides[n];
        let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.drops };
        // The drivers are not behind a bus.
        let _ = dev.on_timer(self.now, &mut up, &mut Hardware { radio, medium: &mut self.medium }, ctx);
        self.timeouts += u32::from(!up.is_empty());
        self.deliver(n, up);
    }

    fn exchange(&mut self, start: Instant) {
        let mut winners = Vec::new();
        self.medium.winners(&mut winners);
        let mut ppdus = Vec::new();
        for &EdcafId(f) in &winners {
            let (side, queue) = (usize::from(f) / QUEUES, usize::from(f) % QUEUES);
            ppdus.push((side, queue, self.sides[side].radio.pop(queue).expect("a winner has a PPDU")));
        }
        let longest = ppdus.iter().map(|(_, _, p)| ppdu_duration(p.rate(), p.bytes, self.timing.band)).max();
        let seen: Vec<Seen> = ppdus
            .iter()
            .map(|(sender, _, p)| Seen {
                sender: *sender,
                content: p.header.content,
                in_session: p.header.in_session,
                tid: p.header.tid,
                frames: p.mpdus.len(),
                first: p.mpdus.first().map(|m| m.seq.get()),
            })
            .collect();
        let tries = match (&seen[..], self.air.pop_front(), self.rule) {
            ([_], Some(told), _) => vec![told],
            ([one], None, Some(rule)) => vec![rule(one)],
            ([_], None, None) => vec![Try::FINE],
            _ => vec![Try::LOST; seen.len()],
        };
        self.seen.extend(seen);
        self.now = start + longest.expect("somebody won") + self.timing.eifs_extra() + tries[0].pause;
        let mut through = Vec::new();
        for ((fate, winner), (side, queue, mut ppdu)) in tries.into_iter().zip(winners).zip(ppdus) {
            let whole = Marks::each(ppdu.mpdus.len().max(1), |n| fate.whole >> (n % 64) & 1 == 1);
            let acknowledged = whole.any() && fate.acked;
            let airtime = ppdu_duration(ppdu.rate(), ppdu.bytes, self.timing.band);
            let rate = ppdu.rate();
            let again = ppdu.tried(airtime, true, acknowledged);
            let outcome = if again { TxOutcome::Failed } else { TxOutcome::Finished };
            let more = again || self.sides[side].radio.queued(queue) > 0;
            self.medium.done(self.now, winner, outcome, more);
            // The receiver's driver sees frames without data only if they are intact.
            if whole.any() || !ppdu.mpdus.is_empty() {
                let mut up = Vec::new();
                let Side { dev, radio, .. } = &mut self.sides[1 - side];
                let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.drops };
                let hw = &mut Hardware { radio, medium: &mut self.medium };
                let readable = Marks::first(ppdu.mpdus.len().max(1));
                dev.receive(
                    self.now,
                    PeerId(0),
                    &mut ppdu,
                    rate,
                    &RxOutcome { whole, readable },
                    &mut up,
                    hw,
                    ctx,
                );
                self.deliver(1 - side, up);
            }
            if again {
                self.sides[side].radio.put_back(queue, ppdu);
            } else {
                ppdu.acknowledged |= acknowledged;
                through.push((side, ppdu));
            }
        }
        self.medium.idle(self.now, self.now);
        for (side, ppdu) in through {
            let Side { dev, radio, .. } = &mut self.sides[side];
            let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.drops };
            let woken = dev.tx_status(self.now, ppdu, &mut Hardware { radio, medium: &mut self.medium }, ctx);
            self.woken(side, woken);
        }
    }

    /// Checks the state after a run: every packet was delivered once or dropped with a reason, every charge
    /// has ended once, and nothing is held.
    pub fn check_drained(&mut self) {
        for (n, side) in self.sides.iter().enumerate() {
            assert!(side.above.iter().all(VecDeque::is_empty), "a queue above device {n} was never woken");
            assert_eq!((side.dev.held(&self.packets), side.radio.ppdus().count()), (0, 0), "device {n}");
        }
        assert_eq!(self.packets.live(), 0);
        self.ended.extend(core::iter::from_fn(|| self.packets.pop_uncharged()).map(|c| c.0.0));
        self.ended.sort_unstable();
        assert_eq!(self.ended, (0..self.made).collect::<Vec<_>>(), "each charge ends exactly once");
        let mut fates: Vec<u32> =
            self.up.iter().map(|u| u.2).chain(self.drops.0.iter().map(|d| d.0)).collect();
        fates.sort_unstable();
        assert_eq!(fates, (0..self.made).collect::<Vec<_>>(), "each packet has one fate");
    }

    /// Numbers of the packets passed up at a device for one TID.
    pub fn up(&self, side: usize, tid: u8) -> Vec<u32> {
        self.up.iter().filter(|u| (u.0, u.1) == (side, tid)).map(|u| u.2).collect()
    }
}
