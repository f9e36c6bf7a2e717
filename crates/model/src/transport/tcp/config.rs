//! Socket configuration from kernel, device and user. Values come from the kernel profile; fields are named
//! after their sysctl or kernel symbol.

use crate::transport::cc::reno::GrowthRules;
use crate::types::Duration;

/// TCP small queues (TSQ): limits the truesize that a socket may have in lower layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SmallQueues {
    /// Disable the limit.
    pub off: bool,
    /// Minimum limit in packets of the current size (2 since 3.19, 1 in 3.12-3.18; 0: no such minimum).
    pub min_packets: u32,
    /// Derive the limit from the pacing rate, `pacing_rate >> pacing_shift` (since 3.12).
    pub by_rate: bool,
    /// Multiple of the rate-based limit: 1, or n for the TSQ paper's kernels with n ms.
    // paper: tsq-pacing IV-B - kernels patched to 1 to 8 ms.
    pub rate_multiple: u32,
    /// How `net.ipv4.tcp_limit_output_bytes` affects the limit.
    pub cap: LimitOutput,
    /// Packets exempt from the limit.
    pub exception: Exception,
    /// Apply twice the limit to retransmissions (since 4.9). Earlier kernels do not limit them.
    // linux: net/ipv4/tcp_output.c tcp_xmit_retransmit_queue (4.4 without, 4.9 with tcp_small_queue_check);
    // commit f9616c35a0d7.
    pub retransmissions: bool,
    /// `sk_wmem_alloc` of an idle socket: 1. The limit thus applies to one byte more than is queued.
    pub initial_charge: u32,
}

/// How `net.ipv4.tcp_limit_output_bytes` affects the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitOutput {
    /// The sysctl is the limit (3.6-3.11).
    Fixed,
    /// The larger of the sysctl and the rate-based limit (3.12-3.18).
    AtLeast,
    /// The rate-based limit, capped by the sysctl (3.19-4.20, since 6.16).
    AtMost,
    /// The rate-based limit, capped by the sysctl except for paced sockets (5.0-6.15).
    AtMostUnlessPaced,
}

/// Packets exempt from the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exception {
    /// None (before 4.10).
    Never,
    /// First and second packet of the write queue, which also holds unacknowledged data (4.10 to 4.14).
    FirstOfWriteQueue,
    /// Packets sent while the retransmit queue is empty (since 4.15).
    EmptyRtxQueue,
    /// Packets sent while the retransmit queue holds at most one packet (newest kernels).
    AtMostOneInRtxQueue,
}

/// RTT from which the pacing rate is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacingBase {
    /// Smoothed RTT, as in Linux.
    Srtt,
    /// The flow's minimum RTT, as printed in Algorithm 1 of the TSQ paper.
    // paper: tsq-pacing alg1 - divides by baseRTT.
    BaseRtt,
}

/// Loss detection algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossDetection {
    /// RACK with a reordering window, and tail loss probes (default since 4.18).
    RackTlp,
    /// Three duplicate ACKs, or as many SACKed segments above (RFC 6675).
    DupAck,
    /// Forward acknowledgement (FACK): default before 4.11 (`net.ipv4.tcp_fack`), removed in 4.15.
    Fack,
}

/// Role of RACK alongside loss detection by counting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RackBeside {
    /// Unused (before 4.4, or disabled by `net.ipv4.tcp_recovery`).
    No,
    /// During recovery, RACK marks packets sent well before the latest delivered one, including lost
    /// retransmissions (4.4 to 4.10).
    // linux: net/ipv4/tcp_recovery.c tcp_rack_mark_lost (4.4).
    InRecovery,
    /// RACK marks losses at any time, with a reordering window of at least 1 ms (4.11 to 4.17).
    // linux: net/ipv4/tcp_recovery.c tcp_rack_detect_loss (4.14).
    Always,
}

/// Early retransmit (RFC 5827) in kernels before 4.11, for flights too small for three duplicate ACKs
/// (`net.ipv4.tcp_early_retrans`).
// linux: net/ipv4/tcp_input.c tcp_time_to_recover (4.4); removed by commit bec41a11dd3d (4.11).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EarlyRetransmit {
    /// Not in this kernel.
    Gone,
    /// Off (0, 4).
    Off,
    /// Retransmit after one duplicate ACK less than the number of packets in flight (1).
    AtOnce,
    /// Likewise, unless an ACK arrives within a quarter of the RTT (2, 3).
    Delayed,
}

/// Dynamic right-sizing: how the receive buffer follows the amount of data that is read in a round trip.
// linux: net/ipv4/tcp_input.c tcp_rcv_space_adjust (4.11, 6.1), tcp_rcvbuf_grow (6.18); commit b0983d3c9b13
// (3.13); grows continuously in 4.16, in steps in 4.15.
// deviation: round trips are timed in us, and by time stamps of ms, whatever the kernel; before 4.13 it
// counts ticks - the model's time stamps are of ms, and only round trips about as short as a tick tell the
// two from each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RcvbufRules {
    /// Twice the amount read plus 16 segments; 1.5 times that if the amount grew by a quarter, twice if by
    /// half. The window may take this value immediately, even beyond the maximum buffer. Every full segment
    /// with an echoed timestamp is an RTT sample (3.13 to 4.15).
    Linux3_13,
    /// Twice the amount read plus 16 segments, plus its growth; the window limit follows from the buffer.
    /// Every new timestamp echo is an RTT sample (4.16 to 6.15).
    Linux4_16,
    /// As `Linux4_16`, but unread data does not count and a shorter RTT applies immediately (stable 6.12
    /// kernels, read in 6.12.117).
    Linux6_12,
    /// Twice the amount read, plus its growth, plus room for out-of-order data as it arrives. Unread data
    /// does not count. Only echoes received while all data is read raise the RTT (since 6.16).
    Linux6_16,
}

/// Proportional rate reduction (PRR, RFC 6937): segments to send once the flight is below the threshold.
// linux: net/ipv4/tcp_input.c tcp_cwnd_reduction (4.4, 5.10, 6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrrRules {
    /// Slow start on every ACK (3.2 to 4.2).
    Linux3_2,
    /// Slow start if a retransmission was acknowledged and no retransmission was lost; otherwise one segment
    /// per delivered segment (4.3 to 5.10).
    Linux4_3,
    /// Slow start if SND.UNA advances without new losses; otherwise one segment per delivered segment (5.11
    /// to 5.18).
    // linux: commit 7e901ee7b6ab (5.11).
    Linux5_11,
    /// As `Linux5_11`, but also sends segments that earlier ACKs left unsent (since 5.19).
    Linux5_19,
}

/// When a tail loss probe (TLP) is sent.
// linux: net/ipv4/tcp_output.c tcp_schedule_loss_probe (4.4, 4.13, 4.14, 4.15, 4.16, 4.19).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TlpRules {
    /// After two round trips and at least 10 ms; a single packet waits for one and a half, and the longest
    /// delayed acknowledgement. Only in Open, and not if the window would let more data out (3.10 to 4.13).
    Linux3_10,
    /// After two round trips and two ticks; a single packet waits for the least retransmission timeout more
    /// (4.14 and 4.15).
    Linux4_14,
    /// The same in CWR too, whatever the window leaves (4.16 on).
    // linux: commit b4f70c3d4ec3 (4.16).
    Linux4_16,
}

/// When the congestion window counts as the sender's limit and may therefore grow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CwndLimitedRules {
    /// With each acknowledgement: if at most three segments more might have been out before it, or so few
    /// more that a packet of several segments was worth waiting for (up to 3.15).
    // linux: net/ipv4/tcp_cong.c tcp_is_cwnd_limited (3.10, 3.13, 3.15), include/net/tcp.h (3.16).
    Linux3_13,
    /// If the window was full at the last transmission that raised the round's maximum flight (3.16 to 5.9).
    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate (4.4); commit ca8a22634381.
    Linux3_16,
    /// If the window was full at the last check in the round, even if that blocked sending (5.10 to 6.0).
    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate, tcp_write_xmit (5.15); commit 299bcb55ecd1, days before
    // 5.10.
    Linux5_10,
    /// As `Linux5_10`, but once the window was full, the rest of the round counts as limited (since 6.1).
    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate (6.1); commit f4ce91ce12a7.
    Linux6_1,
}

/// Socket parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpConfig {
    /// CONFIG_HZ: ticks per second.
    pub hz: u32,
    /// Maximum segment size without options: MTU - 40.
    pub advmss: u16,
    /// `net.ipv4.tcp_timestamps`.
    pub timestamps: bool,
    /// `net.ipv4.tcp_sack`.
    pub sack: bool,
    /// `net.ipv4.tcp_dsack`.
    pub dsack: bool,
    /// `net.ipv4.tcp_ecn`: 0 off, 1 requested and accepted, 2 accepted only.
    pub ecn: u8,
    /// Loss detection (`net.ipv4.tcp_recovery`, `tcp_fack`).
    pub loss: LossDetection,
    /// Role of RACK alongside loss detection by counting. Ignored if `loss` is RACK.
    pub rack_beside: RackBeside,
    /// Do not widen RACK's reordering window on D-SACKs (bit 2 of `net.ipv4.tcp_recovery`).
    pub rack_static_window: bool,
    /// Keep RACK's reordering window when `reordering` segments are SACKed (bit 4 of
    /// `net.ipv4.tcp_recovery`).
    pub rack_no_dupthresh: bool,
    /// Proportional rate reduction variant.
    pub prr: PrrRules,
    /// Enable tail loss probes: `net.ipv4.tcp_early_retrans` is 3 or 4.
    pub tail_loss_probe: bool,
    /// When tail loss probes are sent.
    pub tlp: TlpRules,
    /// Early retransmit mode.
    pub early_retransmit: EarlyRetransmit,
    /// `net.ipv4.tcp_reordering`.
    pub reordering: u32,
    /// `net.ipv4.tcp_max_reordering`.
    pub max_reordering: u32,
    /// `net.ipv4.tcp_min_rtt_wlen`: length of the minimum RTT filter, in seconds.
    pub min_rtt_wlen: u32,
    /// `net.ipv4.tcp_window_scaling`.
    pub window_scaling: bool,
    /// `net.ipv4.tcp_slow_start_after_idle`.
    pub slow_start_after_idle: bool,
    /// `net.ipv4.tcp_no_metrics_save`: do not keep path metrics for later connections to the same address.
    pub no_metrics_save: bool,
    /// `net.ipv4.tcp_no_ssthresh_metrics_save` (since 5.6): do not keep the threshold in path metrics.
    // linux: commit 65e6d90168f3 (5.6) - 1 by default since.
    pub no_ssthresh_metrics_save: bool,
    /// `net.ipv4.tcp_autocorking`: hold back a final partial packet while others are queued in lower layers.
    pub autocorking: bool,
    /// `net.ipv4.tcp_frto`.
    pub frto: bool,
    /// Initial window in segments (TCP_INIT_CWND, `ip route ... initcwnd`).
    pub init_cwnd: u32,
    /// `net.ipv4.tcp_pacing_ss_ratio` in percent.
    pub pacing_ss_ratio: u32,
    /// `net.ipv4.tcp_pacing_ca_ratio` in percent.
    pub pacing_ca_ratio: u32,
    /// RTT from which the pacing rate is computed.
    pub pacing_base: PacingBase,
    /// `sk_pacing_shift`: 10, or the value set by mac80211.
    pub pacing_shift: u8,
    /// The interface has a pacing fq qdisc: packets carry departure times and the socket needs no pacing
    /// timer (`SK_PACING_FQ`).
    pub fq: bool,
    /// TCP small queues parameters.
    pub small_queues: SmallQueues,
    /// `net.ipv4.tcp_limit_output_bytes`.
    pub limit_output_bytes: u32,
    /// `net.ipv4.tcp_min_tso_segs`.
    pub min_tso_segs: u32,
    /// `net.ipv4.tcp_tso_rtt_log` (since 5.18; 0 disables the term).
    pub tso_rtt_log: u32,
    /// `net.ipv4.tcp_tso_win_divisor`.
    pub tso_win_divisor: u32,
    /// The device supports TSO. If false, every packet is a single segment.
    pub tso: bool,
    /// `gso_max_size`: maximum size of a TSO packet in bytes.
    pub gso_max_size: u32,
    /// `gso_max_segs`: maximum number of segments per TSO packet.
    pub gso_max_segs: u32,
    /// Truesize of a packet with one full segment in bytes. With a `max_header` of 256 it is 2304 in a linear
    /// buffer, and 2728 in page fragments.
    pub truesize_segment: u32,
    /// Store data in page fragments, where each byte of a larger packet adds a byte of truesize. If false,
    /// each packet has one linear buffer.
    pub scatter_gather: bool,
    /// Minimum truesize of a packet, from fixed-size header buffers (before 4.9, with scatter-gather); 0:
    /// none.
    pub truesize_least: u32,
    /// Truesize per segment of packets that are split above the device, each segment into its own buffer
    /// charged to the socket. 0 if the device splits them, or if packets are not split.
    pub split_truesize: u32,
    /// Split packets at transmission, since no qdisc queues them; lower layers never charge the unsplit
    /// packet.
    pub split_at_once: bool,
    /// Header room that the kernel reserves in front of TCP data (MAX_TCP_HEADER): 320 bytes (304 before 5.7)
    /// with Wi-Fi, mesh and tunnels, as in distribution kernels; at most 256 without. It determines the
    /// truesize of a segment in a linear buffer (4,352 or 2,304 bytes), the growth of both buffers, and the
    /// maximum TSO packet.
    // linux: include/net/tcp.h MAX_TCP_HEADER, include/linux/netdevice.h LL_MAX_HEADER (6.1); measured: a
    // kernel without Wi-Fi grows its send buffer by 2,304 bytes per segment of the window, twice.
    pub max_header: u32,
    /// Check for a waiting writer on every transmission (since 5.19), not only after ACKs. The send buffer
    /// grows sooner, since the window is not full while it is being filled.
    // linux: net/ipv4/tcp_output.c tcp_event_new_data_sent (6.1), commit 4bfe744ff164.
    pub space_on_send: bool,
    /// Treat a full segment with PSH as the end of a message and acknowledge it immediately (since 6.6, and
    /// stable kernels of that time). Earlier kernels do so only for smaller segments.
    // linux: net/ipv4/tcp_input.c tcp_measure_rcv_mss (6.1), commit 4720852ed9af; measured: with two packets
    // per flow in the queue, the pairs covered by one ACK shift with each write.
    pub push_acks_full: bool,
    /// Each packet of several segments bears PSH on its last one (5.4 on), so that a receiver's GRO passes it
    /// on at once. Where such a PSH is heeded, a packet of an odd number of segments takes an acknowledgement
    /// more.
    // linux: net/ipv4/tcp_output.c __tcp_transmit_skb (6.1), and absent in 5.3; measured: 0.58
    // acknowledgements a segment with packets of three.
    pub push_each_packet: bool,
    /// Add the minimum delay of 2 ms of tail loss probes and RACK's reordering timer before rounding to ticks
    /// (since 6.6, and stable kernels of that time). Earlier kernels add two ticks after rounding.
    // linux: net/ipv4/tcp_output.c tcp_schedule_loss_probe, net/ipv4/tcp_recovery.c tcp_rack_mark_lost (6.1),
    // commit 1c2709cfff1d.
    pub timeouts_in_us: bool,
    /// Defer a TSO packet only if the next ACK is due within 1 ms, regardless of the RTT (since 6.15, and
    /// stable kernels of that time). Earlier kernels defer within half an RTT.
    // linux: net/ipv4/tcp_output.c tcp_tso_should_defer (6.1).
    pub defers_for_a_ms: bool,
    /// How the congestion window grows if one ACK covers several segments.
    pub growth: GrowthRules,
    /// A paced sender sets departure times on its packets (4.20 on). Before, a timer ran from each packet to
    /// the next.
    // linux: net/ipv4/tcp_output.c tcp_internal_pacing (4.19), tcp_update_skb_after_send (4.20).
    pub departure_times: bool,
    /// Round-trip times are measured and kept in ticks, not in us (before 3.15).
    // linux: net/ipv4/tcp_input.c tcp_rtt_estimator (3.13, 3.14); microseconds in 3.15.
    pub rtt_in_ticks: bool,
    /// When the congestion window counts as the sender's limit.
    pub cwnd_limited: CwndLimitedRules,
    /// `net.ipv4.tcp_wmem`: minimum, default and maximum send buffer in bytes of truesize.
    pub wmem: [u32; 3],
    /// `net.ipv4.tcp_rmem`: minimum, default and maximum receive buffer in bytes of truesize.
    pub rmem: [u32; 3],
    /// `net.ipv4.tcp_adv_win_scale`. Ignored if `scaling_ratio` is not 0.
    pub adv_win_scale: i8,
    /// Window per 256 bytes of receive memory before data arrives (since 6.6); later the ratio is measured
    /// from received segments. 0: use `adv_win_scale`.
    // linux: include/net/tcp.h TCP_DEFAULT_SCALING_RATIO (6.6: 65; 6.10: 128), net/ipv4/tcp_input.c
    // tcp_measure_rcv_mss (6.6).
    pub scaling_ratio: u8,
    /// `net.core.rmem_max`, which also affects the window scale.
    pub core_rmem_max: u32,
    /// `net.ipv4.tcp_moderate_rcvbuf`.
    pub moderate_rcvbuf: bool,
    /// Dynamic right-sizing variant.
    pub rcvbuf: RcvbufRules,
    /// Maximum segments in the initial window (20 before 4.20). The initial receive buffer holds eight times
    /// as many, or twice if autotuning is off. 0: neither limit.
    // linux: net/ipv4/tcp_output.c tcp_default_init_rwnd, net/ipv4/tcp_input.c tcp_fixup_rcvbuf (4.11);
    // commit a337531b942b.
    pub init_rwnd: u32,
    /// `net.ipv4.tcp_notsent_lowat`.
    pub notsent_lowat: u32,
    /// `TCP_NODELAY`: send small segments without waiting.
    pub nodelay: bool,
    /// Minimum retransmission timeout (`rto_min`): 200 ms.
    pub rto_min: Duration,
    /// Minimum delayed ACK timeout: 40 ms.
    pub delack_min: Duration,
    /// Maximum delayed ACK timeout: 200 ms.
    pub delack_max: Duration,
    /// `net.ipv4.tcp_comp_sack_delay_ns`: maximum delay of compressed ACKs.
    pub comp_sack_delay: Duration,
    /// `net.ipv4.tcp_comp_sack_nr`: maximum number of compressed ACKs; 0 disables compression.
    pub comp_sack_nr: u32,
    /// `net.ipv4.tcp_comp_sack_slack_ns`.
    pub comp_sack_slack: Duration,
}

/// Linux 6.1 with 250 ticks per second on an Ethernet device without offloads: the measured kernel.
// linux: net/ipv4/tcp.c tcp_init, net/ipv4/tcp_ipv4.c tcp_sk_init (6.1) - with enough memory for the largest
// buffers.
impl Default for TcpConfig {
    fn default() -> Self {
        Self {
            hz: 250,
            advmss: 1460,
            timestamps: true,
            sack: true,
            dsack: true,
            ecn: 2,
            loss: LossDetection::RackTlp,
            rack_beside: RackBeside::No,
            rack_static_window: false,
            rack_no_dupthresh: false,
            prr: PrrRules::Linux5_19,
            tail_loss_probe: true,
            tlp: TlpRules::Linux4_16,
            early_retransmit: EarlyRetransmit::Gone,
            reordering: 3,
            max_reordering: 300,
            min_rtt_wlen: 300,
            window_scaling: true,
            slow_start_after_idle: true,
            no_metrics_save: false,
            no_ssthresh_metrics_save: true,
            autocorking: true,
            frto: true,
            init_cwnd: 10,
            pacing_ss_ratio: 200,
            pacing_ca_ratio: 120,
            pacing_base: PacingBase::Srtt,
            pacing_shift: 10,
            fq: false,
            small_queues: SmallQueues {
                off: false,
                min_packets: 2,
                by_rate: true,
                rate_multiple: 1,
                cap: LimitOutput::AtMostUnlessPaced,
                exception: Exception::AtMostOneInRtxQueue,
                retransmissions: true,
                initial_charge: 1,
            },
            limit_output_bytes: 1 << 20,
            min_tso_segs: 2,
            tso_rtt_log: 9,
            tso_win_divisor: 3,
            tso: false,
            gso_max_size: 65_536,
            gso_max_segs: 65_535,
            truesize_segment: 2_728,
            scatter_gather: true,
            truesize_least: 0,
            split_truesize: 0,
            split_at_once: false,
            max_header: 256,
            space_on_send: true,
            push_acks_full: true,
            push_each_packet: false,
            timeouts_in_us: true,
            defers_for_a_ms: true,
            growth: GrowthRules::Linux5_7,
            departure_times: true,
            rtt_in_ticks: false,
            cwnd_limited: CwndLimitedRules::Linux6_1,
            wmem: [4096, 16_384, 4_194_304],
            rmem: [4096, 131_072, 6_291_456],
            adv_win_scale: 1,
            scaling_ratio: 0,
            core_rmem_max: 212_992,
            moderate_rcvbuf: true,
            rcvbuf: RcvbufRules::Linux4_16,
            init_rwnd: 0,
            notsent_lowat: u32::MAX,
            nodelay: false,
            rto_min: Duration::from_millis(200),
            delack_min: Duration::from_millis(40),
            delack_max: Duration::from_millis(200),
            comp_sack_delay: Duration::from_millis(1),
            comp_sack_nr: 44,
            comp_sack_slack: Duration::from_micros(100),
        }
    }
}
