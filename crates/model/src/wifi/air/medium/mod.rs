//! EDCA contention for a channel. The cost of an exchange does not depend on the number of waiting functions.
//!
//! All slot boundaries of an idle period lie on one grid, SIFS after the last transmission and every slot
//! after that. A function with arbitration number `aifsn` acts at the boundaries from `aifsn` slots on: it
//! decrements its backoff or, at zero, transmits. The medium therefore only counts, per arbitration number,
//! the boundaries passed since the start of the run, and a function stores the count at which its backoff
//! ends. The backoff of a function with nothing to send counts down without any work.
// spec: ieee80211 10.22.2.4 - at each slot boundary, a function either transmits, counts down or does
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
    /// Boundary at which the backoff ends, counted as in `Medium::passed`.
    expires: u64,
    /// End of its last transmission, after which it drew the backoff.
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
    /// The frame was acknowledged, needed no acknowledgement, or was given up. Resets the contention window
    /// to CWmin.
    Finished,
    /// The transmission failed and will be retried. Doubles the contention window.
    Failed,
}

/// State of EDCA contention on one channel.
#[derive(Debug)]
pub struct Medium {
    sifs: Duration,
    slot: Duration,
    edcafs: Vec<Edcaf>,
    waiting: Contenders,
    /// Boundaries passed before the current idle period, by arbitration number.
    passed: [u64; CLASSES],
    /// End of the last transmission. The medium is idle from this time, unless `begun`.
    idle_from: Instant,
    /// Time of the last call of `idle`, if any.
    freed: Instant,
    /// Time since which a function has been waiting in this idle period.
    wanted_from: Instant,
    /// Planned start of the next transmission.
    start: Option<Instant>,
    begun: bool,
    /// Start or winners may differ from the last call of [`Medium::winners`].
    changed: bool,
    /// A frame that arrives while the medium is busy and no backoff is left draws a new one.
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

    /// Disables the new backoff for a frame that arrives while the medium is busy and no backoff is left: the
    /// frame is sent after the next AIFS.
    // deviation: contrary to the standard - for comparison with simulators that draw a backoff only after a
    // transmission.
    pub fn without_busy_backoff(self) -> Self {
        Self { busy_backoff: false, ..self }
    }

    /// Registers an EDCA function. Panics if its AIFSN is not in 1 to 15.
    pub fn add(&mut self, params: EdcaParams, stream: RandomStream) -> EdcafId {
        assert!((1..CLASSES as u8).contains(&params.aifsn), "aifsn must be 1 to 15");
        let sent = Instant::NEVER;
        self.edcafs.push(Edcaf { params, cw: params.cw_min, expires: 0, sent, stream });
        self.waiting.add();
        EdcafId((self.edcafs.len() - 1) as u16)
    }

    /// Adds function `f`, which was not waiting and now has a frame to send.
    ///
    /// A request at the instant at which the medium becomes idle counts as finding the medium busy: it
    /// responds to frames of the exchange that just ended. The model delivers these frames at the end of the
    /// acknowledgement, but real hosts receive them a SIFS and an acknowledgement earlier. Hosts take no time
    /// in the model.
    // spec: ieee80211-2016 10.3.4.2 - no backoff only if the medium is idle when the frame is queued and
    // stays idle for DIFS.
    // deviation: also applies to hosts that respond more slowly than the acknowledgement, which would find
    // the medium idle.
    pub fn request(&mut self, now: Instant, f: EdcafId) {
        self.begin_if_due(now);
        let busy = self.begun || now < self.idle_from || now == self.freed;
        let first_boundary = self.idle_from + self.sifs;
        let function = &mut self.edcafs[usize::from(f.0)];
        debug_assert!(!self.waiting.contains(f), "a function asks once");
        let aifsn = function.params.aifsn;
        if busy {
            // spec: ieee80211 10.22.2.2 - invokes a new backoff for a frame that arrives at an empty queue
            // after the end of the backoff while the medium is busy. A function that has just sent has drawn
            // it already.
            let over = function.expires <= self.passed[usize::from(aifsn)];
            match (over, self.busy_backoff) {
                (true, true) if function.sent != now => function.draw(&self.passed),
                // Wait for the next boundary, so that the function does not join the current transmission.
                (true, false) => function.expires = self.passed[usize::from(aifsn)],
                _ => {}
            }
        } else {
            // The function misses the boundaries of this idle period up to and including `now`: events at the
            // current boundary are settled, and a start must lie in the future to be planned.
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

    /// Returns the start of the next or current transmission, or `None` if no function waits.
    #[inline]
    pub fn start(&self) -> Option<Instant> {
        self.start
    }

    /// Returns the time since which a function has been waiting for that start.
    #[inline]
    pub fn wanted_from(&self) -> Instant {
        self.wanted_from
    }

    /// Returns true if waiting function `f` is sending or starts at `now`, so that the content of the frame
    /// is settled. Continuations within a TXOP do not count.
    pub fn sends(&mut self, now: Instant, f: EdcafId) -> bool {
        self.begin_if_due(now);
        // A transmitting function has passed all its boundaries. A function that keeps waiting has some left,
        // and one that requests meanwhile draws a new backoff.
        let function = &self.edcafs[usize::from(f.0)];
        self.begun && function.expires < self.passed[usize::from(function.params.aifsn)]
    }

    /// Withdraws the first PPDU of waiting function `f`, which then has `left` PPDUs. The backoff continues.
    /// The next backoff is drawn from CWmin, as after the last failed try of a PPDU.
    // spec: ieee80211-2016 10.22.2.2 - resets the window after the last try.
    // deviation: skips these tries - hardware makes them in vain.
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

    /// Notes that the next frame of a function may have another length than at the last call of
    /// [`Medium::winners`].
    pub fn resized(&mut self) {
        self.changed |= !self.begun;
    }

    /// Fills `winners` with the functions that transmit at [`Medium::start`], ordered by number. More than
    /// one function is a collision.
    ///
    /// Call this before the start of the transmission, or pass the unmodified `winners` of the previous call.
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

    /// Like `winners`, after the transmission has begun. Functions that request after the start are not
    /// included.
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

    /// Returns true if the start or the winners may have changed since the last call of [`Medium::winners`].
    #[inline]
    pub fn has_changed(&self) -> bool {
        self.changed
    }

    /// Returns true if the planned transmission has begun by `now`. Later requests cannot join it.
    #[inline]
    pub fn has_begun(&self, now: Instant) -> bool {
        self.begun || self.start.is_some_and(|s| now >= s)
    }

    /// Ends the transmission of winner `f` at `now`. `more` is true if the function has more to send and
    /// stays in contention.
    pub fn done(&mut self, now: Instant, f: EdcafId, outcome: TxOutcome, more: bool) {
        self.begin_if_due(now);
        let function = &mut self.edcafs[usize::from(f.0)];
        function.cw = match outcome {
            TxOutcome::Finished => function.params.cw_min,
            // spec: ieee80211 10.22.2.2 - doubles the window (plus one) up to its maximum.
            TxOutcome::Failed => (2 * function.cw + 1).min(function.params.cw_max),
        };
        // Draw even after the last frame: this post-backoff delays a new frame that arrives right after the
        // transmission.
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

    /// Restarts contention on a medium that is idle from `idle_from`.
    pub fn idle(&mut self, now: Instant, idle_from: Instant) {
        self.begin_if_due(now);
        self.begun = false;
        self.idle_from = idle_from;
        self.freed = now;
        self.wanted_from = idle_from;
        self.start = self.waiting.firsts().map(|(aifsn, first)| self.start_at(aifsn, first)).min();
        self.changed = true;
    }

    /// Continues the winner's TXOP: its next transmission starts at `start`, without contention.
    pub fn hold(&mut self, now: Instant, start: Instant) {
        self.begin_if_due(now);
        self.begun = true;
        self.wanted_from = now;
        self.start = Some(start);
        self.changed = true;
    }

    /// Makes the medium, idle until now, busy until [`Medium::idle`] because a function outside of it begins
    /// to transmit. Used if radios hear different frames. A function that starts exactly at `now` transmits
    /// nevertheless.
    pub fn interrupt(&mut self, now: Instant) {
        debug_assert!(self.start.is_none_or(|start| now < start), "who starts is not interrupted");
        if !self.begun {
            self.count(now);
            self.begun = true;
            self.start = None;
            self.changed = true;
        }
    }

    /// Begins the transmission that was due at `now`.
    pub fn begin(&mut self, now: Instant) {
        self.begin_if_due(now);
    }

    /// Returns true if any function has a frame to send.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Start of a transmission by a function whose backoff ends at boundary `expires`.
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

    /// Counts the boundaries of this idle period up to and including `until`.
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
