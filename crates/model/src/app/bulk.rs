//! A greedy sender over TCP, and the reader at its other end.

use crate::vocabulary::Instant;

/// What a bulk transfer is.
#[derive(Clone, Copy, Debug)]
pub struct BulkParams {
    /// When it connects.
    pub start: Instant,
    /// When it writes no more and closes.
    pub stop: Instant,
    /// Bytes that it sends before it closes; none means as many as it can.
    pub bytes: Option<u64>,
    /// Bytes that it hands to the socket at once, in one call of `write`.
    pub write: u32,
}

/// What a bulk transfer does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BulkAction {
    /// It connects.
    Connect,
    /// It closes.
    Close,
}

/// A bulk transfer, as netperf's TCP_STREAM or iperf make it: it writes whenever the socket takes anything.
#[derive(Debug)]
pub struct Bulk {
    params: BulkParams,
    /// What its timer stands for, until it has closed.
    next: Option<BulkAction>,
    /// Bytes left in all.
    left: u64,
    /// Bytes left of a write that the socket did not take whole.
    pending: u64,
}

impl Bulk {
    /// A transfer that has not begun.
    pub fn new(params: BulkParams) -> Self {
        Self { params, next: Some(BulkAction::Connect), left: params.bytes.unwrap_or(u64::MAX), pending: 0 }
    }

    /// When [`Bulk::on_timer`] is to be called.
    pub fn next_timer(&self) -> Option<Instant> {
        match self.next? {
            BulkAction::Connect => Some(self.params.start),
            BulkAction::Close => (self.params.stop != Instant::NEVER).then_some(self.params.stop),
        }
    }

    /// It is time for what comes next.
    pub fn on_timer(&mut self) -> Option<BulkAction> {
        let action = self.next;
        self.next = match action {
            Some(BulkAction::Connect) => Some(BulkAction::Close),
            Some(BulkAction::Close) | None => None,
        };
        action
    }

    /// Bytes that it would write now: the rest of a write that was cut short, or the next one.
    #[inline]
    pub fn wants(&self) -> u64 {
        match self.next {
            Some(BulkAction::Close) if self.pending > 0 => self.pending,
            Some(BulkAction::Close) => self.left.min(u64::from(self.params.write)),
            Some(BulkAction::Connect) | None => 0,
        }
    }

    /// The socket took so many bytes; true if these were the last and it closes.
    #[inline]
    pub fn wrote(&mut self, bytes: u64) -> bool {
        self.pending = self.wants() - bytes;
        if self.params.bytes.is_none() {
            return false;
        }
        self.left -= bytes;
        let done = self.left == 0 && self.next.is_some();
        if done {
            self.next = None;
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn it_connects_writes_and_closes_at_its_stop() {
        let mut b = Bulk::new(BulkParams { start: at(5), stop: at(9), bytes: None, write: 1000 });
        assert_eq!((b.wants(), b.next_timer(), b.on_timer()), (0, Some(at(5)), Some(BulkAction::Connect)));
        assert_eq!((b.wants(), b.wrote(1000), b.wants()), (1000, false, 1000));
        assert_eq!((b.next_timer(), b.on_timer()), (Some(at(9)), Some(BulkAction::Close)));
        assert_eq!((b.wants(), b.next_timer(), b.on_timer()), (0, None, None));
    }

    #[test]
    fn it_closes_after_its_last_byte() {
        let mut b =
            Bulk::new(BulkParams { start: at(0), stop: Instant::NEVER, bytes: Some(1000), write: 800 });
        b.on_timer();
        assert_eq!((b.wants(), b.next_timer()), (800, None));
        // A write that was cut short goes on with its rest; the last one is what is left.
        assert_eq!((b.wrote(500), b.wants(), b.wrote(300), b.wants()), (false, 300, false, 200));
        assert_eq!((b.wrote(199), b.wants(), b.wrote(1), b.wants()), (false, 1, true, 0));
    }
}
