//! Resource use as cumulative sums: the time of each kind up to any instant that is still needed.

use std::collections::VecDeque;

/// Number of kinds of use, in the order of [`Sums`].
pub(super) const KINDS: usize = 8;
/// Time by kind.
pub(super) type Sums = [u64; KINDS];

/// Position of each asker's last lookup. The next lookup is usually close, because packets leave a layer in
/// order of arrival.
type Cursors = [usize; ASKERS];
/// Number of askers: start and end of stays in each layer that waits for a resource.
pub(super) const ASKERS: usize = 8;

/// Interval with a single kind of use.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: u64,
    kind: u8,
    /// Time of each kind before the interval.
    before: Sums,
}

/// Uses of a resource over time.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    stretches: VecDeque<Stretch>,
    /// End of the last interval.
    until: u64,
    sums: Sums,
    cursors: Cursors,
}

impl Track {
    /// Returns the end of the recorded use.
    pub(super) fn until(&self) -> u64 {
        self.until
    }

    /// Records use of this kind from the end of the track until `until`.
    #[inline]
    pub(super) fn push(&mut self, until: u64, kind: u8) {
        if until <= self.until {
            return;
        }
        if self.stretches.back().is_none_or(|last| last.kind != kind) {
            self.stretches.push_back(Stretch { from: self.until, kind, before: self.sums });
        }
        self.sums[usize::from(kind)] += until - self.until;
        self.until = until;
    }

    /// Returns the time of each kind before `t`. Time after the end of the track counts as `rest`. `asker` is
    /// below [`ASKERS`].
    #[inline]
    pub(super) fn at(&mut self, t: u64, rest: u8, asker: usize) -> Sums {
        if t >= self.until {
            let mut sums = self.sums;
            sums[usize::from(rest)] += t - self.until;
            return sums;
        }
        let n = near(&self.stretches, self.cursors[asker], |s| s.from <= t);
        self.cursors[asker] = n;
        let Stretch { from, kind, before } = self.stretches[n];
        let mut sums = before;
        sums[usize::from(kind)] += t - from;
        sums
    }

    /// Discards planned use after an instant.
    pub(super) fn cut(&mut self, at: u64) {
        if at >= self.until {
            return;
        }
        while let Some(last) = self.stretches.back().filter(|last| last.from >= at) {
            self.sums = last.before;
            self.stretches.pop_back();
        }
        if let Some(last) = self.stretches.back() {
            self.sums = last.before;
            self.sums[usize::from(last.kind)] += at - last.from;
        }
        self.until = at;
    }

    /// Discards use that ended before an instant.
    pub(super) fn forget(&mut self, before: u64) {
        let gone = self.stretches.partition_point(|s| s.from <= before).saturating_sub(1);
        self.stretches.drain(..gone);
        self.cursors.iter_mut().for_each(|cursor| *cursor = cursor.saturating_sub(gone));
    }
}

/// Time of a single kind, such as the service of one flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Share {
    /// Spans: start, end, and total time of earlier spans.
    spans: VecDeque<(u64, u64, u64)>,
    cursors: Cursors,
}

impl Share {
    /// Adds a span. Time that was already added does not count again.
    #[inline]
    pub(super) fn push(&mut self, from: u64, until: u64) {
        match self.spans.back_mut() {
            Some(last) if last.1 >= until => {}
            Some(last) if last.1 >= from => last.1 = until,
            Some(&mut (begun, ended, before)) => self.spans.push_back((from, until, before + ended - begun)),
            None if until > from => self.spans.push_back((from, until, 0)),
            None => {}
        }
    }

    /// Returns the time before an instant.
    #[inline]
    pub(super) fn at(&mut self, t: u64, asker: usize) -> u64 {
        match (self.spans.front(), self.spans.back()) {
            (Some(&(first, ..)), _) if t <= first => return 0,
            (_, Some(&(from, until, before))) if from <= t => return before + t.min(until) - from,
            (None, _) | (_, None) => return 0,
            _ => {}
        }
        let n = near(&self.spans, self.cursors[asker], |&(from, ..)| from <= t);
        self.cursors[asker] = n;
        let (from, until, before) = self.spans[n];
        before + t.min(until) - from
    }

    /// Discards planned time after an instant.
    pub(super) fn cut(&mut self, at: u64) {
        while self.spans.back().is_some_and(|span| span.0 >= at) {
            self.spans.pop_back();
        }
        self.spans.back_mut().into_iter().for_each(|last| last.1 = last.1.min(at));
    }

    /// Discards spans that ended before an instant, but keeps their sum.
    pub(super) fn forget(&mut self, before: u64) {
        let gone = self.spans.partition_point(|&(_, until, _)| until <= before).saturating_sub(1);
        self.spans.drain(..gone);
        self.cursors.iter_mut().for_each(|cursor| *cursor = cursor.saturating_sub(gone));
    }
}

/// Returns the index of the last element for which `holds` is true. `holds` must be true for the first
/// element and change to false at most once. Searches from `hint` in doubling steps.
#[inline]
fn near<T>(all: &VecDeque<T>, hint: usize, holds: impl Fn(&T) -> bool) -> usize {
    let hint = hint.min(all.len() - 1);
    let (mut low, mut high, mut step) = (hint, hint, 1);
    if holds(&all[hint]) {
        loop {
            high = low + step;
            if high >= all.len() || !holds(&all[high]) {
                break;
            }
            (low, step) = (high, 2 * step);
        }
    } else {
        loop {
            low = high.saturating_sub(step);
            if low == 0 || holds(&all[low]) {
                break;
            }
            (high, step) = (low, 2 * step);
        }
    }
    // `holds` is true at `low`, and false at `high` unless `high` is the end.
    let mut high = high.min(all.len());
    while high - low > 1 {
        let middle = low.midpoint(high);
        if holds(&all[middle]) { low = middle } else { high = middle }
    }
    low
}

/// Times at which something was held.
#[derive(Clone, Debug, Default)]
pub(super) struct Holds {
    spans: VecDeque<(u64, u64)>,
}

impl Holds {
    /// Sets the hold from now until `until`, as currently planned; `None` ends the hold.
    pub(super) fn set(&mut self, now: u64, until: Option<u64>) {
        if let Some(last) = self.spans.back_mut()
            && last.1 > now
        {
            last.1 = now;
        }
        let Some(until) = until.filter(|until| *until > now) else { return };
        match self.spans.back_mut() {
            Some(last) if last.1 == now => last.1 = until,
            _ => self.spans.push_back((now, until)),
        }
    }

    /// Returns the spans that overlap an interval, clipped to it.
    pub(super) fn within(&self, from: u64, until: u64) -> impl Iterator<Item = (u64, u64)> {
        let first = self.spans.partition_point(|&(_, end)| end <= from);
        let met = self.spans.range(first..).take_while(move |&&(begin, _)| begin < until);
        met.map(move |&(begin, end)| (begin.max(from), end.min(until))).filter(|(begin, end)| begin < end)
    }

    /// Discards spans that ended before an instant.
    pub(super) fn forget(&mut self, before: u64) {
        let gone = self.spans.partition_point(|&(_, end)| end <= before);
        // The last span may still be extended.
        self.spans.drain(..gone.min(self.spans.len().saturating_sub(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_differences_for_any_interval() {
        let mut track = Track::default();
        for (until, kind) in [(10, 0), (15, 1), (15, 2), (40, 0), (50, 0), (60, 3)] {
            track.push(until, kind);
        }
        let diff = |track: &mut Track, a: u64, b: u64| {
            let (x, y) = (track.at(a, 7, 0), track.at(b, 7, 1));
            [0, 1, 3, 7].map(|k: usize| y[k] - x[k])
        };
        assert_eq!(diff(&mut track, 0, 60), [45, 5, 10, 0]);
        assert_eq!(diff(&mut track, 9, 12), [1, 2, 0, 0]);
        assert_eq!(diff(&mut track, 55, 70), [0, 0, 5, 10]);
        track.forget(20);
        assert_eq!((track.stretches.len(), diff(&mut track, 20, 58)), (2, [30, 0, 8, 0]));
    }

    #[test]
    fn cut_keeps_earlier_use() {
        let mut track = Track::default();
        for (until, kind) in [(10, 0), (20, 2), (30, 0), (50, 2)] {
            track.push(until, kind);
        }
        let mut share = Share::default();
        for (from, until) in [(10, 20), (30, 50)] {
            share.push(from, until);
        }
        for (at, served) in [(60, 30), (40, 20), (30, 10), (25, 10), (14, 4), (4, 0)] {
            track.cut(at);
            share.cut(at);
            assert_eq!(
                (track.until(), track.at(100, 7, 0)[2], share.at(100, 0)),
                (at.min(50), served, served)
            );
            assert_eq!(track.at(at, 7, 0).iter().sum::<u64>(), at);
        }
        track.push(9, 2);
        share.push(4, 9);
        assert_eq!((track.at(7, 7, 0), share.at(7, 0)), ([4, 0, 3, 0, 0, 0, 0, 0], 3));
    }

    #[test]
    fn share_counts_each_span_once() {
        let mut share = Share::default();
        for (from, until) in [(10, 20), (10, 20), (20, 25), (40, 50)] {
            share.push(from, until);
        }
        let asked = [0, 10, 12, 25, 39, 41, 99];
        assert_eq!(asked.map(|t| share.at(t, 3)), [0, 0, 2, 15, 15, 16, 25]);
        share.forget(45);
        // The previous span stays, because it holds the sum up to it.
        assert_eq!((share.spans.len(), share.at(60, 0) - share.at(45, 1)), (2, 5));
    }

    #[test]
    fn near_finds_the_same_from_any_hint() {
        let all: VecDeque<u64> = (0..40).map(|n| 3 * n).collect();
        for hint in 0..45 {
            for t in 0..130 {
                let found = near(&all, hint, |from| *from <= t);
                assert_eq!(found, (t as usize / 3).min(39), "{t} from {hint}");
            }
        }
    }

    #[test]
    fn holds_end_when_set() {
        let mut holds = Holds::default();
        holds.set(10, Some(20));
        holds.set(15, Some(30));
        holds.set(18, None);
        holds.set(40, Some(90));
        let within = |holds: &Holds, a, b| holds.within(a, b).collect::<Vec<_>>();
        assert_eq!(within(&holds, 0, 100), [(10, 18), (40, 90)]);
        assert_eq!(within(&holds, 18, 50), [(40, 50)]);
        assert_eq!(within(&holds, 18, 40), []);
    }
}
