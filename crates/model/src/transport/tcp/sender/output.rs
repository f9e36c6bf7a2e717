//! Transmission: retransmissions first, then new data, with the same checks in the same order.

use super::chrono::Limit;
use super::queue::{EVER_RETRANS, FIN, Head, LOST, PUSH, RETRANS, SACKED, Skb};
use super::recovery::Rexmit;
use super::timer::Due;
use super::tso::Defer;
use super::{Emit, RTO_MAX_S, Sender};
use crate::qdisc::Enqueue;
use crate::transport::cc::{CcEvent, Controller};
use crate::transport::seq::{after, before, distance};
use crate::transport::tcp::SegmentOut;
use crate::transport::tcp::config::CwndLimitedRules;
use crate::types::{Instant, SocketWait, TcpFlags};

/// How much unsent data may be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Amount {
    /// As much as allowed.
    All,
    /// One packet, without TSO deferral.
    One,
    /// One packet as a tail loss probe, regardless of the congestion window.
    Probe,
}

/// Why a packet was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    /// The local queue refused it.
    Queue,
    /// The previous transmission is still queued in a lower layer.
    Busy,
    /// The packet is outside the peer's receive window.
    Window,
}

impl Sender {
    /// Sends what may be sent now. Call this after [`Sender::on_ack`] and [`Sender::close`], and once after
    /// [`Sender::uncharge`] has returned true.
    pub fn push(&mut self, now: Instant, out: &mut impl Emit) {
        self.touch(now);
        let resumed = core::mem::take(&mut self.host.queued);
        // linux: net/ipv4/tcp_input.c tcp_xmit_recovery (6.1).
        match core::mem::take(&mut self.rexmit) {
            Rexmit::Lost => self.retransmit_lost(out),
            Rexmit::New => {
                self.push_pending(out, true);
                if !after(self.sk.snd_nxt, self.rec.high_seq) {
                    self.rec.frto = false;
                    self.retransmit_lost(out);
                }
            }
            Rexmit::None if resumed => self.retransmit_if_waiting(out),
            Rexmit::None => {}
        }
        self.push_pending(out, false);
    }

    /// Continues after a pacing gap.
    // linux: net/ipv4/tcp_output.c tcp_tsq_write (6.1).
    pub(super) fn write_after_wait(&mut self, out: &mut impl Emit) {
        self.retransmit_if_waiting(out);
        self.write_xmit(out, false, Amount::All);
    }

    fn retransmit_if_waiting(&mut self, out: &mut impl Emit) {
        if self.sk.lost_out > self.sk.retrans_out && self.sk.snd_cwnd > self.sk.in_flight() {
            self.retransmit_lost(out);
        }
    }

    /// Sends new data. If none may be sent with nothing in flight, schedules a window probe.
    // linux: net/ipv4/tcp_output.c __tcp_push_pending_frames, include/net/tcp.h tcp_check_probe_timer (6.1).
    pub(super) fn push_pending(&mut self, out: &mut impl Emit, nagle_off: bool) {
        if !self.unsent.is_empty()
            && self.write_xmit(out, nagle_off, Amount::All)
            && self.timer.what().is_none()
        {
            self.arm_paced(Due::WindowProbe, self.probe_base());
        }
    }

    /// Sends new data. Returns true if unsent data remains with nothing in flight.
    // linux: net/ipv4/tcp_output.c tcp_write_xmit (6.1) - checks departure time, congestion window, receive
    // window, Nagle or TSO deferral, size, and small queues, in this order.
    pub(super) fn write_xmit(&mut self, out: &mut impl Emit, nagle_off: bool, amount: Amount) -> bool {
        let mss = self.sk.mss_cache;
        let max_segs = self.tso_segs();
        let mut sent = 0;
        let mut cwnd_limited = false;
        let mut window_limited = false;
        while let Some(mut head) = self.unsent.head() {
            if self.pacing_blocks() {
                break;
            }
            let fin = head.last && self.unsent.fin;
            let segs = if head.len <= mss { 1 } else { head.len.div_ceil(mss) };
            let quota = match self.cwnd_quota(fin && segs == 1) {
                0 if amount == Amount::Probe => 1,
                0 => break,
                quota => quota,
            };
            if !self.window_allows(head.len) {
                window_limited = true;
                break;
            }
            let mut limit = mss;
            if segs == 1 {
                let partial = head.len < mss && head.last && !fin;
                if partial && self.nagle_waits(nagle_off) {
                    break;
                }
            } else {
                if amount == Amount::All {
                    match self.tso_defer(head, max_segs) {
                        Defer::No => {}
                        Defer::Cwnd => {
                            cwnd_limited = true;
                            break;
                        }
                        Defer::Window => {
                            window_limited = true;
                            break;
                        }
                        Defer::Data => break,
                    }
                }
                limit = self.split_point(head, quota.min(max_segs), nagle_off);
            }
            if head.len > limit {
                if limit == 0 {
                    break;
                }
                self.cut_unsent(head.len, limit);
                (head.len, head.push, head.last) = (limit, false, false);
            }
            let truesize = self.truesize(head.len);
            if self.held_back(truesize, self.rtx.len(), false) {
                break;
            }
            match self.send_head(head, truesize, out) {
                Ok(segs) => sent += segs,
                Err(_) => break,
            }
            if amount != Amount::All {
                break;
            }
        }
        if window_limited {
            self.chrono.start(Limit::Window, self.sk.jiffies);
        } else {
            self.stop_chrono(Limit::Window);
        }
        cwnd_limited |= self.sk.in_flight() >= self.sk.snd_cwnd;
        if sent > 0 || (cwnd_limited && self.cfg.cwnd_limited >= CwndLimitedRules::Linux5_10) {
            self.validate_cwnd(cwnd_limited);
        }
        if sent > 0 {
            if self.in_cwnd_reduction() {
                self.rec.prr.out += sent;
            }
            if amount != Amount::Probe {
                self.schedule_loss_probe(false);
            }
            return false;
        }
        self.sk.packets_out == 0 && !self.unsent.is_empty()
    }

    /// Returns the first check of `write_xmit` that prevents transmission, or `None` if all data was sent.
    pub fn waits_for(&self) -> Option<SocketWait> {
        let head = self.unsent.head()?;
        let until = if self.cfg.departure_times { self.sk.wstamp_ns } else { self.paced_until };
        let fin = head.last && self.unsent.fin && head.len <= self.sk.mss_cache;
        Some(if !self.cfg.fq && self.sk.needs_pacing && until > self.sk.clock_ns {
            SocketWait::Pacing
        } else if self.cwnd_quota(fin) == 0 {
            SocketWait::Window
        } else if !self.window_allows(head.len) {
            SocketWait::PeerWindow
        } else if self.host.throttled {
            SocketWait::SmallQueues
        } else {
            SocketWait::Deferral
        })
    }

    /// Returns the sequence number after the last written byte.
    pub fn written(&self) -> u32 {
        self.sk.snd_nxt.wrapping_add(self.sk.unsent)
    }

    /// Segments that the congestion window allows now, at most half of the window at once.
    // linux: net/ipv4/tcp_output.c tcp_cwnd_test (6.1) - always allows a FIN in a single segment.
    #[inline]
    fn cwnd_quota(&self, fin: bool) -> u32 {
        if fin {
            return 1;
        }
        let (cwnd, in_flight) = (self.sk.snd_cwnd, self.sk.in_flight());
        cwnd.saturating_sub(in_flight).min((cwnd >> 1).max(1))
    }

    /// Returns true if the first segment of an unsent packet of `len` bytes fits the peer's window.
    // linux: net/ipv4/tcp_output.c tcp_snd_wnd_test (6.1).
    #[inline]
    pub(super) fn window_allows(&self, len: u32) -> bool {
        let end = self.sk.snd_nxt.wrapping_add(len.min(self.sk.mss_cache));
        !after(end, self.wnd_end())
    }

    /// Returns true if a partial segment must wait because another one is unacknowledged.
    // linux: net/ipv4/tcp_output.c tcp_nagle_check, tcp_minshall_check (6.1) - Nagle's algorithm with
    // Minshall's modification, disabled by TCP_NODELAY.
    pub(super) fn nagle_waits(&self, off: bool) -> bool {
        !off && !self.cfg.nodelay
            && self.sk.packets_out > 0
            && after(self.snd_sml, self.sk.snd_una)
            && !after(self.snd_sml, self.sk.snd_nxt)
    }

    /// Updates the state after new data was sent.
    // linux: net/ipv4/tcp_output.c tcp_event_new_data_sent (6.1).
    #[inline]
    fn sent_new(&mut self, mut skb: Skb) {
        let idle = self.sk.packets_out == 0;
        let sent_us = self.sent_us;
        skb.sent_us = sent_us;
        skb.charged = self.place_below(skb.segs);
        self.unsent.pop();
        if skb.is(FIN) {
            self.unsent.fin = false;
        }
        let id = self.rtx.push(skb);
        self.stamp_delivery(id, sent_us, idle);
        self.sk.snd_nxt = skb.end;
        self.sk.unsent -= skb.len();
        self.sk.packets_out += u32::from(skb.segs);
        if idle || matches!(self.timer.what(), Some(Due::LossProbe | Due::EarlyRetransmit)) {
            self.rearm_rto();
        }
        if self.cfg.space_on_send {
            self.check_space();
        }
    }

    /// Passes a packet to the lower layer. A refusal, or a drop of another packet in its favour, reduces the
    /// window; only a refusal leaves the data unsent.
    // linux: net/ipv4/tcp_output.c __tcp_transmit_skb (6.1), include/linux/netdevice.h net_xmit_eval.
    #[inline]
    fn transmit(&mut self, skb: &Skb, new: bool, out: &mut impl Emit) -> Result<(), Refusal> {
        let prior_wstamp = self.stamp();
        let leaves = if self.cfg.departure_times { self.sk.wstamp_ns } else { self.sk.clock_ns };
        self.sent_us = leaves / 1_000;
        let mut flags = TcpFlags::default();
        // linux: same - sets PSH on this transmission only, not on the queued packet.
        if skb.is(PUSH) || (self.cfg.push_each_packet && skb.segs > 1) {
            flags = flags.with(TcpFlags::PSH);
        }
        if skb.is(FIN) {
            flags = flags.with(TcpFlags::FIN);
        }
        let payload = skb.len();
        // linux: net/ipv4/tcp_output.c tcp_ecn_send (6.1) - sends retransmissions as not-ECT.
        // spec: rfc3168 6.1.5.
        let mut ecn_capable = false;
        if self.ecn.ok && payload > 0 {
            ecn_capable = new || self.cc.needs_ecn();
            if new && core::mem::take(&mut self.ecn.queue_cwr) {
                flags = flags.with(TcpFlags::CWR);
            }
        }
        self.count.segs_out += u32::from(skb.segs);
        if payload > 0 {
            if self.sk.in_flight() == 0 {
                self.cc.cwnd_event(&mut self.sk, CcEvent::TxStart);
            }
            self.sk.lsndtime = self.sk.jiffies;
            self.count.data_segs_out += u32::from(skb.segs);
            self.count.bytes_sent += u64::from(payload);
        }
        let truesize = self.charge(skb);
        self.sk.wmem_alloc += truesize;
        let segment = SegmentOut {
            seq: skb.seq,
            payload,
            mss: self.sk.mss_cache as u16,
            segs: skb.segs,
            truesize,
            flags,
            ecn_capable,
            departs: Instant::from_nanos(self.sk.wstamp_ns),
        };
        match out.emit(Instant::from_nanos(self.sk.clock_ns), segment) {
            Enqueue::Dropped => {
                self.host.refuse(truesize, self.sk.clock_ns);
                self.enter_cwr();
                return Err(Refusal::Queue);
            }
            Enqueue::Congested => self.enter_cwr(),
            Enqueue::Queued => {}
        }
        self.host.emitted = self.host.emitted.wrapping_add(truesize);
        self.advance_departure(payload, prior_wstamp);
        Ok(())
    }

    /// Retransmits lost packets as window, pacing and small queues allow.
    // linux: net/ipv4/tcp_output.c tcp_xmit_retransmit_queue (6.1).
    pub(super) fn retransmit_lost(&mut self, out: &mut impl Emit) {
        if self.rtx.is_empty() || self.sk.retrans_out >= self.sk.lost_out {
            return;
        }
        let max_segs = self.tso_segs();
        let mut i = self.rexmit_hint.map_or(0, |seq| self.rtx.find(seq));
        let mut hole = false;
        let mut rearm = false;
        while i < self.rtx.len() && !self.pacing_blocks() {
            let skb = *self.rtx.at(self.rtx.id(i));
            if !hole {
                self.rexmit_hint = Some(skb.seq);
            }
            let quota = self.sk.snd_cwnd.saturating_sub(self.sk.in_flight());
            if quota == 0 || self.sk.retrans_out >= self.sk.lost_out {
                break;
            }
            if !skb.is(LOST) {
                hole |= !skb.is(RETRANS | SACKED);
            } else if !skb.is(SACKED | RETRANS) {
                if self.held_back(skb.truesize, i, true)
                    || self.retransmit(i, quota.min(max_segs), out).is_err()
                {
                    break;
                }
                if self.in_cwnd_reduction() {
                    self.rec.prr.out += u32::from(self.rtx.at(self.rtx.id(i)).segs);
                }
                rearm |= i == 0 && self.timer.what() != Some(Due::Reordering);
            }
            i += 1;
        }
        if rearm {
            self.arm_paced(Due::Retransmit, self.rtt.rto);
        }
    }

    /// Retransmits up to `segs` segments of the `i`th unacknowledged packet, and counts them for undo.
    // linux: net/ipv4/tcp_output.c tcp_retransmit_skb (6.1).
    pub(super) fn retransmit(&mut self, i: usize, segs: u32, out: &mut impl Emit) -> Result<(), Refusal> {
        let result = self.resend(i, segs, out);
        let id = self.rtx.id(i);
        let skb = self.rtx.at_mut(id);
        let count = u32::from(skb.segs);
        // deviation: does not count the packet twice if the flag of an earlier retransmission survived an
        // undo - the kernel's counter leaks in that case.
        if result.is_ok() && !skb.is(RETRANS) {
            skb.flags |= RETRANS;
            self.sk.retrans_out += count;
        }
        let sent_ms = (skb.sent_us / 1_000) as u32;
        self.rec.retrans_stamp.get_or_insert(sent_ms);
        self.rec.undo_retrans = self.rec.undo_retrans.max(0) + count as i32;
        result
    }

    /// Retransmits up to `segs` segments of the `i`th unacknowledged packet.
    // linux: net/ipv4/tcp_output.c __tcp_retransmit_skb (6.1).
    // deviation: omits the check before 5.13 (ac3959fd0dcc) that also refuses while `sk_wmem_alloc` exceeds
    // 5/4 of the write queue - matters at the end of a transfer over Wi-Fi, where segments weigh three times
    // as much in lower layers.
    pub(super) fn resend(&mut self, i: usize, segs: u32, out: &mut impl Emit) -> Result<(), Refusal> {
        let id = self.rtx.id(i);
        if self.in_host_queue(self.rtx.at(id).charged) {
            return Err(Refusal::Busy);
        }
        let mss = self.sk.mss_cache;
        if before(self.rtx.at(id).seq, self.sk.snd_una) {
            // Part of this segment is already acknowledged.
            let gone = distance(self.rtx.at(id).seq, self.sk.snd_una);
            let skb = self.rtx.at_mut(id);
            skb.seq = skb.seq.wrapping_add(gone);
            if self.cfg.scatter_gather {
                skb.truesize -= gone;
                self.buf.wmem_queued -= gone;
            }
        }
        let skb = *self.rtx.at(id);
        let mut room = i64::from(distance(skb.seq, self.wnd_end()) as i32);
        if room <= 0 {
            // Probe a window that has closed with one segment.
            if skb.seq != self.sk.snd_una {
                return Err(Refusal::Window);
            }
            room = i64::from(mss);
        }
        let mut len = i64::from(mss * segs);
        if len > room {
            let full = room / i64::from(mss) * i64::from(mss);
            len = if full > 0 { full } else { room };
        }
        if i64::from(skb.len()) > len {
            self.split(i, len as u32);
        }
        let skb = *self.rtx.at(id);
        self.count.retrans += u32::from(skb.segs);
        self.count.bytes_retrans += u64::from(skb.len());
        let idle = self.sk.packets_out == 0;
        let result = self.transmit(&skb, false, out);
        let (sent_us, charged) = (self.sent_us, self.place_below(skb.segs));
        let skb = self.rtx.at_mut(id);
        skb.flags |= EVER_RETRANS;
        skb.sent_us = sent_us;
        if result.is_ok() {
            skb.charged = charged;
            self.rtx.sent(id);
            self.stamp_delivery(id, sent_us, idle);
        }
        result
    }

    /// Returns the delay before the first window probe, in ticks.
    // linux: include/net/tcp.h tcp_probe0_base (6.1).
    fn probe_base(&self) -> u32 {
        self.rtt.rto.max(self.us_to_ticks(self.rto_min_us))
    }
    // linux: include/net/tcp.h tcp_probe0_when (6.1).
    fn probe_when(&self) -> u32 {
        let doubled = u64::from(self.probe_base()) << self.rtt.backoff.min(9);
        doubled.min(u64::from(RTO_MAX_S * self.cfg.hz)) as u32
    }

    /// Called for an ACK received with nothing in flight, which may have opened the window.
    // linux: net/ipv4/tcp_input.c tcp_ack_probe (6.1).
    pub(super) fn window_opened(&mut self) {
        let Some(head) = self.unsent.head() else { return };
        let end = self.sk.snd_nxt.wrapping_add(head.len);
        if !after(end, self.wnd_end()) {
            self.rtt.backoff = 0;
            if self.timer.what() == Some(Due::WindowProbe) {
                self.timer.clear();
            }
        } else {
            self.arm_paced(Due::WindowProbe, self.probe_when());
        }
    }

    /// Probes a closed window: with data if part of a segment fits, else with an old sequence number.
    // linux: net/ipv4/tcp_output.c tcp_send_probe0, tcp_write_wakeup, tcp_xmit_probe_skb (6.1).
    pub(super) fn window_probe(&mut self, out: &mut impl Emit) {
        let Some(head) = self.unsent.head() else { return };
        if self.sk.packets_out > 0 {
            return;
        }
        let window = distance(self.sk.snd_nxt, self.wnd_end()) as i32;
        let mut refused = false;
        if window > 0 {
            let len = (window as u32).min(self.sk.mss_cache);
            if head.len > len {
                self.cut_unsent(head.len, len);
            }
            if let Some(head) = self.unsent.head() {
                let truesize = self.truesize(head.len);
                refused = self.send_head(head, truesize, out).is_err();
            }
        } else {
            self.stamp();
            let probe = SegmentOut {
                seq: self.sk.snd_una.wrapping_sub(1),
                payload: 0,
                mss: self.sk.mss_cache as u16,
                segs: 1,
                truesize: 0,
                flags: TcpFlags::default(),
                ecn_capable: false,
                departs: Instant::from_nanos(self.sk.wstamp_ns),
            };
            self.count.segs_out += 1;
            refused |= out.emit(Instant::from_nanos(self.sk.clock_ns), probe) == Enqueue::Dropped;
        }
        if self.sk.packets_out > 0 || self.unsent.is_empty() {
            self.rtt.backoff = 0;
            return;
        }
        let wait = if refused {
            self.cfg.hz / 2
        } else {
            self.rtt.backoff = (self.rtt.backoff + 1).min(15);
            self.probe_when()
        };
        self.arm_paced(Due::WindowProbe, wait);
    }

    /// Sends the first unsent packet unchanged. Returns its number of segments.
    #[inline]
    fn send_head(&mut self, head: Head, truesize: u32, out: &mut impl Emit) -> Result<u32, Refusal> {
        let mss = self.sk.mss_cache;
        let fin = head.last && self.unsent.fin;
        let segs = if head.len <= mss { 1 } else { head.len.div_ceil(mss) };
        let seq = self.sk.snd_nxt;
        let skb = Skb {
            seq,
            end: seq.wrapping_add(head.len + u32::from(fin)),
            truesize,
            segs: segs as u16,
            flags: if head.push { PUSH } else { 0 } | if fin { FIN } else { 0 },
            ..Skb::default()
        };
        self.transmit(&skb, true, out)?;
        self.sent_new(skb);
        if head.len < segs * mss {
            self.snd_sml = skb.end;
        }
        Ok(segs)
    }
}
