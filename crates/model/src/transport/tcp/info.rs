//! Socket state as shown by `ss -tinm`.

use crate::transport::cc::CaState;

/// A sample of a socket. Fields are named as in `ss -ti` and `ss -m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion state.
    pub ca_state: CaState,
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Slow-start threshold in segments.
    pub ssthresh: u32,
    /// Smoothed RTT in us.
    pub rtt_us: u32,
    /// Mean deviation of the RTT in us.
    pub rttvar_us: u32,
    /// Minimum RTT in us.
    pub minrtt_us: u32,
    /// Retransmission timeout in us.
    pub rto_us: u32,
    /// Number of exponential backoffs of the retransmission timeout.
    pub backoff: u32,
    /// Segments sent but not acknowledged.
    pub unacked: u32,
    /// Unacknowledged segments that are SACKed.
    pub sacked: u32,
    /// Unacknowledged segments that are marked lost.
    pub lost: u32,
    /// Unacknowledged segments that were retransmitted.
    pub retrans: u32,
    /// Retransmitted segments in total.
    pub retrans_total: u32,
    /// Reordering degree in segments.
    pub reordering: u32,
    /// Maximum segment size in bytes of data.
    pub mss: u32,
    /// Pacing rate in bytes per second.
    pub pacing_rate: u64,
    /// Delivery rate in bytes per second.
    pub delivery_rate: u64,
    /// True if the delivery rate was measured while the application limited the sender.
    pub app_limited: bool,
    /// Segments delivered so far.
    pub delivered: u32,
    /// Bytes acknowledged so far.
    pub bytes_acked: u64,
    /// Bytes received in order so far.
    pub bytes_received: u64,
    /// Bytes sent so far, including retransmissions.
    pub bytes_sent: u64,
    /// Bytes retransmitted so far.
    pub bytes_retrans: u64,
    /// Segments sent so far.
    pub segs_out: u32,
    /// Segments received so far.
    pub segs_in: u32,
    /// Segments with data sent so far.
    pub data_segs_out: u32,
    /// Bytes written by the application but not sent.
    pub notsent: u32,
    /// Receive window advertised by the peer, in bytes.
    pub snd_wnd: u32,
    /// Receive space measured by autotuning, in bytes.
    pub rcv_space: u32,
    /// `ss -m` r: receive queue in bytes of truesize.
    pub rmem_alloc: u32,
    /// `ss -m` rb: receive buffer.
    pub rcvbuf: u32,
    /// `ss -m` t: truesize bytes queued in lower layers, as limited by TCP small queues.
    pub wmem_alloc: u32,
    /// `ss -m` tb: send buffer.
    pub sndbuf: u32,
    /// `ss -m` w: write queue in bytes of truesize.
    pub wmem_queued: u32,
    /// D-SACKs received for spurious retransmissions.
    pub dsack_dups: u32,
    /// Tail loss probes sent.
    pub tlp_probes: u32,
    /// Number of retransmission timeouts.
    pub timeouts: u32,
    /// True if both ends use timestamps (`ts`).
    pub timestamps: bool,
    /// True if both ends use SACK.
    pub sack: bool,
    /// True if both ends use ECN.
    pub ecn: bool,
    /// True if a packet with an ECN-capable codepoint was received.
    pub ecnseen: bool,
    /// Window scale of the peer and of this end, if both scale windows.
    pub wscale: Option<(u8, u8)>,
    /// Delayed ACK timeout (ATO) in us; 0 before the first delayed ACK.
    pub ato_us: u32,
    /// Path MTU in bytes.
    pub pmtu: u32,
    /// Estimated size of received segments, in bytes of data.
    pub rcvmss: u32,
    /// Segment size advertised to the peer, less the options of each segment.
    pub advmss: u32,
    /// Segments with data received so far.
    pub data_segs_in: u32,
    /// Time since the last data transmission, in ms.
    pub lastsnd_ms: u32,
    /// Time since the last data reception, in ms.
    pub lastrcv_ms: u32,
    /// Time since the last ACK was received, in ms.
    pub lastack_ms: u32,
    /// Segments delivered so far for which an ACK reported a CE mark.
    pub delivered_ce: u32,
    /// Time with unsent or unacknowledged data, in us.
    pub busy_us: u64,
    /// Part of the busy time limited by the receive window, in us.
    pub rwnd_limited_us: u64,
    /// Part of the busy time limited by the send buffer, in us.
    pub sndbuf_limited_us: u64,
    /// Number of reordering events seen.
    pub reord_seen: u32,
    /// RTT estimated by the receiver in us; 0 if unknown.
    pub rcv_rtt_us: u32,
    /// Current maximum of the receive window, in bytes.
    pub rcv_ssthresh: u32,
    /// Packets received out of order.
    pub rcv_ooopack: u32,
    /// BBR state, if the controller is `bbr`.
    pub bbr: Option<BbrInfo>,
}

/// BBR state shown by `ss`.
// linux: net/ipv4/tcp_bbr.c bbr_get_info (6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BbrInfo {
    /// Bandwidth estimate in bytes per second.
    pub bw: u64,
    /// Minimum RTT in us.
    pub mrtt_us: u32,
    /// Pacing gain in units of 1/256.
    pub pacing_gain: u32,
    /// Congestion window gain in units of 1/256.
    pub cwnd_gain: u32,
}
