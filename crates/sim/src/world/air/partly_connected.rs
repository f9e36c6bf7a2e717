//! Exchanges on a channel with hidden stations. Each frame has events at its start and its end, at which the
//! radios that hear it become busy and idle. The number of events per exchange does not depend on other
//! radios. An event examines only radios that hear the frame and radios with an exchange in progress.

use stillair_model::types::{Duration, Instant, Sink};
use stillair_model::wifi::air::account::AirUse;
use stillair_model::wifi::air::medium::{EdcafId, TxOutcome};
use stillair_model::wifi::air::overlap::spared;
use stillair_model::wifi::air::protection::Protection;
use stillair_model::wifi::air::radio::{BEACON_QUEUE, Radio};
use stillair_model::wifi::air::reception::RxOutcome;
use stillair_model::wifi::air::views::{FrameId, Reservation, Views};
use stillair_model::wifi::phy::{frame, ppdu_duration};

use super::exchange::At;
use super::foreign::{Foreign, OnAir};
use super::parts::{airtime, response, use_of};
use super::phases::{Exchange, Phase, Step};
use super::tries::TryOutcome;
use super::{Air, UpperLayer};
use crate::engine::Slot;
use crate::world::state::SimState;

/// A channel with hidden stations.
#[derive(Debug)]
pub(super) struct PartlyConnected {
    /// View of each radio.
    pub(super) views: Views,
    /// Radio of each number on the channel.
    radios: Vec<usize>,
    /// Exchange in progress, by number on the channel.
    exchanges: Vec<Option<Exchange>>,
    /// Numbers with an exchange in progress, in order.
    under_way: Vec<u16>,
    /// Copy of `under_way` for an event that iterates over all exchanges.
    was_under_way: Vec<u16>,
    /// Use of the air since it was last accounted.
    pub(super) using: AirUse,
    /// Radios that start now, by number on the channel, with their queues.
    starting: Vec<(usize, usize)>,
    winners: Vec<EdcafId>,
    /// Other users of the channel, if any.
    pub(super) foreign: Option<Box<Foreign>>,
}

impl PartlyConnected {
    /// Creates an idle channel with these radios.
    pub(super) fn new(views: Views, radios: Vec<usize>, foreign: Foreign) -> Self {
        let exchanges = vec![None; radios.len()];
        let foreign = (!foreign.is_none()).then(|| Box::new(foreign));
        let (under_way, was_under_way) = (Vec::new(), Vec::new());
        let (starting, winners) = (Vec::new(), Vec::new());
        Self {
            views,
            radios,
            exchanges,
            under_way,
            was_under_way,
            using: AirUse::Idle,
            starting,
            winners,
            foreign,
        }
    }

    /// Adds the exchange that a radio has started.
    fn add(&mut self, number: usize, exchange: Exchange) {
        self.exchanges[number] = Some(exchange);
        let number = number as u16;
        if let Err(at) = self.under_way.binary_search(&number) {
            self.under_way.insert(at, number);
        }
    }

    /// Removes the exchange of a radio.
    fn remove(&mut self, number: usize) -> Exchange {
        self.under_way.retain(|&n| usize::from(n) != number);
        self.exchanges[number].take().expect("what ends was there")
    }

    /// Returns all exchanges, ordered by radio number.
    fn all(&self) -> impl Iterator<Item = (usize, &Exchange)> {
        self.under_way
            .iter()
            .filter_map(|&n| Some((usize::from(n), self.exchanges[usize::from(n)].as_ref()?)))
    }

    /// Returns the current use of the air.
    fn uses(&self) -> AirUse {
        let mut under_way = self.all().map(|(_, exchange)| exchange);
        let on_air = |e: &&Exchange| matches!(e.phase, Phase::On(..));
        let others = || self.foreign.as_ref().and_then(|foreign| foreign.uses(&self.views));
        match self.views.on_air() {
            0 => match under_way.next() {
                Some(exchange) => exchange.uses(),
                None => others().unwrap_or_else(|| match self.views.is_wanted() {
                    true => AirUse::Contention,
                    false => AirUse::Idle,
                }),
            },
            1 => match under_way.find(on_air) {
                Some(exchange) => exchange.uses(),
                None => others().unwrap_or(AirUse::Contention),
            },
            _ => AirUse::Overlap,
        }
    }

    /// Returns radio number and queue of the exchange that uses the air: one with a frame on the air, or else
    /// the first.
    pub(super) fn whose(&self) -> Option<(usize, usize)> {
        let on_air = self.all().find(|(_, e)| matches!(e.phase, Phase::On(..)));
        on_air.or_else(|| self.all().next()).map(|(n, e)| (n, e.queue))
    }

    pub(super) fn radio(&self, number: usize) -> usize {
        self.radios[number]
    }

    /// Returns start and duration of a radio's PPDU while it is on the air.
    pub(super) fn data_of(&self, number: usize) -> Option<(Instant, Duration)> {
        let exchange = self.exchanges[number].as_ref()?;
        matches!(exchange.phase, Phase::On(Step::Data, _)).then_some((exchange.start, exchange.took))
    }

    /// Returns the time of the next event.
    fn next(&self) -> Option<Instant> {
        let planned = self.views.next().into_iter();
        let foreign = self.foreign.as_ref().and_then(|foreign| foreign.next());
        planned.chain(self.all().map(|(_, e)| e.at)).chain(foreign).min()
    }

    /// Finds the radios that start at `now`. Of several functions of one radio, the highest category
    /// transmits; the others back off as after a collision, without having sent.
    // spec: ieee80211 10.22.2.4 - internal collisions.
    fn find_starting(&mut self, now: Instant, radios: &[Radio]) {
        self.starting.clear();
        let mut from = 0;
        // Numbers behind the scenario's radios belong to neighbours.
        while let Some(number) = self.views.next_starting(now, from).filter(|&n| n < self.radios.len()) {
            from = number + 1;
            let radio = self.radios[number];
            self.views.engage(now, number);
            self.views.medium(number).senders(&mut self.winners);
            let queue_of = |f: &EdcafId| {
                radios[radio].edcafs.iter().position(|own| own == f).expect("a function of the radio")
            };
            // Beacons come before all access categories.
            let rank = |queue: usize| if queue == BEACON_QUEUE { 0 } else { queue + 1 };
            let first = self.winners.iter().map(queue_of).min_by_key(|&q| rank(q)).expect("who starts");
            for f in &self.winners {
                if queue_of(f) != first {
                    self.views.medium(number).done(now, *f, TxOutcome::Failed, true);
                }
            }
            self.starting.push((number, first));
        }
    }

    /// Applies `act` to the other users of the channel, if any.
    fn with_foreign(&mut self, act: impl FnOnce(&mut Foreign, &mut Views)) {
        if let Some(foreign) = &mut self.foreign {
            act(foreign, &mut self.views);
        }
    }
}

impl Air {
    /// Arms the timer for the next event on the channel.
    pub(super) fn plan_partly_connected<S: Sink>(&mut self, core: &mut SimState<S>, index: usize) {
        if S::STEPS {
            self.tell_partly(core, index);
        }
        let channel = &mut self.channels[index];
        let partly = channel.partly_connected.as_mut().expect("such a channel");
        channel.account.book(partly.using, core.now);
        partly.views.plan(core.now);
        partly.using = partly.uses();
        core.timers.set(Slot(self.slots.channels + index as u32), partly.next());
    }

    fn partly_connected(&mut self, index: usize) -> &mut PartlyConnected {
        self.channels[index].partly_connected.as_mut().expect("such a channel")
    }

    /// Handles the events that are due. Starts are determined first, because frames starting at the same
    /// instant do not hear each other; then frames end, and then frames start.
    pub(super) fn partly_connected_event<A: UpperLayer>(&mut self, above: &mut A, index: usize) {
        if A::Sink::STEPS {
            self.tell_partly(above.core(), index);
        }
        let now = above.core().now;
        let channel = &mut self.channels[index];
        let partly = channel.partly_connected.as_mut().expect("such a channel");
        channel.account.book(partly.using, now);
        partly.find_starting(now, &self.radios);
        partly.with_foreign(|foreign, views| foreign.begin(now, views));
        let timing = channel.timing;
        let due = |e: &Exchange| e.at == now;
        let mut numbers = core::mem::take(&mut partly.was_under_way);
        numbers.clone_from(&partly.under_way);
        for &number in &numbers {
            let number = usize::from(number);
            let of = self.partly_connected(index).exchanges[number].filter(due);
            match of.map(|e| e.phase) {
                Some(Phase::On(step, frame)) => self.frame_ended(above, index, number, step, frame),
                Some(Phase::Failed) => self.finish(above, index, number, false),
                Some(Phase::Before(_)) | None => {}
            }
        }
        self.partly_connected(index).with_foreign(|foreign, views| foreign.end_frames(now, timing, views));
        // A radio that hears a frame on the air would have deferred.
        let partly = self.partly_connected(index);
        let amid = partly.views.on_air() > 0;
        numbers.clone_from(&partly.under_way);
        for &number in &numbers {
            let number = usize::from(number);
            if let Some(Phase::Before(step)) =
                self.partly_connected(index).exchanges[number].filter(due).map(|e| e.phase)
            {
                self.frame_begins(above.core().now, index, number, step);
            }
        }
        let starting = core::mem::take(&mut self.partly_connected(index).starting);
        for &(number, queue) in &starting {
            self.begin(index, number, queue, now, None);
            if amid {
                self.begun_amid(index, number, queue);
            }
            let first = self.partly_connected(index).exchanges[number].expect("it has just begun").first();
            self.frame_begins(above.core().now, index, number, first);
        }
        let partly = self.partly_connected(index);
        (partly.starting, partly.was_under_way) = (starting, numbers);
        partly.with_foreign(|foreign, views| {
            foreign.begin_frames(now, views);
            foreign.arrive(now, views);
        });
    }

    /// Starts an exchange of a radio with the first PPDU of a queue at `begun`.
    fn begin(
        &mut self,
        index: usize,
        number: usize,
        queue: usize,
        begun: Instant,
        txop_until: Option<Instant>,
    ) {
        let channel = &self.channels[index];
        let partly = channel.partly_connected.as_ref().expect("such a channel");
        let ppdu = self.radios[partly.radios[number]].first(queue).expect("who contends has a PPDU");
        let protection = Protection::of(ppdu, channel.protection);
        let content = ppdu.header.content;
        let to = (!content.is_for_all()).then(|| {
            let peer = &self.wlans[ppdu.header.dev.index()].dev.tx.peers[ppdu.header.peer.index()];
            self.radios[self.wlans[peer.remote.0.index()].dev.radio.index()].number
        });
        let mut exchange = Exchange {
            queue,
            to,
            phase: Phase::Failed,
            at: begun,
            begun,
            start: begun + protection.duration(channel.timing),
            took: airtime(channel.timing, ppdu),
            response: response(channel.timing, ppdu),
            protection,
            use_of: use_of(content),
            got: RxOutcome::NOTHING,
            sent: false,
            disturbed: false,
            txop_until,
        };
        exchange.phase = Phase::Before(exchange.first());
        self.partly_connected(index).add(number, exchange);
    }

    /// Handles a radio that started an exchange while another frame was on the air.
    fn begun_amid(&mut self, index: usize, number: usize, queue: usize) {
        let radio = self.partly_connected(index).radio(number);
        let header = self.radios[radio].first(queue).map(|ppdu| ppdu.header);
        let Some(header) = header.filter(|h| h.content.is_data() && !h.content.is_for_all()) else { return };
        self.wlans[header.dev.index()].dev.tx.peers[header.peer.index()].begun_amid += 1;
    }

    /// Continues a radio's TXOP with its next PPDU.
    pub(super) fn resume(&mut self, now: Instant, at: At, begins: Instant, until: Instant) {
        let number = self.radios[at.radio].number;
        self.partly_connected(at.index).views.hold(now, number, begins);
        self.begin(at.index, number, at.queue, begins, Some(until));
    }

    fn frame_begins(&mut self, now: Instant, index: usize, number: usize, step: Step) {
        let channel = &mut self.channels[index];
        let (timing, partly) = (channel.timing, channel.partly_connected.as_mut().expect("such a channel"));
        let exchange = partly.exchanges[number].as_mut().expect("a frame is of an exchange");
        let from = match step {
            Step::Cts | Step::Answer => exchange.to.expect("somebody answers"),
            Step::Rts | Step::CtsToSelf | Step::Data => number,
        };
        let cts = |protection| match protection {
            Protection::RtsCts(rate) | Protection::CtsToSelf(rate) => {
                ppdu_duration(rate, frame::CTS, timing.band)
            }
            Protection::None => Duration::ZERO,
        };
        let lasts = match step {
            Step::Rts => exchange.protection.first(timing),
            Step::Cts | Step::CtsToSelf => cts(exchange.protection),
            Step::Data => exchange.took,
            Step::Answer => exchange.response - timing.sifs,
        };
        exchange.sent |= step == Step::Data;
        exchange.at = now + lasts;
        exchange.phase = Phase::On(step, partly.views.begin(now, from));
    }

    /// Handles the end of a frame of radio `number`'s exchange.
    fn frame_ended<A: UpperLayer>(
        &mut self,
        above: &mut A,
        index: usize,
        number: usize,
        step: Step,
        frame: FrameId,
    ) {
        let now = above.core().now;
        let timing = self.channels[index].timing;
        let partly = self.partly_connected(index);
        let mut exchange = partly.exchanges[number].expect("a frame is of an exchange");
        let reservation = Reservation { until: exchange.ends(), by: number, by_rts: step == Step::Rts };
        let reservation = (step != Step::Answer && exchange.to.is_some()).then_some(reservation);
        let other = exchange.to.unwrap_or(number);
        let clean = |partly: &mut PartlyConnected, at| {
            partly.views.received(now, frame, at).is_some_and(<[_]>::is_empty)
        };
        let (sifs, late) = (now + timing.sifs, now + timing.eifs_extra());
        let (phase, at) = match step {
            Step::Rts => {
                let clean = clean(partly, other);
                let heard = clean && self.guard_is_heard(above.core().now, index, number, other, frame::RTS);
                let views = &mut self.partly_connected(index).views;
                views.end(now, frame, number, Some((other, heard)), reservation);
                let answered = heard && views.may_answer_rts(now, other);
                exchange.disturbed = !answered && (heard || !clean);
                if answered {
                    (Phase::Before(Step::Cts), sifs)
                } else if exchange.disturbed {
                    (Phase::Failed, late)
                } else {
                    let Protection::RtsCts(rate) = exchange.protection else {
                        unreachable!("an RTS is of such")
                    };
                    (Phase::Failed, sifs + ppdu_duration(rate, frame::CTS, timing.band))
                }
            }
            Step::Cts => {
                let clean = clean(partly, number);
                let heard = clean && self.guard_is_heard(above.core().now, index, number, number, frame::CTS);
                self.partly_connected(index).views.end(now, frame, other, Some((number, heard)), reservation);
                exchange.disturbed = !clean;
                if heard {
                    (Phase::Before(Step::Data), sifs)
                } else if exchange.disturbed {
                    (Phase::Failed, late)
                } else {
                    self.partly_connected(index).exchanges[number] = Some(exchange);
                    return self.finish(above, index, number, false);
                }
            }
            Step::CtsToSelf => {
                partly.views.end(now, frame, number, None, reservation);
                (Phase::Before(Step::Data), sifs)
            }
            Step::Data => {
                partly.exchanges[number] = Some(exchange);
                return self.data_ended(above, index, number, frame, reservation);
            }
            Step::Answer => {
                let heard = clean(partly, number);
                partly.views.end(now, frame, other, Some((number, heard)), None);
                partly.exchanges[number] = Some(exchange);
                return self.finish(above, index, number, heard);
            }
        };
        (exchange.phase, exchange.at) = (phase, at);
        self.partly_connected(index).exchanges[number] = Some(exchange);
    }

    /// Draws whether the RTS before an exchange's first PPDU, or its CTS, is received despite noise.
    fn guard_is_heard(&mut self, now: Instant, index: usize, number: usize, at: usize, bytes: u32) -> bool {
        let partly = self.partly_connected(index);
        let (exchange, radio) =
            (partly.exchanges[number].expect("a frame is of an exchange"), partly.radios[number]);
        let Protection::RtsCts(rate) = exchange.protection else { return true };
        let ppdu = self.radios[radio].first(exchange.queue).expect("a PPDU of its own");
        let (dev, peer) = (ppdu.header.dev, ppdu.header.peer);
        if self.is_deaf(dev, peer) {
            return false;
        }
        let comes = self.interfered_comes(index, at, now, (dev, peer), (rate, bytes));
        comes.unwrap_or_else(|| self.guard_comes(now, dev, peer, rate, bytes))
    }

    /// Handles the end of a PPDU. The receiver responds if it received any frame.
    fn data_ended<A: UpperLayer>(
        &mut self,
        above: &mut A,
        index: usize,
        number: usize,
        frame: FrameId,
        reservation: Option<Reservation>,
    ) {
        let now = above.core().now;
        let timing = self.channels[index].timing;
        let mut exchange = self.partly_connected(index).exchanges[number].expect("a frame is of an exchange");
        let radio = self.partly_connected(index).radios[number];
        let Some(to) = exchange.to else {
            self.partly_connected(index).views.end(now, frame, number, None, None);
            return self.finish(above, index, number, false);
        };
        let ppdu = self.radios[radio].pop(exchange.queue).expect("it has just been sent");
        let on = OnAir { index, at: to, start: exchange.start, took: exchange.took };
        let mut got = self.noise_and_interference(on, &ppdu);
        let partly = self.partly_connected(index);
        match partly.views.received(now, frame, to) {
            None => (got, exchange.disturbed) = (RxOutcome::NOTHING, true),
            Some(noise) if !noise.is_empty() => {
                let left = spared(&ppdu, exchange.start, exchange.took, noise);
                exchange.disturbed = true;
                got = RxOutcome { whole: got.whole & left.whole, readable: got.readable & left.readable };
            }
            Some(_) => {}
        }
        partly.views.end(now, frame, number, Some((to, got.whole.any())), reservation);
        exchange.got = got;
        (exchange.phase, exchange.at) = match got.whole.any() {
            false if exchange.disturbed => (Phase::Failed, now + timing.eifs_extra()),
            false => (Phase::Failed, now + exchange.response),
            true => (Phase::Before(Step::Answer), now + timing.sifs),
        };
        partly.exchanges[number] = Some(exchange);
        self.radios[radio].put_back(exchange.queue, ppdu);
    }

    /// Concludes an exchange. `heard` is true if the sender heard the response; noise may still have
    /// destroyed the response.
    fn finish<A: UpperLayer>(&mut self, above: &mut A, index: usize, number: usize, heard: bool) {
        let partly = self.partly_connected(index);
        let exchange = partly.remove(number);
        let radio = partly.radios[number];
        let Exchange { queue, start, took, begun, txop_until, got, sent, .. } = exchange;
        let rts_failed = !sent;
        if rts_failed {
            let now = above.core().now;
            self.partly_connected(index).views.give_back(now, number);
        }
        let ppdu = self.radios[radio].pop(queue).expect("a PPDU of its own");
        let to = &self.wlans[ppdu.header.dev.index()].dev.tx.peers;
        let to = exchange.to.map(|_| to[ppdu.header.peer.index()].remote.0);
        let acknowledged = heard && self.answer_ends(index, number, above.core().now, start, &ppdu);
        let fate = TryOutcome {
            to,
            collided: exchange.disturbed && !got.whole.any(),
            sent,
            acknowledged,
            protection: exchange.protection,
        };
        let at = At {
            index,
            radio,
            queue,
            start,
            took,
            idle_from: above.core().now,
            txop_from: begun,
            txop_until,
        };
        self.conclude(above, at, ppdu, &got, fate);
    }
}
