//! Shared by the sender's tests: a configuration, and a path with a receiver.

use alloc::collections::{BTreeMap, BinaryHeap, VecDeque};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::super::config::TcpConfig;
use super::super::metrics::PathMetrics;
use super::super::{AckIn, Emit, PeerOptions, SegmentOut};
use super::Sender;
use crate::qdisc::Enqueue;
use crate::transport::cc::Cc;
use crate::transport::seq::{after, before, distance};
use crate::types::{Duration, Instant, RandomStream, Seed, SockId, TcpFlags, TcpHeader};

/// Linux 6.1 as measured: one segment per packet on a device with scatter-gather.
pub(super) fn config() -> TcpConfig {
    TcpConfig::default()
}

pub(super) const PEER: PeerOptions =
    PeerOptions { mss: 1_460, sack: true, timestamps: true, ecn: true, window_scale: Some(7) };

fn random() -> RandomStream {
    Seed { seed: 1, run: 0 }.stream("sender")
}

pub(super) fn sender(config: &TcpConfig) -> Sender {
    Sender::new(config, Cc::by_name("reno").expect("reno"), random())
}

/// Departure time for tests that do not depend on it.
pub(super) const LATER: Instant = Instant::from_nanos(u64::MAX / 2);

/// A sender just after the handshake, with initial sequence number 1,000 and a SYN RTT of 10 ms.
pub(super) fn established() -> Sender {
    established_by(&config(), &PathMetrics::default())
}

/// Likewise, with this configuration and these path metrics.
pub(super) fn established_by(config: &TcpConfig, path: &PathMetrics) -> Sender {
    let mut s = sender(config);
    s.established(at_us(10_000), 1_000, &PEER, 1 << 20, Some(Duration::from_millis(10)), path);
    s
}

pub(super) fn at_us(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

/// Records what a sender emits. Returns scripted answers, then always `Queued`.
#[derive(Default)]
pub(super) struct Sink {
    pub sent: Vec<SegmentOut>,
    pub answers: VecDeque<Enqueue>,
}

impl Emit for Sink {
    fn emit(&mut self, _now: Instant, segment: SegmentOut) -> Enqueue {
        self.sent.push(segment);
        self.answers.pop_front().unwrap_or(Enqueue::Queued)
    }
}

impl Sink {
    /// Takes the recorded packets and returns their first bytes, in segments of 1,448 bytes from 1,000.
    pub fn numbers(&mut self) -> Vec<u32> {
        self.sent.drain(..).map(|s| s.seq.wrapping_sub(1_000) / 1_448).collect()
    }
}

/// Delivers an ACK for everything before `ack`, with timestamp echo `ecr` in ms.
pub(super) fn ack(s: &mut Sender, at: Instant, ack: u32, ecr: u32, sack: &[(u32, u32)]) {
    let mut header = TcpHeader::blank(SockId(0));
    (header.flags, header.window, header.ts_ecr) = (TcpFlags::ACK, 1 << 20, ecr);
    header.sacks = sack.len() as u8;
    header.sack[..sack.len()].copy_from_slice(sack);
    s.on_ack(at, &AckIn { ack, seq: 1, header: &header }, false);
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// Rate of the local device in bytes per us.
    pub rate: u64,
    /// Limit of the local queue in packets.
    pub queue: usize,
    /// One-way delay in us.
    pub delay_us: u64,
    /// Probabilities in percent: packet loss, duplication, late arrival, ACK loss, CE marks.
    pub loss: u8,
    pub duplicate: u8,
    pub late: u8,
    pub ack_loss: u8,
    pub mark: u8,
    /// The receiver closes its window at times.
    pub closes: bool,
    /// Acknowledge every segment instead of every second.
    pub every: bool,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Depart,
    Arrive(SegmentOut, u32, bool),
    Ack(u32, TcpHeader),
    DelayedAck(u32),
}

struct Port<'a> {
    queue: &'a mut VecDeque<SegmentOut>,
    refused: &'a mut Vec<u32>,
    limit: usize,
}

impl Emit for Port<'_> {
    fn emit(&mut self, _now: Instant, segment: SegmentOut) -> Enqueue {
        if self.queue.len() >= self.limit {
            self.refused.push(segment.truesize);
            return Enqueue::Dropped;
        }
        self.queue.push_back(segment);
        Enqueue::Queued
    }
}

/// A sender, a path, and a receiver with cumulative ACKs, SACK, D-SACK, timestamps and ECN.
pub(super) struct Run {
    pub s: Sender,
    path: Path,
    now: u64,
    events: BinaryHeap<Reverse<(u64, u64)>>,
    kinds: BTreeMap<u64, Event>,
    serial: u64,
    local: VecDeque<SegmentOut>,
    sending: bool,
    random: RandomStream,
    pub rcv_nxt: u32,
    ooo: Vec<(u32, u32)>,
    ts_recent: u32,
    pending: u32,
    delayed: u32,
    ece: bool,
    closed_until: u64,
    to_write: u64,
    pub fin: bool,
    pub received: u64,
    /// True once the local queue has refused a packet.
    pub refused: bool,
}

impl Run {
    pub fn new(config: &TcpConfig, path: Path, bytes: u64, seed: u64) -> Self {
        let mut s = sender(config);
        let peer =
            PeerOptions { sack: config.sack, timestamps: config.timestamps, ecn: config.ecn == 1, ..PEER };
        let start = u32::MAX - 20_000;
        s.established(
            at_us(1_000),
            start,
            &peer,
            1 << 20,
            Some(Duration::from_micros(2 * path.delay_us)),
            &PathMetrics::default(),
        );
        let mut run = Self {
            s,
            path,
            now: 1_000_000,
            events: BinaryHeap::new(),
            kinds: BTreeMap::new(),
            serial: 0,
            local: VecDeque::new(),
            sending: false,
            random: Seed { seed, run: 0 }.stream("path"),
            rcv_nxt: start,
            ooo: vec![],
            ts_recent: 0,
            pending: 0,
            delayed: 0,
            ece: false,
            closed_until: 0,
            to_write: bytes,
            fin: false,
            received: 0,
            refused: false,
        };
        run.write();
        run.push();
        run
    }

    fn at(&mut self, ns: u64, event: Event) {
        self.serial += 1;
        self.events.push(Reverse((ns, self.serial)));
        self.kinds.insert(self.serial, event);
    }
    fn chance(&mut self, per_cent: u8) -> bool {
        self.random.below(100) < u32::from(per_cent)
    }
    fn instant(&self) -> Instant {
        Instant::from_nanos(self.now)
    }
    fn write(&mut self) {
        let now = self.instant();
        let mut refused = vec![];
        let mut port = Port { queue: &mut self.local, refused: &mut refused, limit: self.path.queue };
        self.to_write -= self.s.write(now, self.to_write, &mut port);
        if self.to_write == 0 {
            self.s.close();
        }
        self.sent(&refused);
    }
    fn with_port(&mut self, f: impl FnOnce(&mut Sender, Instant, &mut Port<'_>)) {
        let now = self.instant();
        let mut refused = vec![];
        let mut port = Port { queue: &mut self.local, refused: &mut refused, limit: self.path.queue };
        f(&mut self.s, now, &mut port);
        self.sent(&refused);
    }
    /// Uncharges refused packets after a transmission.
    fn sent(&mut self, refused: &[u32]) {
        self.refused |= !refused.is_empty();
        let mut wake = false;
        for &truesize in refused {
            wake |= self.s.uncharge(self.instant(), truesize);
        }
        if wake {
            self.push();
        }
        self.start();
    }
    fn push(&mut self) {
        self.with_port(|s, now, port| s.push(now, port));
        self.s.check_space();
        if self.to_write > 0 && self.s.wants_data() {
            self.write();
            self.with_port(|s, now, port| s.push(now, port));
        }
    }
    fn start(&mut self) {
        if !self.sending
            && let Some(head) = self.local.front()
        {
            self.sending = true;
            let bytes = head.payload + 52 * u32::from(head.segs);
            let ns = u64::from(bytes) * 1_000 / self.path.rate;
            self.at(self.now + ns, Event::Depart);
        }
    }

    /// Handles the next event. Returns false after the last one.
    pub fn step(&mut self) -> bool {
        let timer = self.s.next_timer().map(Instant::nanos);
        let next = self.events.peek().map(|Reverse((at, _))| *at);
        if let Some(at) = timer
            && next.is_none_or(|next| at <= next)
        {
            self.now = self.now.max(at);
            self.with_port(|s, now, port| s.on_timer(now, port));
            return true;
        }
        let Some(Reverse((at, serial))) = self.events.pop() else { return false };
        self.now = at;
        match self.kinds.remove(&serial).expect("an event for each entry") {
            Event::Depart => {
                self.sending = false;
                let segment = self.local.pop_front().expect("a packet departs");
                let wake = self.s.uncharge(self.instant(), segment.truesize);
                self.launch(segment);
                self.start();
                if wake {
                    self.push();
                }
            }
            Event::Arrive(segment, ts, marked) => self.arrive(segment, ts, marked),
            Event::Ack(ack, header) => {
                let now = self.instant();
                self.s.on_ack(now, &AckIn { ack, seq: 1, header: &header }, false);
                self.push();
            }
            Event::DelayedAck(id) if id == self.delayed && self.pending > 0 => self.acknowledge(None),
            Event::DelayedAck(_) => {}
        }
        true
    }

    /// Sends the segments of a packet individually.
    fn launch(&mut self, whole: SegmentOut) {
        let ts = (self.now / 1_000_000) as u32;
        let mut left = whole.payload;
        for i in 0..whole.segs {
            let n = left.min(u32::from(whole.mss));
            left -= n;
            let last = i + 1 == whole.segs;
            let seq = whole.seq.wrapping_add(u32::from(i) * u32::from(whole.mss));
            let flags = if last { whole.flags } else { TcpFlags(whole.flags.0 & !TcpFlags::FIN.0) };
            let one = SegmentOut { seq, payload: n, segs: 1, flags, ..whole };
            if self.chance(self.path.loss) {
                continue;
            }
            let copies = 1 + u64::from(self.chance(self.path.duplicate));
            for copy in 0..copies {
                let mut at = self.now + self.path.delay_us * 1_000 + copy * 300_000;
                if self.chance(self.path.late) {
                    at += u64::from(self.random.below(3_000_000));
                }
                let marked = whole.ecn_capable && self.chance(self.path.mark);
                self.at(at, Event::Arrive(one, ts, marked));
            }
        }
    }

    fn arrive(&mut self, segment: SegmentOut, ts: u32, marked: bool) {
        let end = segment.seq.wrapping_add(segment.payload + u32::from(segment.flags.has(TcpFlags::FIN)));
        self.ece |= marked;
        if segment.flags.has(TcpFlags::CWR) {
            self.ece = marked;
        }
        if !after(segment.seq, self.rcv_nxt) {
            self.ts_recent = ts;
        }
        let mut dsack = None;
        let in_order = segment.seq == self.rcv_nxt && self.ooo.is_empty();
        if !after(end, self.rcv_nxt) {
            dsack = Some((segment.seq, end)).filter(|_| end != segment.seq);
        } else if self.ooo.iter().any(|&(s, e)| !before(segment.seq, s) && !after(end, e)) {
            dsack = Some((segment.seq, end));
        } else {
            self.fin |= segment.flags.has(TcpFlags::FIN);
            self.ooo.insert(0, (segment.seq, end));
            self.merge();
        }
        self.pending += 1;
        if !in_order || self.path.every || self.pending >= 2 || marked {
            self.acknowledge(dsack);
        } else {
            self.delayed += 1;
            self.at(self.now + 40_000_000, Event::DelayedAck(self.delayed));
        }
    }

    fn merge(&mut self) {
        // The newest range comes first; ranges that touch it are merged into it.
        let (mut start, mut end) = self.ooo.remove(0);
        let mut i = 0;
        while i < self.ooo.len() {
            let (s, e) = self.ooo[i];
            if !after(s, end) && !before(e, start) {
                start = if before(s, start) { s } else { start };
                end = if after(e, end) { e } else { end };
                self.ooo.remove(i);
                i = 0;
            } else {
                i += 1;
            }
        }
        if after(start, self.rcv_nxt) {
            self.ooo.insert(0, (start, end));
        } else {
            self.received += u64::from(distance(self.rcv_nxt, end));
            self.rcv_nxt = end;
        }
    }

    fn acknowledge(&mut self, dsack: Option<(u32, u32)>) {
        self.pending = 0;
        let mut header = TcpHeader::blank(SockId(0));
        header.flags = if self.ece { TcpFlags::ACK.with(TcpFlags::ECE) } else { TcpFlags::ACK };
        header.ts_ecr = self.ts_recent;
        if self.s.cfg.sack {
            for (i, &block) in dsack.iter().chain(self.ooo.iter()).take(3).enumerate() {
                header.sack[i] = block;
                header.sacks = i as u8 + 1;
            }
        }
        header.window = 1 << 20;
        if self.path.closes && self.now >= self.closed_until && self.random.below(200) == 0 {
            self.closed_until = self.now + 700_000_000;
        }
        if self.now < self.closed_until {
            header.window = 0;
        }
        if !self.chance(self.path.ack_loss) {
            let at = self.now + self.path.delay_us * 1_000;
            self.at(at, Event::Ack(self.rcv_nxt, header));
        }
    }

    pub fn seconds(&self) -> f64 {
        self.now as f64 / 1e9
    }
    /// Truesize in the local queue, in bytes.
    pub fn held(&self) -> u32 {
        self.local.iter().map(|s| s.truesize).sum()
    }
}
