//! ACK processing: removes acknowledged packets, takes RTT and rate samples, and triggers reactions.

use super::Sender;
use super::chrono::Limit;
use super::queue::{EVER_RETRANS, LOST, RETRANS, SACKED};
use super::timer::Due;
use crate::transport::cc::{AckSample, CaState, Controller, RateSample};
use crate::transport::seq::{after, before, distance};
use crate::transport::tcp::AckIn;
use crate::types::{Instant, TcpFlags};

// Properties of an ACK.
// linux: net/ipv4/tcp_input.c FLAG_* (6.1).
/// Carries data.
const DATA: u32 = 1;
/// Updated the send window.
const WIN_UPDATE: u32 = 1 << 1;
/// Acknowledged new data.
pub(super) const DATA_ACKED: u32 = 1 << 2;
/// Acknowledged retransmitted data.
pub(super) const RETRANS_DATA_ACKED: u32 = 1 << 3;
/// SACKed new data.
pub(super) const DATA_SACKED: u32 = 1 << 4;
/// Has the ECE flag on an ECN connection.
pub(super) const ECE: u32 = 1 << 5;
/// Revealed the loss of a retransmission.
pub(super) const LOST_RETRANS: u32 = 1 << 6;
/// Advanced SND.UNA.
pub(super) const UNA_ADVANCED: u32 = 1 << 7;
/// Carries a D-SACK.
pub(super) const DSACKING: u32 = 1 << 8;
/// The retransmission timer must be restarted.
pub(super) const SET_XMIT_TIMER: u32 = 1 << 9;
/// The first unacknowledged packet is SACKed.
pub(super) const SACK_RENEGING: u32 = 1 << 10;
/// Acknowledged or SACKed data sent before recovery and never retransmitted.
pub(super) const ORIG_SACK_ACKED: u32 = 1 << 11;
/// Was probably delayed.
const MAYBE_DELAYED: u32 = 1 << 12;
/// The D-SACK is for a tail loss probe.
pub(super) const DSACK_TLP: u32 = 1 << 13;
/// Acknowledged anything.
pub(super) const ACKED: u32 = DATA_ACKED;
/// Not a duplicate ACK.
pub(super) const NOT_DUP: u32 = DATA | WIN_UPDATE | ACKED;
/// Signals congestion or disorder.
const CA_ALERT: u32 = DATA_SACKED | ECE | DSACKING;

/// An ACK being processed.
#[derive(Clone, Debug)]
pub(super) struct Ack {
    flags: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// SND.UNA before this ACK.
    pub prior_una: u32,
    /// Delivery rate sample.
    pub rs: RateSample,
    /// Delivery state recorded in the packet of the rate sample, and its end.
    pub prior_mstamp: Option<u64>,
    pub prior_delivered_ce: u32,
    pub last_end: u32,
    /// Transmission times of the first and the last newly SACKed packet, in us.
    pub first_sack_us: Option<u64>,
    pub last_sack_us: u64,
    /// Lowest sequence number of a packet that arrived late.
    pub reord: u32,
    /// Segments delivered by the SACK blocks.
    pub sack_delivered: u32,
}

impl Ack {
    fn new(ack: u32, prior_una: u32, has_data: bool) -> Self {
        Self {
            flags: if has_data { DATA } else { 0 },
            ack,
            prior_una,
            rs: RateSample { rtt_us: -1, ..RateSample::default() },
            prior_mstamp: None,
            prior_delivered_ce: 0,
            last_end: 0,
            first_sack_us: None,
            last_sack_us: 0,
            reord: 0,
            sack_delivered: 0,
        }
    }
    #[inline]
    pub fn has(&self, flags: u32) -> bool {
        self.flags & flags != 0
    }
    #[inline]
    pub fn set(&mut self, flags: u32) {
        self.flags |= flags;
    }
    #[inline]
    pub fn clear(&mut self, flags: u32) {
        self.flags &= !flags;
    }
}

impl Sender {
    /// Processes a received segment. `has_data` is true if it carries data.
    // linux: net/ipv4/tcp_input.c tcp_ack (6.1).
    pub fn on_ack(&mut self, now: Instant, segment: &AckIn<'_>, has_data: bool) {
        self.touch(now);
        if self.timestamps {
            self.tsecr = segment.header.ts_ecr;
        }
        let mut ack = Ack::new(segment.ack, self.sk.snd_una, has_data);
        let a = &mut ack;
        let sacks = if self.sack { segment.header.sack_blocks() } else { &[] };
        let (prior_delivered, prior_lost) = (self.sk.delivered, self.sk.lost);
        if before(a.ack, a.prior_una) {
            // Old ACK: use only its SACK blocks.
            if !sacks.is_empty() {
                self.take_sacks(a, sacks);
                self.count_delivered(a.sack_delivered, false);
                self.alert(a, 0);
            }
            return;
        }
        if after(a.ack, self.sk.snd_nxt) {
            return;
        }
        self.last_ack = self.sk.jiffies;
        // linux: net/ipv4/tcp_input.c tcp_ack (4.4) - every acceptable acknowledgement rearms the timer.
        if self.timer.what() == Some(Due::EarlyRetransmit) {
            self.rearm_rto();
        }
        if after(a.ack, a.prior_una) {
            a.set(UNA_ADVANCED);
            self.rec.retransmits = 0;
        }
        let prior_fack = if self.sack { self.highest_sack_seq() } else { a.prior_una };
        a.rs.prior_in_flight = self.sk.in_flight();
        let prior_packets = self.sk.packets_out;
        self.update_window(a, segment);
        if !sacks.is_empty() {
            self.take_sacks(a, sacks);
        }
        if self.ecn.ok && segment.header.flags.has(TcpFlags::ECE) {
            a.set(ECE);
        }
        if a.sack_delivered > 0 {
            self.count_delivered(a.sack_delivered, a.has(ECE));
        }
        self.cc.in_ack_event(&mut self.sk, a.flags & ECE != 0);
        if prior_packets == 0 {
            if a.has(DSACKING) {
                self.alert(a, self.duplicates(a));
            }
            self.window_opened();
            self.process_tlp_ack(a);
            return;
        }
        self.clean_queue(a, prior_fack);
        self.update_reo_wnd(&a.rs);
        if self.tlp.high_seq.is_some() {
            self.process_tlp_ack(a);
        }
        // linux: net/ipv4/tcp_input.c tcp_ack_is_dubious (6.1).
        if !a.has(NOT_DUP) || a.has(CA_ALERT) || self.sk.ca_state != CaState::Open {
            let dupacks = self.duplicates(a);
            self.alert(a, dupacks);
        }
        let early = self.timer.what() == Some(Due::EarlyRetransmit);
        if a.has(SET_XMIT_TIMER) && !early && !self.schedule_loss_probe(true) {
            self.rearm_rto();
        }
        let delivered = self.sk.delivered.wrapping_sub(prior_delivered);
        let lost = self.sk.lost.wrapping_sub(prior_lost);
        a.rs.is_ack_delayed = a.has(MAYBE_DELAYED);
        self.finish_sample(a, delivered, lost);
        self.cong_control(a, delivered);
    }

    fn duplicates(&self, a: &Ack) -> u32 {
        u32::from(!a.has(UNA_ADVANCED | NOT_DUP | DSACKING))
    }

    #[inline]
    pub(super) fn count_delivered(&mut self, segs: u32, ece: bool) {
        self.sk.delivered = self.sk.delivered.wrapping_add(segs);
        if ece {
            self.sk.delivered_ce = self.sk.delivered_ce.wrapping_add(segs);
        }
    }

    // linux: net/ipv4/tcp_input.c tcp_ack_update_window, tcp_may_update_window (6.1).
    #[inline]
    fn update_window(&mut self, a: &mut Ack, segment: &AckIn<'_>) {
        let window = segment.header.window;
        if a.has(UNA_ADVANCED)
            || after(segment.seq, self.snd_wl1)
            || (segment.seq == self.snd_wl1 && window > self.snd_wnd)
        {
            a.set(WIN_UPDATE);
            self.snd_wl1 = segment.seq;
            if window != self.snd_wnd {
                self.snd_wnd = window;
                self.max_window = self.max_window.max(window);
                if !self.unsent.is_empty() {
                    self.restart_after_idle();
                }
            }
        }
        self.count.bytes_acked += u64::from(distance(self.sk.snd_una, a.ack));
        self.sk.snd_una = a.ack;
    }

    /// Removes acknowledged packets and takes RTT samples.
    // linux: net/ipv4/tcp_input.c tcp_clean_rtx_queue (6.1).
    #[inline]
    fn clean_queue(&mut self, a: &mut Ack, prior_fack: u32) {
        let ece = a.has(ECE);
        let prior_sacked = self.sk.sacked_out;
        let mut reord = self.sk.snd_nxt;
        let (mut first_us, mut last_us) = (None, 0);
        let mut acked = 0;
        let mut whole = true;
        while let Some(id) = self.rtx.first() {
            let mut skb = *self.rtx.at(id);
            let mut segs = u32::from(skb.segs);
            if after(skb.end, self.sk.snd_una) {
                if segs == 1 || !after(self.sk.snd_una, skb.seq) {
                    break;
                }
                segs = self.trim_head();
                if segs == 0 {
                    break;
                }
                skb = *self.rtx.at(id);
                whole = false;
            }
            if skb.is(RETRANS | EVER_RETRANS) {
                if skb.is(RETRANS) {
                    self.sk.retrans_out -= segs;
                }
                a.set(RETRANS_DATA_ACKED);
            } else if !skb.is(SACKED) {
                last_us = skb.sent_us;
                first_us.get_or_insert(last_us);
                if before(skb.seq, reord) {
                    reord = skb.seq;
                }
                if !after(skb.end, self.rec.high_seq) {
                    a.set(ORIG_SACK_ACKED);
                }
            }
            if skb.is(SACKED) {
                self.sk.sacked_out -= segs;
            } else if self.sack {
                self.count_delivered(segs, ece);
                if !self.spurious_retrans(&skb) {
                    self.rack_advance(&skb);
                }
            }
            if skb.is(LOST) {
                self.sk.lost_out -= segs;
            }
            self.sk.packets_out -= segs;
            acked += segs;
            self.sample_delivery(a, id);
            a.set(DATA_ACKED);
            if !whole {
                break;
            }
            self.buf.wmem_queued -= skb.truesize;
            self.rtx.pop();
        }
        if self.rexmit_hint.is_some_and(|hint| before(hint, self.sk.snd_una)) {
            self.rexmit_hint = None;
        }
        match self.rtx.head() {
            Some(head) if head.is(SACKED) => a.set(SACK_RENEGING),
            Some(_) => {}
            None => self.chrono.stop(Limit::Busy, self.unsent.is_empty(), self.sk.jiffies),
        }

        let (mut seq_rtt, mut ca_rtt) = (None, None);
        if let Some(first) = first_us
            && !a.has(RETRANS_DATA_ACKED)
        {
            seq_rtt = Some(self.since_us(first));
            ca_rtt = Some(self.since_us(last_us));
            // A lone partial segment, with nothing else delivered in its RTT: the ACK was probably delayed.
            if acked == 1
                && whole
                && prior_sacked == 0
                && distance(a.prior_una, self.sk.snd_una) < self.sk.mss_cache
                && a.rs.prior_delivered.wrapping_add(1) == self.sk.delivered
                && !a.has(CA_ALERT)
            {
                a.set(MAYBE_DELAYED);
            }
        }
        let sack_rtt = a.first_sack_us.map(|first| self.since_us(first));
        if sack_rtt.is_some() {
            ca_rtt = Some(self.since_us(a.last_sack_us));
        }
        let timed = self.update_rtt(a, seq_rtt.or(sack_rtt), ca_rtt);

        if a.has(ACKED) {
            a.set(SET_XMIT_TIMER);
            if !self.sack {
                self.remove_duplicates(acked, ece);
                if a.has(RETRANS_DATA_ACKED) {
                    a.clear(ORIG_SACK_ACKED);
                }
            } else if before(reord, prior_fack) {
                self.check_sack_reordering(reord);
            }
        } else if let (true, Some(rtt), Some(head)) = (timed, sack_rtt, self.rtx.head())
            && rtt > self.since_us(head.sent_us)
        {
            // A packet older than the last transmission of the first was SACKed: restart the timeout.
            a.set(SET_XMIT_TIMER);
        }
        // linux: net/ipv4/tcp_input.c tcp_clean_rtx_queue (6.1) - in bytes, from the segments delivered
        // since.
        let since = self.sk.delivered.wrapping_sub(a.rs.prior_delivered);
        let sample = AckSample {
            pkts_acked: acked,
            rtt_us: a.rs.rtt_us,
            in_flight: self.sk.mss_cache.wrapping_mul(since),
        };
        self.cc.pkts_acked(&mut self.sk, &sample);
    }

    /// Removes acknowledged segments from the first packet. Returns their number.
    // linux: net/ipv4/tcp_input.c tcp_tso_acked, net/ipv4/tcp_output.c tcp_trim_head (6.1).
    fn trim_head(&mut self) -> u32 {
        let una = self.sk.snd_una;
        let mss = self.sk.mss_cache;
        let Some(id) = self.rtx.first() else { return 0 };
        let skb = self.rtx.at_mut(id);
        let gone = distance(skb.seq, una);
        let before = skb.segs;
        skb.seq = una;
        skb.segs = skb.len().div_ceil(mss).max(1) as u16;
        skb.truesize -= gone;
        self.buf.wmem_queued -= gone;
        u32::from(before - skb.segs)
    }

    /// Processes RTT samples: `seq_rtt` for the timeout, and `ca_rtt` of the newest packet for the minimum
    /// and the controller. Returns true if there was a sample.
    // linux: net/ipv4/tcp_input.c tcp_ack_update_rtt (6.1) - measures retransmitted data only by timestamp
    // echo, in ms.
    // spec: rfc7323 4.1.
    #[inline]
    fn update_rtt(&mut self, a: &mut Ack, mut seq_rtt: Option<u32>, mut ca_rtt: Option<u32>) -> bool {
        if seq_rtt.is_none() && self.timestamps && self.tsecr != 0 && a.has(ACKED) {
            let ms = ((self.sk.now_us / 1_000) as u32).wrapping_sub(self.tsecr);
            if ms < i32::MAX as u32 / 1_000 {
                seq_rtt = Some(ms.max(1) * 1_000);
                ca_rtt = seq_rtt;
            }
        }
        a.rs.rtt_us = ca_rtt.map_or(-1, i64::from);
        let Some(rtt) = seq_rtt else { return false };
        if let Some(ca) = ca_rtt
            && !(a.has(MAYBE_DELAYED) && ca > self.sk.min_rtt_us)
        {
            self.min_rtt_sample(ca);
        }
        self.rtt_sample(rtt);
        true
    }

    #[inline]
    pub(super) fn min_rtt_sample(&mut self, us: u32) {
        let tick_us = 1_000_000 / self.cfg.hz;
        let us = if us == 0 { tick_us } else { us };
        self.sk.min_rtt_us = self.rtt.min.update(self.cfg.min_rtt_wlen * self.cfg.hz, self.sk.jiffies, us);
    }

    /// Updates the RTT estimate and the retransmission timeout.
    // linux: net/ipv4/tcp_input.c tcp_set_rto, __tcp_set_rto (6.1).
    #[inline]
    pub(super) fn rtt_sample(&mut self, us: u32) {
        let (una, nxt) = (self.sk.snd_una, self.sk.snd_nxt);
        let rto = if self.cfg.rtt_in_ticks {
            // linux: net/ipv4/tcp_input.c tcp_rtt_estimator (3.13) - less than a tick counts as one.
            let tick_us = self.rtt_unit_us();
            let sent = self.ticks.at(Instant::from_nanos((self.sk.now_us - u64::from(us)) * 1_000));
            let ticks = self.sk.jiffies.wrapping_sub(sent).max(1);
            let srtt8 =
                self.rtt.sample(self.sk.srtt_us / tick_us, ticks, self.rto_min_us / tick_us, una, nxt);
            self.sk.srtt_us = srtt8 * tick_us;
            (srtt8 >> 3) + self.rtt.rttvar
        } else {
            self.sk.srtt_us = self.rtt.sample(self.sk.srtt_us, us, self.rto_min_us, una, nxt);
            self.us_to_ticks((self.sk.srtt_us >> 3) + self.rtt.rttvar)
        };
        self.rtt.rto = rto.min(super::RTO_MAX_S * self.cfg.hz);
        self.rtt.backoff = 0;
    }
}
