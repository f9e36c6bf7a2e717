//! What a socket is given by its kernel, its device and its user. Values come from the profile; each has the name by
//! which `sysctl` or the kernel knows it.

use crate::transport::cc::reno::GrowthRules;
use crate::vocabulary::Duration;

/// The rule of TCP small queues: how many bytes of truesize a socket may have below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SmallQueues {
    /// Off: no limit at all.
    pub off: bool,
    /// Least limit in packets of the size at hand (2 since 3.19; 1 in 3.12-3.18; 0: no such term).
    pub min_packets: u32,
    /// Use the pacing rate's term, `pacing_rate >> pacing_shift` (since 3.12).
    pub by_rate: bool,
    /// That term times this: 1, or the n of the TSQ paper's kernels for n ms.
    // paper: tsq-pacing IV-B - kernels patched to 1 to 8 ms.
    pub rate_multiple: u32,
    /// How the byte limit `tcp_limit_output_bytes` acts.
    pub cap: LimitOutput,
    /// When data is sent in spite of the limit.
    pub exception: Exception,
    /// It holds for retransmissions too, with twice the limit (4.9 on); before, they always left.
    // linux: net/ipv4/tcp_output.c tcp_xmit_retransmit_queue (4.4 without, 4.9 with tcp_small_queue_check); commit f9616c35a0d7.
    pub retransmissions: bool,
    /// Value of the charge of an idle socket: 1, so that the comparison is with one byte more than is queued.
    pub initial_charge: u32,
}

/// How `net.ipv4.tcp_limit_output_bytes` enters the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitOutput {
    /// It is the limit (3.6-3.11).
    Fixed,
    /// The larger of it and the rate's term (3.12-3.18).
    AtLeast,
    /// Never more than it (3.19-4.20, 6.16 on).
    AtMost,
    /// Never more than it, but for sockets that are paced (5.0-6.15).
    AtMostUnlessPaced,
}

/// Segments that leave although the limit is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exception {
    /// None (before 4.10).
    Never,
    /// The first and the second of the write queue, which holds unacknowledged data too (4.10 to 4.14).
    FirstOfWriteQueue,
    /// When nothing unacknowledged is there (4.15 on).
    EmptyRtxQueue,
    /// When at most one packet is unacknowledged (newest).
    AtMostOneInRtxQueue,
}

/// How the pacing rate follows from the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacingBase {
    /// From the smoothed round-trip time, as Linux computes it.
    Srtt,
    /// From the flow's minimum round-trip time, as Algorithm 1 of the TSQ paper is printed.
    // paper: tsq-pacing alg1 - divides by baseRTT.
    BaseRtt,
}

/// How losses are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossDetection {
    /// RACK with a reordering window, and tail-loss probes (4.18 on by default).
    RackTlp,
    /// Three duplicate acknowledgements or SACKed segments above (RFC 6675).
    DupAck,
    /// The most forward SACK (FACK), as kernels before 4.11 by default (`net.ipv4.tcp_fack`; gone in 4.15).
    Fack,
}

/// What RACK does where losses are found by counting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RackBeside {
    /// Nothing (before 4.4, or switched off by `net.ipv4.tcp_recovery`).
    No,
    /// In a recovery it finds what left well before the latest delivery, so retransmissions that were lost (4.4 to 4.10).
    // linux: net/ipv4/tcp_recovery.c tcp_rack_mark_lost (4.4).
    InRecovery,
    /// It finds losses at any time, after a reordering window of 1 ms at least (4.11 to 4.17).
    // linux: net/ipv4/tcp_recovery.c tcp_rack_detect_loss (4.14).
    Always,
}

/// What kernels before 4.11 do with too few packets out for three duplicates (`net.ipv4.tcp_early_retrans`).
// linux: net/ipv4/tcp_input.c tcp_time_to_recover (4.4); gone with commit bec41a11dd3d (4.11).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EarlyRetransmit {
    /// The kernel has no such rule.
    Gone,
    /// It is switched off (0, 4).
    Off,
    /// One duplicate less than there are packets makes a loss (1).
    AtOnce,
    /// The same if nothing comes within a quarter of the round-trip time (2, 3).
    Delayed,
}

/// How the receive buffer is made to fit what is read in a round trip (dynamic right-sizing).
// linux: net/ipv4/tcp_input.c tcp_rcv_space_adjust (4.11, 6.1), tcp_rcvbuf_grow (6.18); commits b0983d3c9b13 (3.13),
// c3916ad93201 (4.16, recalled).
// deviation: round trips are timed in us, and by time stamps of ms, whatever the kernel; before 4.13 it counts ticks - the
// model's time stamps are of ms, and only round trips about as short as a tick tell the two from each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RcvbufRules {
    /// Twice that and 16 segments; half as much more if it has grown by a quarter, as much more if by a half. The window may
    /// be that at once, even beyond the largest buffer. Every full segment's echo of a time stamp is a sample of the round
    /// trip (3.13 to 4.15).
    Linux3_13,
    /// Twice that and 16 segments, and more by what it has grown; the window's limit follows from the buffer. Every new echo
    /// is a sample (4.16 to 6.15).
    Linux4_16,
    /// The same, but what is not read yet does not count, and a shorter round trip counts at once (stable kernels of 6.12, read in
    /// 6.12.117).
    Linux6_12,
    /// Twice that, more while it grows, and room for what came out of order, as soon as it comes; what is not read yet does
    /// not count; only echoes while all is read make the round trip longer (6.16 on).
    Linux6_16,
}

/// How many segments proportional rate reduction sends once the flight is below the threshold.
// linux: net/ipv4/tcp_input.c tcp_cwnd_reduction (4.4, 5.10, 6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrrRules {
    /// Slow start with every acknowledgement (3.2 to 4.2).
    Linux3_2,
    /// Slow start if a retransmission was acknowledged and none found lost; else as many as were delivered (4.3 to 5.10).
    Linux4_3,
    /// Slow start if the left edge moves and nothing new is lost; else as many as were delivered (5.11 to 5.18).
    // linux: commit 7e901ee7b6ab (5.11).
    Linux5_11,
    /// The same, but what earlier acknowledgements left unsent is made up for (5.19 on).
    Linux5_19,
}

/// When a tail-loss probe is sent.
// linux: net/ipv4/tcp_output.c tcp_schedule_loss_probe (4.4, 4.14, 4.19).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TlpRules {
    /// After two round trips and at least 10 ms; a single packet waits for one and a half, and the longest delayed
    /// acknowledgement. Only in Open, and not if the window would let more data out (3.10 to 4.12).
    Linux3_10,
    /// After two round trips and two ticks; a single packet waits for the least retransmission timeout more (4.13 to 4.15).
    Linux4_13,
    /// The same in CWR too, whatever the window leaves (4.16 on).
    // linux: commit b4f70c3d4ec3 (4.16).
    Linux4_16,
}

/// Whether the congestion window counts as what limits the sender, so that it may grow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CwndLimitedRules {
    /// With each acknowledgement: if at most three segments more might have been out before it, or so few more that a packet of
    /// several segments was worth waiting for (up to 3.15).
    // linux: net/ipv4/tcp_cong.c tcp_is_cwnd_limited (3.10; the same until commit e114a710aa50, 3.16, recalled).
    Linux3_13,
    /// If it was full when something was sent last with more in flight than before in the round (3.16 to 5.9).
    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate (4.4); commit ca8a22634381.
    Linux3_16,
    /// If it was full when last looked at in the round, also if nothing could be sent then (5.10 to 6.0).
    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate, tcp_write_xmit (5.15); commit 299bcb55ecd1, days before 5.10.
    Linux5_10,
    /// The same, and a round in which it was full once stays so to its end (6.1 on).
    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate (6.1); commit f4ce91ce12a7.
    Linux6_1,
}

/// Everything that a socket needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpConfig {
    /// Ticks of the kernel's clock in a second (CONFIG_HZ).
    pub hz: u32,
    /// Maximum segment size without options: MTU - 40.
    pub advmss: u16,
    /// `net.ipv4.tcp_timestamps`.
    pub timestamps: bool,
    /// `net.ipv4.tcp_sack`.
    pub sack: bool,
    /// `net.ipv4.tcp_dsack`.
    pub dsack: bool,
    /// `net.ipv4.tcp_ecn`: 0 off, 1 asked for and granted, 2 granted when asked for.
    pub ecn: u8,
    /// How losses are found (`net.ipv4.tcp_recovery`, `tcp_fack`).
    pub loss: LossDetection,
    /// What RACK does beside counting; not asked where losses are found by RACK.
    pub rack_beside: RackBeside,
    /// D-SACKs do not widen RACK's reordering window (bit 2 of `net.ipv4.tcp_recovery`).
    pub rack_static_window: bool,
    /// The window stays when `reordering` segments are SACKed (bit 4 of `net.ipv4.tcp_recovery`).
    pub rack_no_dupthresh: bool,
    /// Proportional rate reduction.
    pub prr: PrrRules,
    /// `net.ipv4.tcp_early_retrans`: 3 and 4 send tail-loss probes.
    pub tail_loss_probe: bool,
    /// When they are sent.
    pub tlp: TlpRules,
    /// Early retransmit.
    pub early_retransmit: EarlyRetransmit,
    /// `net.ipv4.tcp_reordering`.
    pub reordering: u32,
    /// `net.ipv4.tcp_max_reordering`.
    pub max_reordering: u32,
    /// `net.ipv4.tcp_min_rtt_wlen`: window of the minimum round-trip time in seconds.
    pub min_rtt_wlen: u32,
    /// `net.ipv4.tcp_window_scaling`.
    pub window_scaling: bool,
    /// `net.ipv4.tcp_slow_start_after_idle`.
    pub slow_start_after_idle: bool,
    /// `net.ipv4.tcp_no_metrics_save`: nothing of a connection is remembered for the next one to the same address.
    pub no_metrics_save: bool,
    /// `net.ipv4.tcp_no_ssthresh_metrics_save` (5.6 on): not the threshold of slow start.
    // linux: commit 65e6d90168f3 (5.6) - 1 by default since.
    pub no_ssthresh_metrics_save: bool,
    /// `net.ipv4.tcp_autocorking`: a last packet that is not full waits while others are in queues below.
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
    /// The interface's discipline is an fq that keeps the pace of sockets: they stamp what they send and don't wait
    /// (`SK_PACING_FQ`).
    pub fq: bool,
    /// Small queues.
    pub small_queues: SmallQueues,
    /// `net.ipv4.tcp_limit_output_bytes`.
    pub limit_output_bytes: u32,
    /// `net.ipv4.tcp_min_tso_segs`.
    pub min_tso_segs: u32,
    /// `net.ipv4.tcp_tso_rtt_log` (5.18 on; 0: the term is off).
    pub tso_rtt_log: u32,
    /// `net.ipv4.tcp_tso_win_divisor`.
    pub tso_win_divisor: u32,
    /// The device takes packets of many segments; otherwise each packet is one segment.
    pub tso: bool,
    /// Most bytes of a TSO packet (`gso_max_size`).
    pub gso_max_size: u32,
    /// Most segments of a TSO packet (`gso_max_segs`).
    pub gso_max_segs: u32,
    /// Truesize of a packet of one full segment, in bytes: with `max_header` of 256 it is 2304 in a buffer of its own, 2728 in
    /// page fragments.
    pub truesize_segment: u32,
    /// Data lies in page fragments, so that each byte of a larger packet counts as one; otherwise in one buffer a packet.
    pub scatter_gather: bool,
    /// Least truesize of a packet whose data fills up the buffer of the headers, which has one size whatever is in it (before
    /// 4.9, with scatter-gather); otherwise 0.
    pub truesize_least: u32,
    /// Packets of several segments are split above the device, each segment into a buffer of this truesize, which the socket
    /// is charged with; 0 if the device splits them, or none does.
    pub split_truesize: u32,
    /// They are split when they are sent, as there is no discipline to wait in, and nothing of the packet itself is below then.
    pub split_at_once: bool,
    /// Room that the kernel was built to leave for all headers before TCP's data (MAX_TCP_HEADER): 320 bytes (304 before
    /// 5.7) where it has Wi-Fi, mesh and tunnels, as distributions' have, 256 or less where it has none. What a segment in a
    /// buffer of its own weighs (4,352 bytes or 2,304), the growth of both buffers and the largest TSO packet follow from it.
    // linux: include/net/tcp.h MAX_TCP_HEADER, include/linux/netdevice.h LL_MAX_HEADER (6.1); measured: a kernel without Wi-Fi
    // grows its buffer by 2,304 bytes a segment of the window, twice.
    pub max_header: u32,
    /// A writer that waits is looked after with every packet that leaves (5.19 on), not only once an acknowledgement is taken
    /// in. The send buffer grows sooner by that, as the window is not full while it is being filled.
    // linux: net/ipv4/tcp_output.c tcp_event_new_data_sent (6.1), commit 4bfe744ff164.
    pub space_on_send: bool,
    /// A full segment with PSH also ends a message, so that the reader acknowledges it at once (6.6 on, and stable kernels of
    /// that time); before, only a smaller one does.
    // linux: net/ipv4/tcp_input.c tcp_measure_rcv_mss (6.1), commit 4720852ed9af; measured: with two packets a flow in the
    // queue, the pairs that an acknowledgement covers shift with each write.
    pub push_acks_full: bool,
    /// Each packet of several segments bears PSH on its last one (5.4 on), so that a receiver's GRO passes it on at once. Where
    /// such a PSH is heeded, a packet of an odd number of segments takes an acknowledgement more.
    // linux: net/ipv4/tcp_output.c __tcp_transmit_skb (6.1), commit 051ba67447de (recalled); measured: 0.58 acknowledgements a
    // segment with packets of three.
    pub push_each_packet: bool,
    /// The least wait of a tail-loss probe and of RACK's reordering window, 2 ms, is added before rounding to ticks (6.6 on,
    /// and stable kernels of that time); before, two ticks are added after it.
    // linux: net/ipv4/tcp_output.c tcp_schedule_loss_probe, net/ipv4/tcp_recovery.c tcp_rack_mark_lost (6.1), commit
    // 1c2709cfff1d.
    pub timeouts_in_us: bool,
    /// A packet waits to become larger only if the next acknowledgement is due within 1 ms, however long the round trip (6.15
    /// on, and stable kernels of that time); before, within half of the round trip.
    // linux: net/ipv4/tcp_output.c tcp_tso_should_defer (6.1).
    pub defers_for_a_ms: bool,
    /// How acknowledgements of several segments raise the window.
    pub growth: GrowthRules,
    /// A paced sender stamps packets with the time of their departure (4.20 on); before, a timer runs from each packet to the next.
    // linux: net/ipv4/tcp_output.c tcp_internal_pacing (4.19); commits ab408b6dc744, a842fe1425cb (4.20, recalled).
    pub departure_times: bool,
    /// Round-trip times are measured and kept in ticks, not in us (before 3.15).
    // linux: net/ipv4/tcp_input.c tcp_rtt_estimator (3.13, recalled); commit 740b0f1841f6.
    pub rtt_in_ticks: bool,
    /// Whether the window is what limits the sender.
    pub cwnd_limited: CwndLimitedRules,
    /// `net.ipv4.tcp_wmem`: least, initial and largest send buffer in bytes of truesize.
    pub wmem: [u32; 3],
    /// `net.ipv4.tcp_rmem`: the same for the receive buffer.
    pub rmem: [u32; 3],
    /// `net.ipv4.tcp_adv_win_scale`; not asked where there is a `scaling_ratio`.
    pub adv_win_scale: i8,
    /// Window for 256 bytes of receive memory before any data has come (6.6 on); then what the segments that come show. 0:
    /// `adv_win_scale` says it.
    // linux: include/net/tcp.h TCP_DEFAULT_SCALING_RATIO (6.6: 65; 6.10: 128), net/ipv4/tcp_input.c tcp_measure_rcv_mss (6.6).
    pub scaling_ratio: u8,
    /// `net.core.rmem_max`, by which the scale of the window is chosen too.
    pub core_rmem_max: u32,
    /// `net.ipv4.tcp_moderate_rcvbuf`.
    pub moderate_rcvbuf: bool,
    /// How it does.
    pub rcvbuf: RcvbufRules,
    /// Segments that the window of the SYN holds at most, and whose memory the buffer holds eight times from the start (twice
    /// if it does not grow by itself): 20 before 4.20. 0: neither.
    // linux: net/ipv4/tcp_output.c tcp_default_init_rwnd, net/ipv4/tcp_input.c tcp_fixup_rcvbuf (4.11); commit a337531b942b.
    pub init_rwnd: u32,
    /// `net.ipv4.tcp_notsent_lowat`.
    pub notsent_lowat: u32,
    /// The application has set `TCP_NODELAY`: a small segment waits for nothing.
    pub nodelay: bool,
    /// Least retransmission timeout (`rto_min`): 200 ms.
    pub rto_min: Duration,
    /// Least delayed-ACK time: 40 ms.
    pub delack_min: Duration,
    /// Longest delayed-ACK time: 200 ms.
    pub delack_max: Duration,
    /// Time waited for to send one acknowledgement for several, where a kernel compresses ACKs
    /// (`net.ipv4.tcp_comp_sack_delay_ns`), and how many at most (`tcp_comp_sack_nr`; 0: off).
    pub comp_sack_delay: Duration,
    /// `net.ipv4.tcp_comp_sack_nr`.
    pub comp_sack_nr: u32,
    /// `net.ipv4.tcp_comp_sack_slack_ns`.
    pub comp_sack_slack: Duration,
}

/// Linux 6.1 with 250 ticks a second on a device of Ethernet's kind whose offloads are off: the kernel that was measured.
// linux: net/ipv4/tcp.c tcp_init, net/ipv4/tcp_ipv4.c tcp_sk_init (6.1) - with memory for the largest buffers.
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
