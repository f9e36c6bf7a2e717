//! Queues in the MAC: Algorithms 1 and 2 of *Ending the Anomaly*, with a station scheduler above the hardware
//! ([`StationScheduler`]).

mod account;
mod any;
mod as_printed;
mod deficit;
mod round_robin;
mod virtual_time;
mod watched;
mod weighted_deficit;

pub use crate::wifi::stations::{AirtimeUse, DeviceView, StationScheduler};
use alloc::vec;
use alloc::vec::Vec;
pub use any::scheduler_of;

use crate::aqm::codel::CodelParams;
use crate::sched::drr::EmptyNew;
use crate::sched::flow_queues::{FlowQueues, FlowQueuesParams, MtuScope, TinId};
use crate::types::{Ac, Ctx, Duration, Instant, Packet, PeerId, Pkt, PlaceId, Rate, Seed, Sink};
use crate::wifi::air::radio::Radio;
use crate::wifi::config::{AqlParams, MacFqParams, Scheduler};
use crate::wifi::phy::frame::{data_mpdu, joined_mpdu};
use crate::wifi::stations::AirtimeBelow;
use crate::wifi::tx::aggregate::AmsduLimits;
use crate::wifi::tx::transmitter::{Attempt, Hardware, TIDS, TidIndex, Transmitter};
use any::{AnyScheduler, each};

/// State of a station's CoDel parameters.
#[derive(Clone, Copy, Debug, Default)]
struct StationCodel {
    slow: bool,
    changed: Option<Instant>,
}

impl StationCodel {
    fn params(self, of: &MacFqParams) -> CodelParams {
        if self.slow { of.codel_slow } else { of.codel }
    }
}

/// Queues of all stations and the limits on dequeueing: everything but the scheduler.
#[derive(Debug)]
struct StationQueues {
    params: MacFqParams,
    /// One tin per TID.
    flows: FlowQueues,
    stations: Vec<StationCodel>,
    /// Airtime queue limits, if any.
    aql: Option<AqlParams>,
}

impl StationQueues {
    #[inline]
    fn codel(&self, peer: PeerId) -> CodelParams {
        self.stations[peer.index()].params(&self.params)
    }

    #[inline]
    fn view<'a>(&'a self, tx: &'a Transmitter, radio: &'a Radio) -> DeviceView<'a> {
        DeviceView { queues: &self.flows, tx, radio, aql: self.aql.as_ref(), below: None }
    }

    /// Tries to send a PPDU of a TID. If the hardware has no room, a frame is dequeued nevertheless and
    /// waits.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_sched_aggr (4.10) - keeps the dequeued frame.
    #[inline]
    fn attempt<S: Sink>(
        &mut self,
        now: Instant,
        tid: TidIndex,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) -> Attempt {
        if self.flows.has_custom_aqm() {
            return self.attempt_by_aqm(now, tid, tx, hw, ctx);
        }
        let codel = self.codel(tid.peer());
        let stopped = tx.tids[tid.index()].queue_is_stopped();
        let mut pull = |ctx: &mut Ctx<'_, S>| match stopped {
            true => None,
            false => self.flows.dequeue(now, TinId(tid.0), &codel, ctx),
        };
        let attempt = tx.attempt(now, tid, hw, ctx, &mut pull);
        if attempt == Attempt::Full {
            tx.hold_one(now, tid, ctx, pull);
        }
        attempt
    }

    /// [`StationQueues::attempt`] with a user-defined AQM instead of CoDel.
    #[cold]
    #[inline(never)]
    fn attempt_by_aqm<S: Sink>(
        &mut self,
        now: Instant,
        tid: TidIndex,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) -> Attempt {
        let slow = self.stations[tid.peer().index()].slow;
        let stopped = tx.tids[tid.index()].queue_is_stopped();
        let mut pull = |ctx: &mut Ctx<'_, S>| match stopped {
            true => None,
            false => self.flows.dequeue_by_aqm(now, TinId(tid.0), slow, ctx),
        };
        let attempt = tx.attempt(now, tid, hw, ctx, &mut pull);
        if attempt == Attempt::Full {
            tx.hold_one(now, tid, ctx, pull);
        }
        attempt
    }

    /// Queues a packet and returns true, unless the queue's AQM drops it.
    #[cold]
    #[inline(never)]
    fn enqueue_by_aqm<S: Sink>(&mut self, now: Instant, p: Pkt, tid: TidIndex, ctx: &mut Ctx<'_, S>) -> bool {
        let slow = self.stations[tid.peer().index()].slow;
        self.flows.enqueue_by_aqm(now, TinId(tid.0), slow, p, ctx).is_some()
    }

    /// Hands over frames of one TID after the other in the scheduler's order: of each TID as many as airtime
    /// queue limits allow, and in total as many as there is room for. `take` delivers a frame and returns its
    /// airtime, or drops it and returns `None`. Returns true if any frame was dequeued.
    #[inline]
    fn hand_over<'a, T: StationScheduler + ?Sized, S: Sink>(
        &mut self,
        scheduler: &mut T,
        now: Instant,
        ac: Ac,
        to: &mut Downstream<'_>,
        ctx: &mut Ctx<'a, S>,
        mut take: impl FnMut(Pkt, TidIndex, &mut Ctx<'a, S>) -> Option<u16>,
    ) -> bool {
        let mut any = false;
        scheduler.start(ac);
        while let Some(tid) = scheduler.next(now, ac, &self.over(to)) {
            let (codel, slow) = (self.codel(tid.peer()), self.stations[tid.peer().index()].slow);
            let limits = to.tx.peers[tid.peer().index()].limits[ac.index()].amsdu();
            let mut attempt = Attempt::Nothing;
            // A user-defined scheduler may name a TID whose queue is stopped.
            let stopped = to.tx.tids[tid.index()].queue_is_stopped();
            while !stopped && self.over(to).allows(tid) {
                if to.room == 0 {
                    attempt = if attempt == Attempt::Sent { attempt } else { Attempt::Full };
                    break;
                }
                let frame = if self.flows.has_custom_aqm() {
                    self.flows.dequeue_by_aqm(now, TinId(tid.0), slow, ctx)
                } else {
                    self.flows.dequeue(now, TinId(tid.0), &codel, ctx)
                };
                let Some(p) = frame else { break };
                to.room -= 1;
                attempt = Attempt::Sent;
                let Some(units) = take(p, tid, ctx) else { continue };
                if to.tx.group == Some(tid.peer()) {
                    to.airtime.add_to_groups(units);
                } else {
                    to.airtime.add(tid, units);
                }
                if limits.by_host {
                    self.hand_over_joined(now, (tid, p), limits, to, ctx, &mut take);
                }
            }
            any |= attempt == Attempt::Sent;
            if !scheduler.done(now, tid, attempt, &self.over(to)) {
                break;
            }
        }
        any
    }

    /// Dequeues packets that follow in the same flow, to join the one just handed over in an A-MSDU, up to
    /// the limits.
    // linux: net/mac80211/tx.c ieee80211_amsdu_aggregate (6.12) - limited by max_amsdu_len, the limit of rate
    // control, max_amsdu_subframes (not limited by any peer here) and the device's max_tx_fragments, of which
    // each packet takes one here.
    // deviation: each packet takes its own firmware token and counts separately for airtime queue limits.
    // Uses the MPDU length with FCS - Linux omits the FCS and counts some headers twice, 26 bytes less for
    // two packets.
    fn hand_over_joined<'a, S: Sink>(
        &mut self,
        now: Instant,
        (tid, first): (TidIndex, Pkt),
        limits: AmsduLimits,
        to: &mut Downstream<'_>,
        ctx: &mut Ctx<'a, S>,
        take: &mut impl FnMut(Pkt, TidIndex, &mut Ctx<'a, S>) -> Option<u16>,
    ) {
        let head = ctx.packets.get_mut(first);
        head.follows = false;
        let (mut bytes, mut packets, charge) = (data_mpdu(head.len), 1, ctx.packets.charge(first));
        while packets < limits.packets && to.room > 0 {
            let fits = |hot: &Packet| joined_mpdu(bytes, 0, packets == 1, hot.len) <= limits.bytes.into();
            let Some(p) = self.flows.take_with(now, TinId(tid.0), first, fits, ctx) else { break };
            bytes = joined_mpdu(bytes, 0, packets == 1, ctx.packets.get(p).len);
            ctx.packets.get_mut(p).follows = ctx.packets.charge(p) == charge;
            packets += 1;
            to.room -= 1;
            to.airtime.add(tid, take(p, tid, ctx).unwrap_or(0));
        }
    }

    /// View of a scheduler above a firmware with its own queues.
    #[inline]
    fn over<'a>(&'a self, to: &'a Downstream<'_>) -> DeviceView<'a> {
        let (tx, radio, below) = (to.tx, to.radio, Some(&*to.airtime));
        DeviceView { queues: &self.flows, tx, radio, aql: self.aql.as_ref(), below }
    }

    /// Serves one TID after the other in the scheduler's order until the scheduler ends the pass.
    #[inline]
    fn serve<T: StationScheduler + ?Sized, S: Sink>(
        &mut self,
        scheduler: &mut T,
        now: Instant,
        ac: Ac,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        scheduler.start(ac);
        while let Some(tid) = scheduler.next(now, ac, &self.view(tx, hw.radio)) {
            let attempt = self.attempt(now, tid, tx, hw, ctx);
            if !scheduler.done(now, tid, attempt, &self.view(tx, hw.radio)) {
                break;
            }
        }
    }
}

/// State below the host's queues, for a firmware with its own queues.
pub(super) struct Downstream<'a> {
    pub(super) tx: &'a Transmitter,
    pub(super) radio: &'a Radio,
    /// Airtime handed over, as counted by the host.
    pub(super) airtime: &'a mut AirtimeBelow,
    /// Frames that the firmware has room for.
    pub(super) room: u32,
}

/// Transmit path with mac80211's intermediate queues.
#[derive(Debug)]
pub struct FqDriver {
    queues: StationQueues,
    scheduler: AnyScheduler,
}

impl FqDriver {
    /// Creates a driver for a device with `peers` peers. Drops are recorded at `place`. `salt` perturbs the
    /// flow hash.
    pub fn new(params: MacFqParams, scheduler: Scheduler, peers: usize, place: PlaceId, salt: u64) -> Self {
        let flows = FlowQueuesParams {
            flows: params.flows,
            tins: (peers * TIDS) as u32,
            quantum: params.quantum,
            limit: params.limit,
            memory_limit: params.memory_limit,
            empty_new: EmptyNew::ToOldUnlessAlone,
            mtu_scope: MtuScope::Queue,
        };
        let mut flows = FlowQueues::new(flows, place, salt);
        if let Some(aqm) = &params.aqm {
            flows = flows.with_aqm(aqm, Seed { seed: salt, run: 0 }.stream("laws"));
        }
        let aql = scheduler.aql().copied();
        let scheduler = AnyScheduler::new(&scheduler, peers);
        let queues = StationQueues { params, flows, stations: vec![StationCodel::default(); peers], aql };
        Self { queues, scheduler }
    }

    /// Sets a station's airtime weight.
    pub fn weigh(&mut self, peer: PeerId, weight: u32) {
        each!(&mut self.scheduler, s => s.weigh(peer, weight));
    }

    /// Queues a packet. If a limit is exceeded, drops other packets.
    pub fn push<S: Sink>(&mut self, now: Instant, p: Pkt, tid: TidIndex, ctx: &mut Ctx<'_, S>) {
        if !self.queues.flows.has_custom_aqm() {
            self.queues.flows.enqueue(now, TinId(tid.0), p, ctx);
        } else if !self.queues.enqueue_by_aqm(now, p, tid, ctx) {
            return;
        }
        self.queues.flows.trim(now, self.queues.params.drop_batch, ctx);
        self.schedule(now, tid);
    }

    /// Reports whether a packet with an airtime of `units` can bypass the queues: it would be queued,
    /// dequeued immediately, and leave no work. If so, updates all state accordingly, including `to.airtime`.
    #[inline]
    pub(super) fn passes<S: Sink>(
        &mut self,
        now: Instant,
        p: Pkt,
        tid: TidIndex,
        units: u16,
        to: &mut Downstream<'_>,
        ctx: &mut Ctx<'_, S>,
    ) -> bool {
        let Self { queues, scheduler: AnyScheduler::WeightedDeficit(scheduler) } = self else { return false };
        let (tin, ac) = (TinId(tid.0), tid.ac());
        let limits = to.tx.peers[tid.peer().index()].limits[ac.index()].amsdu();
        if queues.flows.has_custom_aqm()
            || to.tx.tids[tid.index()].queue_is_stopped()
            || !scheduler.is_idle(ac, &queues.over(to))
            || !queues.over(to).allows(tid)
            || !queues.flows.is_free(tin, p, ctx.packets)
        {
            return false;
        }
        to.airtime.add(tid, units);
        if !queues.over(to).allows(tid) {
            to.airtime.remove(tid, units);
            return false;
        }
        scheduler.passed(now, tid, &queues.over(to));
        let codel = queues.codel(tid.peer());
        queues.flows.pass(now, tin, p, &codel, ctx);
        if limits.by_host {
            ctx.packets.get_mut(p).follows = false;
        }
        true
    }

    /// Lists a TID with frames in the scheduler, unless already listed.
    #[inline]
    pub fn schedule(&mut self, now: Instant, tid: TidIndex) {
        each!(&mut self.scheduler, s => s.schedule(now, tid));
    }

    /// Serves the stations in the scheduler's order until the hardware is full.
    pub fn fill<S: Sink>(
        &mut self,
        now: Instant,
        ac: Ac,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let Self { queues, scheduler } = self;
        each!(scheduler, s => queues.serve(s, now, ac, tx, hw, ctx));
    }

    /// Hands over frames to the firmware in the scheduler's order. `take` delivers a frame and returns its
    /// airtime, or drops it and returns `None`. Returns true if any frame was dequeued.
    pub(super) fn hand_over<'a, S: Sink>(
        &mut self,
        now: Instant,
        ac: Ac,
        to: &mut Downstream<'_>,
        ctx: &mut Ctx<'a, S>,
        take: impl FnMut(Pkt, TidIndex, &mut Ctx<'a, S>) -> Option<u16>,
    ) -> bool {
        let Self { queues, scheduler } = self;
        each!(scheduler, s => queues.hand_over(s, now, ac, to, ctx, take))
    }

    /// Charges airtime to a station: for frames sent to it, including retries, or for frames received from
    /// it.
    pub fn charge(&mut self, now: Instant, tid: TidIndex, used: Duration, kind: AirtimeUse) {
        each!(&mut self.scheduler, s => s.charge(now, tid, used, kind));
    }

    /// Updates the throughput that rate control expects. Selects relaxed CoDel parameters for slow stations,
    /// with hysteresis if configured.
    // paper: ending-the-anomaly 3.1.1.
    // linux: net/mac80211/sta_info.c sta_update_codel_params (4.12) - zero means unknown.
    pub fn expect(&mut self, now: Instant, peer: PeerId, throughput: Rate) {
        let StationQueues { params, stations, .. } = &mut self.queues;
        let slow = throughput.bps() > 0 && throughput < params.slow_below.threshold(stations.len());
        let station = &mut stations[peer.index()];
        let settled = station.changed.is_none_or(|at| now.saturating_since(at) >= params.hysteresis);
        if slow != station.slow && settled {
            *station = StationCodel { slow, changed: Some(now) };
        }
    }

    /// Returns the number of packets of a TID.
    pub fn backlog(&self, tid: TidIndex) -> u32 {
        self.queues.flows.backlog(TinId(tid.0)).0
    }

    /// Takes the next packet of a TID, as for a PPDU.
    pub fn pull<S: Sink>(&mut self, now: Instant, tid: TidIndex, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        let queues = &mut self.queues;
        if queues.flows.has_custom_aqm() {
            let slow = queues.stations[tid.peer().index()].slow;
            return queues.flows.dequeue_by_aqm(now, TinId(tid.0), slow, ctx);
        }
        let codel = queues.codel(tid.peer());
        queues.flows.dequeue(now, TinId(tid.0), &codel, ctx)
    }

    /// Returns the number of packets in the queues.
    pub fn queued(&self) -> u64 {
        u64::from(self.queues.flows.total())
    }

    /// Returns the bytes of these packets, with Ethernet headers.
    pub fn queued_bytes(&self) -> u64 {
        self.queues.flows.total_bytes()
    }

    /// Returns a station's deficit in nanoseconds, or 0 for schedulers without deficits.
    #[cfg(test)]
    pub(crate) fn deficit(&self, tid: TidIndex) -> i64 {
        self.scheduler.deficit(tid)
    }

    /// Returns the number of times that a flow's queue was listed as new.
    #[cfg(test)]
    pub(crate) fn new_flows(&self) -> u64 {
        self.queues.flows.stats().new_flow_count
    }

    #[cfg(test)]
    pub(crate) fn is_slow(&self, peer: PeerId) -> bool {
        self.queues.stations[peer.index()].slow
    }
}

#[cfg(test)]
mod tests;
