//! Received, dropped and skipped datagrams of a flow, by due time.

use std::collections::{BTreeMap, VecDeque};

use stillair_model::app::{Due, WhenFull};
use stillair_model::types::{Addr, Duration, FlowId, Instant, PacketKind};

use super::{Delays, FlowRecord, Recorder, payload};
use crate::scenario::{FlowKind, Scenario};

/// Skipped datagrams due within this time of each other share an entry.
const TOGETHER: Duration = Duration::from_millis(1);

/// Record for a flow whose source does not block, or whose packets a network duplicates. Other datagram
/// sources need none.
#[derive(Clone, Debug, Default)]
pub struct Datagrams {
    /// True if the goodput covers the datagrams due in the measurement interval, whenever they arrive.
    by_due: bool,
    /// True for real-time media, which report the longest time without an arrival.
    is_media: bool,
    /// Time of the last arrival; before the first arrival, the start of the flow.
    last: Instant,
    longest: Duration,
    /// Due times and counts of datagrams skipped since the source sent the last one received.
    skipped: VecDeque<(Instant, u32)>,
    /// Copies in flight of duplicated packets, and true if a copy has arrived, by sequence number.
    copies: BTreeMap<u32, (u32, bool)>,
}

impl Datagrams {
    /// Creates the record for a flow of this kind that starts at `start`. `None` if the flow needs none.
    pub fn of(kind: &FlowKind, start: Instant) -> Option<Self> {
        let is_media = matches!(kind, FlowKind::Voip { .. } | FlowKind::Video(_));
        let by_due = is_media || matches!(kind, FlowKind::Udp { when_full: WhenFull::Drop, .. });
        by_due.then(|| Self { by_due, is_media, last: start, ..Self::default() })
    }

    /// Returns true if datagrams count by due time, false if they count by arrival.
    pub fn is_by_due(&self) -> bool {
        self.by_due
    }

    /// Returns the longest time without an arrival in the measurement interval, for real-time media.
    pub(super) fn longest_gap_ms(&self) -> Option<f64> {
        self.is_media.then(|| self.longest.micros_f64() / 1e3)
    }

    fn gap_until(&mut self, now: Instant, measured: &core::ops::Range<Instant>) {
        let gap = now.min(measured.end).saturating_since(self.last.max(measured.start));
        self.longest = self.longest.max(gap);
    }

    /// Records an arrived datagram that was due at `due`. Datagrams skipped before it count with the time
    /// from their due time until now.
    // paper: Tene, "How NOT to Measure Latency" (2013) - coordinated omission: requests omitted by a stalled
    // sender are those that would have waited longest.
    fn arrived(&mut self, now: Instant, due: Instant, delays: &mut Delays) {
        while let Some(&(skipped, datagrams)) = self.skipped.front().filter(|(skipped, _)| *skipped < due) {
            delays.add_many(now - skipped, datagrams.into());
            self.skipped.pop_front();
        }
    }

    fn skips(&mut self, due: Instant, datagrams: u32) {
        match self.skipped.back_mut() {
            Some((first, many)) if due - *first < TOGETHER => *many += datagrams,
            _ => self.skipped.push_back((due, datagrams)),
        }
    }

    /// Records an arrived packet. Returns true if a copy of it arrived before.
    fn is_copy(&mut self, seq: u32) -> bool {
        let Some((copies, arrived)) = self.copies.get_mut(&seq) else { return false };
        *copies -= 1;
        let before = core::mem::replace(arrived, true);
        if *copies == 0 {
            self.copies.remove(&seq);
        }
        before
    }

    /// Records a dropped packet. Returns true if no copy of it is left.
    fn is_lost(&mut self, seq: u32) -> bool {
        let Some((copies, arrived)) = self.copies.get_mut(&seq) else { return true };
        *copies -= 1;
        let lost = *copies == 0 && !*arrived;
        if *copies == 0 {
            self.copies.remove(&seq);
        }
        lost
    }
}

/// Datagrams of a flow due in the measurement interval, by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Fates {
    pub(super) due: u64,
    pub(super) received: u64,
    /// Dropped or never sent.
    pub(super) lost: u64,
    /// Neither received nor lost at the end of the run: in the network, or delayed by a full send buffer.
    pub(super) under_way: u64,
}

impl Fates {
    pub(super) fn of(record: &FlowRecord) -> Self {
        let due = record.due.datagrams;
        let received = record.packets.min(due);
        let lost = (record.lost + record.due.unsent).min(due - received);
        Self { due, received, lost, under_way: due - received - lost }
    }

    /// Returns the loss rate over all datagrams due, 0 to 1.
    pub(super) fn loss(self) -> Option<f64> {
        (self.due > 0).then(|| self.lost as f64 / self.due as f64)
    }
}

impl Recorder {
    /// Records an arrived datagram of `udp`, `video` or `voip`.
    #[inline]
    pub(super) fn datagram(
        &mut self,
        now: Instant,
        flow: FlowId,
        (kind, seq, len): (PacketKind, u32, u32),
        delay: Duration,
        src: Addr,
    ) {
        let due = now - delay;
        let counts = self.measured.contains(&due);
        let record = &mut self.flows[flow.index()];
        let mut adds = self.measured.contains(&now);
        if let Some(datagrams) = &mut record.datagrams {
            if datagrams.is_copy(seq) {
                return;
            }
            datagrams.arrived(now, due, &mut record.delays);
            if datagrams.is_media {
                datagrams.gap_until(now, &self.measured);
                datagrams.last = now;
            }
            if datagrams.by_due {
                adds = counts;
            }
        }
        if adds {
            record.bytes += payload(len, src);
            record.delays.add(delay);
        }
        if counts {
            record.packets += 1;
            if kind == PacketKind::Voip {
                record.voip.arrived(seq, delay);
            }
        }
    }

    /// Records a dropped packet that was sent, or due, at `sent`.
    #[inline]
    pub(super) fn drops(&mut self, now: Instant, flow: FlowId, (seq, sent): (u32, Instant), missed: bool) {
        let Some(record) = self.flows.get_mut(flow.index()) else {
            if self.measured.contains(&now) {
                self.hosts.dropped(flow);
            }
            return;
        };
        record.ping.dropped(seq);
        let is_lost = record.datagrams.as_mut().is_none_or(|datagrams| datagrams.is_lost(seq));
        if is_lost && self.measured.contains(&sent) {
            record.lost += 1;
            record.missed += u64::from(missed);
        }
        if !missed {
            // Before the air, one packet serves all receivers. `settle` counts such losses.
            let others = record.others;
            for record in &mut self.flows[flow.index() + 1..][..others] {
                if let Some(datagrams) = &mut record.datagrams {
                    datagrams.is_lost(seq);
                }
            }
        }
    }

    /// Records datagrams due now that a source skips.
    #[cold]
    pub(super) fn skips(&mut self, now: Instant, flow: FlowId, many: u32) {
        if self.measured.contains(&now) {
            let (first, others) = (flow.index(), self.flows[flow.index()].others);
            for record in &mut self.flows[first..=first + others] {
                if let Some(datagrams) = &mut record.datagrams {
                    datagrams.skips(now, many);
                }
            }
        }
    }

    /// Records a duplicated packet. Only copies of datagrams are tracked, until all have arrived or were
    /// dropped.
    #[cold]
    pub(super) fn doubles(&mut self, flow: FlowId, kind: PacketKind, seq: u32) {
        if !matches!(kind, PacketKind::Udp | PacketKind::Voip) {
            return;
        }
        let first = flow.index();
        let Some(others) = self.flows.get(first).map(|record| record.others) else { return };
        for record in &mut self.flows[first..=first + others] {
            let copies = &mut record.datagrams.get_or_insert_default().copies;
            copies.entry(seq).or_insert((1, false)).0 += 1;
        }
    }

    /// Takes over the counters of the sources at the end of a run.
    pub fn settle(&mut self, scenario: &Scenario, end: Instant, all: impl Iterator<Item = (FlowId, Due)>) {
        for (flow, due) in all {
            self.flows[flow.index()].due = due;
        }
        let mut id = 0;
        for flow in &scenario.flows {
            let first = id;
            for _ in &flow.to {
                if flow.multicast && id > first {
                    // One source sends for all members; drops before the air are counted for the first
                    // member.
                    let FlowRecord { due, lost, missed, .. } = self.flows[first];
                    self.flows[id].due = due;
                    self.flows[id].lost += lost - missed;
                }
                let stop = flow.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop);
                self.flows[id].settle(end, end.min(stop), &self.measured);
                if let FlowKind::Udp { payload, when_full: WhenFull::Block, .. } = flow.kind {
                    let record = &mut self.flows[id];
                    // A backlog from the warm-up does not count as goodput.
                    record.bytes = record.bytes.min(record.due.datagrams * u64::from(payload));
                }
                id += 1;
            }
        }
    }
}

impl FlowRecord {
    /// Completes the record of a flow that sends until `stop`, in a run that ends at `end`.
    fn settle(&mut self, end: Instant, stop: Instant, measured: &core::ops::Range<Instant>) {
        let Some(datagrams) = &mut self.datagrams else { return };
        datagrams.gap_until(stop, measured);
        for (due, many) in core::mem::take(&mut datagrams.skipped) {
            self.delays.add_many(end - due, many.into());
        }
    }
}
