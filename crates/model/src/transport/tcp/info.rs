//! What `ss -tinm` shows of a socket.

use crate::transport::cc::CaState;

/// A sample of a socket, under the names that `ss -ti` and `ss -m` print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion state.
    pub ca_state: CaState,
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Slow-start threshold in segments.
    pub ssthresh: u32,
    /// Smoothed round-trip time in us.
    pub rtt_us: u32,
    /// Mean deviation of the round-trip time in us.
    pub rttvar_us: u32,
    /// Minimum round-trip time in us.
    pub minrtt_us: u32,
    /// Retransmission timeout in us.
    pub rto_us: u32,
    /// Number of exponential backoffs of the retransmission timeout.
    pub backoff: u32,
    /// Segments in flight: sent and not acknowledged.
    pub unacked: u32,
    /// Unacknowledged segments that are SACKed.
    pub sacked: u32,
    /// Unacknowledged segments that are marked as lost.
    pub lost: u32,
    /// Unacknowledged segments that were retransmitted.
    pub retrans: u32,
    /// Total number of retransmitted segments.
    pub retrans_total: u32,
    /// Reordering degree in segments.
    pub reordering: u32,
    /// Maximum segment size in bytes of data.
    pub mss: u32,
    /// Pacing rate in bytes per second.
    pub pacing_rate: u64,
    /// Delivery rate in bytes per second.
    pub delivery_rate: u64,
    /// The delivery rate was measured while the application limited the sender.
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
    /// Bytes written by the application and not sent yet.
    pub notsent: u32,
    /// Receive window that the peer advertises, in bytes.
    pub snd_wnd: u32,
    /// Receive space found by autotuning, in bytes.
    pub rcv_space: u32,
    /// `ss -m` r: receive queue in bytes of truesize.
    pub rmem_alloc: u32,
    /// `ss -m` rb: receive buffer.
    pub rcvbuf: u32,
    /// `ss -m` t: bytes of truesize in the queues below the socket, which TCP small queues limit.
    pub wmem_alloc: u32,
    /// `ss -m` tb: send buffer.
    pub sndbuf: u32,
    /// `ss -m` w: write queue in bytes of truesize.
    pub wmem_queued: u32,
    /// D-SACKs received: the peer reported spurious retransmissions.
    pub dsack_dups: u32,
    /// Tail-loss probes sent.
    pub tlp_probes: u32,
    /// Number of retransmission timeouts.
    pub timeouts: u32,
    /// Both ends agreed on timestamps (`ts`).
    pub timestamps: bool,
    /// Both ends agreed on selective acknowledgements.
    pub sack: bool,
    /// Both ends agreed on explicit congestion notification.
    pub ecn: bool,
    /// A packet with an ECN-capable codepoint was received.
    pub ecnseen: bool,
    /// Window scale of the peer's windows and of this end's windows, if both ends scale them.
    pub wscale: Option<(u8, u8)>,
    /// Delayed-ACK timeout (ATO) in us; 0: none was delayed yet.
    pub ato_us: u32,
    /// Path MTU in bytes.
    pub pmtu: u32,
    /// Estimated size of received segments, in bytes of data.
    pub rcvmss: u32,
    /// Segment size that was advertised to the peer, less the options of each segment.
    pub advmss: u32,
    /// Segments with data received so far.
    pub data_segs_in: u32,
    /// Time since data was sent last, in ms.
    pub lastsnd_ms: u32,
    /// Time since data was received last, in ms.
    pub lastrcv_ms: u32,
    /// Time since an acknowledgement was received last, in ms.
    pub lastack_ms: u32,
    /// Segments delivered so far for which an acknowledgement reported a CE mark.
    pub delivered_ce: u32,
    /// Time during which data was to be sent or acknowledged, in us.
    pub busy_us: u64,
    /// Part of the busy time limited by the receive window, in us.
    pub rwnd_limited_us: u64,
    /// Part of the busy time limited by the send buffer, in us.
    pub sndbuf_limited_us: u64,
    /// Number of reordering events seen.
    pub reord_seen: u32,
    /// Round-trip time estimated by the receiver, in us; 0: unknown.
    pub rcv_rtt_us: u32,
    /// Current maximum of the receive window, in bytes.
    pub rcv_ssthresh: u32,
    /// Packets received out of order.
    pub rcv_ooopack: u32,
    /// State of `bbr`.
    pub bbr: Option<BbrInfo>,
}

/// State of `bbr` that `ss` shows.
// linux: net/ipv4/tcp_bbr.c bbr_get_info (6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BbrInfo {
    /// Bandwidth estimate in bytes per second.
    pub bw: u64,
    /// Minimum round-trip time in us.
    pub mrtt_us: u32,
    /// Pacing gain in units of 1/256.
    pub pacing_gain: u32,
    /// Congestion window gain in units of 1/256.
    pub cwnd_gain: u32,
}
