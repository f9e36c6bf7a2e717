//! The receiving half of a socket: what has come, in order and out of order, when it is acknowledged, and how
//! much more may come.
//!
//! ```text
//! on_data -> ofo (ranges out of order) -> receive queue -> read
//!              sack (blocks, duplicates)    space (memory, window, autotuning)
//!              acks (at once, delayed, compressed)
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
/// The receiving half of a socket.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Path measurements of the sending half. The socket keeps them up to date.
    pub path: PathRtt,
    ticks: Ticks,
    config: Settings,
    /// Next sequence number expected.
    rcv_nxt: u32,
    /// Value of `rcv_nxt` when the last acknowledgement left, with which the window was offered.
    rcv_wup: u32,
    /// Window offered then, in bytes.
    rcv_wnd: u32,
    /// Next sequence number that the application reads.
    copied: u32,
    /// What waits for the application: sequence number after each packet, and its memory.
    queue: Fifo<(u32, u32)>,
    /// Bytes that the last of them still has room for.
    tail_room: u32,
    ofo: OutOfOrder,
    sacks: Sacks,
    space: Space,
    acks: Acks,
    ecn: Ecn,
    /// Time stamp to echo (`ts_recent`), in ms.
    ts_recent: u32,
    /// Sequence number of the other end's FIN, as soon as one was seen.
    fin: Option<u32>,
    fin_taken: bool,
    last_answer: Option<Instant>,
    bytes_received: u64,
    acks_sent: u32,
    /// Segments that came out of order (`rcv_ooopack`).
    out_of_order: u32,
}

/// What both ends agreed on.
#[derive(Clone, Copy, Debug)]
struct Settings {
    advmss: u32,
    sack: bool,
    dsack: bool,
    timestamps: bool,
}

/// The receiving side of explicit congestion notification.
// spec: rfc3168 6.1.3.
#[derive(Clone, Copy, Debug, Default)]
struct Ecn {
    agreed: bool,
    /// A capable packet has been seen.
    seen: bool,
    /// ECE is set until CWR comes.
    demand_cwr: bool,
}

/// Microseconds since the start of the run.
#[inline]
const fn micros(now: Instant) -> u64 {
    now.nanos() / 1_000
}

/// Clock of TCP timestamps, in milliseconds.
// linux: include/net/tcp.h TCP_TS_HZ (6.1) - without the random offset of each connection, which nobody can
// tell.
#[inline]
pub const fn millis(now: Instant) -> u32 {
    (now.nanos() / 1_000_000) as u32
}

impl Receiver {
    /// The receiving half of an unconnected socket.
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

    /// A SYN is to be sent: the window it offers in bytes, and the scale shift of later ones. `timestamps` if
    /// it is known that they are used, as it is when answering a SYN.
    // linux: net/ipv4/tcp_output.c tcp_connect_init, net/ipv4/tcp_minisocks.c tcp_openreq_init_rwin (6.1) -
    // the window is a multiple of the segments known at that time: 64,240 bytes for the end that calls,
    // 65,160 for the one called.
    pub fn open(&mut self, timestamps: bool) -> (u32, u8) {
        let options = if timestamps { TIMESTAMP_OPTION } else { 0 };
        self.rcv_wnd = self.space.open(self.config.advmss - options);
        (self.rcv_wnd, self.space.scale)
    }

    /// The handshake is over. `rcv_nxt` is the first sequence number of data, `peer` the options that both
    /// ends agreed on.
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

    /// RCV.NXT: the next expected sequence number.
    #[inline]
    pub fn rcv_nxt(&self) -> u32 {
        self.rcv_nxt
    }

    /// The window that the other end may still fill.
    // linux: include/net/tcp.h tcp_receive_window (6.1).
    #[inline]
    fn window(&self) -> u32 {
        let right = self.rcv_wup.wrapping_add(self.rcv_wnd);
        if before(right, self.rcv_nxt) { 0 } else { distance(self.rcv_nxt, right) }
    }

    /// After a segment was taken in and the sending half has sent what it could: [`Receiver::ack_now`] tells
    /// whether an acknowledgement must leave by itself, [`Receiver::next_timer`] when one will.
    #[inline]
    pub fn decide(&mut self, now: Instant) {
        let unacked = distance(self.rcv_wup, self.rcv_nxt);
        // An application without a low-water mark has room in it only when it has read everything.
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

    /// Number of bytes that the application can read.
    // The other end's FIN is no byte.
    #[inline]
    pub fn readable(&self) -> u64 {
        u64::from(distance(self.copied, self.rcv_nxt)) - u64::from(self.fin_taken)
    }

    /// The application reads up to `bytes` bytes. Returns the number of bytes read. Reading frees memory,
    /// moves the window and may make an ACK due.
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
            // A window that has at least doubled is worth an acknowledgement.
            let offered = self.window();
            if 2 * offered <= self.space.window_clamp {
                let (window, short) = self.space.select(self.rcv_wnd, self.acks.rcv_mss);
                self.acks.quick = if short { 0 } else { self.acks.quick };
                self.acks.send |= window > 0 && window >= 2 * offered;
            }
        }
        read
    }

    /// Ends the memory of what was read to its last byte; FIN after it is no byte and is not waited for.
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

    /// Fills in the header of a segment that is sent now: window, timestamps and ECN echo, and SACK blocks if
    /// the segment has no data. Returns the acknowledgement number. A pending ACK counts as sent, unless it
    /// has SACK blocks and the segment has data.
    // deviation: data takes no SACK blocks along, which would make it longer than the path takes, and leaves
    // the acknowledgement that bears them pending; Linux takes their bytes off the data.
    // linux: include/net/tcp.h tcp_skb_timestamp (6.1) - the time stamp is that of the departure.
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

    /// Chooses the window that is offered now.
    // linux: net/ipv4/tcp_output.c tcp_select_window (6.1).
    // spec: rfc9293 3.8.6 - what was offered is not taken back.
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

    /// Whether an ACK must be sent now.
    #[inline]
    pub fn ack_now(&self) -> bool {
        self.acks.send
    }

    /// Demands an ACK now, regardless of the policy.
    pub fn demand_ack(&mut self) {
        self.acks.send = true;
    }

    /// When [`Receiver::on_timer`] is to be called. The time may be too early, which does no harm.
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        self.acks.next_timer()
    }

    /// A delayed ACK may be due: see [`Receiver::ack_now`].
    pub fn on_timer(&mut self, now: Instant) {
        self.acks.on_timer(now, self.path);
    }

    /// Fills in the `ss` fields of the receiving half.
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

    /// Window scale shift of this end's windows.
    pub fn scale(&self) -> u8 {
        self.space.scale
    }

    /// Number of pure ACK segments sent.
    pub fn acks_sent(&self) -> u32 {
        self.acks_sent
    }

    /// Whether all data up to the peer's FIN was received.
    #[inline]
    pub fn fin_received(&self) -> bool {
        self.fin_taken
    }
}
