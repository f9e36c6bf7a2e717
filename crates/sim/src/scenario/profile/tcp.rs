//! TCP's part of a kernel: the `[tcp]` table of its data file, the settings that `sysctl` knows, and the node's `tcp`
//! table for what it does not.

use stillair_model::transport::cc::{self, bbr::BbrParams};
use stillair_model::transport::tcp::config::{
    Exception, LimitOutput, LossDetection, PacingBase, SmallQueues, TcpConfig,
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
const CAP: [(&str, LimitOutput); 4] = [
    ("fixed", LimitOutput::Fixed),
    ("at_least", LimitOutput::AtLeast),
    ("at_most", LimitOutput::AtMost),
    ("at_most_unless_paced", LimitOutput::AtMostUnlessPaced),
];
const EXCEPTION: [(&str, Exception); 4] = [
    ("never", Exception::Never),
    ("first_of_write_queue", Exception::FirstOfWriteQueue),
    ("empty_rtx_queue", Exception::EmptyRtxQueue),
    ("at_most_one_in_rtx_queue", Exception::AtMostOneInRtxQueue),
];

/// TCP in a kernel's data file.
pub(super) static FILE: Shape = Shape {
    title: "TCP of a kernel",
    about: "What TCP does by default.",
    groups: &[&[
        Key::need("hz", Form::Integer(100, 1000), "ticks in a second (CONFIG_HZ)"),
        Key::need("loss", Form::Choice(&["rack", "dupack", "fack"]), "how losses are found"),
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
        Key::need("comp_sack_nr", Form::Integer(0, 255), "tcp_comp_sack_nr"),
        Key::need("comp_sack_slack", Form::Time, "tcp_comp_sack_slack_ns"),
        Key::need("bbr_pacing_margin_percent", Form::Integer(0, 99), "how far BBR paces below the bandwidth"),
        Key::need("bbr_extra_acked", Form::Boolean, "BBR has room for aggregated acknowledgements"),
    ]],
};

/// Reads the `[tcp]` table of a kernel's data file.
pub(super) fn load(field: &Field<'_>, truesize: u32) -> Result<(TcpConfig, u8, BbrParams), Fault> {
    let mut t = field.section("a table")?;
    let n = "a value";
    let config = TcpConfig {
        hz: t.need("hz", n)?.value()?,
        advmss: MTU - HEADERS,
        timestamps: true,
        sack: true,
        dsack: true,
        ecn: 2,
        loss: t.need("loss", n)?.choice(&LOSS)?,
        tail_loss_probe: true,
        reordering: 3,
        slow_start_after_idle: true,
        frto: true,
        init_cwnd: 10,
        pacing_ss_ratio: 200,
        pacing_ca_ratio: 120,
        pacing_base: PacingBase::Srtt,
        pacing_shift: 10,
        fq: false,
        small_queues: SmallQueues {
            off: false,
            min_packets: t.need("small_queues_min_packets", n)?.value()?,
            by_rate: t.need("small_queues_by_rate", n)?.value()?,
            rate_multiple: 1,
            cap: t.need("small_queues_cap", n)?.choice(&CAP)?,
            exception: t.need("small_queues_exception", n)?.choice(&EXCEPTION)?,
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
        rmem: [4096, t.need("rmem_default", n)?.value()?, 6_291_456],
        adv_win_scale: 1,
        moderate_rcvbuf: true,
        notsent_lowat: u32::MAX,
        rto_min: Duration::from_millis(200),
        delack_min: Duration::from_millis(40),
        delack_max: Duration::from_millis(200),
        comp_sack_delay: Duration::from_millis(1),
        comp_sack_nr: t.need("comp_sack_nr", n)?.value()?,
        comp_sack_slack: t.need("comp_sack_slack", n)?.value()?,
    };
    let wifi_pacing_shift = t.need("wifi_pacing_shift", n)?.value()?;
    let usual = BbrParams::default();
    let extra_acked: bool = t.need("bbr_extra_acked", n)?.value()?;
    let bbr = BbrParams {
        pacing_margin_percent: t.need("bbr_pacing_margin_percent", n)?.value()?,
        extra_acked_gain: if extra_acked { usual.extra_acked_gain } else { 0 },
        ..usual
    };
    t.finish()?;
    Ok((config, wifi_pacing_shift, bbr))
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
        Form::Integer(0, 1),
        "the kernel's",
        "1: RACK finds losses; 0: duplicate ACKs do",
    ),
    Key::open("net.ipv4.tcp_early_retrans", Form::Integer(0, 4), "3", "tail-loss probes: 3 or 4 on, 0 off"),
    Key::open("net.ipv4.tcp_reordering", Form::Integer(1, 300), "3", "initial reordering in segments"),
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
        "4096, 131072, 6291456",
        "receive buffer: least, initial, largest",
    ),
    Key::open("net.ipv4.tcp_moderate_rcvbuf", Form::Integer(0, 1), "1", "the receive buffer grows by itself"),
    Key::open(
        "net.ipv4.tcp_adv_win_scale",
        Form::Integer(-31, 31),
        "1",
        "part of the receive buffer that is overhead",
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

fn names() -> Vec<String> {
    cc::NAMES.iter().map(|&name| name.to_owned()).collect()
}

/// Sets what TCP knows as `name`; false if it is none of TCP's.
pub(super) fn apply(profile: &mut Profile, name: &str, setting: &Field<'_>) -> Result<bool, Fault> {
    let t = &mut profile.tcp;
    let flag = || setting.value::<u8>().map(|n| n != 0);
    match name {
        "net.ipv4.tcp_congestion_control" => profile.congestion_control = controller(setting)?,
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
            t.loss = if flag()? { LossDetection::RackTlp } else { LossDetection::DupAck };
        }
        "net.ipv4.tcp_early_retrans" => t.tail_loss_probe = setting.value::<u8>()? >= 3,
        "net.ipv4.tcp_reordering" => t.reordering = setting.value()?,
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

/// The name of a congestion control, as the model has it.
pub(in super::super) fn controller(field: &Field<'_>) -> Result<&'static str, Fault> {
    let names: Vec<(&str, &'static str)> = cc::NAMES.iter().map(|&name| (name, name)).collect();
    field.choice(&names)
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

/// What a node sets of TCP that no sysctl does.
pub(super) static NODE: Shape = Shape {
    title: "TCP of a node",
    about: "What no `sysctl` sets.",
    groups: &[&[
        Key::open(
            "tsq",
            Form::Choice(&["off", "on"]),
            "on",
            "TCP small queues: `off` takes every limit away, as a patched kernel does",
        ),
        Key::open(
            "tsq_period",
            Form::Written {
                words: "a whole number of ms from 1 to 64, such as `2 ms`",
                pattern: r"^[0-9]+ ms$",
                examples: &["1 ms", "8 ms"],
            },
            "1 ms, or what the Wi-Fi driver asks for",
            "data of how long at the pacing rate a socket may have below it (1 ms: 1/1024 s, as the kernel counts)",
        ),
        Key::open(
            "tsq_bytes",
            Form::Bytes(4096, 1 << 30),
            "by the pacing rate",
            "bytes of memory that a socket may have below it whatever its rate, as a patched kernel has it; not with `tsq_period`",
        ),
        Key::or(
            "pacing_base",
            Form::Choice(&["srtt", "base_rtt"]),
            "srtt",
            "round-trip time that the pacing rate is computed from: the smoothed one, as Linux does, or the flow's minimum",
        ),
        Key::or(
            "initcwnd",
            Form::Integer(1, 1000),
            "10",
            "initial window in segments (`ip route ... initcwnd`)",
        ),
        Key::or("rto_min", Form::Period, "200 ms", "least retransmission timeout (`ip route ... rto_min`)"),
        Key::open(
            "hz",
            Form::Integer(100, 1000),
            "the kernel's",
            "ticks of the kernel's clock in a second (CONFIG_HZ)",
        ),
    ]],
};

/// Reads a node's `tcp` table.
pub(super) fn node(profile: &mut Profile, field: &Field<'_>) -> Result<(), Fault> {
    let mut section = field.section("a table")?;
    let t = &mut profile.tcp;
    t.small_queues.off = section.or_by("tsq", false, |f| f.choice(&[("off", true), ("on", false)]))?;
    if let Some(field) = section.get("tsq_bytes") {
        // paper: towards-1ms sec. IV - BTSQ: a constant number of bytes.
        if section.has("tsq_period") {
            return Err(field.wrong("it without tsq_period"));
        }
        t.limit_output_bytes = field.value()?;
        t.small_queues.cap = LimitOutput::Fixed;
    }
    if let Some(period) = section.get("tsq_period") {
        let expected = "a whole number of ms from 1 to 64, such as \"2 ms\"";
        let wrong = || period.wrong(expected);
        let Value::String(text) = &period.item.value else { return Err(wrong()) };
        let ms = text.strip_suffix(" ms").and_then(|n| n.parse().ok()).filter(|n| (1..=64).contains(n));
        t.small_queues.rate_multiple = ms.ok_or_else(wrong)?;
        // A period that is asked for is meant literally, whatever the driver would ask for.
        // paper: tsq-pacing IV-B - patched kernels, on Wi-Fi too.
        profile.wifi_pacing_shift = t.pacing_shift;
    }
    t.pacing_base = section.or_by("pacing_base", PacingBase::Srtt, |f| {
        f.choice(&[("srtt", PacingBase::Srtt), ("base_rtt", PacingBase::BaseRtt)])
    })?;
    t.init_cwnd = section.or("initcwnd", t.init_cwnd)?;
    t.rto_min = section.or("rto_min", t.rto_min)?;
    t.hz = section.or("hz", t.hz)?;
    section.finish()
}
