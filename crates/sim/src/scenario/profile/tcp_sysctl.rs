//! TCP keys of the `sysctl` table.

use stillair_model::transport::cc;
use stillair_model::transport::tcp::config::{EarlyRetransmit, LossDetection, RackBeside};
use stillair_model::types::Duration;

use super::super::control::CongestionControl;
use super::super::custom;
use super::super::description::{Family, Key, ValueType};
use super::super::document::Value;
use super::super::error::Diagnostic;
use super::super::reader::Field;
use super::kernel::Profile;
use super::memory::MAX_BUFFER;

/// Congestion controls newer than the oldest supported kernel, with their first release.
// linux: net/ipv4/Kconfig TCP_CONG_NV (4.8), TCP_CONG_BBR (4.9).
const SINCE: [(&str, (u16, u16)); 2] = [("nv", (4, 8)), ("bbr", (4, 9))];

/// The first kernel without FACK; its sysctl remained.
// linux: net/ipv4/sysctl_net_ipv4.c tcp_fack (4.15); commit 713bafea9292.
const FACK_GONE: (u16, u16) = (4, 15);

/// A congestion control.
pub(in super::super) const CONTROL: ValueType = ValueType::Part(
    Family::Control,
    &ValueType::Listed { title: "congestion_control", words: "a congestion control", names },
);

/// Minimum, initial and maximum size of a buffer.
const BUFFER_SIZES: ValueType = ValueType::Either(&[
    ValueType::Written {
        words: "three numbers as `sysctl` prints them",
        pattern: r"^[0-9]+\s+[0-9]+\s+[0-9]+$",
        examples: &["4096 16384 4194304"],
    },
    ValueType::List(&ValueType::Bytes(1, MAX_BUFFER)),
]);

/// Supported TCP settings of `net.ipv4`.
pub(super) const SETTINGS: &[Key] = &[
    Key::open(
        "net.ipv4.tcp_congestion_control",
        CONTROL,
        "cubic",
        "congestion control of flows that name none",
    ),
    Key::open(
        "net.ipv4.tcp_limit_output_bytes",
        ValueType::Bytes(1, MAX_BUFFER),
        "the kernel's",
        "byte limit of TCP small queues",
    ),
    Key::open(
        "net.ipv4.tcp_pacing_ss_ratio",
        ValueType::Integer(1, 1000),
        "200",
        "pacing in slow start, per cent",
    ),
    Key::open(
        "net.ipv4.tcp_pacing_ca_ratio",
        ValueType::Integer(1, 1000),
        "120; 200 before 4.3",
        "pacing in congestion avoidance, per cent",
    ),
    Key::open(
        "net.ipv4.tcp_min_tso_segs",
        ValueType::Integer(1, 65_535),
        "2",
        "least segments in a TSO packet",
    ),
    Key::open(
        "net.ipv4.tcp_tso_rtt_log",
        ValueType::Integer(0, 31),
        "the kernel's",
        "larger TSO packets at small round-trip times; 0 is off",
    ),
    Key::open(
        "net.ipv4.tcp_tso_win_divisor",
        ValueType::Integer(0, 64),
        "3",
        "part of the window that one TSO packet may take",
    ),
    Key::open(
        "net.ipv4.tcp_notsent_lowat",
        ValueType::Bytes(1, u32::MAX),
        "no limit",
        "unsent bytes that a socket takes",
    ),
    Key::open(
        "net.ipv4.tcp_ecn",
        ValueType::Integer(0, 2),
        "2",
        "ECN: 0 off, 1 asked for, 2 granted when asked for",
    ),
    Key::open("net.ipv4.tcp_sack", ValueType::Integer(0, 1), "1", "selective acknowledgements"),
    Key::open("net.ipv4.tcp_dsack", ValueType::Integer(0, 1), "1", "duplicate SACKs"),
    Key::open("net.ipv4.tcp_timestamps", ValueType::Integer(0, 1), "1", "time stamps"),
    Key::open(
        "net.ipv4.tcp_recovery",
        ValueType::Integer(0, 7),
        "1",
        "1: RACK, in the way of the kernel (alone since 4.18, beside counting before); 2 more: a reordering window that D-SACKs do not widen (since 4.15); 4 more: one that does not vanish with three SACKed segments (since 4.18)",
    ),
    Key::open(
        "net.ipv4.tcp_fack",
        ValueType::Integer(0, 1),
        "1 before 4.11, 0 since",
        "counting goes by the most forward SACK, until packets overtake each other; without effect since 4.15",
    ),
    Key::open(
        "net.ipv4.tcp_early_retrans",
        ValueType::Integer(0, 4),
        "3",
        "tail-loss probes: 3 or 4 on, 0 to 2 off; before 4.11 also early retransmit: 1 at once, 2 or 3 after a wait, 0 or 4 off",
    ),
    Key::open("net.ipv4.tcp_reordering", ValueType::Integer(1, 300), "3", "initial reordering in segments"),
    Key::open(
        "net.ipv4.tcp_max_reordering",
        ValueType::Integer(1, 300_000),
        "300",
        "most reordering in segments that is believed",
    ),
    Key::open(
        "net.ipv4.tcp_min_rtt_wlen",
        ValueType::Integer(1, 86_400),
        "300",
        "seconds after which a minimum round-trip time is forgotten",
    ),
    Key::open("net.ipv4.tcp_window_scaling", ValueType::Integer(0, 1), "1", "windows beyond 64 KiB"),
    Key::open(
        "net.core.rmem_max",
        ValueType::Bytes(2304, MAX_BUFFER),
        "212992",
        "largest receive buffer that an application may ask for; here it only takes part in the choice of the window's scale",
    ),
    Key::open(
        "net.ipv4.tcp_autocorking",
        ValueType::Integer(0, 1),
        "1",
        "small last packets wait for more data",
    ),
    Key::open("net.ipv4.tcp_frto", ValueType::Integer(0, 2), "2", "F-RTO: 0 off"),
    Key::open(
        "net.ipv4.tcp_slow_start_after_idle",
        ValueType::Integer(0, 1),
        "1",
        "the congestion window shrinks after an idle time",
    ),
    Key::open(
        "net.ipv4.tcp_no_metrics_save",
        ValueType::Integer(0, 1),
        "0",
        "TCP metrics are not saved for the next connection between the same addresses",
    ),
    Key::open(
        "net.ipv4.tcp_no_ssthresh_metrics_save",
        ValueType::Integer(0, 1),
        "1; 0 before 5.6",
        "the threshold of slow start is not",
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
    Key::open("net.ipv4.tcp_moderate_rcvbuf", ValueType::Integer(0, 1), "1", "receive buffer autotuning"),
    Key::open(
        "net.ipv4.tcp_adv_win_scale",
        ValueType::Integer(-31, 31),
        "1",
        "part of the receive buffer that is overhead; without effect since 6.6",
    ),
    Key::open(
        "net.ipv4.tcp_comp_sack_nr",
        ValueType::Integer(0, 255),
        "the kernel's",
        "maximum number of SACKs that one replaces; 0: off",
    ),
    Key::open(
        "net.ipv4.tcp_comp_sack_delay_ns",
        ValueType::Integer(0, 1_000_000_000),
        "1000000",
        "longest wait for them",
    ),
    Key::open(
        "net.ipv4.tcp_comp_sack_slack_ns",
        ValueType::Integer(0, 1_000_000_000),
        "the kernel's",
        "slack of that wait",
    ),
];

fn names() -> Vec<String> {
    cc::NAMES.iter().map(|&name| name.to_owned()).collect()
}

/// Returns the reason why a setting has no effect in this kernel or with the other settings, and a setting
/// that would have one.
pub(super) fn idle(profile: &Profile, name: &str) -> Option<(&'static str, &'static str)> {
    let since = |version| profile.version.is_some_and(|own| own >= version);
    let none = "no such setting";
    match name {
        "net.ipv4.tcp_fack" if since(FACK_GONE) => Some(("since Linux 4.15, which has no FACK", none)),
        // linux: net/ipv4/tcp_input.c tcp_clamp_window, include/net/tcp.h tcp_win_from_space (6.6) - uses the
        // measured truesize ratio.
        "net.ipv4.tcp_adv_win_scale" if since((6, 6)) => {
            Some(("since Linux 6.6, which measures what packets weigh", none))
        }
        "net.ipv4.tcp_comp_sack_delay_ns" | "net.ipv4.tcp_comp_sack_slack_ns"
            if profile.tcp.comp_sack_nr == 0 =>
        {
            Some(("while no SACK is held back", "net.ipv4.tcp_comp_sack_nr above 0 beside it"))
        }
        _ => None,
    }
}

/// Applies the setting `name`. Returns false if it is not a TCP setting.
pub(super) fn apply(profile: &mut Profile, name: &str, setting: &Field<'_>) -> Result<bool, Diagnostic> {
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
            // linux: include/net/tcp.h TCP_RACK_LOST_RETRANS (4.4), TCP_RACK_LOSS_DETECTION (4.11),
            // TCP_RACK_STATIC_REO_WND (4.15), TCP_RACK_NO_DUPTHRESH (4.18) - with the first bit clear, a
            // kernel falls back to counting duplicate ACKs.
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
        // linux: net/ipv4/tcp_input.c tcp_pause_early_retransmit, net/ipv4/tcp_output.c
        // tcp_schedule_loss_probe (4.4).
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
        "net.ipv4.tcp_no_metrics_save" => t.no_metrics_save = flag()?,
        "net.ipv4.tcp_no_ssthresh_metrics_save" => t.no_ssthresh_metrics_save = flag()?,
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

/// Returns a congestion control that the kernel `version` has, or a user-defined one. Systems other than
/// Linux accept any.
pub(in super::super) fn controller(
    field: &Field<'_>,
    version: Option<(u16, u16)>,
) -> Result<CongestionControl, Diagnostic> {
    if let Value::Table(table) = &field.item.value
        && !field.kinds().is_empty()
    {
        if let Some(Value::String(kind)) = table.get("kind").map(|kind| &kind.value)
            && cc::NAMES.contains(&kind.as_str())
        {
            let expected = format!("{kind:?} alone: its parameters are those of the node's `module`");
            return Err(field.found(format!("a table of {kind:?}"), expected));
        }
        let (name, section) = field.kind_table("a congestion control, or a table of its kind and options")?;
        let part = field.parts.find_control(name).expect("it is one of its kinds");
        return custom::read(part, field, Some(section)).map(CongestionControl::Custom);
    }
    let names: Vec<(&str, &'static str)> =
        cc::NAMES.iter().copied().chain(field.kinds()).map(|name| (name, name)).collect();
    let name = field.choice(&names)?;
    if let Some(part) = field.parts.find_control(name) {
        return custom::read(part, field, None).map(CongestionControl::Custom);
    }
    if let Some(version) = version
        && let Some((_, since)) = SINCE.iter().find(|(of, since)| *of == name && version < *since)
    {
        let found = format!("{name:?} on Linux {}.{}", version.0, version.1);
        let expected = format!("a congestion control that it has: {name} came with {}.{}", since.0, since.1);
        return Err(field.found(found, expected));
    }
    Ok(CongestionControl::BuiltIn(name))
}

/// Reads the minimum, initial and maximum size of a buffer: a list of three, or text with three numbers as
/// printed by `sysctl`.
fn three(setting: &Field<'_>) -> Result<[u32; 3], Diagnostic> {
    let expected = "three numbers of bytes that do not fall: least, initial and largest";
    let values = match &setting.item.value {
        Value::String(text) => {
            let number = |n: &str| n.parse().ok().filter(|n| (1..=MAX_BUFFER).contains(n));
            text.split_whitespace().map(number).collect::<Option<Vec<u32>>>().unwrap_or_default()
        }
        _ => setting.list().iter().map(Field::value).collect::<Result<Vec<u32>, Diagnostic>>()?,
    };
    match values[..] {
        [least, initial, largest] if least <= initial && initial <= largest => Ok([least, initial, largest]),
        _ => Err(setting.wrong(expected)),
    }
}
