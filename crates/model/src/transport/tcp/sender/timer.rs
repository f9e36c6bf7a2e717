//! The sender's tick-based timer. As in Linux, it has one purpose at a time.

use super::queue::Skb;
use super::{RTO_MAX_S, Sender};
use crate::types::Instant;

/// Minimum delay added for probes and RACK, in ticks and in us.
// linux: include/net/tcp.h TCP_TIMEOUT_MIN, TCP_TIMEOUT_MIN_US (6.1).
const TIMEOUT_MIN: u32 = 2;
const TIMEOUT_MIN_US: u32 = 2_000;

/// Purpose of the timer.
// linux: include/net/inet_connection_sock.h ICSK_TIME_* (6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Due {
    /// Retransmission timeout.
    Retransmit,
    /// Tail loss probe.
    LossProbe,
    /// Delayed early retransmit.
    EarlyRetransmit,
    /// RACK reordering timeout.
    Reordering,
    /// Window probe.
    WindowProbe,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RetransTimer {
    what: Option<Due>,
    /// Tick of expiry, and tick at which the timer was set.
    expires: u32,
    set: u32,
    fires: Instant,
}

impl RetransTimer {
    #[inline]
    pub fn what(&self) -> Option<Due> {
        self.what
    }
    #[inline]
    pub fn clear(&mut self) {
        self.what = None;
    }
    #[inline]
    pub fn fires(&self) -> Option<Instant> {
        self.what.map(|_| self.fires)
    }
    /// Returns true if the timer expires after `tick`.
    pub fn expires_after(&self, tick: u32) -> bool {
        self.what.is_some() && self.expires > tick
    }
    pub fn due(&self, now: Instant) -> Option<Due> {
        self.what.filter(|_| self.fires <= now)
    }
}

impl Sender {
    /// Sets the timer to `ticks` from now.
    // linux: include/net/inet_connection_sock.h inet_csk_reset_xmit_timer (6.1).
    pub(super) fn arm(&mut self, what: Due, ticks: u32) {
        let set = self.sk.jiffies;
        let expires = set + ticks.min(RTO_MAX_S * self.cfg.hz);
        let timer = &mut self.timer;
        // The same two ticks give the same time: skip the divisions.
        if (timer.expires, timer.set) != (expires, set) {
            timer.fires = self.ticks.fires(Instant::from_nanos(self.sk.clock_ns), expires);
            (timer.expires, timer.set) = (expires, set);
        }
        timer.what = Some(what);
    }

    /// Sets the timer to `ticks` after the next segment's pacing delay.
    // linux: include/net/tcp.h tcp_reset_xmit_timer, tcp_pacing_delay (6.1) - in whole ticks, rounded down.
    pub(super) fn arm_paced(&mut self, what: Due, ticks: u32) {
        if !self.cfg.departure_times {
            return self.arm(what, ticks);
        }
        let delay = self.sk.wstamp_ns.saturating_sub(self.sk.clock_ns);
        let delay = if delay == 0 { 0 } else { (delay * u64::from(self.cfg.hz) / 1_000_000_000) as u32 };
        self.arm(what, ticks + delay);
    }

    /// Converts us to ticks, rounding up.
    // linux: kernel/time/time.c usecs_to_jiffies (6.1).
    #[inline]
    pub(super) fn us_to_ticks(&self, us: u32) -> u32 {
        (u64::from(us) * u64::from(self.cfg.hz)).div_ceil(1_000_000) as u32
    }
    /// Unit of the RTT estimator in us.
    #[inline]
    pub(super) fn rtt_unit_us(&self) -> u32 {
        if self.cfg.rtt_in_ticks { 1_000_000 / self.cfg.hz } else { 1 }
    }
    /// Returns a fraction of the smoothed RTT in ticks: `srtt_us` (eight times the RTT) shifted right.
    #[inline]
    pub(super) fn srtt_ticks(&self, shift: u32) -> u32 {
        if self.cfg.rtt_in_ticks {
            (self.sk.srtt_us / self.rtt_unit_us()) >> shift
        } else {
            self.us_to_ticks(self.sk.srtt_us >> shift)
        }
    }
    /// Converts us to ticks and adds the minimum delay for probes and RACK.
    #[inline]
    pub(super) fn padded_ticks(&self, us: u32) -> u32 {
        if self.cfg.timeouts_in_us {
            self.us_to_ticks(us.saturating_add(TIMEOUT_MIN_US))
        } else {
            self.us_to_ticks(us) + TIMEOUT_MIN
        }
    }
    #[inline]
    pub(super) fn ticks_to_us(&self, ticks: u32) -> u64 {
        u64::from(ticks) * 1_000_000 / u64::from(self.cfg.hz)
    }

    /// Returns the time in us until the first unacknowledged packet times out; may be negative.
    // linux: include/net/tcp.h tcp_rto_delta_us (6.1).
    pub(super) fn rto_delta_us(&self) -> i64 {
        let sent = self.rtx.head().map_or(self.sk.now_us, |skb: &Skb| skb.sent_us);
        (sent + self.ticks_to_us(self.rtt.rto)) as i64 - self.sk.now_us as i64
    }

    /// Restarts the retransmission timer, or stops it if nothing is unacknowledged.
    // linux: net/ipv4/tcp_input.c tcp_rearm_rto (6.1) - after another use of the timer, subtracts the time
    // since the first unacknowledged packet was sent.
    pub(super) fn rearm_rto(&mut self) {
        if self.sk.packets_out == 0 {
            self.timer.clear();
            return;
        }
        let ticks = match self.timer.what {
            Some(Due::Reordering | Due::LossProbe | Due::EarlyRetransmit) => {
                self.us_to_ticks(self.rto_delta_us().max(1) as u32)
            }
            _ => self.rtt.rto,
        };
        self.arm_paced(Due::Retransmit, ticks);
    }
}
