//! Queues in the MAC: Algorithms 1 and 2 of *Ending the Anomaly*, and the scheduler above the hardware, which is a
//! plain round (scheme `fq_mac`) or Algorithm 3 (scheme `airtime`).

use super::turns::Turns;
use crate::aqm::codel::CodelParams;
use crate::fair::drr::{EmptyNew, Member, Rounds};
use crate::fair::flow_queues::{FlowQueues, FlowQueuesParams, MtuScope, Tin};
use crate::vocabulary::{Ac, Ctx, Duration, Instant, PeerId, Pkt, PlaceId, Rate, Sink};
use crate::wifi::config::{
    AIRTIME_WEIGHT, AirtimeParams, AqlParams, FqParams, Mac80211Rules, Scheduler, WhenFull,
};
use crate::wifi::phy::ppdu_duration_without_extension;
use crate::wifi::tx::transmitter::{Attempt, Hardware, TIDS, TidIndex, Transmitter};

mod virtual_time;

use virtual_time::{ACTIVE, VirtualTime};

/// CoDel's parameters for one station.
#[derive(Clone, Copy, Debug, Default)]
struct StationCodel {
    slow: bool,
    changed: Option<Instant>,
}

impl StationCodel {
    fn params(self, of: &FqParams) -> CodelParams {
        if self.slow { of.codel_slow } else { of.codel }
    }
}

/// The transmit path with queues in the MAC.
#[derive(Debug)]
pub struct Fq {
    params: FqParams,
    scheduler: Scheduler,
    /// A tin for each identifier, and the deficits of both.
    queues: FlowQueues,
    rounds: [Rounds; 4],
    /// The round of ath9k's older driver, where stations are served by that.
    turns: Turns,
    stations: Vec<StationCodel>,
    weights: Vec<u32>,
    /// When an identifier that stands for a station and category was listed last with frames, where the rules ask for it.
    active: Vec<Option<Instant>>,
    /// By identifier: the look through the list in which it was served last, and the number of the look under way.
    served: Vec<u32>,
    look: u32,
    clocks: VirtualTime,
}

/// The identifier that stands for all of a peer's identifiers of one category.
const fn representative(peer: PeerId, ac: Ac) -> TidIndex {
    let tid = match ac {
        Ac::Vo => 6,
        Ac::Vi => 4,
        Ac::Be => 0,
        Ac::Bk => 1,
    };
    TidIndex::new(peer, tid)
}

impl Fq {
    /// A driver for a device with so many peers. Drops are booked at `place`; `salt` decides which flows share a queue.
    pub fn new(params: FqParams, scheduler: Scheduler, peers: usize, place: PlaceId, salt: u64) -> Self {
        let tids = (peers * TIDS) as u32;
        let queues = FlowQueuesParams {
            flows: params.flows,
            tins: tids,
            quantum: params.quantum,
            limit: params.limit,
            memory_limit: params.memory_limit,
            empty_new: EmptyNew::ToOldUnlessAlone,
            mtu_scope: MtuScope::Queue,
        };
        let mut queues = FlowQueues::new(queues, place, salt);
        for tid in (0..tids).map(TidIndex) {
            // Identifiers are listed, but the deficit is one per station and category.
            queues.tins_mut().share(Member(tid.0), Member(representative(tid.peer(), tid.ac()).0));
            if let Some(airtime) = airtime(&scheduler) {
                queues.tins_mut().set_deficit(Member(tid.0), quantum(airtime));
            }
        }
        Self {
            params,
            scheduler,
            queues,
            rounds: Default::default(),
            turns: Turns::new(tids as usize, WhenFull::LosesTurn),
            stations: vec![StationCodel::default(); peers],
            weights: vec![AIRTIME_WEIGHT; peers],
            active: vec![None; peers * TIDS],
            served: vec![0; peers * TIDS],
            look: 0,
            clocks: VirtualTime::new(peers),
        }
    }

    /// A station's airtime weight.
    pub fn weigh(&mut self, peer: PeerId, weight: u32) {
        self.weights[peer.index()] = weight;
        self.clocks.weigh(peer, weight);
    }

    /// Queues a packet; others are dropped if a limit is exceeded.
    pub fn push<S: Sink>(&mut self, now: Instant, p: Pkt, tid: TidIndex, ctx: &mut Ctx<'_, S>) {
        self.queues.enqueue(now, Tin(tid.0), p, ctx);
        self.queues.trim(now, self.params.drop_batch, ctx);
        self.schedule(now, tid);
    }

    /// The identifier has frames: whoever is scheduled for it joins the rounds, unless listed already. Who is listed counts as active
    /// from then on, and anew when its turn is over and frames are left, not with each frame.
    // linux: net/mac80211/tx.c __ieee80211_schedule_txq, ieee80211_txq_set_active (6.0).
    // linux: drivers/net/wireless/ath/ath9k/xmit.c __ath_tx_queue_tid (4.11) - new only with some deficit left.
    // paper: ending-the-anomaly 3.2 - a station that becomes active is new.
    pub fn schedule(&mut self, now: Instant, tid: TidIndex) {
        match self.rules() {
            Some(Mac80211Rules::VirtualTime) => return self.clocks.schedule(now, tid),
            Some(Mac80211Rules::RoundsWithPending) if !self.queues.tins().is_listed(self.unit(tid)) => {
                self.active[account(tid)] = Some(now);
            }
            _ if self.scheduler == Scheduler::RoundRobin(WhenFull::LosesTurn) => {
                return self.turns.schedule(tid);
            }
            _ => {}
        }
        let unit = self.unit(tid);
        let to_new = match self.scheduler {
            Scheduler::RoundRobin(_) => false,
            Scheduler::Airtime(a) => a.sparse && self.queues.tins().deficit(unit) > 0,
            Scheduler::AirtimeAsPrinted(a) => a.sparse,
            // linux: net/mac80211/tx.c __ieee80211_schedule_txq (5.4) - at the head, and to the end at its first look if it
            // has nothing left.
            Scheduler::Mac80211(a, ..) if a.charges() => {
                self.queues.tins_mut().activate_first(&mut self.rounds[tid.ac().index()], unit);
                return;
            }
            // Without any flag of airtime (`airtime_flags` 0) it is a plain round.
            Scheduler::Mac80211(..) => false,
        };
        self.queues.tins_mut().activate(&mut self.rounds[tid.ac().index()], unit, to_new);
    }

    /// Serves the stations in turn until the hardware is full.
    // paper: ending-the-anomaly alg3; linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11) - with
    // airtime the head stays until its deficit is used up, without it goes to the end after each aggregate.
    pub fn fill<S: Sink>(
        &mut self,
        now: Instant,
        ac: Ac,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        if self.rules() == Some(Mac80211Rules::VirtualTime) {
            return self.fill_by_clock(now, ac, tx, hw, ctx);
        }
        if self.scheduler == Scheduler::RoundRobin(WhenFull::LosesTurn) {
            return self.fill_in_turn(now, ac, tx, hw, ctx);
        }
        // The first of those that airtime queue limits hold back, since anything was sent.
        let mut held_back = None;
        self.look = self.look.wrapping_add(1);
        loop {
            let rounds = &mut self.rounds[ac.index()];
            let head = match self.scheduler {
                Scheduler::RoundRobin(_) => rounds.head(),
                Scheduler::Airtime(a) | Scheduler::AirtimeAsPrinted(a) => {
                    self.queues.tins_mut().next(rounds, quantum(&a))
                }
                Scheduler::Mac80211(a, aql, rules) => {
                    let weights = &self.weights;
                    let weight = |m: Member| i64::from(weights[TidIndex(m.0).peer().index()]);
                    let share = |m: Member| quantum(&a) * weight(m) / i64::from(AIRTIME_WEIGHT);
                    // deviation: at least 10 us, as less would only cost rounds.
                    let share = |m: Member| share(m).max(10_000);
                    let counted = rules == Mac80211Rules::RoundsWithPending && aql.is_some();
                    let pending = |m: Member| match counted {
                        true => below(TidIndex(m.0), tx, hw).0.nanos() as i64,
                        false => 0,
                    };
                    self.queues.tins_mut().next_by(rounds, share, pending)
                }
            };
            let Some((unit, _)) = head else { break };
            let Some(tid) = self.backlogged(unit, tx) else {
                let rule = match self.scheduler {
                    Scheduler::AirtimeAsPrinted(_) => EmptyNew::ToOld,
                    Scheduler::Mac80211(..) => EmptyNew::Leaves,
                    _ => EmptyNew::ToOldUnlessAlone,
                };
                self.queues.tins_mut().head_empty(&mut self.rounds[ac.index()], rule);
                continue;
            };
            // linux: net/mac80211/tx.c ieee80211_next_txq, ieee80211_txq_airtime_check (5.18) - whoever has too much below
            // the queues goes to the end, and the round is over when nobody else is left.
            if let Scheduler::Mac80211(_, Some(aql), _) = self.scheduler
                && !allows(&aql, tid, tx, hw)
            {
                if held_back == Some(unit) {
                    break;
                }
                held_back.get_or_insert(unit);
                self.queues.tins_mut().rotate_head(&mut self.rounds[ac.index()]);
                continue;
            }
            // linux: net/mac80211/tx.c ieee80211_next_txq (5.1), schedule_round - each has one turn while the driver goes through the list.
            if let Scheduler::Mac80211(..) = self.scheduler
                && core::mem::replace(&mut self.served[tid.index()], self.look) == self.look
            {
                break;
            }
            let codel = self.codel(tid.peer());
            let queues = &mut self.queues;
            let mut pull = |ctx: &mut Ctx<'_, S>| queues.dequeue(now, Tin(tid.0), &codel, ctx);
            match tx.attempt(now, tid, hw, ctx, &mut pull) {
                Attempt::Sent => {
                    held_back = None;
                    self.stays_active(now, tid, tx);
                    if self.goes_to_the_end() {
                        self.queues.tins_mut().rotate_head(&mut self.rounds[ac.index()]);
                    }
                }
                Attempt::Full => {
                    tx.hold_one(now, tid, ctx, pull);
                    self.stays_active(now, tid, tx);
                    if matches!(self.scheduler, Scheduler::Mac80211(..)) && self.goes_to_the_end() {
                        self.queues.tins_mut().rotate_head(&mut self.rounds[ac.index()]);
                        continue;
                    }
                    break;
                }
                // CoDel dropped all there was, or the window is closed until frames in flight are acknowledged.
                // deviation: ath9k of 4.11 stops in the first case too; here the next station has its turn, since nothing
                // else might wake the driver.
                Attempt::Nothing if self.backlogged(unit, tx).is_none() => {}
                Attempt::Nothing
                    if matches!(self.scheduler, Scheduler::Mac80211(..)) && self.goes_to_the_end() =>
                {
                    self.queues.tins_mut().rotate_head(&mut self.rounds[ac.index()]);
                }
                Attempt::Nothing => break,
            }
        }
    }

    /// An identifier's turn is over; if it has frames left it counts as active from now on.
    #[inline]
    fn stays_active(&mut self, now: Instant, tid: TidIndex, tx: &Transmitter) {
        if self.rules() == Some(Mac80211Rules::RoundsWithPending) && has_frames(&self.queues, tid, tx) {
            self.active[account(tid)] = Some(now);
        }
    }

    /// Whoever has had a turn goes to the end of the list.
    fn goes_to_the_end(&self) -> bool {
        match self.scheduler {
            Scheduler::RoundRobin(_) => true,
            Scheduler::Mac80211(a, ..) => !a.charges(),
            Scheduler::Airtime(_) | Scheduler::AirtimeAsPrinted(_) => false,
        }
    }

    /// Serves the stations one aggregate each until the hardware is full; who finds it full has had its turn.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_sched_aggr (4.10) - queues in the MAC below the round of the older
    // driver; the hardware is full only for who has a frame that would go there, which waits in retry_q from then on.
    // deviation: an identifier whose last frame is sent in a burst of two leaves at once, not at its next turn; a look that
    // finds the hardware full does not turn the frames that are to be sent again round by one, so that only their order
    // differs.
    fn fill_in_turn<S: Sink>(
        &mut self,
        now: Instant,
        ac: Ac,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let Self { turns, queues, stations, params, .. } = self;
        turns.go_round(ac, |tid| {
            if !has_frames(queues, tid, tx) {
                return (Attempt::Nothing, false);
            }
            let codel = stations[tid.peer().index()].params(params);
            let mut pull = |ctx: &mut Ctx<'_, S>| queues.dequeue(now, Tin(tid.0), &codel, ctx);
            let mut attempt = tx.attempt(now, tid, hw, ctx, &mut pull);
            if attempt == Attempt::Full {
                tx.hold_one(now, tid, ctx, pull);
                // CoDel may have left nothing to hold, and what is held may lie beyond a closed window.
                if !tx.tids[tid.index()].has_waiting_inside() {
                    attempt = Attempt::Nothing;
                }
            }
            (attempt, has_frames(queues, tid, tx))
        });
    }

    /// Serves stations in the order of their clocks, each once, until the hardware is full.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (5.15) - one aggregate for each that mac80211 names.
    fn fill_by_clock<S: Sink>(
        &mut self,
        now: Instant,
        ac: Ac,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let Scheduler::Mac80211(_, aql, _) = self.scheduler else { return };
        let mut at = None;
        loop {
            let may = |tid| aql.is_none_or(|aql| allows(&aql, tid, tx, hw));
            let Some(tid) = self.clocks.next(ac, &mut at, may) else { break };
            let unit = Member(tid.0);
            if self.backlogged(unit, tx).is_some() {
                let codel = self.codel(tid.peer());
                let queues = &mut self.queues;
                let mut pull = |ctx: &mut Ctx<'_, S>| queues.dequeue(now, Tin(tid.0), &codel, ctx);
                if tx.attempt(now, tid, hw, ctx, &mut pull) == Attempt::Full {
                    tx.hold_one(now, tid, ctx, pull);
                    break;
                }
            }
            if self.backlogged(unit, tx).is_none() {
                self.clocks.leave(now, ac, &mut at);
            }
        }
    }

    /// Charges a station for what it was sent, retries included.
    pub fn charge_tx(&mut self, now: Instant, tid: TidIndex, airtime_used: Duration) {
        if airtime(&self.scheduler).is_some_and(|a| a.charge_tx) {
            self.charge(now, tid, airtime_used);
        }
    }

    /// Charges a station for what it sent.
    pub fn charge_rx(&mut self, now: Instant, tid: TidIndex, airtime_used: Duration) {
        if airtime(&self.scheduler).is_some_and(|a| a.charge_rx) {
            self.charge(now, tid, airtime_used);
        }
    }

    fn charge(&mut self, now: Instant, tid: TidIndex, used: Duration) {
        match self.rules() {
            Some(Mac80211Rules::VirtualTime) => self.clocks.charge(tid, used),
            Some(Mac80211Rules::RoundsWithPending)
                if self.active[account(tid)].is_none_or(|at| now.saturating_since(at) > ACTIVE) => {}
            _ => self.queues.tins_mut().charge(Member(tid.0), used.nanos() as i64),
        }
        // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_count_airtime, recv.c ath_rx_count_airtime (4.11) - who has used
        // up its deficit is listed, with or without frames, so that it is paid off as the rounds go on.
        if let Scheduler::Airtime(_) = self.scheduler
            && self.deficit(tid) <= 0
        {
            self.queues.tins_mut().activate(&mut self.rounds[tid.ac().index()], Member(tid.0), false);
        }
    }

    /// Rate control expects a new throughput: CoDel is relaxed for slow stations, with hysteresis if there is any.
    // paper: ending-the-anomaly 3.1.1; linux: net/mac80211/sta_info.c sta_update_codel_params (4.12) - zero is unknown.
    pub fn expect(&mut self, now: Instant, peer: PeerId, throughput: Rate) {
        let slow = throughput.bps() > 0 && throughput < self.params.slow_below.threshold(self.stations.len());
        let station = &mut self.stations[peer.index()];
        let settled = station.changed.is_none_or(|at| now.saturating_since(at) >= self.params.hysteresis);
        if slow != station.slow && settled {
            *station = StationCodel { slow, changed: Some(now) };
        }
    }

    /// What a station may still use before its turn ends, in nanoseconds.
    pub fn deficit(&self, tid: TidIndex) -> i64 {
        self.queues.tins().deficit(Member(tid.0))
    }

    /// Packets in the queues.
    pub fn queued(&self) -> u64 {
        u64::from(self.queues.total())
    }

    /// Their bytes, with Ethernet headers.
    pub fn queued_bytes(&self) -> u64 {
        self.queues.total_bytes()
    }

    #[cfg(test)]
    pub(crate) fn is_slow(&self, peer: PeerId) -> bool {
        self.stations[peer.index()].slow
    }

    fn rules(&self) -> Option<Mac80211Rules> {
        match self.scheduler {
            Scheduler::Mac80211(.., rules) => Some(rules),
            _ => None,
        }
    }

    fn codel(&self, peer: PeerId) -> CodelParams {
        self.stations[peer.index()].params(&self.params)
    }

    /// Who is listed for an identifier: itself as in ath9k, or its station as in the paper.
    fn unit(&self, tid: TidIndex) -> Member {
        match self.scheduler {
            Scheduler::AirtimeAsPrinted(_) => Member(representative(tid.peer(), tid.ac()).0),
            _ => Member(tid.0),
        }
    }

    /// An identifier of the unit that has frames it may send.
    fn backlogged(&self, unit: Member, tx: &Transmitter) -> Option<TidIndex> {
        let has = |tid: TidIndex| has_frames(&self.queues, tid, tx);
        let first = TidIndex(unit.0);
        if has(first) {
            return Some(first);
        }
        if !matches!(self.scheduler, Scheduler::AirtimeAsPrinted(_)) {
            return None;
        }
        let others = (0..TIDS as u8).map(|t| TidIndex::new(first.peer(), t));
        others.filter(|t| t.ac() == first.ac()).find(|&t| has(t))
    }
}

/// Whether an identifier has frames that it may send.
fn has_frames(queues: &FlowQueues, tid: TidIndex, tx: &Transmitter) -> bool {
    let t = &tx.tids[tid.index()];
    t.may_send() && (t.has_waiting() || queues.backlog(Tin(tid.0)).0 > 0)
}

fn airtime(scheduler: &Scheduler) -> Option<&AirtimeParams> {
    match scheduler {
        Scheduler::RoundRobin(_) => None,
        Scheduler::Airtime(a) | Scheduler::AirtimeAsPrinted(a) | Scheduler::Mac80211(a, ..) => Some(a),
    }
}

/// Place of a station and category among the identifiers.
const fn account(tid: TidIndex) -> usize {
    representative(tid.peer(), tid.ac()).index()
}

/// Airtime below the queues, of a station in one category and of all: what PPDUs there take at their first rate.
// deviation: mac80211 reckons each frame by itself at the last rate used; here a PPDU is what it will be on the air.
fn below(tid: TidIndex, tx: &Transmitter, hw: &Hardware<'_>) -> (Duration, Duration) {
    let (mut own, mut all) = (Duration::ZERO, Duration::ZERO);
    for ppdu in hw.radio.ppdus().filter(|ppdu| ppdu.header.dev == tx.dev) {
        let takes = ppdu_duration_without_extension(ppdu.chain.entries()[0].rate, ppdu.bytes);
        all += takes;
        if (ppdu.header.peer, ppdu.header.ac) == (tid.peer(), tid.ac()) {
            own += takes;
        }
    }
    (own, all)
}

/// Whether airtime queue limits let a station have more below the queues.
fn allows(aql: &AqlParams, tid: TidIndex, tx: &Transmitter, hw: &Hardware<'_>) -> bool {
    let (own, all) = below(tid, tx, hw);
    own < aql.low || (own < aql.high && all < aql.threshold)
}

fn quantum(airtime: &AirtimeParams) -> i64 {
    airtime.quantum.nanos() as i64
}

#[cfg(test)]
mod tests;
