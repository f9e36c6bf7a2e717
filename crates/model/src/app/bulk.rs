//! A greedy TCP sender, and the reader at the other end.

use alloc::boxed::Box;

use super::gate::{Gate, GateParams};
use crate::types::Instant;

/// Parameters of a bulk transfer.
#[derive(Clone, Copy, Debug)]
pub struct BulkParams {
    /// Start of the connection.
    pub start: Instant,
    /// Time at which the application stops writing and closes the connection.
    pub stop: Instant,
    /// Bytes to send before closing. `None`: no limit.
    pub bytes: Option<u64>,
    /// Bytes per `write` call.
    pub write: u32,
    /// Schedule of the writes. `None`: the application always has data.
    pub gate: Option<GateParams>,
}

/// Next action of a bulk transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BulkAction {
    /// Connect.
    Connect,
    /// Write more, or nothing for a while: the gate has changed the number of writable bytes.
    Write,
    /// Close the connection.
    Close,
}

/// A TCP transfer like netperf's TCP_STREAM or iperf: it writes whenever the socket has room, within the
/// limits of its gate.
#[derive(Debug)]
pub struct Bulk {
    start: Instant,
    stop: Instant,
    write: u32,
    /// True if `left` limits the writes.
    counted: bool,
    gate: Option<Box<Gate>>,
    /// Action of the timer. `None` once the connection is closed.
    next: Option<BulkAction>,
    /// Bytes that may be written: the rest of the transfer, or the part that the gate has released.
    left: u64,
    /// Bytes left of a partial write.
    pending: u64,
}

impl Bulk {
    /// Creates a transfer that has not started.
    pub fn new(params: BulkParams) -> Self {
        let BulkParams { start, stop, bytes, write, gate } = params;
        let all = bytes.unwrap_or(u64::MAX);
        let gate = gate.map(|gate| Box::new(Gate::new(gate, start, all, write)));
        let left = if gate.is_some() { 0 } else { all };
        let counted = bytes.is_some() || gate.is_some();
        Self { start, stop, write, counted, gate, next: Some(BulkAction::Connect), left, pending: 0 }
    }

    /// When to call [`Bulk::on_timer`].
    pub fn next_timer(&self) -> Option<Instant> {
        match self.next? {
            BulkAction::Connect => Some(self.start),
            BulkAction::Close | BulkAction::Write => {
                let due = self.gate.as_ref().map_or(self.stop, |gate| gate.next().min(self.stop));
                (due != Instant::NEVER).then_some(due)
            }
        }
    }

    /// Returns true if the writes follow a schedule.
    pub fn is_gated(&self) -> bool {
        self.gate.is_some()
    }

    /// Handles the timer. Returns the next action.
    pub fn on_timer(&mut self) -> Option<BulkAction> {
        let action = self.next;
        if let Some(gate) =
            self.gate.as_mut().filter(|gate| action == Some(BulkAction::Close) && gate.next() < self.stop)
        {
            gate.turn(&mut self.left);
            self.pending = self.pending.min(self.left);
            return Some(BulkAction::Write);
        }
        self.next = match action {
            Some(BulkAction::Connect) => Some(BulkAction::Close),
            Some(BulkAction::Close | BulkAction::Write) | None => None,
        };
        action
    }

    /// Bytes of the next write: the rest of a partial write, or a whole one.
    #[inline]
    pub fn wants(&self) -> u64 {
        match self.next {
            Some(BulkAction::Close) if self.pending > 0 => self.pending,
            Some(BulkAction::Close) => self.left.min(u64::from(self.write)),
            Some(BulkAction::Connect | BulkAction::Write) | None => 0,
        }
    }

    /// Records that the socket accepted `bytes`. Returns true if these were the last bytes and the transfer
    /// closes.
    #[inline]
    pub fn wrote(&mut self, bytes: u64) -> bool {
        self.pending = self.wants() - bytes;
        if !self.counted {
            return false;
        }
        self.left -= bytes;
        let spent = self.gate.as_ref().is_none_or(|gate| gate.is_spent());
        let done = self.left == 0 && spent && self.next.is_some();
        if done {
            self.next = None;
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Duration, Rate};
    use alloc::vec::Vec;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn connects_writes_and_closes_at_the_stop() {
        let mut b = Bulk::new(BulkParams { start: at(5), stop: at(9), bytes: None, write: 1000, gate: None });
        assert_eq!((b.wants(), b.next_timer(), b.on_timer()), (0, Some(at(5)), Some(BulkAction::Connect)));
        assert_eq!((b.wants(), b.wrote(1000), b.wants()), (1000, false, 1000));
        assert_eq!((b.next_timer(), b.on_timer()), (Some(at(9)), Some(BulkAction::Close)));
        assert_eq!((b.wants(), b.next_timer(), b.on_timer()), (0, None, None));
    }

    #[test]
    fn closes_after_the_last_byte() {
        let mut b = Bulk::new(BulkParams {
            start: at(0),
            stop: Instant::NEVER,
            bytes: Some(1000),
            write: 800,
            gate: None,
        });
        b.on_timer();
        assert_eq!((b.wants(), b.next_timer()), (800, None));
        // A partial write continues with its rest; the last write is what remains.
        assert_eq!((b.wrote(500), b.wants(), b.wrote(300), b.wants()), (false, 300, false, 200));
        assert_eq!((b.wrote(199), b.wants(), b.wrote(1), b.wants()), (false, 1, true, 0));
    }

    /// Bytes written at each write time in ms, assuming every write completes immediately.
    fn written(gate: GateParams, bytes: Option<u64>, until: u64) -> Vec<(u64, u64)> {
        let params = BulkParams { start: at(100), stop: at(until), bytes, write: 1000, gate: Some(gate) };
        let (mut bulk, mut all) = (Bulk::new(params), Vec::new());
        while let Some(now) = bulk.next_timer() {
            if bulk.on_timer() == Some(BulkAction::Close) {
                break;
            }
            let mut bytes = 0;
            // An unlimited sender never stops: three writes suffice.
            while bulk.wants() > 0 && bytes < 3000 {
                let wants = bulk.wants();
                bulk.wrote(wants);
                bytes += wants;
            }
            if bytes > 0 {
                all.push((now.nanos() / 1_000_000, bytes));
            }
        }
        all
    }

    #[test]
    fn a_rate_makes_writes_due_one_by_one() {
        let rate = Some(Rate::from_bps(80_000));
        let steady = written(GateParams { rate, on_off: None }, None, 450);
        assert_eq!(steady, [(100, 1000), (200, 1000), (300, 1000), (400, 1000)]);
        // The last write is what remains, and closes the connection.
        assert_eq!(
            written(GateParams { rate, on_off: None }, Some(2500), 1000),
            [(100, 1000), (200, 1000), (300, 500)]
        );
        let ms = Duration::from_millis;
        let talks = GateParams { rate, on_off: Some((ms(150), ms(250))) };
        assert_eq!(written(talks, None, 900), [(100, 1000), (200, 1000), (500, 1000), (600, 1000)]);
    }

    #[test]
    fn bytes_the_socket_refused_are_made_up_for() {
        let gate = Some(GateParams { rate: Some(Rate::from_bps(80_000)), on_off: None });
        let mut bulk =
            Bulk::new(BulkParams { start: at(0), stop: Instant::NEVER, bytes: None, write: 1000, gate });
        // Connect, then three writes become due, of which the socket accepts 400 bytes first.
        for _ in 0..5 {
            bulk.on_timer();
        }
        assert_eq!((bulk.wants(), bulk.wrote(400), bulk.wants()), (1000, false, 600));
        assert_eq!(
            (bulk.wrote(600), bulk.wants(), bulk.wrote(1000), bulk.wants()),
            (false, 1000, false, 1000)
        );
        assert_eq!((bulk.wrote(1000), bulk.wants()), (false, 0));
    }

    #[test]
    fn an_off_period_ends_the_current_write() {
        let ms = Duration::from_millis;
        let gate = Some(GateParams { rate: None, on_off: Some((ms(100), ms(50))) });
        let mut bulk =
            Bulk::new(BulkParams { start: at(0), stop: Instant::NEVER, bytes: None, write: 1000, gate });
        bulk.on_timer();
        assert_eq!(
            (bulk.next_timer(), bulk.on_timer(), bulk.wants()),
            (Some(at(0)), Some(BulkAction::Write), 1000)
        );
        assert_eq!((bulk.wrote(300), bulk.wants(), bulk.next_timer()), (false, 700, Some(at(100))));
        assert_eq!(
            (bulk.on_timer(), bulk.wants(), bulk.next_timer()),
            (Some(BulkAction::Write), 0, Some(at(150)))
        );
        assert_eq!((bulk.on_timer(), bulk.wants()), (Some(BulkAction::Write), 1000));
    }
}
