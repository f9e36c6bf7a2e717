//! ACK policy: immediate, delayed, or piggybacked on data.

use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::ticks::Ticks;
use crate::types::{Duration, Instant};

/// Maximum number of consecutive quick ACKs.
// linux: include/net/tcp.h TCP_MAX_QUICKACKS (6.1).
pub const MAX_QUICK: u32 = 16;
/// Duplicate ACKs per hole that are never compressed.
// linux: include/net/tcp.h TCP_FASTRETRANS_THRESH (6.1).
const NEVER_COMPRESSED: u8 = 3;
/// Bounds of the initial estimate of the segment size, in bytes.
// linux: include/net/tcp.h TCP_MSS_DEFAULT, TCP_MIN_MSS (6.1).
const MSS_DEFAULT: u32 = 536;
const MSS_MIN: u32 = 88;
const TCP_HEADER: u32 = 20;

/// A segment received in order, as seen by the ACK policy.
#[derive(Clone, Copy, Debug)]
pub struct SegmentArrival {
    /// Payload of one segment in bytes (`gso_size`, or the whole payload).
    pub segment: u32,
    /// True if the last segment has FIN, SYN or PSH.
    pub pushed: bool,
}

/// ACK policy state. Times are in ticks.
// linux: include/net/inet_connection_sock.h icsk_ack (6.1).
#[derive(Clone, Debug)]
pub struct Acks {
    ticks: Ticks,
    ato_min: u32,
    delack_max: u32,
    half_second: u32,
    comp_delay: Duration,
    comp_slack: Duration,
    comp_nr: u32,
    tcp_header: u32,
    push_acks_full: bool,
    /// Estimated payload of received segments in bytes (`rcv_mss`).
    pub rcv_mss: u32,
    last_segment: u32,
    /// Quick ACKs left.
    pub quick: u32,
    /// Time to wait for application data that could carry the ACK (`ato`).
    ato: u32,
    last_arrival: u32,
    pingpong: bool,
    scheduled: bool,
    pushed: bool,
    pushed_again: bool,
    now: bool,
    /// Tick at which the delayed ACK is due.
    due: Option<u32>,
    due_at: Instant,
    compressed: u32,
    compressed_at: Instant,
    duplicates: u8,
    duplicates_of: u32,
    /// Set if an ACK must be sent now.
    pub send: bool,
    /// Expiry of the owner's timer, possibly too early.
    wake: Instant,
}

impl Acks {
    /// Creates the policy of an unconnected socket.
    pub fn new(config: &TcpConfig) -> Self {
        let ticks = Ticks::new(config.hz);
        Self {
            ticks,
            ato_min: ticks.cover(config.delack_min),
            delack_max: ticks.cover(config.delack_max),
            half_second: config.hz / 2,
            comp_delay: config.comp_sack_delay,
            comp_slack: config.comp_sack_slack,
            comp_nr: config.comp_sack_nr,
            tcp_header: TCP_HEADER,
            push_acks_full: config.push_acks_full,
            rcv_mss: MSS_DEFAULT,
            last_segment: 0,
            quick: 0,
            ato: 0,
            last_arrival: 0,
            pingpong: false,
            scheduled: false,
            pushed: false,
            pushed_again: false,
            now: false,
            due: None,
            due_at: Instant::NEVER,
            compressed: 0,
            compressed_at: Instant::NEVER,
            duplicates: 0,
            duplicates_of: 0,
            send: false,
            wake: Instant::NEVER,
        }
    }

    /// Called when the handshake completes.
    // linux: net/ipv4/tcp_input.c tcp_initialize_rcv_mss (6.1).
    pub fn established(&mut self, now: Instant, mss: u32, rcv_wnd: u32, option_bytes: u32) {
        self.rcv_mss = mss.min(rcv_wnd / 2).clamp(MSS_MIN, MSS_DEFAULT);
        self.tcp_header = TCP_HEADER + option_bytes;
        self.last_arrival = self.ticks.at(now);
    }

    /// Returns the delayed ACK timeout in us, and the time since data was received in ms.
    pub fn times(&self, now: Instant) -> (u32, u32) {
        let micros = |ticks: u32| (u64::from(ticks) * 1_000_000 / u64::from(2 * self.half_second)) as u32;
        (micros(self.ato), micros(self.ticks.at(now).wrapping_sub(self.last_arrival)) / 1_000)
    }

    /// Schedules an ACK.
    #[inline]
    pub fn schedule(&mut self) {
        self.scheduled = true;
    }

    /// Schedules an immediate ACK.
    // linux: include/net/inet_connection_sock.h ICSK_ACK_NOW (6.1).
    #[inline]
    pub fn schedule_now(&mut self) {
        (self.scheduled, self.now) = (true, true);
    }

    // linux: net/ipv4/tcp_input.c tcp_incr_quickack (6.1) - allows one per two segments of the window.
    fn more_quick(&mut self, rcv_wnd: u32, most: u32) {
        let quick = match rcv_wnd / (2 * self.rcv_mss) {
            0 => 2,
            n => n,
        };
        self.quick = self.quick.max(quick.min(most));
    }

    /// Enters quick ACK mode.
    // linux: net/ipv4/tcp_input.c tcp_enter_quickack_mode (6.1).
    pub fn quick_mode(&mut self, rcv_wnd: u32, most: u32) {
        self.more_quick(rcv_wnd, most);
        self.pingpong = false;
        self.ato = self.ato_min;
    }

    /// Enters pingpong mode: the connection is interactive (`inet_csk_enter_pingpong_mode`).
    pub fn pingpong(&mut self) {
        self.pingpong = true;
    }

    /// Processes data received in order. Updates the estimated segment size and the delayed ACK timeout.
    // linux: net/ipv4/tcp_input.c tcp_event_data_recv (6.1).
    #[inline]
    pub fn data(&mut self, tick: u32, arrival: SegmentArrival, rcv_wnd: u32, advmss: u32, path: PathRtt) {
        self.scheduled = true;
        self.measure_segment(arrival, advmss);
        if self.ato == 0 {
            self.more_quick(rcv_wnd, MAX_QUICK);
            self.ato = self.ato_min;
        } else {
            let gap = tick.wrapping_sub(self.last_arrival);
            if gap <= self.ato_min / 2 {
                self.ato = (self.ato >> 1) + self.ato_min / 2;
            } else if gap < self.ato {
                self.ato = ((self.ato >> 1) + gap).min(path.rto);
            } else if gap > path.rto {
                // After a pause this long the sender slow-starts.
                self.more_quick(rcv_wnd, MAX_QUICK);
            }
        }
        self.last_arrival = tick;
    }

    // linux: net/ipv4/tcp_input.c tcp_measure_rcv_mss (6.1) - takes the largest size seen; a smaller size
    // counts if it occurs twice and does not end a message.
    #[inline]
    fn measure_segment(&mut self, arrival: SegmentArrival, advmss: u32) {
        let previous = core::mem::take(&mut self.last_segment);
        if arrival.segment >= self.rcv_mss {
            self.rcv_mss = arrival.segment.min(advmss);
            self.pushed |= self.push_acks_full && arrival.pushed;
            return;
        }
        let whole = arrival.segment + self.tcp_header;
        if whole >= MSS_DEFAULT + TCP_HEADER || (whole >= MSS_MIN + TCP_HEADER && !arrival.pushed) {
            self.last_segment = arrival.segment;
            if arrival.segment == previous {
                self.rcv_mss = arrival.segment;
                return;
            }
        }
        self.pushed_again |= self.pushed;
        self.pushed = true;
    }

    /// Called when data is sent, which carries the ACK.
    // linux: net/ipv4/tcp_output.c tcp_event_data_sent (6.1) - a reply within the timeout makes the
    // connection interactive.
    #[inline]
    pub fn data_sent(&mut self, tick: u32) {
        if tick.wrapping_sub(self.last_arrival) < self.ato {
            self.pingpong = true;
        }
    }

    #[inline]
    fn in_quick_mode(&self) -> bool {
        self.quick > 0 && !self.pingpong
    }

    /// Decides whether to send an ACK now, after a segment was processed and the sender has sent what it
    /// could. `unacked` is the number of bytes received since the last ACK. `may_move` is true if the right
    /// edge of the window can advance.
    // linux: net/ipv4/tcp_input.c __tcp_ack_snd_check (6.1).
    #[inline]
    pub fn check(
        &mut self,
        now: Instant,
        unacked: u32,
        may_move: bool,
        gap: Option<MissingData>,
        path: PathRtt,
    ) {
        if !self.scheduled {
            return;
        }
        if unacked > self.rcv_mss && may_move || self.in_quick_mode() || self.now {
            self.send = true;
            return;
        }
        match gap {
            Some(gap) => self.compress(now, gap, path),
            None => self.delay(now, path),
        }
    }

    // linux: net/ipv4/tcp_input.c __tcp_ack_snd_check (6.1) - sends the first three ACKs per hole
    // immediately, and compresses further ones for 1/20 RTT.
    // deviation: always fires at the end of the timer slack, never together with another timer.
    fn compress(&mut self, now: Instant, gap: MissingData, path: PathRtt) {
        if !gap.sack || self.compressed >= self.comp_nr {
            self.send = true;
            return;
        }
        if self.duplicates_of != gap.rcv_nxt {
            (self.duplicates_of, self.duplicates) = (gap.rcv_nxt, 0);
        }
        if self.duplicates < NEVER_COMPRESSED {
            self.duplicates += 1;
            self.send = true;
            return;
        }
        self.compressed += 1;
        if self.compressed_at == Instant::NEVER {
            let rtt8 = match path.srtt8_us {
                0 => gap.rtt8_us,
                srtt => srtt.min(gap.rtt8_us),
            };
            let delay = Duration::from_nanos(u64::from(rtt8) * 125 / 20).min(self.comp_delay);
            self.compressed_at = now + delay + self.comp_slack;
            self.wake = self.wake.min(self.compressed_at);
        }
    }

    // linux: net/ipv4/tcp_output.c tcp_send_delayed_ack (6.1).
    #[inline]
    fn delay(&mut self, now: Instant, path: PathRtt) {
        let tick = self.ticks.at(now);
        let mut ato = self.ato;
        if ato > self.ato_min {
            let mut most = self.half_second;
            if self.pingpong || self.pushed {
                most = self.delack_max;
            }
            if path.srtt8_us != 0 {
                let rtt = self.ticks.cover(Duration::from_micros(u64::from(path.srtt8_us >> 3)));
                most = most.min(rtt.max(self.ato_min));
            }
            ato = ato.min(most);
        }
        ato = ato.min(self.delack_max);
        let mut due = tick + ato;
        if let Some(earlier) = self.due {
            if earlier <= tick + (ato >> 2) {
                self.send = true;
                return;
            }
            due = due.min(earlier);
        }
        if self.due != Some(due) {
            self.due = Some(due);
            self.due_at = self.ticks.fires(now, due);
            self.wake = self.wake.min(self.due_at);
        }
    }

    /// Returns true if a compressed ACK must be sent before the next ACK.
    pub fn holds_back(&self) -> bool {
        self.compressed > 0
    }

    /// Returns the next call time of [`Acks::on_timer`]. The call may be too early: like in the kernel, a
    /// pending timer is not moved to a later time before it fires.
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        (self.wake != Instant::NEVER).then_some(self.wake)
    }

    /// Sends a delayed ACK if one is due.
    // linux: net/ipv4/tcp_timer.c tcp_delack_timer_handler, tcp_compressed_ack_kick (6.1) - doubles the
    // timeout after an expiry; in pingpong mode, leaves that mode and resets the timeout instead.
    pub fn on_timer(&mut self, now: Instant, path: PathRtt) {
        if self.compressed_at <= now {
            self.compressed_at = Instant::NEVER;
            self.send |= self.compressed > 0;
        }
        if self.due.is_some() && self.due_at <= now {
            self.due = None;
            self.due_at = Instant::NEVER;
            if self.scheduled {
                if self.pingpong {
                    self.pingpong = false;
                    self.ato = self.ato_min;
                } else {
                    self.ato = (self.ato << 1).min(path.rto);
                }
                self.send = true;
            }
        }
        self.wake = self.due_at.min(self.compressed_at);
    }

    /// Called when the application has read data. `empty` is true if the receive queue is now empty. May
    /// release an ACK held back by low memory, or one for a short final segment of a message.
    // linux: net/ipv4/tcp.c __tcp_cleanup_rbuf (6.1), first part.
    #[inline]
    pub fn read(&mut self, unacked: u32, empty: bool) {
        if self.scheduled {
            let message = self.pushed_again || self.pushed && !self.pingpong;
            self.send |= unacked > self.rcv_mss || message && empty;
        }
    }

    /// Called when an ACK was sent in `segs` segments.
    // linux: net/ipv4/tcp_output.c tcp_event_ack_sent (6.1).
    #[inline]
    pub fn sent(&mut self, segs: u32) {
        self.compressed = 0;
        self.compressed_at = Instant::NEVER;
        if self.quick > 0 {
            self.quick = self.quick.saturating_sub(segs);
            if self.quick == 0 {
                self.ato = self.ato_min;
            }
        }
        (self.scheduled, self.pushed, self.pushed_again, self.now) = (false, false, false, false);
        self.due = None;
        self.due_at = Instant::NEVER;
        self.send = false;
    }
}

/// Receiver state used by the policy while data is missing.
#[derive(Clone, Copy, Debug)]
pub struct MissingData {
    /// True if the peer accepts SACK blocks.
    pub sack: bool,
    /// RCV.NXT: the next missing sequence number.
    pub rcv_nxt: u32,
    /// Receiver's RTT estimate in us, times 8.
    pub rtt8_us: u32,
}

/// Path measurements of the sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathRtt {
    /// Smoothed RTT in us, times 8; 0 if unknown.
    pub srtt8_us: u32,
    /// Retransmission timeout in ticks.
    pub rto: u32,
}
