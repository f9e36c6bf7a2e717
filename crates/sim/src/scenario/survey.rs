//! Survey of a scenario for its author: nodes, audibility, received power, rates, and keys without effect.

use serde_json::{Value, json};
use stillair_model::qdisc::QdiscConfig;
use stillair_model::types::Rate;
use stillair_model::wifi::air::audibility::Hearing;
use stillair_model::wifi::air::given::RateErrors;
use stillair_model::wifi::phy::errors::{ErrorTable, Snr};
use stillair_model::wifi::phy::{Band, PhyRate};
use stillair_model::wire::WireParams;

use super::hearing::Audible;
use super::notes::{FRAME, WORKS, fastest, lost};
use super::resolve::position::distance;
use super::shaped::shaped;
use super::{
    Attachment, Channel, Errors, FlowKind, GivenErrors, Interface, InterfaceRef, Link, Node, QdiscSpec,
    Rates, Role, Scenario, Station, Wifi,
};

/// Maximum number of radios on a channel for which the survey lists every pair.
const MOST_RADIOS: usize = 256;
/// Maximum number of groups with restricted audibility listed for larger channels.
const MOST_GROUPS: usize = 1000;

impl Scenario {
    /// Returns the survey as one JSON object. Loss rates are for frames of 1,538 bytes. Signal-to-noise
    /// ratios refer to the noise in 20 MHz, as in the scenario.
    pub fn survey(&self) -> String {
        let all = json!({
            "name": self.name,
            "duration_s": self.duration.secs_f64(),
            "warm_up_s": self.warm_up.secs_f64(),
            "cool_down_s": self.cool_down.secs_f64(),
            "seed": self.seed,
            "nodes": self.nodes.iter().map(|n| self.node_surveyed(n)).collect::<Vec<_>>(),
            "links": self.links.iter().map(|l| self.link_surveyed(l)).collect::<Vec<_>>(),
            "channels": (0..self.channels.len()).map(|n| self.channel_surveyed(n)).collect::<Vec<_>>(),
            "paths": self.paths().collect::<Vec<_>>(),
            "flows": self.flows.iter().map(|f| json!({
                "name": f.name,
                "kind": traffic(&f.kind),
                "ip": f.ip.version(),
                "from": self.end_name(f.from),
                "to": f.to.iter().map(|to| self.end_name(*to)).collect::<Vec<_>>(),
                "rates_bps": offered(&f.kind),
                "start_s": f.start.secs_f64(),
                "stop_s": f.stop.map(|stop| stop.secs_f64()),
            })).collect::<Vec<_>>(),
            "without_effect": self.idle,
            "notes": self.notes().into_iter().filter(|note| !self.idle.contains(note)).collect::<Vec<_>>(),
        });
        all.to_string()
    }

    fn node_surveyed(&self, node: &Node) -> Value {
        let interface = |i: &Interface| {
            let mut found = match &i.medium {
                Attachment::Wired { link } => json!({ "kind": "wired", "link": self.links[*link].name }),
                Attachment::Wifi(wifi) => {
                    let mut keys = json!({
                        "channel": self.channels[wifi.channel].name,
                        "scheme": wifi.scheme.name(),
                    });
                    if let Some(device) = wifi.device {
                        keys["device"] = json!(device.name);
                        keys["numbers"] = json!(device.numbers(wifi));
                    }
                    match &wifi.role {
                        Role::Ap => keys["kind"] = json!("ap"),
                        Role::Station(station) => {
                            keys["kind"] = json!("station");
                            keys["ap"] = json!(self.interface_name(station.ap));
                        }
                    }
                    keys
                }
            };
            found["name"] = json!(i.name);
            found["address"] = json!(i.address.to_string());
            found["qdisc"] = json!(disciplines(&i.qdisc));
            found["shaped_bps"] = json!(shaped(&i.qdisc.config));
            let ingress = i.ingress.as_ref().map(|config| QdiscSpec { mq: false, config: config.clone() });
            found["ingress"] = json!(ingress.as_ref().map(disciplines));
            found["ingress_bps"] = json!(i.ingress.as_ref().and_then(shaped));
            found["mtu"] = json!(match &i.medium {
                Attachment::Wired { link } => self.links[*link].mtu,
                Attachment::Wifi(wifi) => self.channels[wifi.channel].mtu,
            });
            found
        };
        json!({
            "name": node.name,
            "profile": node.profile.name,
            "forward": node.forward,
            "position_m": node.position.map(|at| at.map(|mm| mm as f64 / 1e3)),
            "interfaces": node.interfaces.iter().map(interface).collect::<Vec<_>>(),
        })
    }

    fn link_surveyed(&self, link: &Link) -> Value {
        let one = |params: WireParams| match params {
            WireParams::Veth => [Value::Null, json!(0.0)],
            WireParams::Ethernet(e) => [json!(e.rate.bps()), json!(e.delay.nanos() as f64 / 1e6)],
            WireParams::Access(e, line) => [json!(line.rate.bps()), json!(e.delay.nanos() as f64 / 1e6)],
        };
        let [[there, there_ms], [back, back_ms]] = link.params.map(one);
        json!({
            "name": link.name,
            "ends": link.ends.map(|end| self.interface_name(end)),
            "rates_bps": [there, back],
            "delays_ms": [there_ms, back_ms],
            "mtu": link.mtu,
        })
    }

    /// Returns a channel with its radios. With up to [`MOST_RADIOS`] radios, `hearing` and `snr_db` have a
    /// row per radio: how the others hear it, and their signal-to-noise ratio, `null` if unknown. With more,
    /// both are `null`, and `worse` lists the groups of radios that do not hear each other clearly.
    fn channel_surveyed(&self, index: usize) -> Value {
        let channel = &self.channels[index];
        let radios: Vec<InterfaceRef> = self
            .devices()
            .filter(|(_, wifi)| wifi.channel == index && wifi.radio.is_none())
            .map(|(at, _)| at)
            .collect();
        let is_listed = radios.len() <= MOST_RADIOS;
        let pairs = if is_listed { channel.audible.pairs() } else { Audible::default().pairs() };
        let matrix = |one: &dyn Fn(InterfaceRef, InterfaceRef) -> Value| -> Vec<Vec<Value>> {
            let row = |&a: &InterfaceRef| {
                radios.iter().map(|&b| if a == b { Value::Null } else { one(a, b) }).collect()
            };
            radios.iter().map(row).collect()
        };
        let hearing = |a, b| match pairs.between(a, b) {
            Hearing::Clear => json!("clear"),
            Hearing::Faint => json!("sense_only"),
            Hearing::Nothing => json!("hidden"),
        };
        let mut found = json!({
            "name": channel.name,
            "band_ghz": match channel.band { Band::Ghz2 => 2.4, Band::Ghz5 => 5.0, Band::Ghz6 => 6.0 },
            "width_mhz": channel.width.megahertz(),
            "radios": radios.iter().map(|at| self.interface_name(*at)).collect::<Vec<_>>(),
            "hearing": is_listed.then(|| matrix(&hearing)),
            "snr_db": is_listed.then(|| matrix(&|a, b| json!(self.ratio(channel, a, b).map(decibels)))),
            "capture": channel.capture.is_some(),
        });
        if !is_listed {
            found["worse"] = json!(self.worse(&channel.audible));
        }
        found
    }

    /// Returns groups of radios that do not hear each other clearly, up to [`MOST_GROUPS`] of each kind.
    fn worse(&self, audible: &Audible) -> Vec<Value> {
        let kinds = [(Hearing::Faint, "sense_only"), (Hearing::Nothing, "hidden")];
        let of = |(how, name): (Hearing, &'static str)| {
            audible.groups(how).take(MOST_GROUPS).map(move |group| {
                let radios = group.into_iter().map(|at| self.interface_name(at)).collect::<Vec<_>>();
                json!({ "hearing": name, "radios": radios })
            })
        };
        kinds.into_iter().flat_map(of).collect()
    }

    fn devices(&self) -> impl Iterator<Item = (InterfaceRef, &Wifi)> {
        self.nodes.iter().enumerate().flat_map(|(node, n)| {
            n.interfaces.iter().enumerate().filter_map(move |(interface, i)| match &i.medium {
                Attachment::Wifi(wifi) => Some((InterfaceRef { node, interface }, wifi)),
                Attachment::Wired { .. } => None,
            })
        })
    }

    /// Returns the initial signal-to-noise ratio between two radios, from their path or from their positions.
    fn ratio(&self, channel: &Channel, a: InterfaceRef, b: InterfaceRef) -> Option<Snr> {
        let path = |station: InterfaceRef, ap: InterfaceRef| {
            let Attachment::Wifi(wifi) = &self.nodes[station.node].interfaces[station.interface].medium
            else {
                return None;
            };
            match &wifi.role {
                Role::Station(Station { ap: own, errors: Errors::Noise(steps), .. }) if *own == ap => {
                    steps.iter().next().map(|(_, snr)| snr)
                }
                _ => None,
            }
        };
        let by_place = || {
            let (from, to) = self.nodes[a.node].position.zip(self.nodes[b.node].position)?;
            Some(channel.path_loss.snr(distance(from, to)))
        };
        path(a, b).or_else(|| path(b, a)).or_else(by_place)
    }

    /// Returns each station's path to its access point, by direction.
    fn paths(&self) -> impl Iterator<Item = Value> {
        self.devices().filter_map(|(at, wifi)| {
            let Role::Station(station) = &wifi.role else { return None };
            let steps: Option<Vec<Value>> = match &station.errors {
                Errors::Noise(steps) => Some(
                    steps
                        .iter()
                        .map(|(at, snr)| {
                            let loss = least_loss(station, wifi, Some(snr));
                            json!({ "from_s": at.secs_f64(), "snr_db": decibels(snr), "least_loss": loss })
                        })
                        .collect(),
                ),
                Errors::Given { .. } => None,
            };
            Some(json!({
                "station": self.interface_name(at),
                "ap": self.interface_name(station.ap),
                "losses": losses(&station.errors, wifi),
                "snr": steps,
                "least_loss": least_loss(station, wifi, None),
                "down": direction(&station.rates, station, wifi),
                "up": direction(&station.uplink, station, wifi),
            }))
        })
    }
}

/// Returns the origin of a path's losses.
fn losses(errors: &Errors, wifi: &Wifi) -> &'static str {
    match errors {
        _ if wifi.trace.is_some() => "trace",
        Errors::Given { .. } if *errors == Errors::NONE => "none",
        Errors::Given { .. } => "given",
        Errors::Noise(_) => "snr",
    }
}

/// Returns the lowest loss of full frames over all rates of a path, in either direction; at the path's lowest
/// signal-to-noise ratio if `snr` is `None`. 0 with a trace, whose losses change over time.
fn least_loss(station: &Station, wifi: &Wifi, snr: Option<Snr>) -> f64 {
    if wifi.trace.is_some() {
        return 0.0;
    }
    let table = snr.or_else(|| worst(&station.errors)).map(ErrorTable::new);
    let rates = station.rates.all().into_iter().chain(station.uplink.all());
    let losses = rates.map(|rate| match &table {
        Some(table) => lost(table, rate),
        None => given(&station.errors, rate),
    });
    (losses.fold(1.0, f64::min) * 1e4).round() / 1e4
}

/// Returns the lowest signal-to-noise ratio of a path whose losses follow from it.
fn worst(errors: &Errors) -> Option<Snr> {
    match errors {
        Errors::Noise(steps) => steps.iter().map(|(_, snr)| snr).min(),
        Errors::Given { .. } => None,
    }
}

/// Returns the rates of one direction: rate control, number of rates, and the loss of a full frame at the
/// path's lowest signal-to-noise ratio.
fn direction(rates: &Rates, station: &Station, wifi: &Wifi) -> Value {
    let all = rates.all();
    let (control, first) = match rates {
        Rates::Fixed(chain) => ("fixed", Some(chain.entries()[0].rate)),
        Rates::MinstrelHt(..) => ("minstrel_ht", None),
        Rates::Minstrel(_) => ("minstrel", None),
        Rates::Ath9kHtc(_) => ("ath9k_htc", None),
    };
    if wifi.trace.is_some() {
        return json!({ "control": "trace", "rates": 0, "rate": null, "fastest": null });
    }
    let table = worst(&station.errors).map(ErrorTable::new);
    let share = |rate: PhyRate| match (&table, &station.errors) {
        (Some(table), _) => lost(table, rate),
        (None, errors) => given(errors, rate),
    };
    let told = |rate: PhyRate| {
        let loss = (share(rate) * 1e4).round() / 1e4;
        json!({ "name": rate.to_string(), "mbps": rate.rate().bps() as f64 / 1e6, "loss": loss })
    };
    // For a fixed rate, the fastest of its kind; for rate control, the fastest it may select.
    let works = match (first, &table) {
        (Some(like), Some(table)) => fastest(table, like),
        _ => all.iter().copied().filter(|rate| share(*rate) < WORKS).max_by_key(|rate| rate.rate()),
    };
    json!({
        "control": control,
        "rates": all.len(),
        "rate": first.map(told),
        "fastest": works.map(told),
    })
}

/// Returns the probability that a full frame is lost, for configured error probabilities.
fn given(errors: &Errors, rate: PhyRate) -> f64 {
    let Errors::Given { unheard, frame, .. } = errors else { return 0.0 };
    let broken = match frame {
        GivenErrors::Same(chance) => *chance,
        // The first table applies from the start.
        GivenErrors::ByRate(tables) => {
            tables.first().map_or(0.0, |(_, first)| RateErrors::new(first).broken(rate, FRAME))
        }
    };
    1.0 - (1.0 - unheard) * (1.0 - broken)
}

fn decibels(Snr(milli): Snr) -> f64 {
    f64::from(milli) / 1e3
}

/// Returns a qdisc and its children, with `tc`'s names.
fn disciplines(spec: &QdiscSpec) -> String {
    let mut names = if spec.mq { vec!["mq".to_owned()] } else { Vec::new() };
    let mut next = Some(&spec.config);
    while let Some(config) = next {
        names.push(config.kind().to_owned());
        next = match config {
            QdiscConfig::Tbf(p) => Some(&p.child),
            QdiscConfig::Htb(p) => Some(&p.child),
            QdiscConfig::Netem(_, child) => child.as_deref(),
            _ => None,
        };
    }
    names.join(" > ")
}

const fn traffic(kind: &FlowKind) -> &'static str {
    match kind {
        FlowKind::Udp { .. } => "udp",
        FlowKind::Tcp { .. } => "tcp",
        FlowKind::Web { .. } => "web",
        FlowKind::Responsiveness(_) => "responsiveness",
        FlowKind::Voip { .. } => "voip",
        FlowKind::Quic(_) => "quic",
        FlowKind::Ping { .. } => "ping",
        FlowKind::UdpPing { .. } => "udp_ping",
        FlowKind::Video(_) => "video",
    }
}

/// Returns the load that a flow offers to each receiver, if its rate is configured.
fn offered(kind: &FlowKind) -> Option<Vec<u64>> {
    match kind {
        FlowKind::Udp { rates, .. } => Some(rates.iter().copied().map(Rate::bps).collect()),
        FlowKind::Tcp { gate: Some(gate), .. } => gate.rate.map(|rate| vec![rate.bps()]),
        FlowKind::Video(params) => Some(vec![params.rate.bps()]),
        _ => None,
    }
}
