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
    /// Its mean deviation in us.
    pub rttvar_us: u32,
    /// Minimum round-trip time in us.
    pub minrtt_us: u32,
    /// Retransmission timeout in us.
    pub rto_us: u32,
    /// Doublings of it.
    pub backoff: u32,
    /// Segments sent and not acknowledged.
    pub unacked: u32,
    /// Of them, SACKed.
    pub sacked: u32,
    /// Of them, thought lost.
    pub lost: u32,
    /// Of them, sent again.
    pub retrans: u32,
    /// Segments sent again so far.
    pub retrans_total: u32,
    /// Reordering in segments.
    pub reordering: u32,
    /// Maximum segment size in bytes of data.
    pub mss: u32,
    /// Pacing rate in bytes a second.
    pub pacing_rate: u64,
    /// Delivery rate in bytes a second.
    pub delivery_rate: u64,
    /// The delivery rate was measured while the application limited the sender.
    pub app_limited: bool,
    /// Segments delivered so far.
    pub delivered: u32,
    /// Bytes acknowledged so far.
    pub bytes_acked: u64,
    /// Bytes received in order so far.
    pub bytes_received: u64,
    /// Bytes sent so far, those sent again included.
    pub bytes_sent: u64,
    /// Bytes sent again so far.
    pub bytes_retrans: u64,
    /// Segments sent so far.
    pub segs_out: u32,
    /// Segments received so far.
    pub segs_in: u32,
    /// Segments with data sent so far.
    pub data_segs_out: u32,
    /// Bytes written by the application and not sent yet.
    pub notsent: u32,
    /// Receive window that the peer offers, in bytes.
    pub snd_wnd: u32,
    /// Receive space that autotuning has found, in bytes.
    pub rcv_space: u32,
    /// `ss -m` r: bytes of truesize in the receive queue.
    pub rmem_alloc: u32,
    /// `ss -m` rb: receive buffer.
    pub rcvbuf: u32,
    /// `ss -m` t: bytes of truesize below the socket, which small queues limit.
    pub wmem_alloc: u32,
    /// `ss -m` tb: send buffer.
    pub sndbuf: u32,
    /// `ss -m` w: bytes of truesize in the write queue.
    pub wmem_queued: u32,
    /// D-SACKs received: spurious retransmissions that the peer told of.
    pub dsack_dups: u32,
    /// Tail-loss probes sent.
    pub tlp_probes: u32,
    /// Times that the retransmission timer fired.
    pub timeouts: u32,
    /// Both ends agreed on time stamps (`ts`).
    pub timestamps: bool,
    /// Both ends agreed on selective acknowledgements.
    pub sack: bool,
    /// Both ends agreed on explicit congestion notification.
    pub ecn: bool,
    /// A packet that could be marked has come.
    pub ecnseen: bool,
    /// Shifts of the windows that the peer offers and that it is offered, if both ends scale them.
    pub wscale: Option<(u8, u8)>,
    /// Time that a delayed acknowledgement waits, in us; 0: none was delayed yet.
    pub ato_us: u32,
    /// MTU of the path in bytes.
    pub pmtu: u32,
    /// Size of the segments that come, in bytes of data.
    pub rcvmss: u32,
    /// Segment size that the peer was told, less the options of each segment.
    pub advmss: u32,
    /// Segments with data received so far.
    pub data_segs_in: u32,
    /// Since data was sent last, in ms.
    pub lastsnd_ms: u32,
    /// Since data came last, in ms.
    pub lastrcv_ms: u32,
    /// Since an acknowledgement came last, in ms.
    pub lastack_ms: u32,
    /// Segments delivered so far that an acknowledgement said to be marked.
    pub delivered_ce: u32,
    /// Time with data to send or to be acknowledged, in us.
    pub busy_us: u64,
    /// Of it, held by the receiver's window.
    pub rwnd_limited_us: u64,
    /// Of it, held by the send buffer.
    pub sndbuf_limited_us: u64,
    /// Times that packets were seen to arrive late.
    pub reord_seen: u32,
    /// Round-trip time as the receiver sees it, in us; 0: unknown.
    pub rcv_rtt_us: u32,
    /// Most that the receive window is at present, in bytes.
    pub rcv_ssthresh: u32,
    /// Packets that came out of order.
    pub rcv_ooopack: u32,
    /// What `bbr` shows of itself.
    pub bbr: Option<BbrInfo>,
}

/// What `ss` shows of `bbr`.
// linux: net/ipv4/tcp_bbr.c bbr_get_info (6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BbrInfo {
    /// Bandwidth it goes by, in bytes a second.
    pub bw: u64,
    /// Minimum round-trip time in us.
    pub mrtt_us: u32,
    /// Gain of pacing in 1/256.
    pub pacing_gain: u32,
    /// Gain of the window in 1/256.
    pub cwnd_gain: u32,
}
