//! The handshake: SYN, SYN-ACK, option negotiation, and SYN retransmission.

use super::{Tcp, TcpState};
use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::metrics::PathMetrics;
use crate::transport::tcp::receiver::millis;
use crate::transport::tcp::ticks::Ticks;
use crate::transport::tcp::{Outlet, PeerOptions, SegmentOut};
use crate::types::{Duration, Instant, SynOptions, TcpFlags, TcpHeader};

/// Initial SYN timeout in seconds, doubled on each retry.
// linux: include/net/tcp.h TCP_TIMEOUT_INIT (6.1).
// spec: rfc6298 2.1.
const TIMEOUT_INIT_S: u32 = 1;
/// Retransmissions of SYN and SYN-ACK before giving up.
// linux: net/ipv4/tcp_ipv4.c sysctl_tcp_syn_retries, sysctl_tcp_synack_retries (6.1).
const SYN_RETRIES: u8 = 6;
const SYNACK_RETRIES: u8 = 5;
/// MSS of a peer that sends no MSS option.
// spec: rfc9293 3.7.1.
const MSS_DEFAULT: u16 = 536;
/// Lengths of the SYN options in bytes, padded to multiples of four.
// linux: net/ipv4/tcp_output.c tcp_syn_options (6.1) - "SACK permitted" occupies the timestamp padding.
const MSS_OPTION: u32 = 4;
const SCALE_OPTION: u32 = 4;
const STAMPS_OPTION: u32 = 12;
const SACK_ALONE: u32 = 4;

/// State before the connection is established.
#[derive(Clone, Debug)]
pub struct TcpHandshake {
    ticks: Ticks,
    /// Initial sequence number.
    iss: u32,
    /// Sequence number of the peer's SYN.
    irs: u32,
    /// Options offered by the peer.
    offer: Option<PeerOptions>,
    wants_ecn: bool,
    grants_ecn: bool,
    /// Time of the first SYN or SYN-ACK.
    sent_at: Instant,
    tries: u8,
    due: Option<Instant>,
    /// Path metrics remembered by the host.
    pub path: PathMetrics,
}

impl TcpHandshake {
    pub fn new(config: &TcpConfig, iss: u32, needs_ecn: bool) -> Self {
        Self {
            ticks: Ticks::new(config.hz),
            iss,
            irs: 0,
            offer: None,
            wants_ecn: config.ecn == 1 || needs_ecn,
            grants_ecn: config.ecn > 0 || needs_ecn,
            sent_at: Instant::ZERO,
            tries: 0,
            due: None,
            path: PathMetrics::default(),
        }
    }

    /// Returns the time of the next SYN retransmission.
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        self.due
    }

    /// Returns the peer's window scale shift, if the peer scales windows.
    pub fn peer_scale(&self) -> Option<u8> {
        self.offer.and_then(|offer| offer.window_scale)
    }

    /// Returns the number of SYNs sent so far.
    pub fn sent(&self) -> u32 {
        u32::from(self.tries)
    }
}

impl Tcp {
    /// Connects to the peer: sends a SYN and retransmits it until it is answered.
    pub fn connect(&mut self, now: Instant, out: &mut impl Outlet) {
        self.state = TcpState::SynSent;
        self.handshake.sent_at = now;
        self.send_syn(now, out);
    }

    /// Sends a SYN or SYN-ACK, and sets the timer.
    fn send_syn(&mut self, now: Instant, out: &mut impl Outlet) {
        let hs = &mut self.handshake;
        let passive = self.state == TcpState::SynReceived;
        let mut header = TcpHeader::blank(self.face.peer);
        header.flags = TcpFlags::SYN;
        let stamps = self.config.timestamps && hs.offer.is_none_or(|peer| peer.timestamps);
        let sack = self.config.sack && hs.offer.is_none_or(|peer| peer.sack);
        let scaled = self.config.window_scaling && hs.offer.is_none_or(|peer| peer.window_scale.is_some());
        let (window, scale) = self.receiver.open(passive && stamps);
        header.window = window;
        header.syn = SynOptions {
            mss: self.config.advmss,
            window_scale: scaled.then_some(scale),
            sack,
            timestamps: stamps,
        };
        if stamps {
            header.ts_val = millis(now);
        }
        let mut ack = 0;
        if passive {
            header.flags = header.flags.with(TcpFlags::ACK);
            ack = hs.irs.wrapping_add(1);
            header.ts_ecr = self.receiver.ts_recent();
            if hs.offer.is_some_and(|peer| peer.ecn) {
                header.flags = header.flags.with(TcpFlags::ECE);
            }
        } else if hs.wants_ecn {
            // linux: net/ipv4/tcp_output.c tcp_ecn_clear_syn (6.1) - requests no ECN in a retransmitted SYN,
            // since ECN may have caused the loss.
            // spec: rfc3168 6.1.1.1.
            hs.wants_ecn = hs.tries == 0;
            if hs.wants_ecn {
                header.flags = header.flags.with(TcpFlags::ECE).with(TcpFlags::CWR);
            }
        }
        let options = MSS_OPTION
            + if scaled { SCALE_OPTION } else { 0 }
            + match (stamps, sack) {
                (true, _) => STAMPS_OPTION,
                (false, true) => SACK_ALONE,
                (false, false) => 0,
            };
        // linux: net/ipv4/tcp_output.c tcp_connect, net/ipv4/inet_connection_sock.c reqsk_timer_handler
        // (6.1).
        let wait = (TIMEOUT_INIT_S * self.config.hz) << hs.tries;
        hs.due = Some(hs.ticks.fires(now, hs.ticks.at(now) + wait));
        hs.tries += 1;
        // deviation: does not charge the SYN to its socket - a SYN never waits for memory.
        let segment = SegmentOut {
            seq: hs.iss,
            payload: 0,
            mss: 0,
            segs: 1,
            truesize: 0,
            flags: header.flags,
            ecn_capable: false,
            departs: now,
        };
        // A SYN refused by the local queue is retransmitted like a lost one.
        let _ = self.face.send(now, &segment, ack, &header, options, out);
    }

    /// Handles a SYN timeout.
    pub(super) fn retry(&mut self, now: Instant, out: &mut impl Outlet) {
        let most = if self.state == TcpState::SynSent { SYN_RETRIES } else { SYNACK_RETRIES };
        if self.handshake.tries > most {
            self.state = TcpState::Closed;
            self.handshake.due = None;
        } else {
            self.send_syn(now, out);
        }
    }

    /// Processes a segment in Listen or SynSent.
    // deviation: no simultaneous open - the scenario defines which end listens.
    pub(super) fn on_handshake(
        &mut self,
        now: Instant,
        seq: u32,
        ack: u32,
        header: &TcpHeader,
        out: &mut impl Outlet,
    ) {
        let answer = header.flags.has(TcpFlags::ACK);
        let listens = self.state == TcpState::Listen;
        if !listens && answer && ack != self.handshake.iss.wrapping_add(1) {
            return;
        }
        if header.flags.has(TcpFlags::RST) {
            self.state = if listens || !answer { self.state } else { TcpState::Closed };
            return;
        }
        if !header.flags.has(TcpFlags::SYN) || listens == answer {
            return;
        }
        self.take_offer(seq, header);
        if listens {
            self.state = TcpState::SynReceived;
            self.handshake.sent_at = now;
            self.send_syn(now, out);
        } else {
            self.establish(now, header, TcpState::Established);
            // linux: net/ipv4/tcp_input.c tcp_rcv_synsent_state_process (6.1) - sends the ACK without data.
            self.acknowledge(now, out);
        }
    }

    /// Processes a segment in SynReceived. Returns true if it completes the handshake.
    pub(super) fn on_answer(
        &mut self,
        now: Instant,
        ack: u32,
        header: &TcpHeader,
        out: &mut impl Outlet,
    ) -> bool {
        if header.flags.has(TcpFlags::RST) {
            self.state = TcpState::Closed;
            return false;
        }
        if header.flags.has(TcpFlags::SYN) {
            // The SYN-ACK was lost.
            // linux: net/ipv4/tcp_minisocks.c tcp_check_req (6.1) - also retransmits immediately.
            if self.handshake.tries <= SYNACK_RETRIES {
                self.send_syn(now, out);
            }
            return false;
        }
        if !header.flags.has(TcpFlags::ACK) || ack != self.handshake.iss.wrapping_add(1) {
            return false;
        }
        self.establish(now, header, TcpState::Established);
        if self.closing {
            self.close(now, out);
        }
        true
    }

    /// Stores the options of the peer's SYN.
    fn take_offer(&mut self, seq: u32, header: &TcpHeader) {
        let hs = &mut self.handshake;
        let syn = &header.syn;
        let both = TcpFlags::ECE.with(TcpFlags::CWR);
        // spec: rfc3168 6.1.1 - a SYN requests ECN with both flags, a SYN-ACK accepts with ECE only.
        let ecn = if self.state == TcpState::Listen {
            hs.grants_ecn && header.flags.0 & both.0 == both.0
        } else {
            hs.wants_ecn && header.flags.0 & both.0 == TcpFlags::ECE.0
        };
        hs.irs = seq;
        hs.offer = Some(PeerOptions {
            mss: if syn.mss == 0 { MSS_DEFAULT } else { syn.mss },
            sack: syn.sack,
            timestamps: syn.timestamps,
            ecn,
            // linux: net/ipv4/tcp_input.c tcp_parse_options (6.1) - only if this end scales too.
            window_scale: syn.window_scale.filter(|_| self.config.window_scaling),
        });
        self.receiver.syn_time_stamp(header.ts_val);
    }

    /// Completes the handshake.
    fn establish(&mut self, now: Instant, header: &TcpHeader, state: TcpState) {
        let passive = self.state == TcpState::SynReceived;
        self.state = state;
        let hs = &mut self.handshake;
        hs.due = None;
        let Some(peer) = hs.offer else { return };
        self.face.timestamps = self.config.timestamps && peer.timestamps;
        // linux: net/ipv4/tcp_input.c tcp_synack_rtt_meas, tcp_ack_update_rtt (6.1) - measures a
        // retransmitted SYN by its timestamp, and a retransmitted SYN-ACK not at all.
        // spec: rfc6298 3 - Karn's algorithm.
        let rtt = if hs.tries == 1 {
            Some(now - hs.sent_at)
        } else if !passive && self.face.timestamps {
            Some(Duration::from_millis(u64::from(millis(now).wrapping_sub(header.ts_ecr)).max(1)))
        } else {
            None
        };
        self.window = header.window;
        self.receiver.established(now, hs.irs.wrapping_add(1), &peer);
        self.sender.established(now, hs.iss.wrapping_add(1), &peer, header.window, rtt, &hs.path);
        if !passive {
            self.sender.count_syn();
        }
    }
}
