//! A neighbouring network as a load: its senders contend, defer and collide like others, but their frames
//! carry no packets.
//!
//! All PPDUs have the same duration, and a receiver that hears what the senders hear acknowledges them after
//! SIFS. A PPDU that overlaps another frame at that receiver is retransmitted, up to seven tries in total.
//! The load is therefore the demanded airtime, not the used airtime.

use stillair_model::types::{Duration, Instant, RandomStream};
use stillair_model::wifi::air::medium::{EdcafId, TxOutcome};
use stillair_model::wifi::air::views::{Reservation, Views};
use stillair_model::wifi::phy::timing::Timing;
use stillair_model::wifi::timeline::Timeline;

use super::phases::{Phase, Step};

/// The only contention function of a sender.
const OWN: EdcafId = EdcafId(0);
/// Maximum tries per PPDU.
// spec: ieee80211-2016 annex C - dot11ShortRetryLimit, 7.
const TRIES: u8 = 7;

/// Traffic of a neighbouring network.
#[derive(Debug)]
pub(in crate::world) struct Load {
    /// Duration of each PPDU.
    pub(in crate::world) frame: Duration,
    /// Duration of the acknowledgement.
    pub(in crate::world) answer: Duration,
    /// Demanded share of airtime, including acknowledgements.
    pub(in crate::world) share: Timeline<f64>,
    /// Queue limit of each sender, in PPDUs.
    pub(in crate::world) queue: u32,
    /// Draws arrival times and the sender of each PPDU.
    pub(in crate::world) stream: RandomStream,
}

/// A station of a neighbouring network.
#[derive(Clone, Copy, Debug)]
struct Sender {
    /// Queued PPDUs, including the one being sent.
    waiting: u32,
    tries: u8,
    /// Phase of the current exchange, and its end.
    exchange: Option<(Phase, Instant)>,
}

#[derive(Debug)]
pub(in crate::world) struct Neighbour {
    name: String,
    load: Load,
    /// Number of its first sender on the channel. The other senders follow, then the receiver.
    first: usize,
    senders: Vec<Sender>,
    /// Arrival of the next PPDU.
    arrival: Instant,
    /// Next change of the load; `None` after the last change.
    change: Option<Instant>,
    /// PPDUs offered, and their outcomes.
    offered: u64,
    done: u64,
    given_up: u64,
    refused: u64,
}

impl Neighbour {
    /// Creates a network of `senders` stations, numbered from `first` on the channel.
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

    /// Returns the time of the next event that no medium plans.
    pub(super) fn next(&self) -> Instant {
        let exchanges = self.senders.iter().filter_map(|s| s.exchange.map(|(_, at)| at));
        exchanges.chain(self.change).chain([self.arrival]).min().unwrap_or(Instant::NEVER)
    }

    /// Reports whether a station is transmitting or about to send its next frame.
    pub(super) fn is_under_way(&self) -> bool {
        self.senders.iter().any(|s| matches!(s.exchange, Some((Phase::On(..) | Phase::Before(_), _))))
    }

    /// Finds the stations that start transmitting now.
    pub(super) fn find_starting(&mut self, now: Instant, views: &mut Views) {
        for (sender, number) in self.senders.iter_mut().zip(self.first..) {
            if views.planned(now, number) == Some(now) {
                views.engage(now, number);
                sender.exchange = Some((Phase::Before(Step::Data), now));
            }
        }
    }

    /// Ends frames, and response timeouts.
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

    /// Starts frames.
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

    /// Queues PPDUs that arrive now.
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
            // The arrival process is memoryless, so redrawing after a change of load is exact.
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

    /// Checks that every PPDU offered was sent, given up or refused, or is queued.
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
