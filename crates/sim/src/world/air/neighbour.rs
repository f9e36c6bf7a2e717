//! A neighbouring network as a load: its senders contend, defer and collide like others, but their frames
//! carry no packets.
//!
//! All PPDUs have the same duration, and get an ACK after SIFS from a receiver that hears what the senders
//! hear. A PPDU that overlaps there is retransmitted, seven times at most. So the load is the airtime
//! demanded, not the airtime used.

use stillair_model::types::{Duration, Instant, RandomStream};
use stillair_model::wifi::air::medium::{EdcafId, TxOutcome};
use stillair_model::wifi::air::views::{Reservation, Views};
use stillair_model::wifi::phy::timing::Timing;
use stillair_model::wifi::timeline::Timeline;

use super::phases::{Phase, Step};

/// The only function of a sender.
const OWN: EdcafId = EdcafId(0);
/// Tries of a PPDU.
// spec: ieee80211-2016 annex C - dot11ShortRetryLimit, 7.
const TRIES: u8 = 7;

/// What a neighbouring network sends, and when.
#[derive(Debug)]
pub(in crate::world) struct Load {
    /// How long each PPDU lasts.
    pub(in crate::world) frame: Duration,
    /// And its answer.
    pub(in crate::world) answer: Duration,
    /// The share of time that PPDUs and their answers ask for.
    pub(in crate::world) share: Timeline<f64>,
    /// Most PPDUs that wait at each sender.
    pub(in crate::world) queue: u32,
    /// Draws when there is a PPDU, and at which sender.
    pub(in crate::world) stream: RandomStream,
}

/// A station of a neighbouring network.
#[derive(Clone, Copy, Debug)]
struct Sender {
    /// PPDUs, the one that is being sent included.
    waiting: u32,
    tries: u8,
    /// Where its exchange is, if it has one, and when that ends.
    exchange: Option<(Phase, Instant)>,
}

/// A neighbouring network.
#[derive(Debug)]
pub(in crate::world) struct Neighbour {
    name: String,
    load: Load,
    /// Number on the channel of its first sender. The others follow, and then the one who answers them.
    first: usize,
    senders: Vec<Sender>,
    /// When there is another PPDU.
    arrival: Instant,
    /// When its load changes, none if it does not any more.
    change: Option<Instant>,
    /// PPDUs that there were, and what became of them.
    offered: u64,
    done: u64,
    given_up: u64,
    refused: u64,
}

impl Neighbour {
    /// One of so many senders, whose numbers on the channel begin with `first`.
    pub(in crate::world) fn new(name: String, load: Load, first: usize, senders: usize) -> Self {
        let idle = Sender { waiting: 0, tries: 0, exchange: None };
        Self {
            name,
            load,
            first,
            senders: vec![idle; senders],
            arrival: Instant::NEVER,
            change: Some(Instant::ZERO),
            offered: 0,
            done: 0,
            given_up: 0,
            refused: 0,
        }
    }

    /// When something happens that no medium plans.
    pub(super) fn next(&self) -> Instant {
        let exchanges = self.senders.iter().filter_map(|s| s.exchange.map(|(_, at)| at));
        exchanges.chain(self.change).chain([self.arrival]).min().unwrap_or(Instant::NEVER)
    }

    /// Whether somebody sends, or is about to answer.
    pub(super) fn is_under_way(&self) -> bool {
        self.senders.iter().any(|s| matches!(s.exchange, Some((Phase::On(..) | Phase::Before(_), _))))
    }

    /// Finds out who begins now.
    pub(super) fn find_starting(&mut self, now: Instant, views: &mut Views) {
        for (sender, number) in self.senders.iter_mut().zip(self.first..) {
            if views.planned(now, number) == Some(now) {
                views.engage(now, number);
                sender.exchange = Some((Phase::Before(Step::Data), now));
            }
        }
    }

    /// Frames end, and waits for answers that have not come.
    pub(super) fn end_frames(&mut self, now: Instant, timing: Timing, views: &mut Views) {
        let answerer = self.first + self.senders.len();
        for n in 0..self.senders.len() {
            let number = self.first + n;
            let Some((phase, at)) = self.senders[n].exchange else { continue };
            match phase {
                _ if at > now => {}
                Phase::On(Step::Answer, frame) => {
                    let heard = views.received(now, frame, number).is_some_and(<[_]>::is_empty);
                    views.end(now, frame, answerer, Some((number, heard)), None);
                    self.finish(now, n, heard, views);
                }
                Phase::On(_, frame) => {
                    let clean = views.received(now, frame, answerer).is_some_and(<[_]>::is_empty);
                    let answered = now + timing.sifs;
                    let reserved =
                        Reservation { until: answered + self.load.answer, by: number, by_rts: false };
                    views.end(now, frame, number, Some((answerer, clean)), Some(reserved));
                    self.senders[n].exchange = Some(match clean {
                        true => (Phase::Before(Step::Answer), answered),
                        false => (Phase::Failed, now + timing.eifs_extra()),
                    });
                }
                Phase::Failed => self.finish(now, n, false, views),
                Phase::Before(_) => {}
            }
        }
    }

    /// Frames begin.
    pub(super) fn begin_frames(&mut self, now: Instant, views: &mut Views) {
        let answerer = self.first + self.senders.len();
        for (sender, number) in self.senders.iter_mut().zip(self.first..) {
            let (step, from, lasts) = match sender.exchange {
                Some((Phase::Before(Step::Answer), at)) if at == now => {
                    (Step::Answer, answerer, self.load.answer)
                }
                Some((Phase::Before(_), at)) if at == now => (Step::Data, number, self.load.frame),
                _ => continue,
            };
            sender.exchange = Some((Phase::On(step, views.begin(now, from)), now + lasts));
        }
    }

    /// PPDUs that there are from now on.
    pub(super) fn arrive(&mut self, now: Instant, views: &mut Views) {
        if self.arrival <= now {
            let n = self.load.stream.below(self.senders.len() as u32) as usize;
            let sender = &mut self.senders[n];
            self.offered += 1;
            if sender.waiting == self.load.queue {
                self.refused += 1;
            } else {
                sender.waiting += 1;
                if sender.waiting == 1 {
                    views.medium(self.first + n).request(now, OWN);
                }
            }
        }
        let changed = self.change.is_some_and(|at| at <= now);
        if changed || self.arrival <= now {
            let share = *self.load.share.now(now);
            self.change = self.load.share.next();
            // What has no memory need not be before the change.
            self.arrival = if share > 0.0 {
                let asked = (self.load.frame + self.load.answer).nanos() as f64;
                let mean = Duration::from_nanos((asked / share) as u64);
                now + self.load.stream.exponential(mean).max(Duration::from_nanos(1))
            } else {
                Instant::NEVER
            };
        }
    }

    fn finish(&mut self, now: Instant, n: usize, heard: bool, views: &mut Views) {
        let (number, sender) = (self.first + n, &mut self.senders[n]);
        sender.exchange = None;
        sender.tries += 1;
        let over = heard || sender.tries == TRIES;
        if over {
            (sender.waiting, sender.tries) = (sender.waiting - 1, 0);
            self.done += u64::from(heard);
            self.given_up += u64::from(!heard);
        }
        let outcome = if over { TxOutcome::Finished } else { TxOutcome::Failed };
        views.medium(number).done(now, OWN, outcome, sender.waiting > 0);
        views.release(now, number, now);
    }

    /// Checks that what there was is done, given up, refused or waits.
    pub(super) fn check(&self) -> Result<(), String> {
        let waiting: u64 = self.senders.iter().map(|s| u64::from(s.waiting)).sum();
        let Self { name, offered, done, given_up, refused, .. } = self;
        if done + given_up + refused + waiting == *offered {
            return Ok(());
        }
        Err(format!(
            "neighbour {name}: {done} done, {given_up} given up, {refused} refused and {waiting} waiting of {offered}"
        ))
    }
}
