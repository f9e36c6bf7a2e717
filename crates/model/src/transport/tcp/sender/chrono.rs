//! Busy time of a sender, and how much of it was limited by the receive window or the send buffer.

/// Limits that are timed. If several apply, the last variant is timed.
// linux: include/net/tcp.h enum tcp_chrono (6.1; since 4.10).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Limit {
    /// Nothing to send.
    #[default]
    None,
    /// Data is unacknowledged or unsent.
    Busy,
    /// The peer's receive window is full.
    Window,
    /// All data is sent, and the application waits for send buffer space.
    Buffer,
}

/// The three stopwatches, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Chrono {
    now: Limit,
    since: u32,
    /// Time per kind, excluding the running interval.
    spent: [u32; 3],
}

impl Chrono {
    fn set(&mut self, limit: Limit, tick: u32) {
        if let Some(kind) = (self.now as usize).checked_sub(1) {
            self.spent[kind] += tick.wrapping_sub(self.since);
        }
        (self.now, self.since) = (limit, tick);
    }

    /// Starts timing a limit, unless a later variant is already being timed.
    // linux: net/ipv4/tcp_output.c tcp_chrono_start (6.1).
    #[inline]
    pub fn start(&mut self, limit: Limit, tick: u32) {
        if limit > self.now {
            self.set(limit, tick);
        }
    }

    /// Stops timing a limit. `idle` is true if nothing is left to send or acknowledge.
    // linux: net/ipv4/tcp_output.c tcp_chrono_stop (6.1).
    #[inline]
    pub fn stop(&mut self, limit: Limit, idle: bool, tick: u32) {
        if idle {
            if self.now != Limit::None {
                self.set(Limit::None, tick);
            }
        } else if limit == self.now && limit != Limit::Busy {
            self.set(Limit::Busy, tick);
        }
    }

    /// Returns the ticks up to now: busy in total, limited by the window, limited by the buffer.
    // linux: net/ipv4/tcp.c tcp_get_info_chrono_stats (6.1).
    pub fn totals(&self, tick: u32) -> [u32; 3] {
        let mut at = *self;
        at.set(at.now, tick);
        let [busy, window, buffer] = at.spent;
        [busy + window + buffer, window, buffer]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_limit_is_timed_and_counts_as_busy() {
        let mut c = Chrono::default();
        c.start(Limit::Busy, 10);
        c.start(Limit::Window, 15);
        c.start(Limit::Busy, 16);
        assert_eq!(c.totals(18), [8, 3, 0]);
        c.stop(Limit::Buffer, false, 19);
        c.stop(Limit::Window, false, 20);
        c.start(Limit::Buffer, 30);
        c.start(Limit::Window, 31);
        assert_eq!(c.totals(34), [24, 5, 4]);
        c.stop(Limit::Buffer, true, 40);
        c.stop(Limit::Busy, true, 45);
        assert_eq!(c.totals(100), [30, 5, 10]);
    }
}
