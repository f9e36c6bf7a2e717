//! QUIC flows: a preset, with each part that the scenario changes.

use stillair_model::transport::cc::NAMES;
use stillair_model::transport::quic::ack_policy::{AckParams, Decimation};
use stillair_model::transport::quic::handshake::HandshakeParams;
use stillair_model::transport::quic::pacer::PacerParams;
use stillair_model::transport::quic::window::{Growth, WindowParams};
use stillair_model::transport::quic::{HostCost, Preset, QuicConfig};
use stillair_model::vocabulary::Duration;

use super::super::CongestionControl;
use super::super::contract::{Family, Form, Key, Shape};
use super::super::custom;
use super::super::document::Value;
use super::super::error::{Fault, Mistakes};
use super::super::quic::{QuicFlow, QuicLoad};
use super::super::quinn::{QuicStack, QuinnControl};
use super::super::reader::{Field, Section};
use super::super::spec::flow::quinn::{self, Stack};
use super::super::spec::{Domain as _, Place};
use super::{mark, page};

const PRESETS: [&str; 7] = [
    "chromium39",
    "chromium39-strict",
    "bquic39",
    "bquic39-ack",
    "bquic39-nopace",
    "chromium-now",
    "rfc9002",
];
const GROWTHS: [(&str, Growth); 3] =
    [("cubic", Growth::Cubic), ("reno", Growth::Reno), ("rfc9002", Growth::Rfc9002)];
/// A congestion control: the model's, or one of TCP's.
const CONTROL: Form = Form::Part(
    Family::QuicControl,
    &Form::Listed {
        title: "quic-congestion_control",
        words: "`\"cubic\"`, `\"reno\"`, `\"rfc9002\"`, or `tcp_` and a congestion control of TCP's",
        names: || {
            let tcp = NAMES.iter().map(|name| format!("{OF_TCP}{name}"));
            GROWTHS.iter().map(|(name, _)| (*name).to_owned()).chain(tcp).collect()
        },
    },
);

/// What stands before the name of one of TCP's.
const OF_TCP: &str = "tcp_";

const HANDSHAKES: [(&str, HandshakeParams); 2] =
    [("gquic", HandshakeParams::GQUIC), ("tls", HandshakeParams::TLS)];

const BY_PRESET: &str = "by `preset`";

const LOAD: &[Key] = &[
    Key::open("bytes", Form::Bytes(1, u32::MAX), "no limit", "bytes that are sent to each receiver"),
    Key::or("streams", Form::Integer(1, 1_000), "1", "streams that share them"),
    Key::or("request", Form::Bytes(1, 1 << 20), "100 B", "bytes of the client's request on each stream"),
    Key::or(
        "client",
        Form::Choice(&["receiver", "sender"]),
        "receiver",
        "the end that opens the connection: the receiver requests the data; the sender sends without a request",
    ),
    Key::open(
        "page",
        page::FORM,
        "no page",
        "a page that `to` loads from `from`, over a new connection each time: its list, then all objects at once, each on a \
         stream; instead of `bytes`",
    ),
    Key::or(
        "interval",
        Form::Times { least: "1 ms", most: None, why: "a load has a connection of its own" },
        "200 ms",
        "least time from the beginning of a page's load to that of the next, which begins at once where one takes longer",
    ),
];

const PARTS: &[Key] = &[
    Key::or("stack", Stack::FORM, "model", "what speaks QUIC at both ends; the parts below are the model's"),
    Key::or(
        "preset",
        Form::Choice(&PRESETS),
        "chromium39",
        "settings of both ends; each part may be set separately",
    ),
    Key::open("packet", Form::Bytes(600, 1_452), BY_PRESET, "UDP payload of a full packet"),
    Key::open("ack_every", Form::Integer(1, 1_000), BY_PRESET, "packets that one acknowledgement is for"),
    Key::open("ack_max_delay", Form::Time, BY_PRESET, "longest delay of an acknowledgement"),
    Key::open("ack_decimation", Form::Boolean, BY_PRESET, "fewer acknowledgements after the beginning"),
    Key::open("ack_count", Form::Integer(1, 1_000), BY_PRESET, "packets that one is for then"),
    Key::open("ack_gate", Form::Integer(0, 1_000_000), BY_PRESET, "packet number after which that is so"),
    Key::open(
        "ack_fraction",
        Form::Fraction,
        BY_PRESET,
        "longest delay then, as a part of the least round-trip time that the receiver has measured",
    ),
    Key::open("ack_min_delay", Form::Time, BY_PRESET, "but at least this"),
    Key::open("pacing", Form::Boolean, BY_PRESET, "packets are spread over the round trip"),
    Key::open(
        "pacing_burst",
        Form::Integer(0, 1_000),
        BY_PRESET,
        "packets without pacing at the beginning and after a pause",
    ),
    Key::open("pacing_horizon", Form::Time, BY_PRESET, "a packet that is due within this is sent at once"),
    Key::open(
        "pacing_gain_slow_start",
        Form::Integer(50, 1_000),
        BY_PRESET,
        "pacing rate in slow start, in percent of the window per round trip",
    ),
    Key::open("pacing_gain", Form::Integer(50, 1_000), BY_PRESET, "the same outside slow start"),
    Key::open("pacing_lumpy", Form::Integer(1, 100), BY_PRESET, "packets that are sent together"),
    Key::open(
        "congestion_control",
        CONTROL,
        BY_PRESET,
        "how the window grows: `cubic` in bytes, `reno` by packets, `rfc9002` is the RFC's NewReno. `tcp_` and the name of a congestion control \
         of TCP's, such as `tcp_vegas`, has that set the window in packets, with the parameters of its end's kernel, over the model's stack; \
         one that sets a rate itself, as `tcp_bbr` does, paces where `pacing` is on",
    ),
    Key::open("connections", Form::Integer(1, 10), BY_PRESET, "connections that the sender behaves as"),
    Key::open(
        "initial_window",
        Form::Bytes(1_200, 1 << 24),
        BY_PRESET,
        "first congestion window, at most `max_window`",
    ),
    Key::open(
        "max_window",
        Form::Bytes(2_700, 1 << 30),
        BY_PRESET,
        "greatest congestion window; a loss leaves two segments at least, of 1350 B with preset `rfc9002` and 1460 B with the others",
    ),
    Key::open("hystart", Form::Boolean, BY_PRESET, "slow start ends when delay grows"),
    Key::open("prr", Form::Boolean, BY_PRESET, "proportional rate reduction while losses are repaired"),
    Key::open(
        "stream_window",
        Form::Bytes(1 << 14, 1 << 28),
        BY_PRESET,
        "what a client lets be sent on a stream at first",
    ),
    Key::open("connection_window", Form::Bytes(1 << 14, 1 << 28), BY_PRESET, "and on the connection"),
    Key::open("handshake", Form::Choice(&["gquic", "tls"]), BY_PRESET, "two round trips, or one"),
    Key::or("certificates", Form::Bytes(1, 1 << 16), "4096 B", "the server's part of the handshake"),
];

const COSTS: &[Key] = &[
    Key::or(
        "send_cost",
        Form::Time,
        "0 s",
        "work of the sender's process for each datagram that it sends; it does one thing after the other. A server of 2018 leaves 30 us between datagrams that it does not pace (bquic sec. IV-C.3)",
    ),
    Key::or("receive_cost", Form::Time, "0 s", "and for each that it gets"),
    Key::or("timer_grain", Form::Time, "0 s", "its timers come after whole multiples of this, one at least"),
    Key::or(
        "peer_send_cost",
        Form::Time,
        "0 s",
        "CPU time of the receiver for each datagram that it sends, which is an acknowledgement if it only downloads",
    ),
    Key::or(
        "peer_receive_cost",
        Form::Time,
        "0 s",
        "its work for each datagram that it gets. docs/quic.md has what would give the clients of bquic Table III their throughput, 130 to 350 us for either",
    ),
    Key::or("peer_timer_grain", Form::Time, "0 s", "how coarse its timers are"),
];

pub(super) static SHAPE: Shape = Shape {
    title: "Flow of kind quic",
    about: "A transfer, or a page, over QUIC.",
    groups: &[&[Key::tag("kind", "quic")], mark::COMMON, LOAD, PARTS, COSTS],
};

/// Reads what is QUIC's own.
pub(super) fn read(section: &mut Section<'_>) -> Result<QuicFlow, Fault> {
    let mut faults = Mistakes::default();
    let stack = section.or_by("stack", QuicStack::Model, |field| {
        Ok(Stack::read(field, &mut faults)?.stack(&Place::of(field), &mut faults))
    })?;
    faults.or(())?;
    if let QuicStack::Quinn(options) = &stack {
        foreign(section, options.congestion_control)?;
    }
    let preset = section.or_by("preset", Preset::Chromium39, |field| field.choice(&Preset::ALL))?;
    let (config, law) = config(section, preset.config(), &stack)?;
    let load = load(section)?;
    let costs = [
        ["send_cost", "receive_cost", "timer_grain"],
        ["peer_send_cost", "peer_receive_cost", "peer_timer_grain"],
    ];
    let mut cost = |[send, receive, grain]: [&str; 3]| -> Result<HostCost, Fault> {
        Ok(HostCost {
            send: section.or(send, Duration::ZERO)?,
            receive: section.or(receive, Duration::ZERO)?,
            timer_grain: section.or(grain, Duration::ZERO)?,
        })
    };
    let costs = [cost(costs[0])?, cost(costs[1])?];
    Ok(QuicFlow { stack, preset, config, law, load, costs })
}

/// Parts of the model that are quinn's as well where it has the model's congestion control.
const SHARED: [&str; 6] =
    ["congestion_control", "connections", "initial_window", "max_window", "hystart", "prr"];

/// Refuses parts of the model that quinn has not, but for a preset: that is what all parts are taken from unless they are set, and a
/// scenario tries other stacks beside it.
fn foreign(section: &mut Section<'_>, control: QuinnControl) -> Result<(), Fault> {
    let shared = |key: &&Key| control == QuinnControl::Model && SHARED.contains(&key.name);
    for key in PARTS.iter().filter(|key| !["stack", "preset"].contains(&key.name) && !shared(key)) {
        section.idle(
            key.name,
            "with this stack, as it is a part of the model's",
            "keys of the stack itself",
        )?;
    }
    Ok(())
}

fn load(section: &mut Section<'_>) -> Result<QuicLoad, Fault> {
    let bytes = section.get("bytes");
    let (streams, request) = (section.or("streams", 1)?, section.or("request", 100)?);
    let asked =
        section.or_by("client", true, |field| field.choice(&[("receiver", true), ("sender", false)]))?;
    let interval = section.or("interval", Duration::from_millis(200))?;
    if let Some(field) = section.get("page") {
        if let Some(bytes) = bytes {
            return Err(bytes.found("bytes beside a page", "one of the two"));
        }
        for key in ["streams", "request", "client"] {
            section.idle(key, "beside a page", "none of streams, request and client")?;
        }
        return Ok(QuicLoad::Page { page: page::read(&field)?, interval });
    }
    section.idle("interval", "without a page", "a page beside it")?;
    if !asked {
        section.idle("request", "where the sender is the client", "client = \"receiver\", or no request")?;
    }
    let bytes = bytes.map(|field| field.value::<u32>()).transpose()?.map(u64::from);
    Ok(QuicLoad::Transfer { bytes, streams, request: asked.then_some(request) })
}

/// Reads who sets the window: the model by a rule of growth, or a congestion control of TCP's.
fn control(
    section: &mut Section<'_>,
    w: &mut WindowParams,
    stack: &QuicStack,
) -> Result<Option<CongestionControl>, Fault> {
    let Some(field) = section.get("congestion_control") else { return Ok(None) };
    let of_tcp: Vec<String> = NAMES.iter().map(|name| format!("{OF_TCP}{name}")).collect();
    let own = field.kinds();
    let (name, options) = if matches!(field.item.value, Value::Table(_)) && !own.is_empty() {
        let (name, section) = field.kind_table("a congestion control, or a table of its kind and options")?;
        (name, Some(section))
    } else {
        let rules = GROWTHS.map(|(name, _)| name);
        let names: Vec<&str> =
            rules.into_iter().chain(of_tcp.iter().map(String::as_str)).chain(own).collect();
        let known: Vec<(&str, &str)> = names.into_iter().map(|name| (name, name)).collect();
        (field.choice(&known)?, None)
    };
    if let Some((_, growth)) = GROWTHS.iter().find(|(rule, _)| *rule == name) {
        w.growth = *growth;
        return Ok(None);
    }
    if let QuicStack::Quinn(_) = stack {
        return Err(
            field.found(format!("{name:?} over quinn"), "one of the model's own, or the model as the stack")
        );
    }
    for key in ["connections", "hystart"] {
        let right = "congestion_control = \"cubic\", \"reno\" or \"rfc9002\"";
        section.idle(key, "under a congestion control of TCP's", right)?;
    }
    let name = name.strip_prefix(OF_TCP).unwrap_or(name);
    if name == "bbr" {
        // It sets window and rate by itself.
        for key in ["prr", "pacing_gain", "pacing_gain_slow_start"] {
            section.idle(key, "under tcp_bbr, which sets window and rate", "another congestion control")?;
        }
    }
    let Some(part) = field.parts.find_control(name) else {
        let built_in = NAMES.iter().find(|built_in| **built_in == name);
        return Ok(Some(CongestionControl::BuiltIn(built_in.expect("it is one of its names"))));
    };
    custom::read(part, &field, options).map(|own| Some(CongestionControl::Custom(own)))
}

fn config(
    section: &mut Section<'_>,
    base: QuicConfig,
    stack: &QuicStack,
) -> Result<(QuicConfig, Option<CongestionControl>), Fault> {
    let mut c = base;
    c.packet = section.or("packet", c.packet)?;
    c.ack = ack(section, c.ack)?;
    c.pacing = pacing(section, c.pacing)?;
    let w = &mut c.window;
    let law = control(section, w, stack)?;
    w.connections = section.or("connections", w.connections)?;
    windows(section, w, stack)?;
    w.hystart = section.or("hystart", w.hystart)?;
    w.prr = section.or("prr", w.prr)?;
    let f = &mut c.client_flow;
    f.stream = section.or("stream_window", f.stream as u32)?.into();
    f.connection = section.or("connection_window", f.connection as u32)?.into();
    f.stream_most = f.stream_most.max(f.stream);
    f.connection_most = f.connection_most.max(f.connection);
    c.handshake = section.or_by("handshake", c.handshake, |field| field.choice(&HANDSHAKES))?;
    c.handshake.messages[1] = section.or("certificates", c.handshake.messages[1])?;
    Ok((c, law))
}

/// Reads the first and the greatest window, which must be in order.
// spec: tcp_cubic_sender_base.cc (Chromium 62) - a window that begins above the greatest stays there until a loss, and none falls
// below two segments: with either the greatest would mean nothing.
fn windows(section: &mut Section<'_>, w: &mut WindowParams, stack: &QuicStack) -> Result<(), Fault> {
    let (initial, most) = (section.get("initial_window"), section.get("max_window"));
    let read = |field: &Option<Field<'_>>, by_preset: u64| {
        field.as_ref().map_or(Ok(by_preset), |field| field.value::<u32>().map(u64::from))
    };
    (w.initial, w.most) = (read(&initial, w.initial)?, read(&most, w.most)?);
    if let Some(field) = most.as_ref().filter(|_| w.most < w.least) {
        return Err(field.wrong(format!("at least {} bytes, the two segments that a loss leaves", w.least)));
    }
    if w.initial > w.most {
        let [own, other] = [w.initial, w.most];
        // As the preset has them they are in order, so one of them is given.
        return Err(match (initial, most) {
            (Some(_), Some(field)) => {
                field.found(format!("{other}, while initial_window is {own}"), "at least initial_window")
            }
            (Some(field), None) => field.found(
                format!("{own}, while max_window by preset is {other}"),
                "at most that, or max_window beside it",
            ),
            (None, Some(field)) => field.found(
                format!("{other}, while initial_window by preset is {own}"),
                "at least that, or initial_window beside it",
            ),
            (None, None) => unreachable!("windows by preset are in order"),
        });
    }
    // Of another stack the model's window is a part only where it is its congestion control.
    let QuicStack::Quinn(options) = stack else { return Ok(()) };
    match (options.congestion_control, options.initial_window, initial, section.get("stack")) {
        (QuinnControl::Model, Some(own), _, Some(field)) if own > w.most => Err(field.found(
            format!("an initial_window of {own}, while max_window is {}", w.most),
            "at most max_window",
        )),
        (QuinnControl::Model, None, Some(field), _) => {
            let mut faults = Mistakes::default();
            quinn::two_packets(&Place::of(&field), w.initial, options.packet, &mut faults);
            faults.or(())
        }
        _ => Ok(()),
    }
}

fn ack(section: &mut Section<'_>, base: AckParams) -> Result<AckParams, Fault> {
    let every = section.or("ack_every", base.every)?;
    let max_delay = section.or("ack_max_delay", base.max_delay)?;
    let on = section.or("ack_decimation", base.decimation.is_some())?;
    let standard = AckParams::ACK_DECIMATION.decimation;
    let Some(d) = base.decimation.or(standard) else { unreachable!("decimation has its standard values") };
    // A preset without it leaves these keys to those that have it, so that one setting can be tried with several.
    if !on && section.has("ack_decimation") {
        for key in ["ack_gate", "ack_count", "ack_fraction", "ack_min_delay"] {
            section.idle(key, "without ack_decimation", "ack_decimation = true beside it")?;
        }
    }
    let decimation = Decimation {
        gate: section.or("ack_gate", d.gate as u32)?.into(),
        count: section.or("ack_count", d.count)?,
        fraction: section.find::<f64>("ack_fraction")?.map_or(d.fraction, |part| (part * 1e3).round() as u32),
        least: section.or("ack_min_delay", d.least)?,
    };
    Ok(AckParams { every, max_delay, decimation: on.then_some(decimation), ..base })
}

fn pacing(section: &mut Section<'_>, base: Option<PacerParams>) -> Result<Option<PacerParams>, Fault> {
    let on = section.or("pacing", base.is_some())?;
    let p = base.unwrap_or(PacerParams::CHROMIUM);
    if !on && section.has("pacing") {
        let keys =
            ["pacing_burst", "pacing_horizon", "pacing_gain_slow_start", "pacing_gain", "pacing_lumpy"];
        for key in keys {
            section.idle(key, "without pacing", "pacing = true beside it")?;
        }
    }
    let pacer = PacerParams {
        burst: section.or("pacing_burst", p.burst)?,
        horizon: section.or("pacing_horizon", p.horizon)?,
        gain_slow_start: section.or("pacing_gain_slow_start", p.gain_slow_start)?,
        gain: section.or("pacing_gain", p.gain)?,
        lumpy: section.or("pacing_lumpy", p.lumpy)?,
    };
    Ok(on.then_some(pacer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_go_by_the_models_names() {
        assert_eq!(PRESETS, Preset::ALL.map(|(name, _)| name));
        assert_eq!(GROWTHS.map(|(name, _)| name), ["cubic", "reno", "rfc9002"]);
    }
}
