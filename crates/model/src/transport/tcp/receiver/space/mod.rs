//! Receive memory, the window made of it, and the autotuning of both.

use crate::transport::seq::{before, distance};
use crate::transport::tcp::config::{RcvbufRules, TcpConfig};

/// Segments of the initial window that autotuning starts from.
// linux: include/net/tcp.h TCP_INIT_CWND (6.1).
const INIT_SEGMENTS: u32 = 10;
/// Largest window scale shift.
// spec: rfc7323 2.3.
const MAX_SCALE: u8 = 14;
/// Most that the 16 bits of the window field say, before scaling.
const MAX_UNSCALED: u32 = 65_535;
/// Memory that a packet takes beside its data and its headers: its record, and that of its fragments.
// linux: include/linux/skbuff.h SKB_TRUESIZE (6.1) - on x86-64.
const PACKET_OVERHEAD: u32 = 256 + 320;
/// Bytes in which the memory of a segment is looked for.
// linux: net/ipv4/tcp_input.c tcp_rcv_space_adjust (6.1).
const MEMORY_STEP: u64 = 128;

/// Round-trip time as the receiving side sees it.
// linux: include/linux/tcp.h rcv_rtt_est (6.1).
#[derive(Clone, Copy, Debug, Default)]
struct RcvRtt {
    /// Eight times the time in us; 0 before the first measurement.
    rtt_us: u32,
    /// Without time stamps: when the window that ends at `seq` was begun, in us; 0 if none was.
    begun_us: u64,
    seq: u32,
    last_tsecr: u32,
}

/// What was read in the last round trip.
// linux: include/linux/tcp.h rcvq_space (6.1).
#[derive(Clone, Copy, Debug, Default)]
struct LastRound {
    bytes: u32,
    seq: u32,
    begun_us: u64,
}

/// The receive buffer of a socket. Sizes are in bytes, memory in bytes of truesize.
#[derive(Clone, Debug)]
pub struct Space {
    /// Memory of received data that was not read (`sk_rmem_alloc`).
    pub rmem_alloc: u32,
    /// Limit of that memory (`sk_rcvbuf`).
    pub rcvbuf: u32,
    /// Upper limit of the window.
    pub window_clamp: u32,
    /// Current limit of the window, which grows with packets that use their memory well (`rcv_ssthresh`).
    pub rcv_ssthresh: u32,
    /// Window scale shift.
    pub scale: u8,
    rmem: [u32; 3],
    adv_win_scale: i8,
    /// Window for 256 bytes of memory; 0 where `adv_win_scale` says it (`scaling_ratio`).
    ratio: u8,
    core_rmem_max: u32,
    /// Largest segment of data, options taken off.
    advmss: u32,
    moderate: bool,
    rules: RcvbufRules,
    /// Segments of the first window; 0 where 64 KiB are its only limit.
    init_rwnd: u32,
    max_header: u32,
    per_segment: u32,
    rtt: RcvRtt,
    last: LastRound,
}

impl Space {
    /// The receive buffer of an unconnected socket.
    pub fn new(config: &TcpConfig) -> Self {
        Self {
            rmem_alloc: 0,
            rcvbuf: config.rmem[1],
            window_clamp: MAX_UNSCALED << MAX_SCALE,
            rcv_ssthresh: 0,
            scale: 0,
            rmem: config.rmem,
            adv_win_scale: config.adv_win_scale,
            ratio: config.scaling_ratio,
            core_rmem_max: config.core_rmem_max,
            advmss: u32::from(config.advmss),
            moderate: config.moderate_rcvbuf,
            rules: config.rcvbuf,
            init_rwnd: config.init_rwnd,
            max_header: config.max_header,
            per_segment: 0,
            rtt: RcvRtt::default(),
            last: LastRound::default(),
        }
    }

    /// The part of a piece of memory that is offered as window.
    // linux: include/net/tcp.h tcp_win_from_space (6.1, 6.6).
    #[inline]
    fn window_of(&self, memory: u32) -> u32 {
        if self.ratio > 0 {
            return ((u64::from(memory) * u64::from(self.ratio)) >> 8) as u32;
        }
        match self.adv_win_scale {
            scale if scale <= 0 => memory >> -scale,
            scale => memory - (memory >> scale),
        }
    }

    /// Window for the memory that is free.
    // linux: include/net/tcp.h tcp_space (6.1).
    #[inline]
    fn free(&self) -> u32 {
        self.window_of(self.rcvbuf.saturating_sub(self.rmem_alloc))
    }

    /// The window of the SYN, in bytes; sets the scale that it offers. `mss` is the largest segment of data
    /// known so
    /// far: the passive end knows about time stamps, the active one does not.
    // linux: net/ipv4/tcp_output.c tcp_select_initial_window (4.11, 6.1).
    pub fn open(&mut self, mss: u32) -> u32 {
        let full = self.window_of(self.rcvbuf);
        let quantised = if full > mss { full - full % mss } else { full };
        let mut window = quantised.min(MAX_UNSCALED);
        let largest = quantised.max(self.rmem[2]).max(self.core_rmem_max).min(self.window_clamp);
        self.scale = (largest.ilog2() as u8).saturating_sub(15).min(MAX_SCALE);
        self.window_clamp = self.window_clamp.min(MAX_UNSCALED << self.scale);
        if self.init_rwnd > 0 && mss > 1 << self.scale {
            window = window.min(self.init_rwnd * mss);
        }
        self.rcv_ssthresh = window;
        window
    }

    /// The peer does not scale windows.
    // linux: net/ipv4/tcp_input.c tcp_rcv_synsent_state_process (6.1).
    pub fn no_scaling(&mut self) {
        self.scale = 0;
        self.window_clamp = self.window_clamp.min(MAX_UNSCALED);
    }

    /// The handshake is over: segments bear `advmss` bytes of data, `rcv_wnd` was offered.
    // linux: net/ipv4/tcp_input.c tcp_init_buffer_space (4.11, 6.1) - with tcp_app_win at its default of 31,
    // which reserves nothing.
    pub fn established(&mut self, now_us: u64, rcv_nxt: u32, advmss: u32, rcv_wnd: u32) {
        self.advmss = advmss;
        self.per_segment = advmss + self.max_header + PACKET_OVERHEAD;
        // linux: net/ipv4/tcp_input.c tcp_fixup_rcvbuf (4.11).
        // deviation: without the options that the called end learns of later - a packet of memory is 12 bytes
        // less of 2,300.
        let rooms = if self.moderate { 8 } else { 2 };
        let at_first = (rooms * self.init_rwnd).saturating_mul(self.per_segment);
        self.rcvbuf = self.rcvbuf.max(at_first.min(self.rmem[2]));
        let full = self.window_of(self.rcvbuf);
        if self.window_clamp >= full {
            self.window_clamp = full;
        }
        if self.window_clamp > 2 * advmss && self.window_clamp + advmss > full {
            self.window_clamp = (2 * advmss).max(full - advmss);
        }
        self.rcv_ssthresh = self.rcv_ssthresh.min(self.window_clamp);
        let bytes = if self.init_rwnd > 0 {
            rcv_wnd
        } else {
            self.rcv_ssthresh.min(rcv_wnd).min(INIT_SEGMENTS * advmss)
        };
        self.last = LastRound { bytes, seq: rcv_nxt, begun_us: now_us };
        // linux: net/ipv4/tcp_input.c tcp_rcv_space_adjust (6.1) - in steps of 128 bytes until its window
        // holds a segment.
        // deviation: where no memory of an int's 31 bits does (`tcp_adv_win_scale` of -21 and below at 1,448
        // bytes), the kernel would step for good, were a window that small ever read full; the last step
        // counts here.
        let lacks = self.memory_of(advmss).saturating_sub(self.per_segment.into());
        let steps = u64::from(i32::MAX as u32 - self.per_segment) / MEMORY_STEP;
        self.per_segment += (lacks.div_ceil(MEMORY_STEP).min(steps) * MEMORY_STEP) as u32;
    }

    /// The least memory whose window is so large; the inverse of [`Self::window_of`].
    fn memory_of(&self, window: u32) -> u64 {
        let window = u64::from(window);
        if self.ratio > 0 {
            return (window << 8).div_ceil(self.ratio.into());
        }
        match self.adv_win_scale {
            scale if scale <= 0 => window << -scale,
            scale => window + window.saturating_sub(1) / ((1 << scale) - 1),
        }
    }

    /// A packet of `bytes` of data and that much memory has come, in segments of `segment` bytes: larger ones
    /// than before show how much of the memory is data.
    // linux: net/ipv4/tcp_input.c tcp_measure_rcv_mss (6.18) - the window follows at once.
    #[inline]
    pub fn measure_ratio(&mut self, bytes: u32, truesize: u32, segment: u32, rcv_mss: u32) {
        if self.ratio == 0 || segment <= rcv_mss {
            return;
        }
        let ratio = ((u64::from(bytes) << 8) / u64::from(truesize.max(1))).clamp(1, 255) as u8;
        if ratio != self.ratio {
            self.ratio = ratio;
            self.window_clamp = self.window_of(self.rcvbuf);
            self.rcv_ssthresh = self.rcv_ssthresh.min(self.window_clamp);
            self.last.bytes = self.last.bytes.min(self.window_clamp);
        }
    }

    /// Whether a packet finds room, before anything is thrown away for it; `first` if the receive queue is
    /// empty, when it always does.
    // linux: net/ipv4/tcp_input.c tcp_try_rmem_schedule, tcp_prune_queue, tcp_clamp_window (6.1) - the buffer
    // first grows to what is there, up to tcp_rmem[2].
    // deviation: packets are not collapsed into denser ones, as full segments would not get denser.
    #[inline]
    pub fn has_room(&mut self) -> bool {
        if self.rmem_alloc <= self.rcvbuf {
            return true;
        }
        if self.rcvbuf < self.rmem[2] {
            self.rcvbuf = self.rmem_alloc.min(self.rmem[2]);
        }
        if self.rmem_alloc > self.rcvbuf {
            self.rcv_ssthresh = self.window_clamp.min(2 * self.advmss);
        }
        self.rmem_alloc <= self.rcvbuf
    }

    /// A packet of `bytes` of data and that much memory has come: the window may grow if memory like this
    /// one's would hold it. Returns whether it grew.
    // linux: net/ipv4/tcp_input.c tcp_grow_window, __tcp_grow_window (6.1).
    // deviation: a header's own buffer is not taken off the memory, as it decides nothing at full segments.
    #[inline]
    pub fn grow(&mut self, bytes: u32, truesize: u32, rcv_mss: u32) -> bool {
        let most = self.window_clamp.min(self.free());
        if most <= self.rcv_ssthresh {
            return false;
        }
        let step = if self.window_of(truesize) <= bytes {
            2 * self.advmss
        } else if self.would_fit(bytes, truesize) {
            2 * rcv_mss
        } else {
            return false;
        };
        self.rcv_ssthresh += step.max(2 * bytes).min(most - self.rcv_ssthresh);
        true
    }

    /// Whether packets with such overhead would fit a buffer that is still to grow.
    fn would_fit(&self, bytes: u32, truesize: u32) -> bool {
        let mut truesize = self.window_of(truesize) >> 1;
        let mut window = self.window_of(self.rmem[2]) >> 1;
        while self.rcv_ssthresh <= window {
            if truesize <= bytes {
                return true;
            }
            truesize >>= 1;
            window >>= 1;
        }
        false
    }

    /// The window to offer, given what is offered now and the size of segments that come. The flag tells that
    /// memory is short, which ends quick acknowledgements.
    // linux: net/ipv4/tcp_output.c __tcp_select_window (6.1).
    // spec: rfc9293 3.8.6.2.2 - no silly windows.
    #[inline]
    pub fn select(&self, rcv_wnd: u32, rcv_mss: u32) -> (u32, bool) {
        let allowed = self.window_of(self.rcvbuf);
        let full = self.window_clamp.min(allowed);
        let mss = rcv_mss.min(full);
        let mut free = self.free();
        let short = free < full >> 1;
        if mss == 0 {
            return (0, false);
        }
        if short {
            free &= !((1 << self.scale) - 1);
            if free < allowed >> 4 || free < mss {
                return (0, true);
            }
        }
        free = free.min(self.rcv_ssthresh);
        let window = if self.scale > 0 {
            self.round_up(free)
        } else if rcv_wnd + mss <= free || rcv_wnd > free {
            free - free % mss
        } else if mss == full && free > rcv_wnd + (full >> 1) {
            free
        } else {
            rcv_wnd
        };
        (window, short)
    }

    /// The window rounded up to a whole number of the units of the window field.
    #[inline]
    pub fn round_up(&self, window: u32) -> u32 {
        let unit = 1 << self.scale;
        (window + (unit - 1)) & !(unit - 1)
    }

    /// The value of `window` that the window field can express, in bytes.
    #[inline]
    pub fn as_field(&self, window: u32) -> u32 {
        window.min(MAX_UNSCALED << self.scale) >> self.scale << self.scale
    }

    /// Eight times the receiver's round-trip time in us; 0 if unknown.
    #[inline]
    pub fn rtt_us(&self) -> u32 {
        self.rtt.rtt_us
    }

    /// Bytes that the application reads in a round trip, as measured by autotuning.
    pub fn rcv_space(&self) -> u32 {
        self.last.bytes
    }

    // linux: net/ipv4/tcp_input.c tcp_rcv_rtt_update (6.1, 6.12.117, 6.18) - smoothed with time stamps, the
    // minimum without; from 6.16 on, and in stable kernels of 6.12, a smaller one counts at once; from 6.16
    // on a larger one only if the application has read everything.
    fn rtt_sample(&mut self, sample_us: u32, of_window: bool, unread: u32) {
        let (old, new) = (self.rtt.rtt_us, sample_us << 3);
        let at_once = matches!(self.rules, RcvbufRules::Linux6_12 | RcvbufRules::Linux6_16);
        let late = self.rules == RcvbufRules::Linux6_16;
        self.rtt.rtt_us = match old {
            0 => new,
            _ if of_window => old.min(new),
            _ if at_once && new < old => new,
            _ if late && unread > 0 => old,
            _ => old - (old >> 3) + sample_us,
        };
    }

    /// Measures the round-trip time as the time in which one window of data is received.
    // linux: net/ipv4/tcp_input.c tcp_rcv_rtt_measure (6.1).
    #[inline]
    pub fn measure(&mut self, now_us: u64, rcv_nxt: u32, rcv_wnd: u32) {
        if self.rtt.begun_us != 0 {
            if before(rcv_nxt, self.rtt.seq) {
                return;
            }
            self.rtt_sample((now_us - self.rtt.begun_us).max(1) as u32, true, 0);
        }
        (self.rtt.seq, self.rtt.begun_us) = (rcv_nxt.wrapping_add(rcv_wnd), now_us);
    }

    /// Times a round trip by the echo of a time stamp, in ms; once for each value since 4.16, and only with
    /// full segments. `unread` bytes wait for the application.
    // linux: net/ipv4/tcp_input.c tcp_rcv_rtt_measure_ts (4.11, 6.1).
    #[inline]
    pub fn measure_ts(&mut self, now_ms: u32, tsecr: u32, bytes: u32, rcv_mss: u32, unread: u32) {
        if tsecr == self.rtt.last_tsecr && self.rules != RcvbufRules::Linux3_13 {
            return;
        }
        self.rtt.last_tsecr = tsecr;
        if bytes >= rcv_mss {
            self.rtt_sample(now_ms.wrapping_sub(tsecr).max(1).saturating_mul(1000), false, unread);
        }
    }

    /// The application has read up to `copied` and left `unread` bytes: once in a round trip, the buffer is
    /// made to hold twice what was read in it, and more while that grows. `beyond` bytes reach past a hole.
    // linux: net/ipv4/tcp_input.c tcp_rcv_space_adjust (6.1, 6.18).
    #[inline]
    pub fn adjust(&mut self, now_us: u64, copied: u32, unread: u32, beyond: u32) {
        if self.rtt.rtt_us == 0 || now_us - self.last.begun_us < u64::from(self.rtt.rtt_us >> 3) {
            return;
        }
        let read = distance(self.last.seq, copied);
        let bytes = match self.rules {
            RcvbufRules::Linux3_13 | RcvbufRules::Linux4_16 => read,
            RcvbufRules::Linux6_12 | RcvbufRules::Linux6_16 => read.saturating_sub(unread),
        };
        if bytes > self.last.bytes {
            self.expand(bytes, beyond);
        }
        (self.last.seq, self.last.begun_us) = (copied, now_us);
    }

    /// Data was received out of order, up to `beyond` bytes past the first hole.
    // linux: net/ipv4/tcp_input.c tcp_data_queue_ofo (6.18).
    pub fn out_of_order(&mut self, beyond: u32) {
        if self.rules == RcvbufRules::Linux6_16 {
            self.expand(self.last.bytes, beyond);
        }
    }

    /// `bytes` were read in a round trip: the buffer grows to what that needs.
    // linux: net/ipv4/tcp_input.c tcp_rcv_space_adjust (4.11, 6.1), tcp_rcvbuf_grow (6.18).
    fn expand(&mut self, bytes: u32, beyond: u32) {
        let before = core::mem::replace(&mut self.last.bytes, bytes);
        if !self.moderate {
            return;
        }
        let (bytes, before) = (u64::from(bytes), u64::from(before));
        let twice = bytes << 1;
        let cushioned = twice + 16 * u64::from(self.advmss);
        let grown = |base: u64| base + ((base * (bytes - before) / before.max(1)) << 1);
        let window = match self.rules {
            RcvbufRules::Linux3_13 if bytes >= before + (before >> 1) => cushioned << 1,
            RcvbufRules::Linux3_13 if bytes >= before + (before >> 2) => cushioned + (cushioned >> 1),
            RcvbufRules::Linux3_13 => cushioned,
            RcvbufRules::Linux4_16 | RcvbufRules::Linux6_12 => grown(cushioned),
            RcvbufRules::Linux6_16 => grown(twice) + u64::from(beyond),
        };
        // linux: include/net/tcp.h tcp_space_from_win (6.6).
        let wanted = match self.ratio {
            0 => window / u64::from(self.advmss) * u64::from(self.per_segment),
            ratio => (window << 8) / u64::from(ratio),
        };
        let rcvbuf = wanted.min(u64::from(self.rmem[2])) as u32;
        if rcvbuf > self.rcvbuf {
            self.rcvbuf = rcvbuf;
            self.window_clamp = match self.rules {
                RcvbufRules::Linux3_13 => window.min(u64::from(u32::MAX)) as u32,
                RcvbufRules::Linux4_16 | RcvbufRules::Linux6_12 | RcvbufRules::Linux6_16 => {
                    self.window_of(rcvbuf)
                }
            };
        }
    }
}

#[cfg(test)]
mod tests;
