//! Processing of received segments.

use super::acks::{MAX_QUICK, SegmentArrival};
use super::ofo::Range;
use super::sack::Sacks;
use super::{Receiver, micros, millis};
use crate::transport::seq::{after, before, distance};
use crate::types::{Duration, Instant, SHARED_INFO, SKB, TcpFlags, TcpHeader};

/// Quick ACKs after a change of ECN marking.
// linux: net/ipv4/tcp_input.c __tcp_ecn_check_ce (6.1).
const QUICK_AFTER_MARK: u32 = 2;
/// Minimum interval between ACKs for out-of-window segments.
// linux: net/ipv4/tcp_ipv4.c sysctl_tcp_invalid_ratelimit (6.1).
const OUT_OF_WINDOW_GAP: Duration = Duration::from_millis(500);
/// Minimum payload in bytes that lets the window grow.
// linux: net/ipv4/tcp_input.c tcp_event_data_recv (6.1).
const GROWS_WINDOW: u32 = 128;
/// ECN codepoint CE.
// spec: rfc3168 5.
const CE: u8 = 3;

/// Room in front of the data of a received packet: driver headroom and headers.
// linux: include/linux/skbuff.h NET_SKB_PAD (6.12) - 64 bytes, plus Ethernet or 802.11, IP and TCP headers.
const BEFORE_DATA: u32 = 128;

/// Bytes in a packet's buffer behind its data.
#[inline]
const fn room_behind(payload: u32, truesize: u32) -> u32 {
    truesize.saturating_sub(SKB + SHARED_INFO + BEFORE_DATA + payload)
}

/// Result of validating a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// The segment is acceptable.
    Good,
    /// The segment is old or out of window. It is dropped and answered with an ACK.
    Answer,
    /// Likewise, but rate limiting suppresses the ACK.
    Discard,
}

/// Returns the sequence number after a segment.
#[inline]
fn end_of(seq: u32, header: &TcpHeader) -> u32 {
    let marks = header.flags.has(TcpFlags::FIN) as u32 + header.flags.has(TcpFlags::SYN) as u32;
    seq.wrapping_add(header.payload + marks)
}

impl Receiver {
    /// Validates a segment's sequence number (window) and timestamp (PAWS). `disordered` marks a pure
    /// duplicate ACK, whose timestamp may be slightly older than the newest.
    // linux: net/ipv4/tcp_input.c tcp_validate_incoming, tcp_sequence, tcp_paws_discard, tcp_send_dupack
    // (6.1).
    // spec: rfc9293 3.10.7.4, rfc7323 5.3.
    #[inline]
    pub fn check(&mut self, now: Instant, seq: u32, header: &TcpHeader, disordered: bool) -> Check {
        let end = end_of(seq, header);
        let age = self.ts_recent.wrapping_sub(header.ts_val) as i32;
        let old = self.config.timestamps && age > 0 && !(disordered && self.is_recent(age));
        let inside = !before(end, self.rcv_wup) && !after(seq, self.rcv_nxt.wrapping_add(self.window()));
        if inside && !old { Check::Good } else { self.refuse(now, seq, end, header) }
    }

    // linux: net/ipv4/tcp_input.c tcp_disordered_ack (6.1).
    fn is_recent(&self, age_ms: i32) -> bool {
        self.ticks.cover(Duration::from_millis(age_ms as u64)) <= self.path.rto
    }

    // linux: net/ipv4/tcp_input.c tcp_send_dupack, tcp_oow_rate_limited (6.1) - always answers data, and
    // other segments at most twice per second.
    fn refuse(&mut self, now: Instant, seq: u32, end: u32, header: &TcpHeader) -> Check {
        if header.payload == 0 {
            if self.last_answer.is_some_and(|last| now - last < OUT_OF_WINDOW_GAP) {
                return Check::Discard;
            }
            self.last_answer = Some(now);
        }
        if seq != end && before(seq, self.rcv_nxt) {
            self.acks.quick_mode(self.rcv_wnd, MAX_QUICK);
            let told = if after(end, self.rcv_nxt) { self.rcv_nxt } else { end };
            self.duplicate(seq, told);
        }
        self.acks.send = true;
        Check::Answer
    }

    fn duplicate(&mut self, start: u32, end: u32) {
        if self.config.sack && self.config.dsack {
            self.sacks.duplicate(start, end);
        }
    }

    /// Stores the timestamp of a segment that does not start beyond the last acknowledged byte.
    // linux: net/ipv4/tcp_input.c tcp_replace_ts_recent (6.1).
    // spec: rfc7323 4.3 - a delayed ACK thus echoes the first segment it covers.
    #[inline]
    pub fn time_stamp(&mut self, seq: u32, header: &TcpHeader) {
        if self.config.timestamps
            && !after(seq, self.rcv_wup)
            && (header.ts_val.wrapping_sub(self.ts_recent) as i32) >= 0
        {
            self.ts_recent = header.ts_val;
        }
    }

    /// Stores the timestamp of a SYN.
    pub fn syn_time_stamp(&mut self, ts_val: u32) {
        self.ts_recent = ts_val;
    }

    /// Returns the timestamp to echo, in ms.
    pub fn ts_recent(&self) -> u32 {
        self.ts_recent
    }

    /// Returns true if a compressed ACK must be sent before [`Receiver::on_data`] processes this segment.
    #[inline]
    pub fn goes_first(&self, seq: u32, header: &TcpHeader) -> bool {
        self.acks.holds_back()
            && after(seq, self.rcv_nxt)
            && self.sacks.would_reorder(seq, end_of(seq, header))
    }

    /// Processes data or a FIN that has passed [`Receiver::check`]. `truesize` is the packet's memory in
    /// bytes, `ecn` the lower two bits of its TOS byte.
    // linux: net/ipv4/tcp_input.c tcp_data_queue (6.1).
    pub fn on_data(&mut self, now: Instant, seq: u32, header: &TcpHeader, segs: u16, truesize: u32, ecn: u8) {
        let end = end_of(seq, header);
        if self.config.timestamps {
            let unread = distance(self.copied, self.rcv_nxt);
            self.space.measure_ts(millis(now), header.ts_ecr, header.payload, self.acks.rcv_mss, unread);
        }
        if header.flags.has(TcpFlags::CWR) {
            self.ecn.demand_cwr = false;
            self.acks.schedule_now();
        }
        self.sacks.no_duplicate();
        if header.flags.has(TcpFlags::FIN) {
            self.fin = Some(end.wrapping_sub(1));
        }
        if seq == self.rcv_nxt || before(seq, self.rcv_nxt) && after(end, self.rcv_nxt) {
            if seq != self.rcv_nxt {
                self.duplicate(seq, self.rcv_nxt);
            }
            if self.window() == 0 {
                return self.out_of_window();
            }
            self.in_order(now, end, header, segs, truesize, ecn);
        } else if !after(end, self.rcv_nxt) {
            self.duplicate(seq, end);
            self.out_of_window();
        } else if !before(seq, self.rcv_nxt.wrapping_add(self.window())) {
            self.out_of_window();
        } else {
            self.out_of_order += u32::from(segs);
            self.out_of_order(Range { start: seq, end, truesize }, header.payload, ecn);
        }
    }

    fn out_of_window(&mut self) {
        self.acks.quick_mode(self.rcv_wnd, MAX_QUICK);
        self.acks.schedule();
    }

    /// Makes room for a packet, pruning the out-of-order queue if necessary. Returns true on success.
    #[inline]
    fn make_room(&mut self) -> bool {
        if self.space.rmem_alloc > self.space.rcvbuf {
            self.acks.quick = 0;
        }
        if self.space.has_room() {
            return true;
        }
        while self.space.rmem_alloc > self.space.rcvbuf {
            match self.ofo.prune() {
                Some(truesize) => self.space.rmem_alloc -= truesize,
                None => return false,
            }
            // Discard SACK blocks, which may cover pruned data.
            // linux: net/ipv4/tcp_input.c tcp_prune_ofo_queue (6.1).
            // spec: rfc2018 8 - allows receivers to renege.
            self.sacks.forget();
        }
        true
    }

    fn in_order(&mut self, now: Instant, end: u32, header: &TcpHeader, segs: u16, truesize: u32, ecn: u8) {
        if !self.queue.is_empty() && !self.make_room() {
            return;
        }
        self.take(end, header.payload, segs, truesize);
        if header.payload > 0 {
            let tick = self.ticks.at(now);
            let segment = if segs > 1 { u32::from(header.mss) } else { header.payload };
            let pushed = header.flags.has(TcpFlags::FIN.with(TcpFlags::SYN).with(TcpFlags::PSH));
            // linux: net/ipv4/tcp_input.c tcp_event_data_recv (6.1) - in this order.
            let (rcv_wnd, advmss) = (self.rcv_wnd, self.config.advmss);
            self.space.measure_ratio(header.payload, truesize, segment, self.acks.rcv_mss);
            self.acks.data(tick, SegmentArrival { segment, pushed }, rcv_wnd, advmss, self.path);
            self.space.measure(micros(now), self.rcv_nxt, rcv_wnd);
            self.mark(ecn);
            if header.payload >= GROWS_WINDOW {
                self.grow(header.payload, truesize);
            }
        } else {
            self.acks.schedule();
        }
        if !self.ofo.is_empty() {
            self.fill_gap();
        }
        self.take_fin();
    }

    /// Appends an in-order packet to the receive queue, or its data to the buffer of the previous packet.
    // linux: net/ipv4/tcp_input.c tcp_try_coalesce, net/core/skbuff.c skb_try_coalesce (6.12) - copies data
    // that fits into the tail room of the last packet, and frees its own buffer.
    #[inline]
    fn take(&mut self, end: u32, payload: u32, segs: u16, truesize: u32) {
        self.advance(end);
        match self.queue.last_mut() {
            Some(last) if payload > 0 && payload <= self.tail_room => {
                last.0 = end;
                self.tail_room -= payload;
            }
            _ => {
                self.space.rmem_alloc += truesize;
                self.queue.push((end, truesize));
                self.tail_room = if segs == 1 { room_behind(payload, truesize) } else { 0 };
            }
        }
    }

    /// Lets the window grow, if permitted.
    #[inline]
    fn grow(&mut self, bytes: u32, truesize: u32) {
        if self.space.grow(bytes, truesize, self.acks.rcv_mss) {
            self.acks.quick |= 1;
        }
    }

    /// Moves out-of-order data that is now in order to the receive queue.
    // linux: net/ipv4/tcp_input.c tcp_ofo_queue, tcp_data_queue (6.1).
    // spec: rfc5681 4.2 - immediate ACK when a gap is filled; Linux does so for the last gap, and applies the
    // rule for gaps while others remain.
    fn fill_gap(&mut self) {
        let duplicates_end = self.rcv_nxt;
        while let Some(range) = self.ofo.pop_in_order(self.rcv_nxt) {
            if before(range.start, duplicates_end) && self.config.sack && self.config.dsack {
                let told = if before(range.end, duplicates_end) { range.end } else { duplicates_end };
                self.sacks.duplicate_also(range.start, told);
            }
            if after(range.end, self.rcv_nxt) {
                self.queue.push((range.end, range.truesize));
                self.tail_room = 0;
                self.advance(range.end);
            } else {
                self.space.rmem_alloc -= range.truesize;
            }
        }
        if self.ofo.is_empty() {
            self.acks.schedule_now();
        }
        self.sacks.in_order(self.rcv_nxt);
    }

    #[inline]
    fn advance(&mut self, end: u32) {
        self.bytes_received += u64::from(distance(self.rcv_nxt, end));
        self.rcv_nxt = end;
    }

    // linux: net/ipv4/tcp_input.c tcp_fin (6.1).
    #[inline]
    fn take_fin(&mut self) {
        if self.fin_taken || self.fin.is_none_or(|fin| !after(self.rcv_nxt, fin)) {
            return;
        }
        self.fin_taken = true;
        self.bytes_received -= 1;
        self.acks.schedule();
        self.acks.pingpong();
        self.free_read();
        self.space.rmem_alloc -= self.ofo.clear();
        self.sacks.forget();
    }

    // linux: net/ipv4/tcp_input.c tcp_data_queue_ofo (6.1).
    fn out_of_order(&mut self, range: Range, bytes: u32, ecn: u8) {
        self.mark(ecn);
        if !self.make_room() {
            return;
        }
        self.acks.schedule();
        let mut unused = Sacks::default();
        let dsack = self.config.sack && self.config.dsack;
        let sacks = if dsack { &mut self.sacks } else { &mut unused };
        let (kept, freed) = self.ofo.insert(range, sacks);
        self.space.rmem_alloc -= freed;
        if self.config.sack {
            self.sacks.arrived(range.start, range.end);
        }
        if kept {
            if self.config.sack {
                self.grow(bytes, range.truesize);
            }
            self.space.rmem_alloc += range.truesize;
            self.space.out_of_order(self.ofo.beyond(self.rcv_nxt));
        }
    }

    // linux: net/ipv4/tcp_input.c __tcp_ecn_check_ce (6.1) - acknowledges the first CE mark quickly, and also
    // a not-ECT packet on an ECN connection, which is a retransmission.
    #[inline]
    fn mark(&mut self, ecn: u8) {
        if !self.ecn.agreed {
            return;
        }
        match ecn {
            0 => {
                if self.ecn.seen {
                    self.acks.quick_mode(self.rcv_wnd, QUICK_AFTER_MARK);
                }
            }
            CE => {
                if !self.ecn.demand_cwr {
                    self.acks.quick_mode(self.rcv_wnd, QUICK_AFTER_MARK);
                    self.ecn.demand_cwr = true;
                }
                self.ecn.seen = true;
            }
            _ => self.ecn.seen = true,
        }
    }
}
