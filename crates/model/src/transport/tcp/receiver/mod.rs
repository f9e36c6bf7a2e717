//! Receiving half of a socket: reassembly, ACK policy and receive window.
//!
//! ```text
//! on_data -> ofo (ranges out of order) -> receive queue -> read
//!              sack (blocks, duplicates)    space (memory, window, autotuning)
//!              acks (immediate, delayed, compressed)
//! ```

mod acks;
mod arrive;
mod ofo;
mod sack;
mod space;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use super::PeerOptions;
use super::config::TcpConfig;
use super::info::TcpInfo;
use super::ticks::Ticks;
use crate::transport::seq::{after, before, distance};
use crate::types::{Fifo, Instant, TcpFlags, TcpHeader};
use acks::{Acks, MissingData};
use ofo::OutOfOrder;
use sack::Sacks;
use space::Space;

pub use acks::PathRtt;
pub use arrive::Check;

/// Length of the timestamp option in bytes, with padding.
// spec: rfc7323 appendix A.
pub const TIMESTAMP_OPTION: u32 = 12;
/// Receiving half of a socket.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Path measurements of the sender, kept up to date by the socket.
    pub path: PathRtt,
    ticks: Ticks,
    config: Settings,
    /// Next sequence number expected.
    rcv_nxt: u32,
    /// `rcv_nxt` when the last ACK was sent.
    rcv_wup: u32,
    /// Window advertised in that ACK, in bytes.
    rcv_wnd: u32,
    /// Next sequence number to be read by the application.
    copied: u32,
    /// Receive queue: end sequence number and truesize of each packet.
    queue: Fifo<(u32, u32)>,
    /// Tail room of the last packet in bytes.
    tail_room: u32,
    ofo: OutOfOrder,
    sacks: Sacks,
    space: Space,
    acks: Acks,
    ecn: Ecn,
    /// Timestamp to echo (`ts_recent`), in ms.
    ts_recent: u32,
    /// Sequence number of the peer's FIN, once seen.
    fin: Option<u32>,
    fin_taken: bool,
    last_answer: Option<Instant>,
    bytes_received: u64,
    acks_sent: u32,
    /// Segments received out of order (`rcv_ooopack`).
    out_of_order: u32,
}

/// Negotiated options.
#[derive(Clone, Copy, Debug)]
struct Settings {
    advmss: u32,
    sack: bool,
    dsack: bool,
    timestamps: bool,
}

/// ECN state of the receiver.
// spec: rfc3168 6.1.3.
#[derive(Clone, Copy, Debug, Default)]
struct Ecn {
    agreed: bool,
    /// True once an ECN-capable packet was received.
    seen: bool,
    /// Set ECE until a segment with CWR arrives.
    demand_cwr: bool,
}

/// Converts to microseconds since the start of the run.
#[inline]
const fn micros(now: Instant) -> u64 {
    now.nanos() / 1_000
}

/// TCP timestamp clock in milliseconds.
// linux: include/net/tcp.h TCP_TS_HZ (6.1) - without the random offset, which has no visible effect.
#[inline]
pub const fn millis(now: Instant) -> u32 {
    (now.nanos() / 1_000_000) as u32
}

impl Receiver {
    /// Creates the receiving half of an unconnected socket.
    pub fn new(config: &TcpConfig) -> Self {
        let settings = Settings {
            advmss: u32::from(config.advmss),
            sack: config.sack,
            dsack: config.dsack,
            timestamps: config.timestamps,
        };
        Self {
            path: PathRtt { srtt8_us: 0, rto: config.hz },
            ticks: Ticks::new(config.hz),
            config: settings,
            rcv_nxt: 0,
            rcv_wup: 0,
            rcv_wnd: 0,
            copied: 0,
            queue: Fifo::default(),
            tail_room: 0,
            ofo: OutOfOrder::default(),
            sacks: Sacks::default(),
            space: Space::new(config),
            acks: Acks::new(config),
            ecn: Ecn::default(),
            ts_recent: 0,
            fin: None,
            fin_taken: false,
            last_answer: None,
            bytes_received: 0,
            acks_sent: 0,
            out_of_order: 0,
        }
    }

    /// Returns the window for a SYN in bytes, and the scale shift of later windows. `timestamps` is true if
    /// their use is already known, as when answering a SYN.
    // linux: net/ipv4/tcp_output.c tcp_connect_init, net/ipv4/tcp_minisocks.c tcp_openreq_init_rwin (6.1) -
    // rounds the window to multiples of the segment size known at that time: 64,240 bytes at the active end,
    // 65,160 at the passive end.
    pub fn open(&mut self, timestamps: bool) -> (u32, u8) {
        let options = if timestamps { TIMESTAMP_OPTION } else { 0 };
        self.rcv_wnd = self.space.open(self.config.advmss - options);
        (self.rcv_wnd, self.space.scale)
    }

    /// Called when the handshake completes. `rcv_nxt` is the first data sequence number, `peer` the options.
    pub fn established(&mut self, now: Instant, rcv_nxt: u32, peer: &PeerOptions) {
        self.config.sack &= peer.sack;
        self.config.timestamps &= peer.timestamps;
        self.ecn.agreed = peer.ecn;
        let options = if self.config.timestamps { TIMESTAMP_OPTION } else { 0 };
        self.config.advmss -= options;
        if peer.window_scale.is_none() {
            self.space.no_scaling();
        }
        self.rcv_nxt = rcv_nxt;
        self.rcv_wup = rcv_nxt;
        self.copied = rcv_nxt;
        self.space.established(micros(now), rcv_nxt, self.config.advmss, self.rcv_wnd);
        let mss = u32::from(peer.mss) - options;
        self.acks.established(now, self.config.advmss.min(mss), self.rcv_wnd, options);
    }

    /// Returns RCV.NXT, the next expected sequence number.
    #[inline]
    pub fn rcv_nxt(&self) -> u32 {
        self.rcv_nxt
    }

    /// Remaining receive window.
    // linux: include/net/tcp.h tcp_receive_window (6.1).
    #[inline]
    fn window(&self) -> u32 {
        let right = self.rcv_wup.wrapping_add(self.rcv_wnd);
        if before(right, self.rcv_nxt) { 0 } else { distance(self.rcv_nxt, right) }
    }

    /// Runs the ACK policy after a segment was processed and the sender has sent what it could. Afterwards
    /// [`Receiver::ack_now`] reports whether an ACK must be sent, and [`Receiver::next_timer`] when one will
    /// be due.
    #[inline]
    pub fn decide(&mut self, now: Instant) {
        let unacked = distance(self.rcv_wup, self.rcv_nxt);
        // With SO_RCVLOWAT at its default of 1, less than that is unread only once everything has been read.
        let may_move = unacked <= self.acks.rcv_mss || self.rcv_nxt == self.copied || {
            let (window, short) = self.space.select(self.rcv_wnd, self.acks.rcv_mss);
            self.acks.quick = if short { 0 } else { self.acks.quick };
            window >= self.rcv_wnd
        };
        let gap = (!self.ofo.is_empty()).then(|| MissingData {
            sack: self.config.sack,
            rcv_nxt: self.rcv_nxt,
            rtt8_us: self.space.rtt_us(),
        });
        self.acks.check(now, unacked, may_move, gap, self.path);
    }

    /// Returns the number of bytes available to the application.
    // The peer's FIN is not a byte.
    #[inline]
    pub fn readable(&self) -> u64 {
        u64::from(distance(self.copied, self.rcv_nxt)) - u64::from(self.fin_taken)
    }

    /// Reads up to `bytes` bytes. Returns the number of bytes read. Reading frees memory, moves the window
    /// and may make an ACK due.
    // linux: net/ipv4/tcp.c tcp_recvmsg_locked, __tcp_cleanup_rbuf (6.1).
    pub fn read(&mut self, now: Instant, bytes: u64) -> u64 {
        let read = bytes.min(self.readable());
        if read == 0 {
            return 0;
        }
        self.copied = self.copied.wrapping_add(read as u32);
        let unread = distance(self.copied, self.rcv_nxt);
        self.space.adjust(micros(now), self.copied, unread, self.ofo.beyond(self.rcv_nxt));
        self.free_read();
        self.acks.read(distance(self.rcv_wup, self.rcv_nxt), self.space.rmem_alloc == 0);
        if !self.acks.send && !self.fin_taken {
            // Announce a window that has at least doubled.
            let offered = self.window();
            if 2 * offered <= self.space.window_clamp {
                let (window, short) = self.space.select(self.rcv_wnd, self.acks.rcv_mss);
                self.acks.quick = if short { 0 } else { self.acks.quick };
                self.acks.send |= window > 0 && window >= 2 * offered;
            }
        }
        read
    }

    /// Frees packets that were read completely. A FIN behind the data does not keep a packet alive.
    #[inline]
    fn free_read(&mut self) {
        let done = if self.readable() == 0 { self.rcv_nxt } else { self.copied };
        while let Some((end, truesize)) = self.queue.first() {
            if after(end, done) {
                break;
            }
            self.space.rmem_alloc -= truesize;
            self.queue.drop_first();
        }
    }

    /// Fills in the header of an outgoing segment: window, timestamps, ECN echo, and SACK blocks if the
    /// segment has no data. Returns the acknowledgement number. A pending ACK counts as sent, unless there
    /// are SACK blocks and the segment has data.
    // deviation: sends no SACK blocks with data, and leaves the ACK with the blocks pending - the blocks
    // would exceed the path MTU, and Linux shortens the data instead.
    // linux: include/net/tcp.h tcp_skb_timestamp (6.1) - timestamps are departure times.
    #[inline]
    pub fn fill(&mut self, now: Instant, departs: Instant, header: &mut TcpHeader) -> u32 {
        header.window = self.offer();
        if self.config.timestamps {
            header.ts_val = millis(departs);
            header.ts_ecr = self.ts_recent;
        }
        if self.ecn.demand_cwr {
            header.flags = header.flags.with(TcpFlags::ECE);
        }
        if header.payload > 0 {
            self.acks.data_sent(self.ticks.at(now));
            if self.sacks.is_empty() {
                self.acks.sent(header.payload.div_ceil(u32::from(header.mss.max(1))));
            }
        } else {
            self.sacks.write(header, if self.config.timestamps { 3 } else { 4 });
            self.acks.sent(1);
            self.acks_sent += 1;
        }
        self.rcv_nxt
    }

    /// Selects the window to advertise.
    // linux: net/ipv4/tcp_output.c tcp_select_window (6.1).
    // spec: rfc9293 3.8.6 - never shrinks the window.
    #[inline]
    fn offer(&mut self) -> u32 {
        let offered = self.window();
        let (mut window, short) = self.space.select(self.rcv_wnd, self.acks.rcv_mss);
        if short {
            self.acks.quick = 0;
        }
        if window < offered {
            window = self.space.round_up(offered);
        }
        self.rcv_wnd = window;
        self.rcv_wup = self.rcv_nxt;
        self.space.as_field(window)
    }

    /// Returns true if an ACK must be sent now.
    #[inline]
    pub fn ack_now(&self) -> bool {
        self.acks.send
    }

    /// Demands an ACK now, regardless of the policy.
    pub fn demand_ack(&mut self) {
        self.acks.send = true;
    }

    /// Returns the next call time of [`Receiver::on_timer`], which may be too early.
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        self.acks.next_timer()
    }

    /// Processes the timer. Afterwards check [`Receiver::ack_now`].
    pub fn on_timer(&mut self, now: Instant) {
        self.acks.on_timer(now, self.path);
    }

    /// Fills in the receiver's `ss` fields.
    // linux: net/ipv4/tcp.c tcp_get_info (6.1).
    pub fn info(&self, now: Instant, into: &mut TcpInfo) {
        into.bytes_received = self.bytes_received;
        into.rcv_space = self.space.rcv_space();
        into.rmem_alloc = self.space.rmem_alloc;
        into.rcvbuf = self.space.rcvbuf;
        into.rcv_ssthresh = self.space.rcv_ssthresh;
        into.rcv_rtt_us = self.space.rtt_us() >> 3;
        into.rcv_ooopack = self.out_of_order;
        into.ecnseen = self.ecn.seen;
        into.advmss = self.config.advmss;
        into.rcvmss = self.acks.rcv_mss;
        (into.ato_us, into.lastrcv_ms) = self.acks.times(now);
    }

    /// Returns the window scale shift of this end.
    pub fn scale(&self) -> u8 {
        self.space.scale
    }

    /// Returns the number of pure ACK segments sent.
    pub fn acks_sent(&self) -> u32 {
        self.acks_sent
    }

    /// Returns true if all data up to the peer's FIN was received.
    #[inline]
    pub fn fin_received(&self) -> bool {
        self.fin_taken
    }
}
