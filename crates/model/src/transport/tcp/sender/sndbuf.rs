//! The send buffer: limits the memory, not the data, of what the application writes.

use super::chrono::Limit;
use super::output::Amount;
use super::{Emit, Sender};
use crate::transport::cc::Controller;
use crate::transport::seq::after;
use crate::types::{Instant, buffer_truesize};

#[derive(Clone, Debug)]
pub(super) struct SendBuffer {
    /// Truesize of all sent and unsent packets, in bytes.
    pub wmem_queued: u32,
    /// Limit at which the application must wait, in bytes of truesize.
    pub sndbuf: u32,
    /// True if the application waits for space.
    pub nospace: bool,
    /// True if the application may continue.
    pub wake: bool,
    /// End of the data last marked with PSH (`pushed_seq`).
    pub pushed_seq: u32,
    /// True if the last write was incomplete; the next one continues it.
    pub unfinished: bool,
}

impl SendBuffer {
    pub fn new(sndbuf: u32) -> Self {
        Self { wmem_queued: 0, sndbuf, nospace: false, wake: false, pushed_seq: 0, unfinished: false }
    }
}

impl Sender {
    /// Returns the truesize of a packet with `len` bytes of data.
    // linux: net/ipv4/tcp.c tcp_sendmsg_locked (6.1) - with scatter-gather, the sk_buff plus the page
    // fragments used.
    // linux: net/ipv4/tcp.c select_size (4.4) - without it, a linear buffer for a full segment.
    #[inline]
    pub(super) fn truesize(&self, len: u32) -> u32 {
        let mss = self.sk.mss_cache;
        if !self.cfg.scatter_gather && len <= mss {
            return self.cfg.truesize_segment;
        }
        (self.skb_cost() + len).max(self.cfg.truesize_least)
    }
    /// Returns the overhead of a full or larger packet besides its data.
    #[inline]
    pub(super) fn skb_cost(&self) -> u32 {
        self.cfg.truesize_segment.saturating_sub(self.sk.mss_cache)
    }

    /// Splits the first unsent packet of `whole` bytes after `bytes`.
    // linux: net/ipv4/tcp_output.c tso_fragment (6.1) - adds an sk_buff.
    // deviation: without scatter-gather, charges the rest like a full segment instead of by its length.
    pub(super) fn cut_unsent(&mut self, whole: u32, bytes: u32) {
        self.unsent.split(bytes);
        self.buf.wmem_queued += self.truesize(bytes) + self.truesize(whole - bytes) - self.truesize(whole);
    }

    /// Writes application data and sends what may be sent. Returns the number of bytes accepted by the send
    /// buffer. For the rest, see [`Sender::wants_data`].
    // linux: net/ipv4/tcp.c tcp_sendmsg_locked, tcp_push (6.1) - checks for space once per packet, so the
    // last one may exceed the buffer. Sends a full packet immediately if it is the only one, and refills its
    // remainder, like any last packet within the size goal. Pushes everything at each forced PSH, before the
    // writer waits, and at the end.
    // linux: net/core/stream.c sk_stream_wait_memory (6.1) - the writer waits even if that push frees space.
    pub fn write(&mut self, now: Instant, bytes: u64, out: &mut impl Emit) -> u64 {
        self.touch(now);
        // A continued write was already checked when it started.
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

    /// Returns true if a partial last packet should wait for the next write while others are in lower layers.
    // linux: net/ipv4/tcp.c tcp_should_autocork, tcp_push (6.1) - the next one that leaves wakes the socket.
    fn autocorks(&mut self, goal: u32) -> bool {
        let Some(tail) = self.unsent.tail_len().filter(|&len| len < goal) else { return false };
        let corks = self.cfg.autocorking && !self.rtx.is_empty() && self.sk.wmem_alloc > self.truesize(tail);
        self.host.throttled |= corks;
        corks
    }

    /// Handles a full last packet while the write continues.
    // linux: net/ipv4/tcp.c forced_push, net/ipv4/tcp_output.c tcp_push_one (6.1) - sets PSH once per half of
    // the maximum window in a long write.
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

    /// Returns true, once, if a waiting writer may continue.
    #[inline]
    pub fn wants_data(&mut self) -> bool {
        core::mem::take(&mut self.buf.wake)
    }

    /// Returns true if [`Sender::wants_data`] would.
    #[inline]
    pub fn wakes_writer(&self) -> bool {
        self.buf.wake
    }

    /// Checks for a waiting writer: expands the send buffer unless the window is full, and wakes the writer
    /// if there is space. Call this after each ACK, once [`Sender::push`] has sent what it could.
    // linux: net/ipv4/tcp_input.c tcp_check_space, tcp_new_space, tcp_should_expand_sndbuf (6.1),
    // net/core/stream.c sk_stream_write_space - requires a third of the buffer to be free.
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

    /// Expands the send buffer to fit the window.
    // linux: net/ipv4/tcp_input.c tcp_sndbuf_expand (6.1) - twice (or the controller's multiple) the window
    // or ten segments, each in a buffer for a full segment with header room, rounded up to a power of two.
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

    /// A sender with buffer for 17 packets and a window of 100, filled by a write of 100 segments.
    fn filled() -> (Sender, Sink) {
        let (mut s, mut out) = (established(), Sink::default());
        s.cfg.small_queues.off = true;
        (s.sk.snd_cwnd, s.buf.sndbuf) = (100, 46_080);
        assert_eq!(s.write(at_us(20_000), 100 * MSS, &mut out), 17 * MSS);
        // All packets have left the host.
        (0..17).for_each(|_| _ = s.uncharge(LATER, 2_728));
        s.sk.app_limited = 0;
        (s, out)
    }

    #[test]
    fn application_limit_is_checked_at_the_start_of_a_write() {
        let (mut s, mut out) = filled();
        s.buf.sndbuf = 1 << 20;
        // The rest of the write: the window has room and nothing is unsent, but the buffer was the limit.
        assert_eq!(s.write(at_us(20_000), 83 * MSS, &mut out), 83 * MSS);
        assert_eq!((s.sk.app_limited, s.sk.in_flight()), (0, 100));
        // The next write finds the window full, the one after it finds room.
        s.write(at_us(20_000), 0, &mut out);
        assert_eq!(s.sk.app_limited, 0);
        s.sk.snd_cwnd = 101;
        (0..83).for_each(|_| _ = s.uncharge(LATER, 2_728));
        s.write(at_us(20_000), 0, &mut out);
        assert_eq!(s.sk.app_limited, s.sk.delivered + 100);
    }

    #[test]
    fn autocorking_holds_back_a_small_last_packet() {
        // autocorking, earlier packets have left the host; packets sent by a write of 100 bytes
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
            // The first packet that leaves wakes the socket, which sends the corked data.
            if leaves == 0 {
                assert!(s.uncharge(LATER, 2_728));
                s.push(at_us(20_000), &mut out);
                assert_eq!(out.sent.len(), 3);
            }
        }
    }
}
