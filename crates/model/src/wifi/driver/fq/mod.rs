//! Queues in the MAC: Algorithms 1 and 2 of *Ending the Anomaly*, with a scheduler of stations above the
//! hardware ([`StationScheduler`]).

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

/// CoDel's parameters for one station.
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

/// What stations' frames wait in, and what limits how they leave: all but whose turn it is.
#[derive(Debug)]
struct StationQueues {
    params: MacFqParams,
    /// A tin for each TID.
    flows: FlowQueues,
    stations: Vec<StationCodel>,
    /// Airtime queue limits, if there are any.
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

    /// Tries to send a PPDU of a TID. If there is no room, a frame leaves its queue all the same and waits.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_sched_aggr (4.10) - the frame that was looked at.
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

    /// [`StationQueues::attempt`] with AQMs in CoDel's place.
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

    /// Queues a packet, unless its queue's AQM is against it; false if it is.
    #[cold]
    #[inline(never)]
    fn enqueue_by_aqm<S: Sink>(&mut self, now: Instant, p: Pkt, tid: TidIndex, ctx: &mut Ctx<'_, S>) -> bool {
        let slow = self.stations[tid.peer().index()].slow;
        self.flows.enqueue_by_aqm(now, TinId(tid.0), slow, p, ctx).is_some()
    }

    /// Lets frames leave one TID after the other, as the scheduler names them: of each as many as airtime
    /// queue limits allow, and in all while there is room. `take` puts a frame where it goes, and says what
    /// it counts for, or drops it. Whether any did.
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
            // A scheduler of a program's own may name a TID whose queue is stopped.
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

    /// The packets behind the one that has just left, of its flow, leave with it as one A-MSDU, as many as
    /// may be.
    // linux: net/mac80211/tx.c ieee80211_amsdu_aggregate (6.12) - within max_amsdu_len, what rate control
    // says of it, max_amsdu_subframes (which no peer here limits) and the device's max_tx_fragments, of which
    // each packet takes one here.
    // deviation: a packet has a token of the firmware, and counts for airtime queue limits, by itself. Its
    // length is that of the MPDU with its check, in Linux that without and with some headers twice: 26 bytes
    // less of two packets.
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

    /// What a scheduler sees above a firmware with queues of its own.
    #[inline]
    fn over<'a>(&'a self, to: &'a Downstream<'_>) -> DeviceView<'a> {
        let (tx, radio, below) = (to.tx, to.radio, Some(&*to.airtime));
        DeviceView { queues: &self.flows, tx, radio, aql: self.aql.as_ref(), below }
    }

    /// Serves one TID after the other, as the scheduler names them, until it says that the look is over.
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

/// What is below the queues where a firmware has queues of its own.
pub(super) struct Downstream<'a> {
    pub(super) tx: &'a Transmitter,
    pub(super) radio: &'a Radio,
    /// What the host has handed over, as it counts.
    pub(super) airtime: &'a mut AirtimeBelow,
    /// Frames that there is room for.
    pub(super) room: u32,
}

/// Transmit path with mac80211's intermediate queues.
#[derive(Debug)]
pub struct FqDriver {
    queues: StationQueues,
    scheduler: AnyScheduler,
}

impl FqDriver {
    /// A driver for a device with `peers` peers. Drops are recorded at `place`. `salt` perturbs the flow
    /// hash.
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

    /// Queues a packet. If a limit is exceeded, other packets are dropped.
    pub fn push<S: Sink>(&mut self, now: Instant, p: Pkt, tid: TidIndex, ctx: &mut Ctx<'_, S>) {
        if !self.queues.flows.has_custom_aqm() {
            self.queues.flows.enqueue(now, TinId(tid.0), p, ctx);
        } else if !self.queues.enqueue_by_aqm(now, p, tid, ctx) {
            return;
        }
        self.queues.flows.trim(now, self.queues.params.drop_batch, ctx);
        self.schedule(now, tid);
    }

    /// Whether a packet that counts for `units` finds its way free: it would be queued and leave at once, and
    /// nothing would be left to do. If so all is as if it had, `below` included.
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

    /// The TID has frames: lists its schedulable unit with the scheduler, unless already listed.
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

    /// Lets frames leave for a firmware, as the scheduler says. `take` puts one where it goes, and says what
    /// it counts for, or drops it. Whether any did.
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

    /// Charges airtime to a station: for frames sent to it, retries included, or for frames received from it.
    pub fn charge(&mut self, now: Instant, tid: TidIndex, used: Duration, kind: AirtimeUse) {
        each!(&mut self.scheduler, s => s.charge(now, tid, used, kind));
    }

    /// Rate control expects a new throughput. CoDel's parameters are relaxed for slow stations, with
    /// hysteresis if configured.
    // paper: ending-the-anomaly 3.1.1; linux: net/mac80211/sta_info.c sta_update_codel_params (4.12) - zero
    // is unknown.
    pub fn expect(&mut self, now: Instant, peer: PeerId, throughput: Rate) {
        let StationQueues { params, stations, .. } = &mut self.queues;
        let slow = throughput.bps() > 0 && throughput < params.slow_below.threshold(stations.len());
        let station = &mut stations[peer.index()];
        let settled = station.changed.is_none_or(|at| now.saturating_since(at) >= params.hysteresis);
        if slow != station.slow && settled {
            *station = StationCodel { slow, changed: Some(now) };
        }
    }

    /// Number of packets of a TID.
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

    /// Number of packets in the queues.
    pub fn queued(&self) -> u64 {
        u64::from(self.queues.flows.total())
    }

    /// Bytes of these packets, with Ethernet headers.
    pub fn queued_bytes(&self) -> u64 {
        self.queues.flows.total_bytes()
    }

    /// What a station may still use before its turn ends, in nanoseconds; 0 where nothing is accounted.
    #[cfg(test)]
    pub(crate) fn deficit(&self, tid: TidIndex) -> i64 {
        self.scheduler.deficit(tid)
    }

    /// How often a flow's queue was listed as new.
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
