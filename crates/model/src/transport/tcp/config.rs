//! What a socket is given by its kernel, its device and its user. Values come from the profile; each has the
//! name by which `sysctl` or the kernel knows it.

use crate::transport::cc::reno::GrowthRules;
use crate::vocabulary::Duration;

/// TCP small queues (TSQ): the rule that limits the bytes of truesize that a socket may have in the queues
/// below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SmallQueues {
    /// Off: no limit at all.
    pub off: bool,
    /// Minimum of the limit, in packets of the current size (2 since 3.19; 1 in 3.12-3.18; 0: no such
    /// minimum).
    pub min_packets: u32,
    /// Use the pacing rate's term, `pacing_rate >> pacing_shift` (since 3.12).
    pub by_rate: bool,
    /// Factor on the rate's term: 1, or n for the TSQ paper's kernels with n ms.
    // paper: tsq-pacing IV-B - kernels patched to 1 to 8 ms.
    pub rate_multiple: u32,
    /// How `net.ipv4.tcp_limit_output_bytes` enters the limit.
    pub cap: LimitOutput,
    /// When data is sent although the limit is reached.
    pub exception: Exception,
    /// The limit holds for retransmissions too, at twice the value (4.9 on). Before, retransmissions were
    /// always sent.
    // linux: net/ipv4/tcp_output.c tcp_xmit_retransmit_queue (4.4 without, 4.9 with tcp_small_queue_check);
    // commit f9616c35a0d7.
    pub retransmissions: bool,
    /// Value of `sk_wmem_alloc` of an idle socket: 1. The limit is thus compared with one byte more than is
    /// queued.
    pub initial_charge: u32,
}

/// How `net.ipv4.tcp_limit_output_bytes` enters the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitOutput {
    /// The sysctl is the limit (3.6-3.11).
    Fixed,
    /// The limit is the larger of the sysctl and the rate's term (3.12-3.18).
    AtLeast,
    /// The limit is at most the sysctl (3.19-4.20, 6.16 on).
    AtMost,
    /// The limit is at most the sysctl, except for paced sockets (5.0-6.15).
    AtMostUnlessPaced,
}

/// Segments that are sent although the limit is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exception {
    /// None (before 4.10).
    Never,
    /// The first and the second packet of the write queue, which also holds unacknowledged data (4.10 to
    /// 4.14).
    FirstOfWriteQueue,
    /// Packets sent while the retransmit queue is empty (4.15 on).
    EmptyRtxQueue,
    /// Packets sent while the retransmit queue holds at most one packet (newest kernels).
    AtMostOneInRtxQueue,
}

/// How the pacing rate is computed from the congestion window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacingBase {
    /// From the smoothed round-trip time, as Linux computes it.
    Srtt,
    /// From the flow's minimum round-trip time, as Algorithm 1 of the TSQ paper is printed.
    // paper: tsq-pacing alg1 - divides by baseRTT.
    BaseRtt,
}

/// Loss detection algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossDetection {
    /// RACK with a reordering window, and tail-loss probes (4.18 on by default).
    RackTlp,
    /// Three duplicate acknowledgements or SACKed segments above (RFC 6675).
    DupAck,
    /// The most forward SACK (FACK), as kernels before 4.11 by default (`net.ipv4.tcp_fack`; gone in 4.15).
    Fack,
}

/// What RACK does in addition to loss detection by counting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RackBeside {
    /// Nothing (before 4.4, or switched off by `net.ipv4.tcp_recovery`).
    No,
    /// During recovery, RACK finds packets that were sent well before the latest delivered one, and so finds
    /// lost retransmissions (4.4 to 4.10).
    // linux: net/ipv4/tcp_recovery.c tcp_rack_mark_lost (4.4).
    InRecovery,
    /// RACK finds losses at any time, with a reordering window of at least 1 ms (4.11 to 4.17).
    // linux: net/ipv4/tcp_recovery.c tcp_rack_detect_loss (4.14).
    Always,
}

/// Early retransmit (RFC 5827) of kernels before 4.11, for too few packets in flight for three duplicate ACKs
/// (`net.ipv4.tcp_early_retrans`).
// linux: net/ipv4/tcp_input.c tcp_time_to_recover (4.4); gone with commit bec41a11dd3d (4.11).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EarlyRetransmit {
    /// The kernel has no such rule.
    Gone,
    /// Off (0, 4).
    Off,
    /// A packet is lost after one duplicate ACK less than the number of packets in flight (1).
    AtOnce,
    /// The same, if nothing arrives within a quarter of the round-trip time (2, 3).
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
    /// Twice that and 16 segments; half as much more if it has grown by a quarter, as much more if by a half.
    /// The window may be that at once, even beyond the largest buffer. Every full segment's echo of a time
    /// stamp is a sample of the round trip (3.13 to 4.15).
    Linux3_13,
    /// Twice that and 16 segments, and more by what it has grown; the window's limit follows from the buffer.
    /// Every new echo is a sample (4.16 to 6.15).
    Linux4_16,
    /// The same, but what is not read yet does not count, and a shorter round trip counts at once (stable
    /// kernels of 6.12, read in 6.12.117).
    Linux6_12,
    /// Twice that, more while it grows, and room for what came out of order, as soon as it comes; what is not
    /// read yet does not count; only echoes while all is read make the round trip longer (6.16 on).
    Linux6_16,
}

/// Rules of proportional rate reduction (PRR, RFC 6937): how many segments are sent once the flight is below
/// the threshold.
// linux: net/ipv4/tcp_input.c tcp_cwnd_reduction (4.4, 5.10, 6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrrRules {
    /// Slow start with every acknowledgement (3.2 to 4.2).
    Linux3_2,
    /// Slow start if a retransmission was acknowledged and none was found lost. Otherwise as many segments as
    /// were delivered (4.3 to 5.10).
    Linux4_3,
    /// Slow start if SND.UNA advances and no new loss is found. Otherwise as many segments as were delivered
    /// (5.11 to 5.18).
    // linux: commit 7e901ee7b6ab (5.11).
    Linux5_11,
    /// The same, but segments that earlier acknowledgements left unsent are also sent (5.19 on).
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

/// Rules that decide whether the sender is limited by the congestion window, so that the window may grow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CwndLimitedRules {
    /// With each acknowledgement: if at most three segments more might have been out before it, or so few
    /// more that a packet of several segments was worth waiting for (up to 3.15).
    // linux: net/ipv4/tcp_cong.c tcp_is_cwnd_limited (3.10, 3.13, 3.15), include/net/tcp.h (3.16).
    Linux3_13,
    /// If the window was full at the last transmission that raised the round's maximum in flight (3.16 to
    /// 5.9).
    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate (4.4); commit ca8a22634381.
    Linux3_16,
    /// If the window was full when last checked in the round, even if nothing could be sent then (5.10 to
    /// 6.0).
    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate, tcp_write_xmit (5.15); commit 299bcb55ecd1, days before
    // 5.10.
    Linux5_10,
    /// The same, and a round in which the window was full once counts as limited to its end (6.1 on).
    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate (6.1); commit f4ce91ce12a7.
    Linux6_1,
}

/// All parameters of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpConfig {
    /// CONFIG_HZ: ticks of the kernel's clock in a second.
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
    /// RACK in addition to counting. Ignored where `loss` is RACK.
    pub rack_beside: RackBeside,
    /// D-SACKs do not widen RACK's reordering window (bit 2 of `net.ipv4.tcp_recovery`).
    pub rack_static_window: bool,
    /// RACK's reordering window stays when `reordering` segments are SACKed (bit 4 of
    /// `net.ipv4.tcp_recovery`).
    pub rack_no_dupthresh: bool,
    /// Rules of proportional rate reduction.
    pub prr: PrrRules,
    /// Tail loss probes are on: `net.ipv4.tcp_early_retrans` is 3 or 4.
    pub tail_loss_probe: bool,
    /// When tail loss probes are sent.
    pub tlp: TlpRules,
    /// Early retransmit.
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
    /// `net.ipv4.tcp_no_metrics_save`: path metrics are not kept for the next connection to the same address.
    pub no_metrics_save: bool,
    /// `net.ipv4.tcp_no_ssthresh_metrics_save` (5.6 on): the slow-start threshold is not kept in the path
    /// metrics.
    // linux: commit 65e6d90168f3 (5.6) - 1 by default since.
    pub no_ssthresh_metrics_save: bool,
    /// `net.ipv4.tcp_autocorking`: a last packet that is not full waits while others are in the queues below.
    pub autocorking: bool,
    /// `net.ipv4.tcp_frto`.
    pub frto: bool,
    /// Initial window in segments (TCP_INIT_CWND, `ip route ... initcwnd`).
    pub init_cwnd: u32,
    /// `net.ipv4.tcp_pacing_ss_ratio` in per cent.
    pub pacing_ss_ratio: u32,
    /// `net.ipv4.tcp_pacing_ca_ratio` in per cent.
    pub pacing_ca_ratio: u32,
    /// What the pacing rate is computed from.
    pub pacing_base: PacingBase,
    /// `sk_pacing_shift`: 10, or what mac80211 sets for sockets over it.
    pub pacing_shift: u8,
    /// The interface's qdisc is an fq that paces sockets: packets carry departure times and no pacing timer
    /// is used (`SK_PACING_FQ`).
    pub fq: bool,
    /// TCP small queues.
    pub small_queues: SmallQueues,
    /// `net.ipv4.tcp_limit_output_bytes`.
    pub limit_output_bytes: u32,
    /// `net.ipv4.tcp_min_tso_segs`.
    pub min_tso_segs: u32,
    /// `net.ipv4.tcp_tso_rtt_log` (5.18 on; 0: the term is off).
    pub tso_rtt_log: u32,
    /// `net.ipv4.tcp_tso_win_divisor`.
    pub tso_win_divisor: u32,
    /// The device supports TSO. Otherwise each packet is one segment.
    pub tso: bool,
    /// `gso_max_size`: maximum size of a TSO packet, in bytes.
    pub gso_max_size: u32,
    /// `gso_max_segs`: maximum number of segments of a TSO packet.
    pub gso_max_segs: u32,
    /// Truesize of a packet of one full segment, in bytes: with `max_header` of 256 it is 2304 in a buffer of
    /// its own, 2728 in page fragments.
    pub truesize_segment: u32,
    /// Data lies in page fragments, so each byte of a larger packet adds one byte of truesize. Otherwise each
    /// packet has one buffer.
    pub scatter_gather: bool,
    /// Least truesize of a packet whose data fills up the buffer of the headers, which has one size whatever
    /// is in it (before 4.9, with scatter-gather); otherwise 0.
    pub truesize_least: u32,
    /// Packets of several segments are split above the device, each segment into a buffer of this truesize,
    /// which the socket is charged with; 0 if the device splits them, or none does.
    pub split_truesize: u32,
    /// Packets are split at transmission, because there is no qdisc to wait in. The unsplit packet then has
    /// no charge below the socket.
    pub split_at_once: bool,
    /// Room that the kernel was built to leave for all headers before TCP's data (MAX_TCP_HEADER): 320 bytes
    /// (304 before 5.7) where it has Wi-Fi, mesh and tunnels, as distributions' have, 256 or less where it
    /// has none. What a segment in a buffer of its own weighs (4,352 bytes or 2,304), the growth of both
    /// buffers and the largest TSO packet follow from it.
    // linux: include/net/tcp.h MAX_TCP_HEADER, include/linux/netdevice.h LL_MAX_HEADER (6.1); measured: a
    // kernel without Wi-Fi grows its buffer by 2,304 bytes a segment of the window, twice.
    pub max_header: u32,
    /// The kernel checks for a waiting writer with every packet that leaves (5.19 on), not only after an
    /// acknowledgement is processed. The send buffer grows sooner, because the window is not full while it is
    /// being filled.
    // linux: net/ipv4/tcp_output.c tcp_event_new_data_sent (6.1), commit 4bfe744ff164.
    pub space_on_send: bool,
    /// A full segment with PSH also ends a message, so the receiver acknowledges it at once (6.6 on, and
    /// stable kernels of that time). Before, only a smaller segment did.
    // linux: net/ipv4/tcp_input.c tcp_measure_rcv_mss (6.1), commit 4720852ed9af; measured: with two packets
    // a flow in the queue, the pairs that an acknowledgement covers shift with each write.
    pub push_acks_full: bool,
    /// Each packet of several segments bears PSH on its last one (5.4 on), so that a receiver's GRO passes it
    /// on at once. Where such a PSH is heeded, a packet of an odd number of segments takes an acknowledgement
    /// more.
    // linux: net/ipv4/tcp_output.c __tcp_transmit_skb (6.1), and absent in 5.3; measured: 0.58
    // acknowledgements a segment with packets of three.
    pub push_each_packet: bool,
    /// The least wait of a tail-loss probe and of RACK's reordering window, 2 ms, is added before rounding to
    /// ticks (6.6 on, and stable kernels of that time); before, two ticks are added after it.
    // linux: net/ipv4/tcp_output.c tcp_schedule_loss_probe, net/ipv4/tcp_recovery.c tcp_rack_mark_lost (6.1),
    // commit 1c2709cfff1d.
    pub timeouts_in_us: bool,
    /// A packet waits to become larger only if the next acknowledgement is due within 1 ms, however long the
    /// round trip (6.15 on, and stable kernels of that time); before, within half of the round trip.
    // linux: net/ipv4/tcp_output.c tcp_tso_should_defer (6.1).
    pub defers_for_a_ms: bool,
    /// How the congestion window grows when one acknowledgement covers several segments.
    pub growth: GrowthRules,
    /// A paced sender sets departure times on its packets (4.20 on). Before, a timer ran from each packet to
    /// the next.
    // linux: net/ipv4/tcp_output.c tcp_internal_pacing (4.19), tcp_update_skb_after_send (4.20).
    pub departure_times: bool,
    /// Round-trip times are measured and kept in ticks, not in us (before 3.15).
    // linux: net/ipv4/tcp_input.c tcp_rtt_estimator (3.13, 3.14); microseconds in 3.15.
    pub rtt_in_ticks: bool,
    /// Rules for whether the congestion window limits the sender.
    pub cwnd_limited: CwndLimitedRules,
    /// `net.ipv4.tcp_wmem`: minimum, initial and maximum send buffer in bytes of truesize.
    pub wmem: [u32; 3],
    /// `net.ipv4.tcp_rmem`: minimum, initial and maximum receive buffer in bytes of truesize.
    pub rmem: [u32; 3],
    /// `net.ipv4.tcp_adv_win_scale`. Ignored where `scaling_ratio` is not 0.
    pub adv_win_scale: i8,
    /// Window for 256 bytes of receive memory before any data has come (6.6 on); then what the segments that
    /// come show. 0: `adv_win_scale` says it.
    // linux: include/net/tcp.h TCP_DEFAULT_SCALING_RATIO (6.6: 65; 6.10: 128), net/ipv4/tcp_input.c
    // tcp_measure_rcv_mss (6.6).
    pub scaling_ratio: u8,
    /// `net.core.rmem_max`, which is also used to choose the window scale.
    pub core_rmem_max: u32,
    /// `net.ipv4.tcp_moderate_rcvbuf`.
    pub moderate_rcvbuf: bool,
    /// Rules of dynamic right-sizing.
    pub rcvbuf: RcvbufRules,
    /// Segments that the window of the SYN holds at most, and whose memory the buffer holds eight times from
    /// the start (twice if it does not grow by itself): 20 before 4.20. 0: neither.
    // linux: net/ipv4/tcp_output.c tcp_default_init_rwnd, net/ipv4/tcp_input.c tcp_fixup_rcvbuf (4.11);
    // commit a337531b942b.
    pub init_rwnd: u32,
    /// `net.ipv4.tcp_notsent_lowat`.
    pub notsent_lowat: u32,
    /// The application has set `TCP_NODELAY`: small segments are sent without waiting.
    pub nodelay: bool,
    /// Minimum retransmission timeout (`rto_min`): 200 ms.
    pub rto_min: Duration,
    /// Minimum delayed-ACK time: 40 ms.
    pub delack_min: Duration,
    /// Maximum delayed-ACK time: 200 ms.
    pub delack_max: Duration,
    /// `net.ipv4.tcp_comp_sack_delay_ns`: maximum delay of ACK compression (`comp_sack_nr` of 0 disables
    /// compression).
    pub comp_sack_delay: Duration,
    /// `net.ipv4.tcp_comp_sack_nr`: maximum number of compressed ACKs; 0: off.
    pub comp_sack_nr: u32,
    /// `net.ipv4.tcp_comp_sack_slack_ns`.
    pub comp_sack_slack: Duration,
}

/// Linux 6.1 with 250 ticks a second on a device of Ethernet's kind whose offloads are off: the kernel that
/// was measured.
// linux: net/ipv4/tcp.c tcp_init, net/ipv4/tcp_ipv4.c tcp_sk_init (6.1) - with memory for the largest
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
