//! Congestion control parameters, under the names of the kernel modules.

use stillair_model::transport::cc::hystart::DelayClock;

use super::super::description::{Key, ValueType};
use super::super::error::Diagnostic;
use super::super::reader::Field;
use super::kernel::Profile;

/// Windows and thresholds in segments.
const SEGMENTS: ValueType = ValueType::Integer(0, 1 << 20);

/// Parameters by name.
// linux: net/ipv4/tcp_cubic.c, tcp_hybla.c, tcp_illinois.c, tcp_nv.c, tcp_vegas.c module_param (6.1) - only
// three of New Vegas' fifteen numbers are parameters.
pub(super) const SETTINGS: &[&[Key]] = &[&[
    Key::or(
        "tcp_cubic.fast_convergence",
        ValueType::Integer(0, 1),
        "1",
        "release bandwidth faster after a second loss",
    ),
    Key::or(
        "tcp_cubic.beta",
        ValueType::Integer(1, 1023),
        "717",
        "what a loss leaves of the window, in 1/1024",
    ),
    Key::or(
        "tcp_cubic.initial_ssthresh",
        SEGMENTS,
        "0",
        "threshold in segments at first, without HyStart; 0: none",
    ),
    Key::or("tcp_cubic.bic_scale", ValueType::Integer(1, 10_000), "41", "the constant C times 102.4"),
    Key::or("tcp_cubic.tcp_friendliness", ValueType::Integer(0, 1), "1", "grow at least as Reno would"),
    Key::or(
        "tcp_cubic.hystart",
        ValueType::Integer(0, 1),
        "1",
        "HyStart: slow start ends before the queue overflows",
    ),
    Key::or(
        "tcp_cubic.hystart_detect",
        ValueType::Integer(1, 3),
        "3",
        "1: by trains of acknowledgements, 2: by delay, 3: by both",
    ),
    Key::or(
        "tcp_cubic.hystart_low_window",
        SEGMENTS,
        "16",
        "window in segments below which HyStart does nothing",
    ),
    Key::or(
        "tcp_cubic.hystart_ack_delta",
        ValueType::Integer(0, 1000),
        "2",
        "gap in ms that ends a train (before 5.6)",
    ),
    Key::or(
        "tcp_cubic.hystart_ack_delta_us",
        ValueType::Integer(0, 1_000_000),
        "2000",
        "gap in us that ends a train (5.6 on)",
    ),
    Key::or("tcp_hybla.rtt0", ValueType::Integer(1, 60_000), "25", "round-trip time of reference in ms"),
    Key::or("tcp_illinois.win_thresh", SEGMENTS, "15", "window in segments from which on delay counts"),
    Key::or(
        "tcp_illinois.theta",
        ValueType::Integer(0, 1000),
        "5",
        "round trips of low delay before growth is at its fastest again",
    ),
    Key::or("tcp_nv.nv_pad", SEGMENTS, "10", "segments that may be queued"),
    Key::or(
        "tcp_nv.nv_reset_period",
        ValueType::Integer(1, 3_600),
        "5",
        "seconds after which the least round-trip time is that of the last such time",
    ),
    Key::or("tcp_nv.nv_min_cwnd", SEGMENTS, "2", "window in segments below which delay does not bring it"),
    Key::or("tcp_vegas.alpha", SEGMENTS, "2", "segments in queues below which the window grows"),
    Key::or("tcp_vegas.beta", SEGMENTS, "4", "segments in queues above which it shrinks"),
    Key::or("tcp_vegas.gamma", SEGMENTS, "1", "segments in queues above which slow start ends"),
]];

/// Returns the reason why a module parameter has no effect with the others, and a setting that would have
/// one.
// linux: net/ipv4/tcp_cubic.c bictcp_init, bictcp_acked, hystart_update (6.1).
pub(super) fn idle(profile: &Profile, name: &str) -> Option<(&'static str, &'static str)> {
    let hystart = &profile.cc.cubic.hystart;
    let trains = hystart.hystart_detect & 1 != 0;
    match name {
        "tcp_cubic.initial_ssthresh" if hystart.hystart && profile.cc.cubic.initial_ssthresh > 0 => {
            Some(("while HyStart is on", "tcp_cubic.hystart = 0 beside it"))
        }
        "tcp_cubic.hystart_detect"
        | "tcp_cubic.hystart_low_window"
        | "tcp_cubic.hystart_ack_delta"
        | "tcp_cubic.hystart_ack_delta_us"
            if !hystart.hystart =>
        {
            Some(("while HyStart is off", "tcp_cubic.hystart = 1, or none of its parameters"))
        }
        "tcp_cubic.hystart_ack_delta" | "tcp_cubic.hystart_ack_delta_us" if !trains => {
            Some(("while HyStart does not look at trains", "tcp_cubic.hystart_detect of 1 or 3"))
        }
        _ => None,
    }
}

/// Applies the parameter `name`.
pub(super) fn apply(profile: &mut Profile, name: &str, setting: &Field<'_>) -> Result<(), Diagnostic> {
    let flag = || setting.value::<u8>().map(|n| n != 0);
    let cc = &mut profile.cc;
    let cubic = &mut cc.cubic;
    let in_ms = cubic.hystart.rules.clock == DelayClock::Millis;
    // linux: net/ipv4/tcp_cubic.c hystart_ack_delta (5.5), hystart_ack_delta_us (5.6).
    let renamed =
        |known: &str| setting.found("a parameter of other kernels", format!("{known:?} on this one"));
    match name {
        "tcp_cubic.fast_convergence" => cubic.fast_convergence = flag()?,
        "tcp_cubic.beta" => cubic.beta = setting.value()?,
        "tcp_cubic.initial_ssthresh" => cubic.initial_ssthresh = setting.value()?,
        "tcp_cubic.bic_scale" => cubic.bic_scale = setting.value()?,
        "tcp_cubic.tcp_friendliness" => cubic.tcp_friendliness = flag()?,
        "tcp_cubic.hystart" => cubic.hystart.hystart = flag()?,
        "tcp_cubic.hystart_detect" => cubic.hystart.hystart_detect = setting.value()?,
        "tcp_cubic.hystart_low_window" => cubic.hystart.hystart_low_window = setting.value()?,
        "tcp_cubic.hystart_ack_delta" if in_ms => {
            cubic.hystart.hystart_ack_delta_us = 1_000 * setting.value::<u32>()?;
        }
        "tcp_cubic.hystart_ack_delta" => return Err(renamed("tcp_cubic.hystart_ack_delta_us")),
        "tcp_cubic.hystart_ack_delta_us" if in_ms => return Err(renamed("tcp_cubic.hystart_ack_delta")),
        "tcp_cubic.hystart_ack_delta_us" => cubic.hystart.hystart_ack_delta_us = setting.value()?,
        "tcp_hybla.rtt0" => cc.hybla.rtt0 = setting.value()?,
        "tcp_illinois.win_thresh" => cc.illinois.win_thresh = setting.value()?,
        "tcp_illinois.theta" => cc.illinois.theta = setting.value()?,
        "tcp_nv.nv_pad" => cc.nv.pad = setting.value()?,
        "tcp_nv.nv_reset_period" => cc.nv.reset_period = setting.value()?,
        "tcp_nv.nv_min_cwnd" => cc.nv.min_cwnd = setting.value()?,
        "tcp_vegas.alpha" => cc.vegas.alpha = setting.value()?,
        "tcp_vegas.beta" => cc.vegas.beta = setting.value()?,
        "tcp_vegas.gamma" => cc.vegas.gamma = setting.value()?,
        _ => unreachable!("{name} is described and not read"),
    }
    Ok(())
}
