//! Contention for a channel: EDCA of IEEE 802.11. The cost of an exchange does not depend on the number of
//! functions that wait.
//!
//! All slot boundaries of an idle period lie on one grid, SIFS after the last transmission and then every
//! slot. A function with arbitration number `aifsn` acts at the boundaries from `aifsn` slots on: it counts
//! its backoff down at each, or transmits if the count is zero. So the medium only counts, per arbitration
//! number, the boundaries that have passed since the start of the run, and a function stores the count at
//! which its backoff ends: a function that has nothing to send counts down without being touched.
// spec: ieee80211 10.22.2.4 - at each slot boundary a function does exactly one of: transmit, count down,
// nothing.

pub use super::contenders::EdcafId;
use super::contenders::{CLASSES, Contenders};
use crate::types::{Duration, Instant, RandomStream};
use crate::wifi::air::edca::EdcaParams;
use alloc::vec::Vec;

#[derive(Debug)]
struct Edcaf {
    params: EdcaParams,
    cw: u16,
    /// Boundary, counted as in `Medium::passed`, at which the backoff is over.
    expires: u64,
    /// When its last transmission ended, after which it drew that backoff.
    sent: Instant,
    stream: RandomStream,
}

impl Edcaf {
    fn draw(&mut self, passed: &[u64; CLASSES]) {
        let backoff = self.stream.below(u32::from(self.cw) + 1);
        self.expires = passed[usize::from(self.params.aifsn)] + u64::from(backoff);
    }
}

/// Result of a transmission by a function that won contention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TxOutcome {
    /// The frame was acknowledged, needed no acknowledgement, or was given up. The contention window is reset
    /// to CWmin.
    Finished,
    /// The transmission failed and will be retried. The contention window doubles.
    Failed,
}

/// State of EDCA contention on one channel.
#[derive(Debug)]
pub struct Medium {
    sifs: Duration,
    slot: Duration,
    edcafs: Vec<Edcaf>,
    waiting: Contenders,
    /// Boundaries that have passed before the current idle period, by arbitration number.
    passed: [u64; CLASSES],
    /// End of the last transmission; the medium is idle from here on, unless `begun`.
    idle_from: Instant,
    /// When it was told of that end, if there has been one.
    freed: Instant,
    /// Since when some function has been waiting in this idle period.
    wanted_from: Instant,
    /// When the next transmission starts, as far as is known.
    start: Option<Instant>,
    begun: bool,
    /// Start or winners may be others than when [`Medium::winners`] was called last.
    changed: bool,
    /// A frame that finds the medium busy, and no backoff left, draws a new one.
    busy_backoff: bool,
}

impl Medium {
    /// Creates a medium that has been idle since the start of the run.
    pub fn new(sifs: Duration, slot: Duration) -> Self {
        Self {
            sifs,
            slot,
            edcafs: Vec::new(),
            waiting: Contenders::default(),
            passed: [0; CLASSES],
            idle_from: Instant::ZERO,
            freed: Instant::NEVER,
            wanted_from: Instant::ZERO,
            start: None,
            begun: false,
            changed: true,
            busy_backoff: true,
        }
    }

    /// The same medium with another rule for a frame that finds the medium busy while no backoff is left: the
    /// frame is sent at the next end of AIFS, without a new backoff.
    // deviation: not as the standard has it, but as simulated radios do it that draw a backoff after a
    // transmission alone.
    pub fn without_busy_backoff(self) -> Self {
        Self { busy_backoff: false, ..self }
    }

    /// Registers a contention function. Panics if its AIFSN is not in 1 to 15.
    pub fn add(&mut self, params: EdcaParams, stream: RandomStream) -> EdcafId {
        assert!((1..CLASSES as u8).contains(&params.aifsn), "aifsn must be 1 to 15");
        let sent = Instant::NEVER;
        self.edcafs.push(Edcaf { params, cw: params.cw_min, expires: 0, sent, stream });
        self.waiting.add();
        EdcafId((self.edcafs.len() - 1) as u16)
    }

    /// Function `f`, which was not waiting, has a frame to send.
    ///
    /// A request at the instant at which the medium becomes idle is treated as finding the medium busy. Such
    /// a request responds to frames of the exchange that just ended. The model hands these frames up at the
    /// end of the acknowledgement, but they were received a SIFS and an acknowledgement earlier, and hosts
    /// take no time in the model.
    // spec: ieee80211-2016 10.3.4.2 - without a backoff only if the medium is idle when the frame is queued
    // and stays so for DIFS.
    // deviation: a host that takes longer than the acknowledgement finds the medium idle; it is not told from
    // others here.
    pub fn request(&mut self, now: Instant, f: EdcafId) {
        self.begin_if_due(now);
        let busy = self.begun || now < self.idle_from || now == self.freed;
        let first_boundary = self.idle_from + self.sifs;
        let function = &mut self.edcafs[usize::from(f.0)];
        debug_assert!(!self.waiting.contains(f), "a function asks once");
        let aifsn = function.params.aifsn;
        if busy {
            // spec: ieee80211 10.22.2.2 - a frame that finds its queue empty, the backoff over and the medium
            // busy invokes a new backoff. Who has just sent has drawn it.
            let over = function.expires <= self.passed[usize::from(aifsn)];
            match (over, self.busy_backoff) {
                (true, true) if function.sent != now => function.draw(&self.passed),
                // It waits for the next boundary like others, and is not one of those that send.
                (true, false) => function.expires = self.passed[usize::from(aifsn)],
                _ => {}
            }
        } else {
            // Boundaries of this idle period up to `now` are gone for this function: what happens at the one
            // that is just now is settled, and a start that is not ahead could not be planned any more.
            let from = first_boundary + self.slot * u64::from(aifsn);
            let gone = if now < from { 0 } else { (now - from) / self.slot + 1 };
            function.expires = function.expires.max(self.passed[usize::from(aifsn)] + gone);
        }
        if self.waiting.is_empty() {
            self.wanted_from = now.max(self.idle_from);
        }
        let expires = function.expires;
        self.waiting.insert(aifsn, f, expires);
        if !self.begun {
            let at = self.start_at(aifsn, expires);
            if self.start.is_none_or(|start| at <= start) {
                self.start = Some(at);
                self.changed = true;
            }
        }
    }

    /// Start of the next transmission, or of the current one. `None` if no function waits.
    #[inline]
    pub fn start(&self) -> Option<Instant> {
        self.start
    }

    /// The instant since which a function has been waiting for that start.
    #[inline]
    pub fn wanted_from(&self) -> Instant {
        self.wanted_from
    }

    /// Whether waiting function `f` is sending at `now`, or starts at `now`, so that the content of the frame
    /// is settled. Continuations within a TXOP do not count.
    pub fn sends(&mut self, now: Instant, f: EdcafId) -> bool {
        self.begin_if_due(now);
        // Whoever begins has counted all boundaries; who waits on has some left, and who asks meanwhile draws
        // anew.
        let function = &self.edcafs[usize::from(f.0)];
        self.begun && function.expires < self.passed[usize::from(function.params.aifsn)]
    }

    /// Takes back the first PPDU of waiting function `f`, which then has `left` PPDUs. The backoff goes on.
    /// The next backoff is drawn from CWmin, as after all tries of a PPDU have failed.
    // spec: ieee80211-2016 10.22.2.2 - the window is the smallest again after the last try. deviation:
    // hardware makes these tries, in vain.
    pub fn withdraw(&mut self, now: Instant, f: EdcafId, left: usize) {
        self.begin_if_due(now);
        let function = &mut self.edcafs[usize::from(f.0)];
        function.cw = function.params.cw_min;
        if left == 0 {
            self.waiting.remove(function.params.aifsn, f);
        }
        if !self.begun {
            self.start = self.waiting.firsts().map(|(aifsn, first)| self.start_at(aifsn, first)).min();
            self.changed = true;
        }
    }

    /// The next frame of a function has a different length than at the last call of [`Medium::winners`].
    pub fn resized(&mut self) {
        self.changed |= !self.begun;
    }

    /// Puts the functions that transmit at [`Medium::start`] into `winners`, ordered by number. More than one
    /// function is a collision.
    ///
    /// Call this before the start of the transmission has passed, or pass the unmodified `winners` of the
    /// previous call.
    pub fn winners(&mut self, winners: &mut Vec<EdcafId>) {
        debug_assert!(!self.begun, "who transmits was settled when it began");
        self.changed = false;
        winners.clear();
        for (aifsn, first) in self.waiting.firsts() {
            if self.start == Some(self.start_at(aifsn, first)) {
                let until = first.max(self.passed[usize::from(aifsn)]);
                self.waiting.due(aifsn, until, winners);
            }
        }
        if winners.len() > 1 {
            winners.sort_unstable_by_key(|f| f.0);
        }
    }

    /// Like `winners`, once the transmission has begun. Functions that request from then on are not included.
    pub fn senders(&self, senders: &mut Vec<EdcafId>) {
        debug_assert!(self.begun, "who transmits is settled when it begins");
        senders.clear();
        for (aifsn, first) in self.waiting.firsts() {
            let passed = self.passed[usize::from(aifsn)];
            if first < passed {
                self.waiting.due(aifsn, passed - 1, senders);
            }
        }
        senders.sort_unstable_by_key(|f| f.0);
    }

    /// Whether the start or the winners may have changed since the last call of [`Medium::winners`].
    #[inline]
    pub fn has_changed(&self) -> bool {
        self.changed
    }

    /// Whether the transmission that was due has begun by `now`. Later requests cannot join it.
    #[inline]
    pub fn has_begun(&self, now: Instant) -> bool {
        self.begun || self.start.is_some_and(|s| now >= s)
    }

    /// The transmission of winner `f` ends at `now`. `more` says whether the function has more to send and
    /// stays in contention.
    pub fn done(&mut self, now: Instant, f: EdcafId, outcome: TxOutcome, more: bool) {
        self.begin_if_due(now);
        let function = &mut self.edcafs[usize::from(f.0)];
        function.cw = match outcome {
            TxOutcome::Finished => function.params.cw_min,
            // spec: ieee80211 10.22.2.2 - the window doubles (plus one) up to its maximum.
            TxOutcome::Failed => (2 * function.cw + 1).min(function.params.cw_max),
        };
        // Also after the last frame: the backoff that follows a transmission keeps one station from sending
        // again at once when a new frame comes.
        function.draw(&self.passed);
        function.sent = now;
        let (aifsn, expires) = (function.params.aifsn, function.expires);
        self.changed = true;
        if more {
            self.waiting.change(aifsn, f, expires);
        } else {
            self.waiting.remove(aifsn, f);
        }
    }

    /// The medium is idle from `idle_from` on. Contention starts again.
    pub fn idle(&mut self, now: Instant, idle_from: Instant) {
        self.begin_if_due(now);
        self.begun = false;
        self.idle_from = idle_from;
        self.freed = now;
        self.wanted_from = idle_from;
        self.start = self.waiting.firsts().map(|(aifsn, first)| self.start_at(aifsn, first)).min();
        self.changed = true;
    }

    /// The winner continues within its TXOP: its next transmission starts at `start`, without contention.
    pub fn hold(&mut self, now: Instant, start: Instant) {
        self.begin_if_due(now);
        self.begun = true;
        self.wanted_from = now;
        self.start = Some(start);
        self.changed = true;
    }

    /// A transmission by a function outside this medium begins at `now` while the medium is idle. The medium
    /// is busy until [`Medium::idle`]. Used where radios hear different frames. A function that starts at
    /// `now` itself transmits nevertheless.
    pub fn interrupt(&mut self, now: Instant) {
        debug_assert!(self.start.is_none_or(|start| now < start), "who starts is not interrupted");
        if !self.begun {
            self.count(now);
            self.begun = true;
            self.start = None;
            self.changed = true;
        }
    }

    /// The transmission that was due at `now` begins.
    pub fn begin(&mut self, now: Instant) {
        self.begin_if_due(now);
    }

    /// Whether some function has something to send.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// When a function transmits whose back-off ends at boundary `expires`.
    #[inline]
    fn start_at(&self, aifsn: u8, expires: u64) -> Instant {
        let left = expires.saturating_sub(self.passed[usize::from(aifsn)]);
        self.idle_from + self.sifs + self.slot * (u64::from(aifsn) + left)
    }

    /// Counts the boundaries up to the start of a transmission, once that start is reached.
    fn begin_if_due(&mut self, now: Instant) {
        let Some(start) = self.start else { return };
        if self.begun || now < start {
            return;
        }
        self.begun = true;
        self.count(start);
    }

    /// Counts the boundaries of this idle period up to `until`, that one included.
    fn count(&mut self, until: Instant) {
        let first = self.idle_from + self.sifs;
        if until >= first {
            let slots = (until - first) / self.slot;
            for (aifsn, passed) in self.passed.iter_mut().enumerate() {
                *passed += (slots + 1).saturating_sub(aifsn as u64);
            }
        }
    }
}

#[cfg(test)]
mod tests;
