//! Test bench for receivers: numbered segments, recorded ACKs and a clock.

use super::*;
use crate::transport::tcp::config::TcpConfig;
use crate::types::{Duration, SockId};
use alloc::vec::Vec;

/// Payload of a full segment with timestamps.
pub const MSS: u32 = 1448;
/// Truesize of a full segment.
pub const TRUESIZE: u32 = 2304;

/// Linux 6.1 over a device without scatter-gather.
pub fn config() -> TcpConfig {
    TcpConfig { truesize_segment: TRUESIZE, scatter_gather: false, ..TcpConfig::default() }
}

/// A recorded ACK: time in us, acknowledged segments, SACK blocks in segments.
#[derive(Debug, PartialEq, Eq)]
pub struct Sent {
    pub at_us: u64,
    pub ack: u32,
    pub blocks: Vec<(u32, u32)>,
}

/// A receiver, its clock and its ACKs.
pub struct Bench {
    pub receiver: Receiver,
    pub now: Instant,
    pub sent: Vec<Sent>,
    pub header: TcpHeader,
    pub greedy: bool,
    /// Truesize per segment.
    pub truesize: u32,
    echo: u32,
}

impl Bench {
    /// Starts at sequence number 0.
    pub fn new(config: &TcpConfig) -> Self {
        Self::from(config, 0)
    }

    /// Starts at sequence number `start`.
    pub fn from(config: &TcpConfig, start: u32) -> Self {
        let mut receiver = Receiver::new(config);
        receiver.open(true);
        let peer = PeerOptions { mss: 1460, sack: true, timestamps: true, ecn: true, window_scale: Some(7) };
        receiver.established(Instant::ZERO, start, &peer);
        let header = TcpHeader::blank(SockId(0));
        let (now, truesize) = (Instant::ZERO, TRUESIZE);
        Self { receiver, now, sent: Vec::new(), header, greedy: true, truesize, echo: 0 }
    }

    /// Starts at sequence number 0 and receives `n` segments, 1 ms apart, to use up the quick ACKs.
    pub fn warm(config: &TcpConfig, n: u32) -> Self {
        let mut bench = Self::new(config);
        for i in 0..n {
            bench.after_us(1000);
            bench.segment(i);
        }
        bench.sent.clear();
        bench
    }

    /// Advances the clock and fires timers.
    pub fn after_us(&mut self, us: u64) {
        let until = self.now + Duration::from_micros(us);
        while let Some(at) = self.receiver.next_timer().filter(|&at| at <= until) {
            self.now = at;
            self.receiver.on_timer(at);
            self.acknowledge();
        }
        self.now = until;
    }

    /// Receives segment number `n`.
    pub fn segment(&mut self, n: u32) {
        self.segments(n, 1, 2);
    }

    /// Receives `count` segments from number `n` on as one packet with these ECN bits.
    pub fn segments(&mut self, n: u32, count: u16, ecn: u8) {
        let mut header = TcpHeader::blank(SockId(0));
        header.payload = MSS * u32::from(count);
        header.mss = MSS as u16;
        header.flags = TcpFlags::ACK;
        (header.ts_val, header.ts_ecr) = (millis(self.now) + 1, self.echo);
        self.bytes(n * MSS, header, count, ecn);
    }

    /// Receives a segment with this header.
    pub fn bytes(&mut self, seq: u32, header: TcpHeader, count: u16, ecn: u8) {
        self.echo = header.ts_ecr;
        let receiver = &mut self.receiver;
        if receiver.check(self.now, seq, &header, false) == Check::Good {
            receiver.time_stamp(seq, &header);
            if receiver.goes_first(seq, &header) {
                self.acknowledge_always();
            }
            let truesize = self.truesize * u32::from(count);
            self.receiver.on_data(self.now, seq, &header, count, truesize, ecn);
            self.receiver.decide(self.now);
        }
        self.acknowledge();
        if self.greedy {
            self.receiver.read(self.now, u64::MAX);
            self.acknowledge();
        }
    }

    fn acknowledge(&mut self) {
        if self.receiver.ack_now() {
            self.acknowledge_always();
        }
    }

    fn acknowledge_always(&mut self) {
        self.header = TcpHeader::blank(SockId(0));
        let ack = self.receiver.fill(self.now, self.now, &mut self.header) / MSS;
        let blocks = self.header.sack_blocks().iter().map(|b| (b.0 / MSS, b.1 / MSS)).collect();
        self.sent.push(Sent { at_us: self.now.nanos() / 1000, ack, blocks });
    }

    /// Takes the recorded ACKs: segments acknowledged.
    pub fn acks(&mut self) -> Vec<u32> {
        self.sent.drain(..).map(|s| s.ack).collect()
    }
}
