//! Byte queue limits (BQL): keep the smallest number of bytes in a device's transmit ring that does not let
//! it run empty.

use crate::types::{Duration, Instant};

/// Time over which the smallest surplus is observed before the limit is lowered by it.
// linux: lib/dynamic_queue_limits.c dql_init, include/linux/dynamic_queue_limits.h (4.4) - one second;
// `hold_time` in sysfs.
const HOLD_TIME: Duration = Duration::from_secs(1);

/// The limit of one transmit queue. Byte counts start with the run.
// linux: lib/dynamic_queue_limits.c (4.4) - adapts the limit; its minimum is 0, without a maximum.
#[derive(Debug, Default)]
pub(super) struct Bql {
    limit: u64,
    queued: u64,
    completed: u64,
    /// Size of the last packet passed to the device.
    last: u64,
    /// Total bytes queued by the last report.
    queued_before: u64,
    /// Bytes above the limit at the last report.
    over_before: u64,
    /// Size of the last packet queued before the last report.
    last_before: u64,
    /// The smallest surplus since `since`.
    surplus: Option<u64>,
    since: Instant,
    stopped: bool,
}

impl Bql {
    /// Returns true if the queue above is stopped.
    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Records a packet passed to the device. One packet may exceed the limit.
    #[inline]
    pub(super) fn queued(&mut self, bytes: u32) {
        self.last = u64::from(bytes);
        self.queued += self.last;
        self.stopped |= self.queued > self.completed + self.limit;
    }

    /// Records that the device has reported `bytes` as sent.
    pub(super) fn completed(&mut self, now: Instant, bytes: u32) {
        if bytes == 0 {
            return;
        }
        let done = u64::from(bytes);
        let completed = self.completed + done;
        let over = (self.queued - self.completed).saturating_sub(self.limit);
        let inside = self.queued - completed;
        let inside_before = self.queued_before - self.completed;
        let all_before = completed >= self.queued_before;
        let mut limit = self.limit;
        if (over > 0 && inside == 0) || (self.over_before > 0 && all_before) {
            // The limit was reached, and the device ran dry, or may have before the queue above could refill
            // it. Raise the limit by the bytes sent of later packets and by the bytes accepted above the
            // limit.
            limit += completed.saturating_sub(self.queued_before) + self.over_before;
            (self.surplus, self.since) = (None, now);
        } else if inside > 0 && inside_before > 0 && !all_before {
            // The device was busy the whole time. Twice the bytes sent between two reports suffice; so does
            // the limit without the part of the last packet that fitted below it.
            let enough = (limit + self.over_before).saturating_sub(2 * done);
            let part =
                if self.over_before > 0 { self.last_before.saturating_sub(self.over_before) } else { 0 };
            let surplus = enough.max(part);
            let least = self.surplus.map_or(surplus, |s| s.min(surplus));
            self.surplus = Some(least);
            if now.saturating_since(self.since) > HOLD_TIME {
                limit = limit.saturating_sub(least);
                (self.surplus, self.since) = (None, now);
            }
        }
        self.over_before = if limit == self.limit { over } else { 0 };
        self.limit = limit;
        self.last_before = self.last;
        self.completed = completed;
        self.queued_before = self.queued;
        self.stopped &= self.queued > self.completed + self.limit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const PACKET: u32 = 1514;

    /// A device that takes 12 us per packet and reports every `report` us, below a queue that is never empty.
    /// Returns the limit after `seconds`, and over the last second the maximum number of packets inside and
    /// the idle time in us.
    fn saturated(report: u64, seconds: u64) -> (u64, u64, u64) {
        let mut bql = Bql::default();
        let (mut ring, mut sent, mut most, mut idle) = (0_u64, 0_u64, 0, 0);
        let mut busy_until = 0;
        for us in 0..seconds * 1_000_000 {
            let last_second = us >= (seconds - 1) * 1_000_000;
            while !bql.is_stopped() {
                bql.queued(PACKET);
                ring += 1;
            }
            if us >= busy_until && ring > sent {
                sent += 1;
                busy_until = us + 12;
            }
            idle += u64::from(last_second && us >= busy_until);
            if last_second {
                most = most.max(ring);
            }
            // A packet counts as sent once its time is over.
            if us % report == report - 1 && sent > 0 {
                let done = sent - u64::from(us + 1 < busy_until);
                bql.completed(Instant::from_nanos((us + 1) * 1000), PACKET * done as u32);
                (ring, sent) = (ring - done, sent - done);
            }
        }
        (bql.limit, most, idle)
    }

    #[test]
    fn the_limit_grows_to_cover_a_report_and_the_device_is_not_starved() {
        // Each report, every 120 us, covers 10 packets; at most twice as many bytes are needed, plus one
        // packet.
        let (limit, most, idle) = saturated(120, 6);
        let packets = limit / u64::from(PACKET);
        assert!((10..=20).contains(&packets), "{packets} packets");
        assert!((10..=21).contains(&most), "{most} packets inside");
        assert_eq!(idle, 0);
        // With a report for every packet or two, the ring is almost empty.
        let (limit, most, idle) = saturated(12, 6);
        assert!(limit <= 3 * u64::from(PACKET) && most <= 4 && idle == 0, "{limit} {most} {idle}");
    }

    #[test]
    fn a_limit_that_was_too_large_is_lowered_after_the_hold_time() {
        let mut bql = Bql { limit: 200 * u64::from(PACKET), ..Bql::default() };
        let mut at = Instant::ZERO;
        let mut inside = 0;
        let mut limits = Vec::new();
        for n in 0..30_000_u64 {
            while !bql.is_stopped() {
                bql.queued(PACKET);
                inside += 1;
            }
            at += Duration::from_micros(120);
            bql.completed(at, 10 * PACKET);
            inside -= 10;
            assert!(inside > 0, "starved at {n}");
            if limits.last() != Some(&bql.limit) {
                limits.push(bql.limit);
            }
        }
        // The first second finds the surplus by the second rule in one step.
        assert_eq!(limits.first(), Some(&(200 * u64::from(PACKET))));
        assert!(bql.limit <= 20 * u64::from(PACKET), "{limits:?}");
    }

    #[test]
    fn an_idle_queue_starts_with_one_packet() {
        let mut bql = Bql::default();
        bql.queued(PACKET);
        assert!(bql.is_stopped(), "the least limit is nothing");
        bql.completed(Instant::from_nanos(1), PACKET);
        assert!(!bql.is_stopped());
        // The queue exceeded the limit and ran dry: the limit grows by the whole packet.
        assert_eq!(bql.limit, u64::from(PACKET));
    }
}
