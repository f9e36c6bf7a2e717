//! The send buffer: what the application may write, counted in memory and not in data.

use super::chrono::Limit;
use super::output::Amount;
use super::{Emit, Sender};
use crate::transport::cc::Controller;
use crate::transport::seq::after;
use crate::types::{Instant, buffer_truesize};

/// The send buffer.
#[derive(Clone, Debug)]
pub(super) struct SendBuffer {
    /// Memory of all packets, sent and unsent, in bytes.
    pub wmem_queued: u32,
    /// What that may be before the application has to wait, in bytes.
    pub sndbuf: u32,
    /// The application waits for room.
    pub nospace: bool,
    /// It may go on.
    pub wake: bool,
    /// End of the data that last had a PSH (`pushed_seq`).
    pub pushed_seq: u32,
    /// The last write did not end, so that the next one continues it.
    pub unfinished: bool,
}

impl SendBuffer {
    pub fn new(sndbuf: u32) -> Self {
        Self { wmem_queued: 0, sndbuf, nospace: false, wake: false, pushed_seq: 0, unfinished: false }
    }
}

impl Sender {
    /// Memory of a packet of `len` bytes of data.
    // linux: net/ipv4/tcp.c tcp_sendmsg_locked (6.1) - with scatter-gather the head and the bytes copied into
    // page fragments.
    // linux: net/ipv4/tcp.c select_size (4.4) - without it a linear buffer for one full segment, however much
    // of it is used.
    #[inline]
    pub(super) fn truesize(&self, len: u32) -> u32 {
        let mss = self.sk.mss_cache;
        if !self.cfg.scatter_gather && len <= mss {
            return self.cfg.truesize_segment;
        }
        (self.skb_cost() + len).max(self.cfg.truesize_least)
    }
    /// Memory of a packet beside its data, if it is a full one or larger.
    #[inline]
    pub(super) fn skb_cost(&self) -> u32 {
        self.cfg.truesize_segment.saturating_sub(self.sk.mss_cache)
    }

    /// Cuts the first unsent packet, which has `whole` bytes, after `bytes`.
    // linux: net/ipv4/tcp_output.c tso_fragment (6.1) - another head.
    // deviation: without scatter-gather the rest weighs a full segment, and not as much as its bytes need.
    pub(super) fn cut_unsent(&mut self, whole: u32, bytes: u32) {
        self.unsent.split(bytes);
        self.buf.wmem_queued += self.truesize(bytes) + self.truesize(whole - bytes) - self.truesize(whole);
    }

    /// The application writes, and packets that may be sent are sent. Returns the number of bytes that the
    /// send buffer took. For the rest, see [`Sender::wants_data`].
    // linux: net/ipv4/tcp.c tcp_sendmsg_locked, tcp_push (6.1) - room is looked for once a packet: the last
    // one may exceed the buffer. A packet that is full leaves at once if it is the only one; what is left of
    // it is filled up again, as the last one is whenever the kernel's goal allows. All that may leave leaves
    // at each forced PSH, before the writer waits and at the end.
    // linux: net/core/stream.c sk_stream_wait_memory (6.1) - room that comes of that does not keep the writer
    // from waiting.
    pub fn write(&mut self, now: Instant, bytes: u64, out: &mut impl Emit) -> u64 {
        self.touch(now);
        // Of a write that waits in the middle this was asked when it began.
        let mut keeps_push = core::mem::take(&mut self.buf.unfinished);
        if !keeps_push {
            self.check_app_limited();
        }
        let goal = self.size_goal();
        let mut left = bytes;
        while left > 0 {
            let tail = self.unsent.tail_len().filter(|&len| len < goal);
            if tail.is_none() && !self.memory_free() {
                self.buf.nospace = true;
                if left < bytes {
                    self.mark_push();
                    self.push_pending(out, true);
                }
                (self.buf.nospace, self.buf.wake, self.buf.unfinished) = (true, false, true);
                return bytes - left;
            }
            let room = goal - tail.unwrap_or(0);
            let n = left.min(u64::from(room)) as u32;
            match tail {
                None => {
                    if self.unsent.is_empty() {
                        self.chrono.start(Limit::Busy, self.sk.jiffies);
                    }
                    self.restart_after_idle();
                    self.buf.wmem_queued += self.truesize(n);
                    self.unsent.append(n);
                }
                Some(len) => {
                    self.buf.wmem_queued += self.truesize(len + n) - self.truesize(len);
                    self.unsent.grow(n, keeps_push);
                }
            }
            keeps_push = true;
            self.sk.unsent += n;
            left -= u64::from(n);
            if left > 0 {
                self.packet_filled(out);
            }
        }
        if bytes > 0 {
            self.mark_push();
            if !self.autocorks(goal) {
                self.push_pending(out, false);
            }
        }
        bytes
    }

    /// Whether a last packet that is not full waits for the next write: as long as packets of the socket are
    /// in queues below.
    // linux: net/ipv4/tcp.c tcp_should_autocork, tcp_push (6.1) - the first of them that leaves wakes the
    // socket.
    fn autocorks(&mut self, goal: u32) -> bool {
        let Some(tail) = self.unsent.tail_len().filter(|&len| len < goal) else { return false };
        let corks = self.cfg.autocorking && !self.rtx.is_empty() && self.sk.wmem_alloc > self.truesize(tail);
        self.host.throttled |= corks;
        corks
    }

    /// The last packet is full and the write goes on.
    // linux: net/ipv4/tcp.c forced_push, net/ipv4/tcp_output.c tcp_push_one (6.1) - a long write has a PSH
    // for every half of the largest window.
    fn packet_filled(&mut self, out: &mut impl Emit) {
        let written = self.sk.snd_nxt.wrapping_add(self.sk.unsent);
        if after(written, self.buf.pushed_seq.wrapping_add(self.max_window >> 1)) {
            self.mark_push();
            self.push_pending(out, true);
        } else if self.unsent.head().is_some_and(|head| head.last) {
            self.write_xmit(out, true, Amount::One);
        }
    }

    fn mark_push(&mut self) {
        self.unsent.mark_push();
        self.buf.pushed_seq = self.sk.snd_nxt.wrapping_add(self.sk.unsent);
    }

    // linux: include/net/sock.h __sk_stream_memory_free, net/ipv4/tcp.c tcp_stream_memory_free (6.1).
    fn memory_free(&self) -> bool {
        self.buf.wmem_queued < self.buf.sndbuf && self.sk.unsent < self.cfg.notsent_lowat
    }

    /// Whether a writer that had to wait may continue. Returns true once.
    #[inline]
    pub fn wants_data(&mut self) -> bool {
        core::mem::take(&mut self.buf.wake)
    }

    /// Whether [`Sender::wants_data`] would return true.
    #[inline]
    pub fn wakes_writer(&self) -> bool {
        self.buf.wake
    }

    /// Checks for a waiting writer. The send buffer grows unless the window is full, and the writer is woken
    /// if there is room. Call this after each acknowledgement, once [`Sender::push`] has sent what it could.
    // linux: net/ipv4/tcp_input.c tcp_check_space, tcp_new_space, tcp_should_expand_sndbuf (6.1),
    // net/core/stream.c sk_stream_write_space - there is room if a third of the buffer is free.
    #[inline]
    pub fn check_space(&mut self) {
        if !self.buf.nospace {
            return;
        }
        if self.sk.in_flight() < self.sk.snd_cwnd {
            self.expand_sndbuf();
            self.usage.stamp = self.sk.jiffies;
        }
        let free = i64::from(self.buf.sndbuf) - i64::from(self.buf.wmem_queued);
        let lowat = u64::from(self.sk.unsent) << 1 < u64::from(self.cfg.notsent_lowat);
        if free > 0 && free >= i64::from(self.buf.wmem_queued >> 1) && lowat {
            (self.buf.nospace, self.buf.wake) = (false, true);
            self.stop_chrono(Limit::Buffer);
        }
    }

    /// Makes the send buffer fit the window.
    // linux: net/ipv4/tcp_input.c tcp_sndbuf_expand (6.1) - twice (or what the congestion control wants) the
    // window, or ten segments, in buffers of a full segment with room for all headers, rounded up to a power
    // of two.
    pub(super) fn expand_sndbuf(&mut self) {
        let segment = u32::from(self.cfg.advmss).max(self.sk.mss_cache);
        let buffer = buffer_truesize(segment + self.cfg.max_header);
        let segments = self.sk.snd_cwnd.max(10).max(self.reordering + 1);
        let want = u64::from(self.cc.sndbuf_expand()) * u64::from(segments) * u64::from(buffer);
        if u64::from(self.buf.sndbuf) < want {
            self.buf.sndbuf = want.min(u64::from(self.cfg.wmem[2])) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    const MSS: u64 = 1_448;

    /// A sender with room for 17 packets and a window of 100 whose application writes 100 segments: the
    /// buffer ends the writing.
    fn filled() -> (Sender, Sink) {
        let (mut s, mut out) = (established(), Sink::default());
        s.cfg.small_queues.off = true;
        (s.sk.snd_cwnd, s.buf.sndbuf) = (100, 46_080);
        assert_eq!(s.write(at_us(20_000), 100 * MSS, &mut out), 17 * MSS);
        // All of it is on its way.
        (0..17).for_each(|_| _ = s.uncharge(LATER, 2_728));
        s.sk.app_limited = 0;
        (s, out)
    }

    #[test]
    fn the_application_limits_the_sender_where_a_write_begins_and_not_where_one_goes_on() {
        let (mut s, mut out) = filled();
        s.buf.sndbuf = 1 << 20;
        // The rest of the write: the window is open and nothing is left to be sent, but it was the buffer
        // that ended it.
        assert_eq!(s.write(at_us(20_000), 83 * MSS, &mut out), 83 * MSS);
        assert_eq!((s.sk.app_limited, s.sk.in_flight()), (0, 100));
        // The next one finds the window full, the one after that an open one.
        s.write(at_us(20_000), 0, &mut out);
        assert_eq!(s.sk.app_limited, 0);
        s.sk.snd_cwnd = 101;
        (0..83).for_each(|_| _ = s.uncharge(LATER, 2_728));
        s.write(at_us(20_000), 0, &mut out);
        assert_eq!(s.sk.app_limited, s.sk.delivered + 100);
    }

    #[test]
    fn a_small_last_packet_waits_while_others_are_in_queues_below() {
        // autocorking, whether what was sent before has left the host; packets that leave with a write of 100
        // bytes
        for (autocorking, gone, leaves) in
            [(true, false, 0), (true, true, 1), (false, false, 1), (false, true, 1)]
        {
            let (mut s, mut out) = (established(), Sink::default());
            s.cfg.small_queues.off = true;
            s.cfg.autocorking = autocorking;
            s.write(at_us(20_000), 2 * MSS, &mut out);
            assert_eq!(out.sent.len(), 2);
            if gone {
                (0..2).for_each(|_| _ = s.uncharge(LATER, 2_728));
            }
            s.write(at_us(20_000), 100, &mut out);
            assert_eq!(out.sent.len(), 2 + leaves, "{autocorking} {gone}");
            // The first that leaves wakes the socket, and what waited goes.
            if leaves == 0 {
                assert!(s.uncharge(LATER, 2_728));
                s.push(at_us(20_000), &mut out);
                assert_eq!(out.sent.len(), 3);
            }
        }
    }
}
