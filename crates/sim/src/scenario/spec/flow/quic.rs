//! QUIC flows: a preset, and the scenario's changes to it.

use stillair_model::transport::cc::NAMES;
use stillair_model::transport::quic::ack_policy::{AckParams, Decimation};
use stillair_model::transport::quic::handshake::HandshakeParams;
use stillair_model::transport::quic::pacer::PacerParams;
use stillair_model::transport::quic::window::{Growth, WindowParams};
use stillair_model::transport::quic::{HostCost, Preset, QuicConfig};
use stillair_model::types::Duration;
use stillair_scenario_derive::Section;

use super::super::super::description::{Family, ValueType};
use super::super::super::document::Value;
use super::super::super::error::{Diagnostic, Diagnostics};
use super::super::super::quic::{QuicFlow, QuicLoad};
use super::super::super::quinn::{QuicStack, QuinnControl};
use super::super::super::reader::Field;
use super::super::super::{CongestionControl, FlowKind, custom, units};
use super::super::domain::as_written;
use super::super::domain::{Bytes, Choice, Flag, Int, Time, named, quantity};
use super::super::{Assign as _, Domain, Key, Section as _};
use super::quinn::{Stack, two_packets};
use super::web::PageOrName;
use super::{Context, Traffic};

named!(Preset: Preset::ALL);
named!(HandshakeParams { GQUIC = "gquic", TLS = "tls" });

/// The end that opens the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Client {
    /// The receiver of the data, which requests it.
    Receiver,
    /// The sender of the data, without a request.
    Sender,
}
named!(Client { Receiver = "receiver", Sender = "sender" });

const GROWTHS: [(&str, Growth); 3] =
    [("cubic", Growth::Cubic), ("reno", Growth::Reno), ("rfc9002", Growth::Rfc9002)];

/// Name prefix of TCP congestion controls.
const OF_TCP: &str = "tcp_";

/// A transfer, or a page, over QUIC.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Flow of kind quic", kind = "quic", common = super::Common)]
pub struct Quic {
    /// Load of the connection.
    #[key(group)]
    pub load: Load,
    /// what speaks QUIC at both ends; the parts below are the model's
    #[key(default = "model")]
    pub stack: Key<Stack>,
    /// settings of both ends; each part may be set separately
    #[key(default = "chromium39")]
    pub preset: Key<Choice<Preset>>,
    /// Parts of the model.
    #[key(group)]
    pub parts: Parts,
    /// CPU costs of the sender.
    #[key(group)]
    pub costs: Costs,
    /// CPU costs of the receiver.
    #[key(group)]
    pub peer_costs: PeerCosts,
}

/// Load of a QUIC connection.
#[derive(Section, Clone, Debug, Default)]
pub struct Load {
    /// bytes that are sent to each receiver
    #[key(or = "no limit")]
    pub bytes: Key<Bytes<1, { u32::MAX }>>,
    /// streams that share them
    #[key(default = "1")]
    pub streams: Key<Int<1, 1_000>>,
    /// bytes of the client's request on each stream
    #[key(default = "100 B")]
    pub request: Key<Bytes<1, { 1 << 20 }>>,
    /// the end that opens the connection: the receiver requests the data; the sender sends without a request
    #[key(default = "receiver")]
    pub client: Key<Choice<Client>>,
    /// a page that `to` loads from `from`, over a new connection each time: its list, then all objects at
    /// once, each on a stream; instead of `bytes`
    #[key(or = "no page")]
    pub page: Key<PageOrName>,
    /// least time from the beginning of a page's load to that of the next, which begins at once where one
    /// takes longer
    #[key(default = "200 ms")]
    pub interval: Key<PageInterval>,
}

/// Keys of the QUIC model.
#[derive(Section, Clone, Debug, Default)]
#[section(params = QuicConfig, base = Preset::Chromium39.config())]
pub struct Parts {
    /// UDP payload of a full packet
    #[key(to = packet, or = "by `preset`")]
    pub packet: Key<Bytes<600, 1_452>>,
    /// Acknowledgements.
    #[key(group, to = ack)]
    pub acks: Acks,
    /// packets are spread over the round trip
    #[key(or = "by `preset`")]
    pub pacing: Key<Flag>,
    /// Pacing.
    #[key(group)]
    pub pacer: Pacer,
    /// The congestion window.
    #[key(group, to = window)]
    pub window: Window,
    /// what a client lets be sent on a stream at first
    #[key(to = client_flow.stream, or = "by `preset`")]
    pub stream_window: Key<Bytes<{ 1 << 14 }, { 1 << 28 }>>,
    /// and on the connection
    #[key(to = client_flow.connection, or = "by `preset`")]
    pub connection_window: Key<Bytes<{ 1 << 14 }, { 1 << 28 }>>,
    /// two round trips, or one
    #[key(to = handshake, or = "by `preset`")]
    pub handshake: Key<Choice<HandshakeParams>>,
    /// the server's part of the handshake
    #[key(to = handshake.messages[1], default = "4096 B")]
    pub server_handshake: Key<Bytes<1, { 1 << 16 }>>,
}

/// Acknowledgement keys.
#[derive(Section, Clone, Debug, Default)]
#[section(params = AckParams, base = AckParams::TCP_ACKING)]
pub struct Acks {
    /// packets that one acknowledgement is for
    #[key(to = every, or = "by `preset`")]
    pub ack_every: Key<Int<1, 1_000>>,
    /// longest delay of an acknowledgement
    #[key(to = max_delay, or = "by `preset`")]
    pub ack_max_delay: Key<Time>,
    /// fewer acknowledgements after the beginning
    #[key(or = "by `preset`")]
    pub ack_decimation: Key<Flag>,
    /// Acknowledgements after the beginning.
    #[key(group)]
    pub decimation: Decimated,
}

/// Acknowledgements after the start of a connection.
#[derive(Section, Clone, Debug, Default)]
#[section(params = Decimation, base = AckParams::ACK_DECIMATION.decimation.expect("that is what it has"))]
pub struct Decimated {
    /// packets that one is for then
    #[key(to = count, or = "by `preset`")]
    pub ack_count: Key<Int<1, 1_000>>,
    /// packet number after which that is so
    #[key(to = gate, or = "by `preset`")]
    pub ack_gate: Key<Int<0, 1_000_000>>,
    /// longest delay then, as a part of the least round-trip time that the receiver has measured
    #[key(to = fraction, or = "by `preset`")]
    pub ack_fraction: Key<Thousandths>,
    /// but at least this
    #[key(to = least, or = "by `preset`")]
    pub ack_min_delay: Key<Time>,
}

/// Pacing keys.
#[derive(Section, Clone, Debug, Default)]
#[section(params = PacerParams, base = PacerParams::CHROMIUM)]
pub struct Pacer {
    /// packets without pacing at the beginning and after a pause
    #[key(to = burst, or = "by `preset`")]
    pub pacing_burst: Key<Int<0, 1_000>>,
    /// a packet that is due within this is sent at once
    #[key(to = horizon, or = "by `preset`")]
    pub pacing_horizon: Key<Time>,
    /// pacing rate in slow start, in percent of the window per round trip
    #[key(to = gain_slow_start, or = "by `preset`")]
    pub pacing_gain_slow_start: Key<Int<50, 1_000>>,
    /// the same outside slow start
    #[key(to = gain, or = "by `preset`")]
    pub pacing_gain: Key<Int<50, 1_000>>,
    /// packets that are sent together
    #[key(to = lumpy, or = "by `preset`")]
    pub pacing_lumpy: Key<Int<1, 100>>,
}

/// Congestion window keys, also used by quinn with the model's congestion control.
#[derive(Section, Clone, Debug, Default)]
#[section(params = WindowParams, base = Preset::Chromium39.config().window)]
pub struct Window {
    /// how the window grows: `cubic` in bytes, `reno` by packets, `rfc9002` is the RFC's NewReno. `tcp_` and
    /// the name of a congestion control of TCP's, such as `tcp_vegas`, has that set the window in packets,
    /// with the parameters of its end's kernel, over the model's stack; one that sets a rate itself, as
    /// `tcp_bbr` does, paces where `pacing` is on
    #[key(or = "by `preset`")]
    pub congestion_control: Key<Control>,
    /// connections that the sender behaves as
    #[key(to = connections, or = "by `preset`")]
    pub connections: Key<Int<1, 10>>,
    /// first congestion window, at most `max_window`
    #[key(to = initial, or = "by `preset`")]
    pub initial_window: Key<Bytes<1_200, { 1 << 24 }>>,
    /// greatest congestion window; a loss leaves two segments at least, of 1350 B with preset `rfc9002` and
    /// 1460 B with the others
    #[key(to = most, or = "by `preset`")]
    pub max_window: Key<Bytes<2_700, { 1 << 30 }>>,
    /// slow start ends when delay grows
    #[key(to = hystart, or = "by `preset`")]
    pub hystart: Key<Flag>,
    /// proportional rate reduction while losses are repaired
    #[key(to = prr, or = "by `preset`")]
    pub prr: Key<Flag>,
}

/// CPU costs of the end that sends the data.
#[derive(Section, Clone, Debug, Default)]
#[section(params = HostCost, base = FREE)]
pub struct Costs {
    /// work of the sender's process for each datagram that it sends; it does one thing after the other. A
    /// server of 2018 leaves 30 us between datagrams that it does not pace (bquic sec. IV-C.3)
    #[key(to = send, default = "0 s")]
    pub tx_cpu_per_packet: Key<Time>,
    /// and for each that it gets
    #[key(to = receive, default = "0 s")]
    pub rx_cpu_per_packet: Key<Time>,
    /// its timers come after whole multiples of this, one at least
    #[key(to = timer_granularity, default = "0 s")]
    pub timer_granularity: Key<Time>,
}

/// CPU costs of the other end.
#[derive(Section, Clone, Debug, Default)]
#[section(params = HostCost, base = FREE)]
pub struct PeerCosts {
    /// CPU time of the receiver for each datagram that it sends, which is an acknowledgement if it only
    /// downloads
    #[key(to = send, default = "0 s")]
    pub peer_tx_cpu_per_packet: Key<Time>,
    /// its work for each datagram that it gets. docs/quic.md has what would give the clients of bquic Table
    /// III their throughput, 130 to 350 us for either
    #[key(to = receive, default = "0 s")]
    pub peer_rx_cpu_per_packet: Key<Time>,
    /// how coarse its timers are
    #[key(to = timer_granularity, default = "0 s")]
    pub peer_timer_granularity: Key<Time>,
}

const FREE: HostCost =
    HostCost { send: Duration::ZERO, receive: Duration::ZERO, timer_granularity: Duration::ZERO };

quantity! {
    /// Interval between the starts of two loads.
    PageInterval: Duration = ValueType::Times { least: "1 ms", most: None, why: "a load has a connection of its own" },
        "_ns", units::duration_text;
}

as_written! {
    /// A congestion control of the model or of TCP.
    Control = ValueType::Part(
        Family::QuicControl,
        &ValueType::Listed {
            title: "quic-congestion_control",
            words: "`\"cubic\"`, `\"reno\"`, `\"rfc9002\"`, or `tcp_` and a congestion control of TCP's",
            names: controls,
        },
    );
}

fn controls() -> Vec<String> {
    let tcp = NAMES.iter().map(|name| format!("{OF_TCP}{name}"));
    GROWTHS.iter().map(|(name, _)| (*name).to_owned()).chain(tcp).collect()
}

/// A fraction in thousandths.
pub struct Thousandths;

impl Domain for Thousandths {
    type Value = u32;
    const TYPE: ValueType = ValueType::Fraction;
    const UNIT: &'static str = "_thousandths";

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<u32, Diagnostic> {
        Ok((field.value::<f64>()? * 1e3).round() as u32)
    }

    fn written(value: &u32) -> Value {
        Value::Float(f64::from(*value) / 1e3)
    }
}

impl Traffic for Quic {
    fn traffic(&self, flow: &Context<'_>, faults: &mut Diagnostics) -> Option<FlowKind> {
        let stack = self.stack.given().map_or(QuicStack::Model, |(stack, at)| stack.stack(at, faults));
        let preset = self.preset.or(Preset::Chromium39);
        let mut config = preset.config();
        let mut control = None;
        let parts = &self.parts;
        let of_model = match &stack {
            QuicStack::Model => true,
            QuicStack::Quinn(options) => options.congestion_control == QuinnControl::Model,
        };
        parts.assign(&mut config);
        if let QuicStack::Quinn(_) = stack {
            parts.foreign(of_model, faults);
        } else {
            parts.resolve(&mut config, faults);
        }
        if of_model {
            let window = &mut config.window;
            let read = |field: &Field<'_>| parts.window.control(field, self, &stack, window, faults);
            let read = parts.window.congestion_control.late(flow.parts, read);
            control = read.and_then(|control| faults.unless(control)?);
            parts.window.check(&config.window, self, &stack, faults);
        }
        let costs = [self.costs.applied(), self.peer_costs.applied()];
        let load = self.load.load(faults);
        Some(FlowKind::Quic(Box::new(QuicFlow { stack, preset, config, control, load, costs })))
    }
}

impl Load {
    fn load(&self, faults: &mut Diagnostics) -> QuicLoad {
        let interval = self.interval.or(Duration::from_millis(200));
        if self.page.place().is_some() {
            if let Some(bytes) = self.bytes.place() {
                faults.add(bytes.found("bytes beside a page", "one of the two"));
            }
            let (why, right) = ("beside a page", "none of streams, request and client");
            self.streams.idle(why, right, faults);
            self.request.idle(why, right, faults);
            self.client.idle(why, right, faults);
        } else {
            self.interval.idle("without a page", "a page beside it", faults);
        }
        if let Some(page) = self.page.get() {
            return QuicLoad::Page { page: page.clone(), interval };
        }
        let asked = self.client.or(Client::Receiver) == Client::Receiver;
        if !asked {
            let right = "client = \"receiver\", or no request";
            self.request.idle("where the sender is the client", right, faults);
        }
        QuicLoad::Transfer {
            bytes: self.bytes.get().map(|bytes| u64::from(*bytes)),
            streams: self.streams.or(1),
            request: asked.then(|| self.request.or(100)),
        }
    }
}

impl Parts {
    /// Rejects keys of the model that quinn lacks. A preset is allowed, so that a scenario can compare stacks
    /// with it.
    fn foreign(&self, has_window: bool, faults: &mut Diagnostics) {
        let others = Self { window: Window::default(), ..self.clone() };
        let parts = if has_window { &others } else { self };
        parts.idle("with this stack, as it is a part of the model's", "keys of the stack itself", faults);
    }

    /// Resolves settings that involve several keys.
    fn resolve(&self, config: &mut QuicConfig, faults: &mut Diagnostics) {
        // Presets without decimation or pacing ignore these keys, so that one setting can be compared across
        // presets.
        let decimation = config.ack.decimation;
        if let Key::Given(false, _) = self.acks.ack_decimation {
            self.acks.decimation.idle("without ack_decimation", "ack_decimation = true beside it", faults);
        }
        config.ack.decimation = self.acks.ack_decimation.or(decimation.is_some()).then(|| {
            let mut own = decimation.unwrap_or_else(Decimated::base);
            self.acks.decimation.assign(&mut own);
            own
        });
        let pacing = config.pacing;
        if let Key::Given(false, _) = self.pacing {
            self.pacer.idle("without pacing", "pacing = true beside it", faults);
        }
        config.pacing = self.pacing.or(pacing.is_some()).then(|| {
            let mut own = pacing.unwrap_or_else(Pacer::base);
            self.pacer.assign(&mut own);
            own
        });
        let f = &mut config.client_flow;
        f.stream_most = f.stream_most.max(f.stream);
        f.connection_most = f.connection_most.max(f.connection);
    }
}

impl Window {
    /// Returns the TCP congestion control, if one is named. The model's own sets the growth in `params`.
    fn control(
        &self,
        field: &Field<'_>,
        flow: &Quic,
        stack: &QuicStack,
        params: &mut WindowParams,
        faults: &mut Diagnostics,
    ) -> Result<Option<CongestionControl>, Diagnostic> {
        let (kinds, all) = (field.kinds(), controls());
        let (name, options) = if matches!(field.item.value, Value::Table(_)) && !kinds.is_empty() {
            let (name, section) =
                field.kind_table("a congestion control, or a table of its kind and options")?;
            (name, Some(section))
        } else {
            let known = all.iter().map(String::as_str).chain(kinds).map(|name| (name, name));
            (field.choice(&known.collect::<Vec<_>>())?, None)
        };
        if let Some((_, growth)) = GROWTHS.iter().find(|(rule, _)| *rule == name) {
            params.growth = *growth;
            return Ok(None);
        }
        if let QuicStack::Quinn(_) = stack {
            let right = "one of the model's own, or the model as the stack";
            return Err(field.found(format!("{name:?} over quinn"), right));
        }
        let (why, right) = (
            "under a congestion control of TCP's",
            "congestion_control = \"cubic\", \"reno\" or \"rfc9002\"",
        );
        self.connections.idle(why, right, faults);
        self.hystart.idle(why, right, faults);
        let name = name.strip_prefix(OF_TCP).unwrap_or(name);
        if name == "bbr" {
            let (why, right) = ("under tcp_bbr, which sets window and rate", "another congestion control");
            self.prr.idle(why, right, faults);
            flow.parts.pacer.pacing_gain.idle(why, right, faults);
            flow.parts.pacer.pacing_gain_slow_start.idle(why, right, faults);
        }
        let Some(part) = field.parts.find_control(name) else {
            let built_in = NAMES.iter().find(|built_in| **built_in == name);
            return Ok(Some(CongestionControl::BuiltIn(built_in.expect("it is one of its names"))));
        };
        custom::read(part, field, options).map(|own| Some(CongestionControl::Custom(own)))
    }

    /// Rejects an initial window above the maximum window.
    // spec: tcp_cubic_sender_base.cc (Chromium 62) - a window that starts above the maximum stays there until
    // a loss, and no window falls below two segments. In either case the maximum would have no effect.
    fn check(&self, params: &WindowParams, flow: &Quic, stack: &QuicStack, faults: &mut Diagnostics) {
        let WindowParams { initial, most, least, .. } = *params;
        match (&self.initial_window, &self.max_window) {
            (Key::Misread(_), _) | (_, Key::Misread(_)) => {}
            (_, Key::Given(_, at)) if most < least => {
                faults.add(at.wrong(format!("at least {least} bytes, the two segments that a loss leaves")));
            }
            _ if initial <= most => {}
            (Key::Given(..), Key::Given(_, at)) => faults.add(
                at.found(format!("{most}, while initial_window is {initial}"), "at least initial_window"),
            ),
            (Key::Given(_, at), Key::Absent) => faults.add(at.found(
                format!("{initial}, while max_window by preset is {most}"),
                "at most that, or max_window beside it",
            )),
            (Key::Absent, Key::Given(_, at)) => faults.add(at.found(
                format!("{most}, while initial_window by preset is {initial}"),
                "at least that, or initial_window beside it",
            )),
            (Key::Absent, Key::Absent) => unreachable!("windows by preset are in order"),
        }
        // With another stack, the model's window only matters if its congestion control is used.
        let QuicStack::Quinn(options) = stack else { return };
        match (options.initial_window, flow.stack.place(), &self.initial_window) {
            (Some(own), Some(at), _) if own > most => faults.add(at.found(
                format!("an initial_window of {own}, while max_window is {most}"),
                "at most max_window",
            )),
            (None, _, Key::Given(window, at)) => {
                two_packets(at, u64::from(*window), options.packet, faults);
            }
            _ => {}
        }
    }
}
