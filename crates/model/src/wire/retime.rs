//! Recomputes the departures of queued frames when the rate of a wire changes.
//!
//! Departures are computed once per frame, at push. Changes are rare, so they recompute all pending
//! departures; the per-packet path costs the same with and without changes.

use crate::types::{Bytes, Duration, Instant, Rate};

/// During an outage, departures are 1 ns apart from here on, in order. No timer fires that late.
pub(super) const OUTAGE: Instant = Instant::from_nanos(u64::MAX / 2);

/// The rate to compute departures with. A rate of zero becomes 1 ns per frame, starting at [`OUTAGE`].
pub(super) const fn pace(rate: Rate) -> Rate {
    if rate.bps() == 0 { Rate::from_bps(u64::MAX) } else { rate }
}

/// The earliest departure that a rate allows.
pub(super) const fn earliest(rate: Rate, at: Instant) -> Instant {
    if rate.bps() == 0 { OUTAGE } else { at }
}

/// A frame that the last change found partly sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cut {
    /// Departure of its last bit.
    sent: Instant,
    /// Bits left at the step, in units of 10^-9 bit.
    left: u64,
}

/// Recomputes the departures of one serializer's frames, in order.
pub(super) struct Retimer {
    now: Instant,
    rates: [Rate; 2],
    cut: Option<Cut>,
    /// The frame that is partly sent now.
    pub(super) new_cut: Option<Cut>,
    /// Earliest start of the next frame.
    pub(super) next: Instant,
}

impl Retimer {
    /// Starts a change between two rates, both as returned by [`pace`]. Nothing leaves before `from`.
    pub(super) fn new(now: Instant, rates: [Rate; 2], cut: Option<Cut>, from: Instant) -> Self {
        Self { now, rates, cut, new_cut: None, next: from.max(now) }
    }

    /// Returns true if an earlier change found this frame half sent.
    pub(super) fn is_cut(&self, sent: Instant) -> bool {
        self.cut.is_some_and(|cut| cut.sent == sent)
    }

    /// Reschedules a frame of `bytes` on the wire whose last bit would have left at `sent`, after the change.
    /// Returns the new start and end of its remaining part. Bits that have left stay sent.
    pub(super) fn frame(&mut self, sent: Instant, bytes: Bytes) -> (Instant, Instant) {
        const BIT_NANOS: u64 = 8_000_000_000;
        let [old, new] = self.rates.map(|rate| u128::from(rate.bps()));
        let whole = bytes.get() * BIT_NANOS;
        let left = self.cut.filter(|cut| cut.sent == sent).map_or(whole, |cut| cut.left);
        let until_sent = u128::from((sent - self.now).nanos()) * old;
        let left = u128::from(left).min(until_sent) as u64;
        let begins = self.next;
        self.next = begins + Duration::from_nanos(u128::from(left).div_ceil(new) as u64);
        if left < whole {
            self.new_cut = Some(Cut { sent: self.next, left });
        }
        (begins, self.next)
    }

    /// The new time of an event on a serializer that is busy from now until then.
    pub(super) fn scaled(&self, at: Instant) -> Instant {
        let [old, new] = self.rates;
        if at <= self.now || old == new {
            return at;
        }
        let bits = u128::from((at - self.now).nanos()) * u128::from(old.bps());
        self.now + Duration::from_nanos(bits.div_ceil(u128::from(new.bps())) as u64)
    }
}
