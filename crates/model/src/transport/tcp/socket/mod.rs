//! A socket: one end of a connection from handshake to close, with a sender and a receiver.

mod handshake;
mod port;

use super::config::TcpConfig;
use super::info::TcpInfo;
use super::metrics::PathMetrics;
use super::receiver::{Check, PathRtt, Receiver};
use super::sender::Sender;
use super::{AckIn, Outlet};
use crate::transport::cc::{Cc, Controller};
use crate::types::{Addr, Endpoint, Instant, RandomStream, SockId, SocketWait, TcpFlags, TcpHeader};
use handshake::TcpHandshake;
use port::{Face, SocketPort};

/// TCP header length without options, in bytes.
const TCP_HEADER: u32 = 20;

/// TCP connection states (RFC 9293).
// spec: rfc9293 3.3.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TcpState {
    /// No connection.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered with a SYN-ACK.
    SynReceived,
    /// The connection is open.
    Established,
    /// This end has closed, and its FIN is not acknowledged.
    FinWait1,
    /// This end has closed, and its FIN is acknowledged.
    FinWait2,
    /// The peer has closed.
    CloseWait,
    /// Both ends have closed simultaneously, and this end's FIN is not acknowledged.
    Closing,
    /// This end has closed after the peer, and its FIN is not acknowledged.
    LastAck,
    /// Both ends have closed. A retransmitted FIN is still answered.
    // deviation: lasts forever - socket numbers are never reused.
    TimeWait,
}

impl TcpState {
    /// Returns the state's name as printed by `ss`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "UNCONN",
            Self::Listen => "LISTEN",
            Self::SynSent => "SYN-SENT",
            Self::SynReceived => "SYN-RECV",
            Self::Established => "ESTAB",
            Self::FinWait1 => "FIN-WAIT-1",
            Self::FinWait2 => "FIN-WAIT-2",
            Self::CloseWait => "CLOSE-WAIT",
            Self::Closing => "CLOSING",
            Self::LastAck => "LAST-ACK",
            Self::TimeWait => "TIME-WAIT",
        }
    }
}

/// A TCP socket.
#[derive(Clone, Debug)]
pub struct Tcp {
    /// The sending half.
    pub sender: Sender,
    /// The receiving half.
    pub receiver: Receiver,
    state: TcpState,
    face: Face,
    config: TcpConfig,
    handshake: TcpHandshake,
    /// Peer's window in the last segment processed by the sender.
    window: u32,
    /// The application closed during the handshake.
    closing: bool,
    segs_in: u32,
    data_segs_in: u32,
    /// The connection has closed in order, and [`Tcp::has_ended`] has not reported it.
    ended: bool,
}

impl Tcp {
    /// Creates an unconnected socket with number `sock` and peer `peer`. `random` draws the initial sequence
    /// number and the controller's random choices.
    pub fn new(
        config: TcpConfig,
        cc: Cc,
        endpoint: Endpoint,
        sock: SockId,
        peer: SockId,
        mut random: RandomStream,
    ) -> Self {
        let handshake = TcpHandshake::new(&config, random.bits() as u32, cc.needs_ecn());
        Self {
            receiver: Receiver::new(&config),
            sender: Sender::new(&config, cc, random),
            state: TcpState::Closed,
            face: Face { endpoint, sock, peer, timestamps: false },
            config,
            handshake,
            window: 0,
            closing: false,
            segs_in: 0,
            data_segs_in: 0,
            ended: false,
        }
    }

    /// Sets the path metrics remembered from earlier connections. Call this before the handshake completes.
    pub fn recall(&mut self, path: PathMetrics) {
        if !self.config.no_metrics_save {
            self.handshake.path = path;
        }
    }

    /// Returns true, once, when the connection has closed in order and the host may save its path metrics.
    // linux: net/ipv4/tcp_minisocks.c tcp_time_wait, net/ipv4/tcp_input.c tcp_rcv_state_process (4.4) - on
    // entering TIME-WAIT, or on the last ACK at the end that closes second.
    #[inline]
    pub fn has_ended(&mut self) -> bool {
        core::mem::take(&mut self.ended)
    }

    /// Updates the host's path metrics from this connection.
    pub fn teach(&self, now: Instant, path: &mut PathMetrics) {
        self.sender.teach(now, path);
    }

    /// Listens for a connection.
    // The kernel's five-tuple hash of replies has swapped addresses, so the peer's hash is this one rotated.
    pub fn listen(&mut self) {
        self.state = TcpState::Listen;
        self.face.endpoint.flow_hash = self.face.endpoint.flow_hash.rotate_left(16);
    }

    /// Returns the local address.
    pub fn source(&self) -> Addr {
        self.face.endpoint.src
    }
    /// Returns the peer address.
    pub fn destination(&self) -> Addr {
        self.face.endpoint.dst
    }
    /// Returns the name of the congestion controller.
    pub fn congestion_control(&self) -> &str {
        self.sender.congestion_control()
    }
    /// Returns the bytes not read by the application, and the bytes written but not acknowledged by the peer.
    // linux: net/ipv4/tcp_diag.c tcp_diag_get_info (6.1).
    pub fn queued(&self) -> (u64, u64) {
        let sk = &self.sender.sk;
        (self.readable(), u64::from(sk.snd_nxt.wrapping_sub(sk.snd_una)) + u64::from(sk.unsent))
    }
    /// Returns the connection state.
    pub fn state(&self) -> TcpState {
        self.state
    }
    /// Returns true if the handshake is complete and the connection is not closed.
    #[inline]
    pub fn is_established(&self) -> bool {
        !matches!(self.state, TcpState::Listen | TcpState::SynSent | TcpState::SynReceived)
            && !self.is_closed()
    }
    /// Returns true if the socket has nothing left to do.
    #[inline]
    pub fn is_closed(&self) -> bool {
        matches!(self.state, TcpState::Closed | TcpState::TimeWait)
    }

    /// Processes a received packet of one or more segments. `truesize` is the packet's memory in bytes.
    #[expect(
        clippy::too_many_arguments,
        reason = "they are the packet's fields; the packet itself is gone by now"
    )]
    pub fn on_segment(
        &mut self,
        now: Instant,
        seq: u32,
        ack: u32,
        segs: u16,
        tos: u8,
        truesize: u32,
        header: &TcpHeader,
        out: &mut impl Outlet,
    ) {
        self.segs_in += u32::from(segs);
        if header.payload > 0 {
            self.data_segs_in += u32::from(segs);
        }
        match self.state {
            TcpState::Closed => return,
            TcpState::Listen | TcpState::SynSent => return self.on_handshake(now, seq, ack, header, out),
            _ => {}
        }
        if self.state == TcpState::SynReceived && !self.on_answer(now, ack, header, out) {
            return;
        }
        // linux: net/ipv4/tcp_input.c tcp_disordered_ack (6.1).
        let disordered = header.payload == 0
            && seq == self.receiver.rcv_nxt()
            && ack == self.sender.sk.snd_una
            && header.window <= self.window;
        match self.receiver.check(now, seq, header, disordered) {
            Check::Good => {}
            Check::Answer => return self.flush(now, out),
            Check::Discard => return,
        }
        if header.flags.has(TcpFlags::RST.with(TcpFlags::SYN)) || !header.flags.has(TcpFlags::ACK) {
            return self.on_odd(now, seq, header, out);
        }
        self.receiver.time_stamp(seq, header);
        let has_data = header.payload > 0 || header.flags.has(TcpFlags::FIN);
        // linux: net/ipv4/tcp_input.c tcp_rcv_established (6.1) - skips the sender for data without news.
        let news = !has_data
            || ack != self.sender.sk.snd_una
            || header.sacks > 0
            || header.window != self.window
            || header.flags.has(TcpFlags::ECE);
        if news {
            self.window = header.window;
            self.sender.on_ack(now, &AckIn { ack, seq, header }, has_data);
            self.receiver.path = PathRtt { srtt8_us: self.sender.sk.srtt_us, rto: self.sender.rto() };
            self.acknowledged();
        }
        if has_data {
            if self.receiver.goes_first(seq, header) {
                self.acknowledge(now, out);
            }
            self.receiver.on_data(now, seq, header, segs, truesize, tos & 3);
            self.received();
        }
        if news {
            self.push(now, out);
            self.sender.check_space();
        }
        self.receiver.decide(now);
        self.flush(now, out);
    }

    /// Processes a segment with RST or SYN, or without ACK.
    // spec: rfc5961 3.2, 4.2 - accepts RST only at the next expected sequence number; answers other RSTs and
    // SYN with an ACK.
    fn on_odd(&mut self, now: Instant, seq: u32, header: &TcpHeader, out: &mut impl Outlet) {
        if header.flags.has(TcpFlags::RST) && seq == self.receiver.rcv_nxt() {
            self.state = TcpState::Closed;
        } else if header.flags.has(TcpFlags::RST.with(TcpFlags::SYN)) {
            self.acknowledge(now, out);
        }
    }

    /// Updates the state after an ACK, which may have covered the FIN.
    #[inline]
    fn acknowledged(&mut self) {
        if matches!(self.state, TcpState::FinWait1 | TcpState::Closing | TcpState::LastAck)
            && self.sender.finished()
        {
            self.state = match self.state {
                TcpState::FinWait1 => TcpState::FinWait2,
                TcpState::Closing => TcpState::TimeWait,
                _ => TcpState::Closed,
            };
            self.ended |= self.is_closed();
        }
    }

    /// Updates the state after data, which may have included the peer's FIN.
    // linux: net/ipv4/tcp_input.c tcp_fin (6.1) - an end that has closed acknowledges the FIN immediately.
    #[inline]
    fn received(&mut self) {
        if !self.receiver.fin_received() {
            return;
        }
        self.state = match self.state {
            TcpState::Established => TcpState::CloseWait,
            TcpState::FinWait1 => TcpState::Closing,
            TcpState::FinWait2 => TcpState::TimeWait,
            done => return self.state = done,
        };
        self.ended |= self.state == TcpState::TimeWait;
        if self.state != TcpState::CloseWait {
            self.receiver.demand_ack();
        }
    }

    /// Sends what may be sent.
    #[inline]
    fn push(&mut self, now: Instant, out: &mut impl Outlet) {
        self.sender.push(now, &mut SocketPort { out, receiver: &mut self.receiver, face: &self.face });
    }

    /// Sends a pure ACK if one is due.
    #[inline]
    fn flush(&mut self, now: Instant, out: &mut impl Outlet) {
        if self.receiver.ack_now() {
            self.acknowledge(now, out);
        }
    }

    fn acknowledge(&mut self, now: Instant, out: &mut impl Outlet) {
        let (seq, departs) = (self.sender.sk.snd_nxt, self.sender.departure(now));
        SocketPort { out, receiver: &mut self.receiver, face: &self.face }.acknowledge(now, seq, departs);
    }

    /// Writes application data. Returns the number of bytes accepted by the send buffer: none before the
    /// handshake completes or after a close.
    pub fn write(&mut self, now: Instant, bytes: u64, out: &mut impl Outlet) -> u64 {
        if !matches!(self.state, TcpState::Established | TcpState::CloseWait) {
            return 0;
        }
        self.sender.write(now, bytes, &mut SocketPort { out, receiver: &mut self.receiver, face: &self.face })
    }

    /// Returns true, once, if a waiting application may write again.
    #[inline]
    pub fn wants_data(&mut self) -> bool {
        matches!(self.state, TcpState::Established | TcpState::CloseWait) && self.sender.wants_data()
    }
    /// Returns true if [`Tcp::wants_data`] would.
    #[inline]
    pub fn wakes_writer(&self) -> bool {
        matches!(self.state, TcpState::Established | TcpState::CloseWait) && self.sender.wakes_writer()
    }

    /// Returns the sequence number after the last written byte, and the reason for unsent data, if any.
    pub fn waits_for(&self) -> (u32, Option<SocketWait>) {
        (self.sender.written(), self.sender.waits_for())
    }

    /// Returns the number of bytes available to the application.
    #[inline]
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }

    /// Reads up to `bytes` bytes. Returns the number of bytes read.
    #[inline]
    pub fn read(&mut self, now: Instant, bytes: u64, out: &mut impl Outlet) -> u64 {
        let read = self.receiver.read(now, bytes);
        self.flush(now, out);
        read
    }

    /// Closes the sending side: a FIN follows the written data. Reading is still possible.
    // linux: net/ipv4/tcp.c tcp_close_state (6.1).
    pub fn close(&mut self, now: Instant, out: &mut impl Outlet) {
        self.state = match self.state {
            TcpState::Listen | TcpState::SynSent => TcpState::Closed,
            TcpState::SynReceived => return self.closing = true,
            TcpState::Established => TcpState::FinWait1,
            TcpState::CloseWait => TcpState::LastAck,
            _ => return,
        };
        if self.state != TcpState::Closed {
            self.sender.close();
            self.push(now, out);
        }
    }

    /// Resumes a throttled socket after packets have left the lower layers.
    #[inline]
    pub fn poll(&mut self, now: Instant, out: &mut impl Outlet) {
        if self.state != TcpState::Closed {
            self.push(now, out);
        }
    }

    /// Handles expired timers: SYN retransmission, delayed ACK, and the sender's timers.
    pub fn on_timer(&mut self, now: Instant, out: &mut impl Outlet) {
        if self.handshake.next_timer().is_some_and(|at| at <= now) {
            self.retry(now, out);
        }
        if self.receiver.next_timer().is_some_and(|at| at <= now) {
            self.receiver.on_timer(now);
            self.flush(now, out);
        }
        if self.state != TcpState::Closed && self.sender.next_timer().is_some_and(|at| at <= now) {
            self.sender
                .on_timer(now, &mut SocketPort { out, receiver: &mut self.receiver, face: &self.face });
        }
    }

    /// Returns the next call time of [`Tcp::on_timer`], which may be too early.
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        let earlier = |a: Option<Instant>, b: Option<Instant>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if self.state == TcpState::Closed {
            return None;
        }
        earlier(self.handshake.next_timer(), earlier(self.receiver.next_timer(), self.sender.next_timer()))
    }

    /// Returns the fields of `ss -tinm`.
    pub fn info(&self, now: Instant) -> TcpInfo {
        let mut info = TcpInfo {
            segs_in: self.segs_in,
            data_segs_in: self.data_segs_in,
            pmtu: u32::from(self.config.advmss) + self.face.endpoint.src.ip().header() + TCP_HEADER,
            ..TcpInfo::default()
        };
        self.sender.info(now, &mut info);
        self.receiver.info(now, &mut info);
        let scales = self.handshake.peer_scale().filter(|_| self.config.window_scaling);
        info.wscale = scales.map(|peer| (peer, self.receiver.scale()));
        info.segs_out += self.handshake.sent() + self.receiver.acks_sent();
        info
    }
}
