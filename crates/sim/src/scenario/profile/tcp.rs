//! TCP's part of a kernel: the `[tcp]` table of its data file, and the settings that `sysctl` knows.

use stillair_model::transport::cc::bbr::BbrParams;
use stillair_model::transport::cc::cubic::CubicParams;
use stillair_model::transport::cc::hystart::{HystartParams, HystartRules};
use stillair_model::transport::cc::{self, CcParams};
use stillair_model::transport::tcp::config::{
    EarlyRetransmit, Exception, LimitOutput, LossDetection, PacingBase, PrrRules, RackBeside, RcvbufRules,
    SmallQueues, TcpConfig, TlpRules,
};
use stillair_model::vocabulary::Duration;

use super::super::contract::{Form, Key, Shape};
use super::super::document::Value;
use super::super::error::Fault;
use super::super::reader::Field;
use super::{MAX_BUFFER, Profile};

/// MTU of every device.
const MTU: u16 = 1500;
/// Bytes of an IPv4 and a TCP header without options.
const HEADERS: u16 = 40;

const LOSS: [(&str, LossDetection); 3] =
    [("rack", LossDetection::RackTlp), ("dupack", LossDetection::DupAck), ("fack", LossDetection::Fack)];
const RACK_BESIDE: [(&str, RackBeside); 3] =
    [("no", RackBeside::No), ("4.4", RackBeside::InRecovery), ("4.11", RackBeside::Always)];
const PRR: [(&str, PrrRules); 4] = [
    ("3.2", PrrRules::Linux3_2),
    ("4.3", PrrRules::Linux4_3),
    ("5.11", PrrRules::Linux5_11),
    ("5.19", PrrRules::Linux5_19),
];
const TLP: [(&str, TlpRules); 3] =
    [("3.10", TlpRules::Linux3_10), ("4.13", TlpRules::Linux4_13), ("4.16", TlpRules::Linux4_16)];
const RCVBUF: [(&str, RcvbufRules); 2] = [("4.15", RcvbufRules::Linux4_15), ("6.16", RcvbufRules::Linux6_16)];
pub(super) const CAP: [(&str, LimitOutput); 4] = [
    ("fixed", LimitOutput::Fixed),
    ("at_least", LimitOutput::AtLeast),
    ("at_most", LimitOutput::AtMost),
    ("at_most_unless_paced", LimitOutput::AtMostUnlessPaced),
];
pub(super) const EXCEPTION: [(&str, Exception); 4] = [
    ("never", Exception::Never),
    ("first_of_write_queue", Exception::FirstOfWriteQueue),
    ("empty_rtx_queue", Exception::EmptyRtxQueue),
    ("at_most_one_in_rtx_queue", Exception::AtMostOneInRtxQueue),
];

const HYSTART: [(&str, HystartRules); 4] = [
    ("2.6.29", HystartRules::LINUX_4),
    ("5.8", HystartRules::LINUX_5_8),
    ("5.16", HystartRules::LINUX_5_16),
    ("6.14", HystartRules::LINUX_6_1),
];

/// Congestion controls that came after the oldest kernel here, and with which.
// linux: net/ipv4/Kconfig TCP_CONG_NV (4.8), TCP_CONG_BBR (4.9).
const SINCE: [(&str, (u16, u16)); 2] = [("nv", (4, 8)), ("bbr", (4, 9))];

/// The first kernel without FACK, whose sysctl stayed.
// linux: net/ipv4/sysctl_net_ipv4.c tcp_fack (4.15); commit 713bafea9292.
const FACK_GONE: (u16, u16) = (4, 15);

/// TCP in a kernel's data file.
pub(super) static FILE: Shape = Shape {
    title: "TCP of a kernel",
    about: "What TCP does by default.",
    groups: &[&[
        Key::need("hz", Form::Integer(100, 1000), "ticks in a second (CONFIG_HZ)"),
        Key::need("loss", Form::Choice(&["rack", "dupack", "fack"]), "how losses are found"),
        Key::need(
            "rack_beside",
            Form::Choice(&["no", "4.4", "4.11"]),
            "the kernel in which RACK got the rules that it has here beside counting",
        ),
        Key::need(
            "prr",
            Form::Choice(&["3.2", "4.3", "5.11", "5.19"]),
            "the same of proportional rate reduction",
        ),
        Key::need("tlp", Form::Choice(&["3.10", "4.13", "4.16"]), "the same of tail-loss probes"),
        Key::need("early_retransmit", Form::Boolean, "few packets out need fewer duplicates"),
        Key::or(
            "autocorking",
            Form::Boolean,
            "true",
            "a small last packet waits while others are in queues below",
        ),
        Key::or("init_cwnd", Form::Integer(1, 1000), "10", "initial window in segments"),
        Key::or("rto_min", Form::Period, "200 ms", "least retransmission timeout"),
        Key::or("timestamps", Form::Boolean, "true", "time stamps"),
        Key::or("small_queues", Form::Boolean, "true", "there are small queues"),
        Key::need("small_queues_min_packets", Form::Integer(0, 8), "least limit in packets"),
        Key::need("small_queues_by_rate", Form::Boolean, "the pacing rate's term is used"),
        Key::need(
            "small_queues_cap",
            Form::Choice(&["fixed", "at_least", "at_most", "at_most_unless_paced"]),
            "how tcp_limit_output_bytes acts",
        ),
        Key::need(
            "small_queues_exception",
            Form::Choice(&["never", "first_of_write_queue", "empty_rtx_queue", "at_most_one_in_rtx_queue"]),
            "when data is sent in spite of the limit",
        ),
        Key::need(
            "small_queues_retransmissions",
            Form::Boolean,
            "the limit holds for retransmissions too, doubled",
        ),
        Key::need("limit_output_bytes", Form::Bytes(1, MAX_BUFFER), "tcp_limit_output_bytes"),
        Key::need(
            "space_on_send",
            Form::Boolean,
            "a writer that waits is looked after with every packet that leaves",
        ),
        Key::need(
            "push_acks_full",
            Form::Boolean,
            "a full segment with PSH is acknowledged as soon as it is read",
        ),
        Key::need("timeouts_in_us", Form::Boolean, "probes and RACK wait for 2 ms more instead of two ticks"),
        Key::need(
            "defers_for_a_ms",
            Form::Boolean,
            "a TSO packet waits to become larger only for an acknowledgement that is due within 1 ms",
        ),
        Key::need("tso_rtt_log", Form::Integer(0, 31), "tcp_tso_rtt_log"),
        Key::need(
            "cwnd_limited_is_kept",
            Form::Boolean,
            "a round in which the window was full once counts as limited by it to its end",
        ),
        Key::need("wifi_pacing_shift", Form::Integer(0, 31), "sk_pacing_shift of sockets over Wi-Fi"),
        Key::need("rmem_default", Form::Bytes(1, MAX_BUFFER), "initial receive buffer"),
        Key::need("rmem_max", Form::Bytes(1, MAX_BUFFER), "largest receive buffer"),
        Key::need(
            "rcvbuf",
            Form::Choice(&["4.15", "6.16"]),
            "the kernel in which the receive buffer's growth got the rules that it has here",
        ),
        Key::need(
            "scaling_ratio",
            Form::Integer(0, 255),
            "window for 256 bytes of memory at first; 0: by tcp_adv_win_scale",
        ),
        Key::need("comp_sack_nr", Form::Integer(0, 255), "tcp_comp_sack_nr"),
        Key::need("comp_sack_slack", Form::Time, "tcp_comp_sack_slack_ns"),
        Key::need(
            "hystart",
            Form::Choice(&["2.6.29", "5.8", "5.16", "6.14"]),
            "the kernel in which cubic's HyStart got the rules that it has here",
        ),
        Key::need("bbr_pacing_margin_percent", Form::Integer(0, 99), "how far BBR paces below the bandwidth"),
        Key::need("bbr_extra_acked", Form::Boolean, "BBR has room for aggregated acknowledgements"),
    ]],
};

/// Reads the `[tcp]` table of a kernel's data file.
pub(super) fn load(field: &Field<'_>, truesize: u32) -> Result<(TcpConfig, u8, CcParams), Fault> {
    let mut t = field.section("a table")?;
    let n = "a value";
    let config = TcpConfig {
        hz: t.need("hz", n)?.value()?,
        advmss: MTU - HEADERS,
        timestamps: t.or("timestamps", true)?,
        sack: true,
        dsack: true,
        ecn: 2,
        loss: t.need("loss", n)?.choice(&LOSS)?,
        rack_beside: t.need("rack_beside", n)?.choice(&RACK_BESIDE)?,
        rack_static_window: false,
        rack_no_dupthresh: false,
        prr: t.need("prr", n)?.choice(&PRR)?,
        tail_loss_probe: true,
        tlp: t.need("tlp", n)?.choice(&TLP)?,
        rcvbuf: t.need("rcvbuf", n)?.choice(&RCVBUF)?,
        early_retransmit: if t.need("early_retransmit", n)?.value()? {
            EarlyRetransmit::Delayed
        } else {
            EarlyRetransmit::Gone
        },
        reordering: 3,
        max_reordering: 300,
        min_rtt_wlen: 300,
        window_scaling: true,
        slow_start_after_idle: true,
        frto: true,
        autocorking: t.or("autocorking", true)?,
        init_cwnd: t.or("init_cwnd", 10)?,
        pacing_ss_ratio: 200,
        pacing_ca_ratio: 120,
        pacing_base: PacingBase::Srtt,
        pacing_shift: 10,
        fq: false,
        small_queues: SmallQueues {
            off: !t.or("small_queues", true)?,
            min_packets: t.need("small_queues_min_packets", n)?.value()?,
            by_rate: t.need("small_queues_by_rate", n)?.value()?,
            rate_multiple: 1,
            cap: t.need("small_queues_cap", n)?.choice(&CAP)?,
            exception: t.need("small_queues_exception", n)?.choice(&EXCEPTION)?,
            retransmissions: t.need("small_queues_retransmissions", n)?.value()?,
            initial_charge: 1,
        },
        limit_output_bytes: t.need("limit_output_bytes", n)?.value()?,
        min_tso_segs: 2,
        tso_rtt_log: t.need("tso_rtt_log", n)?.value()?,
        tso_win_divisor: 3,
        tso: false,
        gso_max_size: 65_536,
        gso_max_segs: 65_535,
        truesize_segment: truesize,
        scatter_gather: true,
        max_header: 256,
        space_on_send: t.need("space_on_send", n)?.value()?,
        push_acks_full: t.need("push_acks_full", n)?.value()?,
        timeouts_in_us: t.need("timeouts_in_us", n)?.value()?,
        defers_for_a_ms: t.need("defers_for_a_ms", n)?.value()?,
        cwnd_limited_is_kept: t.need("cwnd_limited_is_kept", n)?.value()?,
        wmem: [4096, 16_384, 4_194_304],
        rmem: [4096, t.need("rmem_default", n)?.value()?, t.need("rmem_max", n)?.value()?],
        adv_win_scale: 1,
        scaling_ratio: t.need("scaling_ratio", n)?.value()?,
        core_rmem_max: 212_992,
        moderate_rcvbuf: true,
        notsent_lowat: u32::MAX,
        rto_min: t.or("rto_min", Duration::from_millis(200))?,
        delack_min: Duration::from_millis(40),
        delack_max: Duration::from_millis(200),
        comp_sack_delay: Duration::from_millis(1),
        comp_sack_nr: t.need("comp_sack_nr", n)?.value()?,
        comp_sack_slack: t.need("comp_sack_slack", n)?.value()?,
    };
    let wifi_pacing_shift = t.need("wifi_pacing_shift", n)?.value()?;
    let rules = t.need("hystart", n)?.choice(&HYSTART)?;
    let usual = BbrParams::default();
    let extra_acked: bool = t.need("bbr_extra_acked", n)?.value()?;
    let cc = CcParams {
        bbr: BbrParams {
            pacing_margin_percent: t.need("bbr_pacing_margin_percent", n)?.value()?,
            extra_acked_gain: if extra_acked { usual.extra_acked_gain } else { 0 },
            ..usual
        },
        cubic: CubicParams {
            hystart: HystartParams { rules, ..HystartParams::default() },
            ..CubicParams::default()
        },
        ..CcParams::default()
    };
    t.finish()?;
    Ok((config, wifi_pacing_shift, cc))
}

/// Least, initial and largest size of a buffer.
const BUFFER_SIZES: Form = Form::Either(&[
    Form::Written {
        words: "three numbers as `sysctl` prints them",
        pattern: r"^[0-9]+\s+[0-9]+\s+[0-9]+$",
        examples: &["4096 16384 4194304"],
    },
    Form::List(&Form::Bytes(1, MAX_BUFFER)),
]);

/// Settings of `net.ipv4` that TCP obeys.
pub(super) const SETTINGS: &[Key] = &[
    Key::open(
        "net.ipv4.tcp_congestion_control",
        Form::Listed { title: "congestion_control", words: "a congestion control", names },
        "cubic",
        "congestion control of flows that name none",
    ),
    Key::open(
        "net.ipv4.tcp_limit_output_bytes",
        Form::Bytes(1, MAX_BUFFER),
        "the kernel's",
        "byte limit of TCP small queues",
    ),
    Key::open(
        "net.ipv4.tcp_pacing_ss_ratio",
        Form::Integer(1, 1000),
        "200",
        "pacing in slow start, per cent",
    ),
    Key::open(
        "net.ipv4.tcp_pacing_ca_ratio",
        Form::Integer(1, 1000),
        "120",
        "pacing in congestion avoidance, per cent",
    ),
    Key::open("net.ipv4.tcp_min_tso_segs", Form::Integer(1, 65_535), "2", "least segments in a TSO packet"),
    Key::open(
        "net.ipv4.tcp_tso_rtt_log",
        Form::Integer(0, 31),
        "the kernel's",
        "larger TSO packets at small round-trip times; 0 is off",
    ),
    Key::open(
        "net.ipv4.tcp_tso_win_divisor",
        Form::Integer(0, 64),
        "3",
        "part of the window that one TSO packet may take",
    ),
    Key::open(
        "net.ipv4.tcp_notsent_lowat",
        Form::Bytes(1, u32::MAX),
        "no limit",
        "unsent bytes that a socket takes",
    ),
    Key::open(
        "net.ipv4.tcp_ecn",
        Form::Integer(0, 2),
        "2",
        "ECN: 0 off, 1 asked for, 2 granted when asked for",
    ),
    Key::open("net.ipv4.tcp_sack", Form::Integer(0, 1), "1", "selective acknowledgements"),
    Key::open("net.ipv4.tcp_dsack", Form::Integer(0, 1), "1", "duplicate SACKs"),
    Key::open("net.ipv4.tcp_timestamps", Form::Integer(0, 1), "1", "time stamps"),
    Key::open(
        "net.ipv4.tcp_recovery",
        Form::Integer(0, 7),
        "1",
        "1: RACK, in the way of the kernel (alone since 4.18, beside counting before); 2 more: a reordering window that D-SACKs do not widen (since 4.15); 4 more: one that does not vanish with three SACKed segments (since 4.18)",
    ),
    Key::open(
        "net.ipv4.tcp_fack",
        Form::Integer(0, 1),
        "1 before 4.11, 0 since",
        "counting goes by the most forward SACK; without effect since 4.15",
    ),
    Key::open(
        "net.ipv4.tcp_early_retrans",
        Form::Integer(0, 4),
        "3",
        "tail-loss probes: 3 or 4 on, 0 to 2 off; before 4.11 also early retransmit: 1 at once, 2 or 3 after a wait, 0 or 4 off",
    ),
    Key::open("net.ipv4.tcp_reordering", Form::Integer(1, 300), "3", "initial reordering in segments"),
    Key::open(
        "net.ipv4.tcp_max_reordering",
        Form::Integer(1, 300_000),
        "300",
        "most reordering in segments that is believed",
    ),
    Key::open(
        "net.ipv4.tcp_min_rtt_wlen",
        Form::Integer(1, 86_400),
        "300",
        "seconds after which a minimum round-trip time is forgotten",
    ),
    Key::open("net.ipv4.tcp_window_scaling", Form::Integer(0, 1), "1", "windows beyond 64 KiB"),
    Key::open(
        "net.core.rmem_max",
        Form::Bytes(2304, MAX_BUFFER),
        "212992",
        "largest receive buffer that an application may ask for; here it only takes part in the choice of the window's scale",
    ),
    Key::open("net.ipv4.tcp_autocorking", Form::Integer(0, 1), "1", "small last packets wait for more data"),
    Key::open("net.ipv4.tcp_frto", Form::Integer(0, 2), "2", "F-RTO: 0 off"),
    Key::open(
        "net.ipv4.tcp_slow_start_after_idle",
        Form::Integer(0, 1),
        "1",
        "the window shrinks while nothing is sent",
    ),
    Key::open(
        "net.ipv4.tcp_wmem",
        BUFFER_SIZES,
        "4096, 16384, 4194304",
        "send buffer: least, initial, largest",
    ),
    Key::open(
        "net.ipv4.tcp_rmem",
        BUFFER_SIZES,
        "the kernel's: 4096, 131072, 6291456 in most",
        "receive buffer: least, initial, largest",
    ),
    Key::open("net.ipv4.tcp_moderate_rcvbuf", Form::Integer(0, 1), "1", "the receive buffer grows by itself"),
    Key::open(
        "net.ipv4.tcp_adv_win_scale",
        Form::Integer(-31, 31),
        "1",
        "part of the receive buffer that is overhead; without effect since 6.6",
    ),
    Key::open(
        "net.ipv4.tcp_comp_sack_nr",
        Form::Integer(0, 255),
        "the kernel's",
        "most SACKs that one stands for; 0: none",
    ),
    Key::open(
        "net.ipv4.tcp_comp_sack_delay_ns",
        Form::Integer(0, 1_000_000_000),
        "1000000",
        "longest wait for them",
    ),
    Key::open(
        "net.ipv4.tcp_comp_sack_slack_ns",
        Form::Integer(0, 1_000_000_000),
        "the kernel's",
        "slack of that wait",
    ),
];

pub(super) fn names() -> Vec<String> {
    cc::NAMES.iter().map(|&name| name.to_owned()).collect()
}

/// Sets what TCP knows as `name`; false if it is none of TCP's.
pub(super) fn apply(profile: &mut Profile, name: &str, setting: &Field<'_>) -> Result<bool, Fault> {
    let t = &mut profile.tcp;
    let flag = || setting.value::<u8>().map(|n| n != 0);
    match name {
        "net.ipv4.tcp_congestion_control" => {
            profile.congestion_control = controller(setting, profile.version)?;
        }
        "net.ipv4.tcp_limit_output_bytes" => t.limit_output_bytes = setting.value()?,
        "net.ipv4.tcp_pacing_ss_ratio" => t.pacing_ss_ratio = setting.value()?,
        "net.ipv4.tcp_pacing_ca_ratio" => t.pacing_ca_ratio = setting.value()?,
        "net.ipv4.tcp_min_tso_segs" => t.min_tso_segs = setting.value()?,
        "net.ipv4.tcp_tso_rtt_log" => t.tso_rtt_log = setting.value()?,
        "net.ipv4.tcp_tso_win_divisor" => t.tso_win_divisor = setting.value()?,
        "net.ipv4.tcp_notsent_lowat" => t.notsent_lowat = setting.value()?,
        "net.ipv4.tcp_ecn" => t.ecn = setting.value()?,
        "net.ipv4.tcp_sack" => t.sack = flag()?,
        "net.ipv4.tcp_dsack" => t.dsack = flag()?,
        "net.ipv4.tcp_timestamps" => t.timestamps = flag()?,
        "net.ipv4.tcp_recovery" => {
            let bits: u8 = setting.value()?;
            // linux: include/net/tcp.h TCP_RACK_LOST_RETRANS (4.4), TCP_RACK_LOSS_DETECTION (4.11), TCP_RACK_STATIC_REO_WND
            // (4.15), TCP_RACK_NO_DUPTHRESH (4.18) - without the first bit a kernel counts as it does otherwise.
            if bits & 1 == 0 {
                t.rack_beside = RackBeside::No;
                if t.loss == LossDetection::RackTlp {
                    t.loss = LossDetection::DupAck;
                }
            }
            t.rack_static_window = bits & 2 != 0;
            t.rack_no_dupthresh = bits & 4 != 0;
        }
        "net.ipv4.tcp_fack" if profile.version.is_some_and(|own| own < FACK_GONE) => {
            t.loss = if flag()? { LossDetection::Fack } else { LossDetection::DupAck };
        }
        "net.ipv4.tcp_fack" => {
            flag()?;
        }
        "net.ipv4.tcp_max_reordering" => t.max_reordering = setting.value()?,
        "net.ipv4.tcp_min_rtt_wlen" => t.min_rtt_wlen = setting.value()?,
        "net.ipv4.tcp_window_scaling" => t.window_scaling = flag()?,
        "net.core.rmem_max" => t.core_rmem_max = setting.value()?,
        // linux: net/ipv4/tcp_input.c tcp_pause_early_retransmit, net/ipv4/tcp_output.c tcp_schedule_loss_probe (4.4).
        "net.ipv4.tcp_early_retrans" => {
            let mode: u8 = setting.value()?;
            t.tail_loss_probe = mode >= 3;
            if t.early_retransmit != EarlyRetransmit::Gone {
                t.early_retransmit = match mode {
                    0 | 4 => EarlyRetransmit::Off,
                    1 => EarlyRetransmit::AtOnce,
                    _ => EarlyRetransmit::Delayed,
                };
            }
        }
        "net.ipv4.tcp_reordering" => t.reordering = setting.value()?,
        "net.ipv4.tcp_autocorking" => t.autocorking = flag()?,
        "net.ipv4.tcp_frto" => t.frto = flag()?,
        "net.ipv4.tcp_slow_start_after_idle" => t.slow_start_after_idle = flag()?,
        "net.ipv4.tcp_wmem" => t.wmem = three(setting)?,
        "net.ipv4.tcp_rmem" => t.rmem = three(setting)?,
        "net.ipv4.tcp_moderate_rcvbuf" => t.moderate_rcvbuf = flag()?,
        "net.ipv4.tcp_adv_win_scale" => t.adv_win_scale = setting.value()?,
        "net.ipv4.tcp_comp_sack_nr" => t.comp_sack_nr = setting.value()?,
        "net.ipv4.tcp_comp_sack_delay_ns" => t.comp_sack_delay = Duration::from_nanos(setting.value()?),
        "net.ipv4.tcp_comp_sack_slack_ns" => t.comp_sack_slack = Duration::from_nanos(setting.value()?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// The name of a congestion control that the kernel `version` has, as the model has it; a system other than Linux has any.
pub(in super::super) fn controller(
    field: &Field<'_>,
    version: Option<(u16, u16)>,
) -> Result<&'static str, Fault> {
    let names: Vec<(&str, &'static str)> = cc::NAMES.iter().map(|&name| (name, name)).collect();
    let name = field.choice(&names)?;
    if let Some(version) = version
        && let Some((_, since)) = SINCE.iter().find(|(of, since)| *of == name && version < *since)
    {
        let found = format!("{name:?} on Linux {}.{}", version.0, version.1);
        let expected = format!("a congestion control that it has: {name} came with {}.{}", since.0, since.1);
        return Err(field.found(found, expected));
    }
    Ok(name)
}

/// Least, initial and largest size of a buffer: a list of three, or one text with the three numbers as `sysctl` prints it.
fn three(setting: &Field<'_>) -> Result<[u32; 3], Fault> {
    let expected = "three numbers of bytes that do not fall: least, initial and largest";
    let values = match &setting.item.value {
        Value::String(text) => {
            let number = |n: &str| n.parse().ok().filter(|n| (1..=MAX_BUFFER).contains(n));
            text.split_whitespace().map(number).collect::<Option<Vec<u32>>>().unwrap_or_default()
        }
        _ => setting.list().iter().map(Field::value).collect::<Result<Vec<u32>, Fault>>()?,
    };
    match values[..] {
        [least, initial, largest] if least <= initial && initial <= largest => Ok([least, initial, largest]),
        _ => Err(setting.wrong(expected)),
    }
}
