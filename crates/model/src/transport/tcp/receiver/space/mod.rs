//! Receive memory, the window derived from it, and autotuning.

use crate::transport::seq::{before, distance};
use crate::transport::tcp::config::{RcvbufRules, TcpConfig};

/// Initial segments for autotuning.
// linux: include/net/tcp.h TCP_INIT_CWND (6.1).
const INIT_SEGMENTS: u32 = 10;
/// Maximum window scale shift.
// spec: rfc7323 2.3.
const MAX_SCALE: u8 = 14;
/// Maximum value of the window field before scaling.
const MAX_UNSCALED: u32 = 65_535;
/// Memory overhead per packet besides data and headers: sk_buff and shared info.
// linux: include/linux/skbuff.h SKB_TRUESIZE (6.1) - on x86-64.
const PACKET_OVERHEAD: u32 = 256 + 320;
/// Step in bytes of the search for the memory per segment.
// linux: net/ipv4/tcp_input.c tcp_rcv_space_adjust (6.1).
const MEMORY_STEP: u64 = 128;

/// RTT estimate of the receiver.
// linux: include/linux/tcp.h rcv_rtt_est (6.1).
#[derive(Clone, Copy, Debug, Default)]
struct RcvRtt {
    /// Estimate in us, times 8; 0 before the first measurement.
    rtt_us: u32,
    /// Without timestamps: start in us of the window that ends at `seq`; 0 if none has started.
    begun_us: u64,
    seq: u32,
    last_tsecr: u32,
}

/// Data read in the last round trip.
// linux: include/linux/tcp.h rcvq_space (6.1).
#[derive(Clone, Copy, Debug, Default)]
struct LastRound {
    bytes: u32,
    seq: u32,
    begun_us: u64,
}

/// Receive buffer of a socket. Sizes are in bytes, memory in bytes of truesize.
#[derive(Clone, Debug)]
pub struct Space {
    /// Memory of received but unread data (`sk_rmem_alloc`).
    pub rmem_alloc: u32,
    /// Limit of that memory (`sk_rcvbuf`).
    pub rcvbuf: u32,
    /// Upper bound of the window.
    pub window_clamp: u32,
    /// Current window limit (`rcv_ssthresh`). Grows with packets that use their memory well.
    pub rcv_ssthresh: u32,
    /// Window scale shift.
    pub scale: u8,
    rmem: [u32; 3],
    adv_win_scale: i8,
    /// Window per 256 bytes of memory (`scaling_ratio`); 0: use `adv_win_scale`.
    ratio: u8,
    core_rmem_max: u32,
    /// Maximum payload per segment, excluding options.
    advmss: u32,
    moderate: bool,
    rules: RcvbufRules,
    /// Segments of the initial window; 0: limited only to 64 KiB.
    init_rwnd: u32,
    max_header: u32,
    per_segment: u32,
    rtt: RcvRtt,
    last: LastRound,
}

impl Space {
    /// Creates the receive buffer of an unconnected socket.
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

    /// Returns the part of `memory` that is advertised as window.
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

    /// Window for the free memory.
    // linux: include/net/tcp.h tcp_space (6.1).
    #[inline]
    fn free(&self) -> u32 {
        self.window_of(self.rcvbuf.saturating_sub(self.rmem_alloc))
    }

    /// Returns the window of the SYN in bytes, and sets the window scale. `mss` is the maximum payload known
    /// so far: the passive end knows whether timestamps are used, the active end does not.
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

    /// Disables window scaling because the peer does not scale.
    // linux: net/ipv4/tcp_input.c tcp_rcv_synsent_state_process (6.1).
    pub fn no_scaling(&mut self) {
        self.scale = 0;
        self.window_clamp = self.window_clamp.min(MAX_UNSCALED);
    }

    /// Called when the handshake completes. Segments carry `advmss` bytes, and `rcv_wnd` was advertised.
    // linux: net/ipv4/tcp_input.c tcp_init_buffer_space (4.11, 6.1) - with tcp_app_win at its default of 31,
    // which reserves nothing.
    pub fn established(&mut self, now_us: u64, rcv_nxt: u32, advmss: u32, rcv_wnd: u32) {
        self.advmss = advmss;
        self.per_segment = advmss + self.max_header + PACKET_OVERHEAD;
        // linux: net/ipv4/tcp_input.c tcp_fixup_rcvbuf (4.11).
        // deviation: subtracts the timestamp option even at the passive end, which learns of it later - 12 of
        // 2,300 bytes per packet.
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
        // linux: net/ipv4/tcp_input.c tcp_rcv_space_adjust (6.1) - adds 128 bytes until a segment fits.
        // deviation: stops at the last step if no memory of 31 bits suffices (`tcp_adv_win_scale` of -21 and
        // below at 1,448 bytes) - the kernel would loop forever if such a small window was ever read full.
        let lacks = self.memory_of(advmss).saturating_sub(self.per_segment.into());
        let steps = u64::from(i32::MAX as u32 - self.per_segment) / MEMORY_STEP;
        self.per_segment += (lacks.div_ceil(MEMORY_STEP).min(steps) * MEMORY_STEP) as u32;
    }

    /// Returns the minimum memory for a window; the inverse of [`Self::window_of`].
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

    /// Measures the ratio of data to memory from a packet of `bytes` of data and `truesize` of memory, with
    /// segments of `segment` bytes. Only segments larger than before count.
    // linux: net/ipv4/tcp_input.c tcp_measure_rcv_mss (6.18) - adjusts the window immediately.
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

    /// Returns true if the receive memory is within its limit, raising the limit if possible.
    // linux: net/ipv4/tcp_input.c tcp_try_rmem_schedule, tcp_prune_queue, tcp_clamp_window (6.1) - first
    // grows the buffer to the memory in use, up to tcp_rmem[2].
    // deviation: does not collapse packets - full segments would not become denser.
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

    /// Raises the window limit after a packet of `bytes` of data and `truesize` of memory, if memory used
    /// like this would hold the window. Returns true if the limit grew.
    // linux: net/ipv4/tcp_input.c tcp_grow_window, __tcp_grow_window (6.1).
    // deviation: does not subtract the header buffer from the memory - irrelevant for full segments.
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

    /// Returns true if packets with this overhead would fit the buffer once it has grown.
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

    /// Selects the window to advertise from the window advertised before and the segment size. The flag is
    /// true if memory is short, which ends quick ACKs.
    // linux: net/ipv4/tcp_output.c __tcp_select_window (6.1).
    // spec: rfc9293 3.8.6.2.2 - avoids silly windows.
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

    /// Rounds a window up to the unit of the window field.
    #[inline]
    pub fn round_up(&self, window: u32) -> u32 {
        let unit = 1 << self.scale;
        (window + (unit - 1)) & !(unit - 1)
    }

    /// Returns the part of `window` that the window field can express, in bytes.
    #[inline]
    pub fn as_field(&self, window: u32) -> u32 {
        window.min(MAX_UNSCALED << self.scale) >> self.scale << self.scale
    }

    /// Returns the receiver's RTT estimate in us, times 8; 0 if unknown.
    #[inline]
    pub fn rtt_us(&self) -> u32 {
        self.rtt.rtt_us
    }

    /// Returns the bytes read per round trip, as measured by autotuning.
    pub fn rcv_space(&self) -> u32 {
        self.last.bytes
    }

    // linux: net/ipv4/tcp_input.c tcp_rcv_rtt_update (6.1, 6.12.117, 6.18) - smooths samples from timestamps,
    // and takes the minimum without timestamps; since 6.16, and in stable 6.12 kernels, a smaller sample
    // applies immediately; since 6.16, a larger one only if the application has read everything.
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

    /// Measures the RTT as the time to receive one window of data.
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

    /// Measures the RTT from a timestamp echo in ms, for full segments only; since 4.16 once per value.
    /// `unread` is the number of bytes not read by the application.
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

    /// Called when the application has read up to `copied` and left `unread` bytes. Once per RTT, grows the
    /// buffer to hold twice the amount read in that time, and more while it increases. `beyond` is the number
    /// of bytes received past a hole.
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

    /// Called when data is received out of order, up to `beyond` bytes past the first hole.
    // linux: net/ipv4/tcp_input.c tcp_data_queue_ofo (6.18).
    pub fn out_of_order(&mut self, beyond: u32) {
        if self.rules == RcvbufRules::Linux6_16 {
            self.expand(self.last.bytes, beyond);
        }
    }

    /// Grows the buffer for `bytes` read per round trip.
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
