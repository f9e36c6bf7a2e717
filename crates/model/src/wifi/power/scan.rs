//! Background scans: a station visits other channels, a few at a time, and returns to its own channel in
//! between.

use crate::types::{Duration, Instant};

/// Parameters of a station's scans.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScanParams {
    /// Start of the first scan.
    pub start: Duration,
    /// Interval between the starts of scans. `None`: one scan only.
    pub interval: Option<Duration>,
    /// Active scan: number of channels, and the time on each.
    pub active: (u32, Duration),
    /// Passive scan: number of channels, and the time on each.
    pub passive: (u32, Duration),
    /// Longest time away: the station goes on to another channel without returning only if the total stays
    /// within this time.
    pub max_off_channel: Duration,
    /// Time on the own channel between visits.
    pub home_dwell: Duration,
    /// Longest time on the own channel between visits if frames wait to be sent or received. At least
    /// `home_dwell`.
    pub home_dwell_busy: Duration,
    /// Time from when the access point knows of the absence until the station leaves. Counts as time away.
    pub leave_delay: Duration,
}

/// Progress of a scan.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    params: ScanParams,
    /// When the scan under way began, or the next one begins.
    began: Instant,
    /// Channels that are left of it, to be asked on and to be listened on.
    left: (u32, u32),
    /// When it leaves next; never, where it does not.
    next: Instant,
}

impl Scan {
    /// A scan that has not begun.
    pub fn new(params: ScanParams) -> Self {
        let began = Instant::ZERO + params.start;
        Self { params, began, left: (params.active.0, params.passive.0), next: began }
    }

    /// When the station leaves its channel next.
    #[inline]
    pub const fn next(&self) -> Instant {
        self.next
    }

    /// The station leaves its channel for as many channels as fit. Returns the time away.
    // linux: net/mac80211/scan.c ieee80211_scan_state_decision (6.12) - the next channel without coming back
    // if the time since leaving and that on the next channel are at most HZ / 8; one channel always.
    pub fn leave(&mut self) -> Duration {
        let ScanParams { active, passive, max_off_channel, leave_delay, .. } = self.params;
        let mut gone = leave_delay;
        let mut first = true;
        loop {
            let (left, dwell) = if self.left.0 > 0 {
                (&mut self.left.0, active.1)
            } else if self.left.1 > 0 {
                (&mut self.left.1, passive.1)
            } else {
                break;
            };
            if !first && gone + dwell > max_off_channel {
                break;
            }
            *left -= 1;
            gone += dwell;
            first = false;
        }
        gone
    }

    /// The station is back. `busy`: frames wait to be sent or received.
    // linux: drivers/net/wireless/ath/ath10k/wmi.c ath10k_wmi_start_scan_init (6.12) - back for the least
    // time if it is idle, for the longest otherwise.
    pub fn back(&mut self, now: Instant, busy: bool) {
        let ScanParams { active, passive, interval, home_dwell, home_dwell_busy, .. } = self.params;
        if self.left != (0, 0) {
            self.next = now + if busy { home_dwell_busy } else { home_dwell };
            return;
        }
        self.left = (active.0, passive.0);
        self.next = Instant::NEVER;
        if let Some(interval) = interval {
            // A scan that takes longer than its period puts off the next one.
            self.began = (self.began + interval).max(now + home_dwell);
            self.next = self.began;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn trips(params: ScanParams) -> Vec<(u64, u64)> {
        let mut scan = Scan::new(params);
        let mut trips = Vec::new();
        while scan.next() < Instant::ZERO + ms(20_000) {
            let left = scan.next();
            let away = scan.leave();
            scan.back(left + away, false);
            trips.push(((left - Instant::ZERO).nanos() / 1_000_000, away.nanos() / 1_000_000));
        }
        trips
    }

    const MAC80211: ScanParams = ScanParams {
        start: ms(1_000),
        interval: None,
        active: (3, ms(60)),
        passive: (2, ms(111)),
        max_off_channel: ms(125),
        home_dwell: ms(200),
        home_dwell_busy: ms(200),
        leave_delay: ms(0),
    };

    #[test]
    fn two_active_channels_or_a_passive_one() {
        // 60 and 60 are 120 ms; with the third it would be 171, as the next is a passive one. Back for 200 ms
        // each time.
        assert_eq!(trips(MAC80211), [(1_000, 120), (1_320, 60), (1_580, 111), (1_891, 111)]);
        // Without flush 100 ms pass before: one channel at a time.
        let slow = ScanParams { leave_delay: ms(100), passive: (0, ms(111)), ..MAC80211 };
        assert_eq!(trips(slow), [(1_000, 160), (1_360, 160), (1_720, 160)]);
    }

    #[test]
    fn again_and_again() {
        let params =
            ScanParams { interval: Some(ms(8_000)), active: (1, ms(50)), passive: (0, ms(0)), ..MAC80211 };
        assert_eq!(trips(params), [(1_000, 50), (9_000, 50), (17_000, 50)]);
        // A scan that is longer than its period: the next begins when the station has been back.
        let dense =
            ScanParams { interval: Some(ms(10)), active: (1, ms(9_000)), passive: (0, ms(0)), ..MAC80211 };
        assert_eq!(trips(dense), [(1_000, 9_000), (10_200, 9_000), (19_400, 9_000)]);
    }
}
