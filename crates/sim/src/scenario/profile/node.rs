//! The `tcp` table of a node: TCP settings that have no `sysctl`.

use stillair_model::transport::tcp::config::{LimitOutput, PacingBase};

use super::super::contract::{Form, Key, Shape};
use super::super::document::Value;
use super::super::error::Fault;
use super::super::reader::Field;
use super::kernel::Profile;
use super::memory::MAX_BUFFER;
use super::tcp::{CAP, EXCEPTION};

/// What a node sets of TCP that no sysctl does.
pub(super) static SHAPE: Shape = Shape {
    title: "TCP of a node",
    about: "What no `sysctl` sets.",
    groups: &[&[
        Key::open(
            "tsq",
            Form::Choice(&["off", "on"]),
            "the kernel's: on in Linux",
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
            "wifi_pacing_shift",
            Form::Integer(4, 20),
            "the kernel's: 7 since 2019",
            "a socket over Wi-Fi may have data of 1/2^shift s at its pacing rate below it, and in one packet, as the driver sets it (`tx_sk_pacing_shift`); not with `tsq_period`",
        ),
        Key::open(
            "tsq_cap",
            Form::Written {
                words: "`fixed` (3.6), `at_least` (3.12 to 3.18), `at_most` (3.19 to 4.20, since 6.16) or \
                        `at_most_unless_paced` (5.0 to 6.15), and behind it the bytes, if they are not those of \
                        `net.ipv4.tcp_limit_output_bytes`",
                pattern: r"^(fixed|at_least|at_most|at_most_unless_paced)( [0-9]+)?$",
                examples: &["fixed 131072", "at_most"],
            },
            "the kernel's",
            "what the byte limit of small queues is to the limit by rate and by packets",
        ),
        Key::open(
            "tsq_min_packets",
            Form::Integer(0, 8),
            "the kernel's: 2 since 3.19",
            "least limit of small queues in packets of the size at hand",
        ),
        Key::open(
            "tsq_by_rate",
            Form::Boolean,
            "true",
            "the limit of small queues grows with the pacing rate (since 3.12)",
        ),
        Key::open(
            "tsq_exception",
            Form::Choice(&["never", "first_of_write_queue", "empty_rtx_queue", "at_most_one_in_rtx_queue"]),
            "the kernel's",
            "exception to the limit: never (before 4.10); for the first two packets of the write queue (4.10 to 4.14); if nothing is unacknowledged, or at most one packet",
        ),
        Key::open(
            "tsq_retransmissions",
            Form::Boolean,
            "the kernel's: true since 4.9",
            "the limit holds for retransmissions too, doubled",
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
        Key::open(
            "initcwnd",
            Form::Integer(1, 1000),
            "the kernel's: 10 in Linux",
            "initial window in segments (`ip route ... initcwnd`)",
        ),
        Key::open(
            "rto_min",
            Form::Period,
            "the kernel's: 200 ms in Linux",
            "least retransmission timeout (`ip route ... rto_min`)",
        ),
        Key::open(
            "max_header",
            Form::Bytes(128, 512),
            "the kernel's: 304 or 320 bytes in distributions' kernels",
            "room for all headers before TCP's data (MAX_TCP_HEADER): 256 bytes or less in a kernel built without Wi-Fi or tunnels",
        ),
        Key::open(
            "push_each_packet",
            Form::Boolean,
            "the kernel's: true since Linux 5.4",
            "each packet of several segments bears PSH. Where the receiver's kernel heeds that (Debian's 6.1, and 6.6 on), one of an odd number of segments takes an \
             acknowledgement more",
        ),
        Key::open(
            "hz",
            Form::Integer(100, 1000),
            "the kernel's",
            "ticks of the kernel's clock in a second (CONFIG_HZ)",
        ),
    ]],
};

/// Reads a node's `tcp` table.
pub(super) fn read(profile: &mut Profile, field: &Field<'_>) -> Result<(), Fault> {
    let mut section = field.section("a table")?;
    let t = &mut profile.tcp;
    t.small_queues.off =
        section.or_by("tsq", t.small_queues.off, |f| f.choice(&[("off", true), ("on", false)]))?;
    if t.small_queues.off && section.has("tsq") {
        // What a period changes of the size of packets stays.
        for key in
            ["tsq_bytes", "tsq_cap", "tsq_min_packets", "tsq_by_rate", "tsq_exception", "tsq_retransmissions"]
        {
            section.idle(key, "with tsq = \"off\"", "tsq = \"on\", or none of its limits")?;
        }
    }
    if let Some(field) = section.get("tsq_bytes") {
        // paper: towards-1ms sec. IV - BTSQ: a constant number of bytes.
        if section.has("tsq_period") {
            return Err(field.wrong("it without tsq_period"));
        }
        if section.has("tsq_cap") {
            return Err(field.wrong("it without tsq_cap"));
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
    if let Some(field) = section.get("wifi_pacing_shift") {
        // linux: net/mac80211/main.c ieee80211_alloc_hw_nm, net/mac80211/tx.c ieee80211_subif_start_xmit (5.4) - a field of the hardware, which drivers set.
        if section.has("tsq_period") {
            return Err(field.wrong("it without tsq_period"));
        }
        profile.wifi_pacing_shift = field.value()?;
    }
    if let Some(field) = section.get("tsq_cap") {
        let expected = "fixed, at_least, at_most or at_most_unless_paced, and behind it the bytes, such as \"fixed 131072\"";
        let mut words = field.text(expected)?.split(' ');
        let kind = words.next().and_then(|word| CAP.iter().find(|(name, _)| *name == word));
        let bytes = words.next().map(|n| n.parse().ok().filter(|n| (1..=MAX_BUFFER).contains(n)));
        let (Some((_, cap)), None, None | Some(Some(_))) = (kind, words.next(), bytes) else {
            return Err(field.wrong(expected));
        };
        t.small_queues.cap = *cap;
        t.limit_output_bytes = bytes.flatten().unwrap_or(t.limit_output_bytes);
    }
    let rule = &mut t.small_queues;
    rule.min_packets = section.or("tsq_min_packets", rule.min_packets)?;
    rule.by_rate = section.or("tsq_by_rate", rule.by_rate)?;
    rule.exception = section.or_by("tsq_exception", rule.exception, |f| f.choice(&EXCEPTION))?;
    rule.retransmissions = section.or("tsq_retransmissions", rule.retransmissions)?;
    t.pacing_base = section.or_by("pacing_base", PacingBase::Srtt, |f| {
        f.choice(&[("srtt", PacingBase::Srtt), ("base_rtt", PacingBase::BaseRtt)])
    })?;
    t.init_cwnd = section.or("initcwnd", t.init_cwnd)?;
    t.rto_min = section.or("rto_min", t.rto_min)?;
    t.max_header = section.or("max_header", t.max_header)?;
    t.push_each_packet = section.or("push_each_packet", t.push_each_packet)?;
    t.hz = section.or("hz", t.hz)?;
    section.finish()
}
