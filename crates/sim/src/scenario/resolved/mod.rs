//! The resolved scenario as JSON, to be stored with results. All defaults are filled in, and names include
//! units.

mod custom;
mod driver;
mod flow;
mod foreign;
mod host;
mod path;
mod qdisc;
mod quic;
mod tcp;

use serde_json::{Value, json};
use stillair_model::node::jitter::JitterParams;
use stillair_model::transport::cc::CcParams;
use stillair_model::types::{Ac, Ip};
use stillair_model::wifi::air::audibility::Hearing;
use stillair_model::wifi::phy::Band;
use stillair_model::wifi::phy::frame::Cipher;

use super::{
    Attachment, EdcaOverride, FlentTest, Flow, Host, Interface, Profile, Role, Scenario, SocketMemory, Step,
    Wifi, mtu, spec,
};

use driver::driver;
use foreign::foreign;
use host::{link, wake};
use path::{errors, rates, traced};
use qdisc::qdisc;

/// Placeholder for the nodes in a scenario's JSON. No name contains it.
const NODES: &str = "\0nodes";

impl Scenario {
    /// Returns the scenario as one JSON object. Equal scenarios give equal text.
    pub fn resolved(&self) -> String {
        let names = |group: Vec<_>| group.iter().map(|&at| self.interface_name(at)).collect::<Vec<_>>();
        let channels = self.channels.iter().map(|c| {
            let mut channel = json!({
                "name": c.name,
                "band_ghz": match c.band { Band::Ghz2 => 2.4, Band::Ghz5 => 5.0, Band::Ghz6 => 6.0 },
                "width_mhz": c.width.megahertz(),
                "basic_rate": c.basic_rate.to_string(),
                "slot_ns": c.timing().slot.nanos(),
                "cipher": (c.cipher == Cipher::Ccmp).then_some("ccmp"),
                "protection": c.protection.map(|rate| rate.to_string()),
                "path_loss_exponent": f64::from(c.path_loss.per_decade) / 10_000.0,
                "hidden": c.audible.groups(Hearing::Nothing).map(names).collect::<Vec<_>>(),
                "sense_only": c.audible.groups(Hearing::Faint).map(names).collect::<Vec<_>>(),
                "capture_mdb": c.capture.as_ref().map(|capture| capture.threshold),
            });
            spec::resolved::<spec::channel::Channel, _>(c)
                .into_iter()
                .for_each(|(key, value)| channel[key] = value);
            foreign(c, &mut channel);
            if c.mtu != mtu::ETHERNET {
                channel["mtu"] = json!(c.mtu);
            }
            channel
        });
        let has_ip6 = self.flows.iter().any(|flow| flow.ip == Ip::V6);
        let nodes = self.nodes.iter().map(|n| {
            let mut node = json!({
                "name": n.name,
                "profile": profile(&n.profile),
                "forward": n.forward,
                "wake": wake(n.wake),
                "jitter": (n.jitter != JitterParams::NONE).then(|| spec::resolved::<spec::jitter::Options, _>(&n.jitter)),
                "position_mm": n.position,
                "interfaces": n.interfaces.iter().map(|i| self.interface(i, has_ip6)).collect::<Vec<_>>(),
            });
            // Omit the default, so that results stored before external hosts existed still match.
            match n.host {
                Host::Model => {}
                Host::External => node["host"] = json!("external"),
                Host::Live => node["host"] = json!("live"),
                Host::Uml => {}
            }
            if let Some(guest) = &n.guest {
                node["host"] = guest.to_json();
            }
            if !n.sysctl.is_empty() {
                node["sysctl"] = json!(n.sysctl);
            }
            node
        });
        let links = self.links.iter().map(|l| {
            let mut link = link(l, l.ends.map(|end| self.interface_name(end)));
            if l.mtu != mtu::ETHERNET {
                link["mtu"] = json!(l.mtu);
            }
            link
        });
        let mut all = json!({
            "name": self.name,
            "duration_ns": self.duration.nanos(),
            "warm_up_ns": self.warm_up.nanos(),
            "cool_down_ns": self.cool_down.nanos(),
            "seed": self.seed,
            "channels": channels.collect::<Vec<_>>(),
            "nodes": NODES,
            "links": links.collect::<Vec<_>>(),
            "record": spec::resolved::<spec::record::Options, _>(&self.record),
            "flows": self.flows.iter().map(|f| self.flow(f)).collect::<Vec<_>>(),
            "test": self.test.as_ref().map(|t| self.test(t)),
            "notes": self.notes(),
        });
        if !self.steps.is_empty() {
            let step = |step: &Step| json!({ "at_ns": step.at.nanos(), "to": serde_json::from_str::<Value>(&step.to.resolved()).ok() });
            all["steps"] = self.steps.iter().map(step).collect();
        }
        if !self.live_flows.is_empty() {
            all["live_flows"] = self.live_flows.iter().map(|f| self.flow(f)).collect();
        }
        // One node at a time: as JSON values, thousands of nodes take ten times as much memory as their text.
        let nodes = nodes.map(|node| node.to_string()).collect::<Vec<_>>().join(",");
        all.to_string().replacen(&json!(NODES).to_string(), &format!("[{nodes}]"), 1)
    }

    fn interface(&self, interface: &Interface, has_ip6: bool) -> Value {
        let medium = match &interface.medium {
            Attachment::Wired { link } => json!({ "link": self.links[*link].name }),
            Attachment::Wifi(wifi) => self.wifi(wifi),
        };
        let mut resolved = json!({
            "name": interface.name,
            "address": interface.address.to_string(),
            "tso": interface.tso,
            "gro": interface.gro,
            "rx_buffer": interface.rx_buffer,
            "txqueuelen": interface.txqueuelen,
            "qdisc": { "mq": interface.qdisc.mq, "config": qdisc(&interface.qdisc.config) },
            "medium": medium,
        });
        if has_ip6 {
            resolved["address6"] = json!(interface.address6.to_string());
        }
        if let Some(ingress) = &interface.ingress {
            resolved["ingress"] = qdisc(ingress);
        }
        if interface.default_route {
            resolved["default_route"] = json!(true);
        }
        resolved
    }

    fn wifi(&self, wifi: &Wifi) -> Value {
        let scheme = wifi.scheme.name();
        let role = match &wifi.role {
            Role::Ap => json!({ "kind": "ap" }),
            Role::Station(station) => {
                let mut keys = json!({
                    "kind": "station",
                    "ap": self.interface_name(station.ap),
                    "airtime_weight": station.airtime_weight,
                });
                let (key, value) = rates(&station.rates);
                keys[key] = value;
                if station.uplink != station.rates {
                    let (key, value) = rates(&station.uplink);
                    keys["uplink"] = json!({ key: value });
                }
                errors(&station.errors, &mut keys);
                if let Some(trace) = &wifi.trace {
                    keys["trace"] = traced(trace);
                }
                keys
            }
        };
        let mut resolved = json!({
            "channel": self.channels[wifi.channel].name,
            "role": role,
            "scheme": scheme,
            "driver": driver(&wifi.driver),
            "edca": Ac::ALL.map(|ac| edca(ac, &wifi.edca[ac.index()])),
            "radio": wifi.radio.map(|of| self.interface_name(of)),
        });
        spec::device::resolved(wifi, &mut resolved);
        if let Some(device) = wifi.device {
            resolved["device"] = device.name.into();
            resolved["amsdu_announced_bytes"] = device.announces.into();
            resolved["amsdu_sent_bytes"] = device.sends.into();
        }
        // Omit if absent, so that results stored before power save existed still match.
        spec::power::resolved(wifi, &mut resolved);
        if matches!(wifi.role, Role::Ap) && self.has_savers(wifi) {
            resolved["dtim_period"] = json!(wifi.dtim_period);
        }
        resolved
    }

    fn test(&self, test: &FlentTest) -> Value {
        json!({
            "name": test.name,
            "from": self.end_name(test.from),
            "to": self.end_name(test.to),
            "length_ns": test.length.nanos(),
            "delay_ns": test.delay.nanos(),
            "streams": test.streams,
        })
    }

    fn flow(&self, flow: &Flow) -> Value {
        let mut resolved = json!({
            "name": flow.name,
            "from": self.end_name(flow.from),
            "to": flow.to.iter().map(|to| self.end_name(*to)).collect::<Vec<_>>(),
            "tos": flow.tos,
            "start_ns": flow.start.nanos(),
            "start_spread_ns": flow.start_spread.nanos(),
            "stop_ns": flow.stop.map(|d| d.nanos()),
            "traffic": flow::traffic(&flow.kind),
            "series": flow.series,
        });
        if flow.multicast {
            resolved["multicast"] = json!(true);
        }
        if flow.ip == Ip::V6 {
            resolved["ip"] = json!(6);
        }
        resolved
    }
}

fn profile(p: &Profile) -> Value {
    json!({
        "name": p.name,
        "txqueuelen": p.txqueuelen,
        "pfifo_fast_limit_per_band": p.pfifo_fast_limit_per_band,
        "net.core.default_qdisc": p.default_qdisc,
        "net.core.wmem_default": p.wmem_default,
        "truesize_linear_bytes": SocketMemory::linear(p.tcp.max_header),
        "truesize_scatter_gather_bytes": p.memory.paged(p.tcp.max_header),
        "truesize_least_bytes": p.memory.least(),
        "gso_always": p.memory.gso_always,
        "net.ipv4.tcp_congestion_control": custom::control(&p.congestion_control),
        "wifi_pacing_shift": p.wifi_pacing_shift,
        "congestion_controls": controllers(&p.cc),
        "tcp": tcp::tcp(&p.tcp),
    })
}

fn controllers(p: &CcParams) -> Value {
    let (cubic, hystart) = (&p.cubic, &p.cubic.hystart);
    json!({
        "tcp_cubic.fast_convergence": cubic.fast_convergence,
        "tcp_cubic.beta": cubic.beta,
        "tcp_cubic.initial_ssthresh": cubic.initial_ssthresh,
        "tcp_cubic.bic_scale": cubic.bic_scale,
        "tcp_cubic.tcp_friendliness": cubic.tcp_friendliness,
        "tcp_cubic.hystart": hystart.hystart,
        "tcp_cubic.hystart_detect": hystart.hystart_detect,
        "tcp_cubic.hystart_low_window": hystart.hystart_low_window,
        "tcp_cubic.hystart_ack_delta_us": hystart.hystart_ack_delta_us,
        "hystart": {
            "round": format!("{:?}", hystart.rules.round),
            "clock": format!("{:?}", hystart.rules.clock),
            "pacing_aware": hystart.rules.pacing_aware,
            "whole_round": hystart.rules.whole_round,
        },
        "bbr": {
            "pacing_margin_percent": p.bbr.pacing_margin_percent,
            "extra_acked_gain": p.bbr.extra_acked_gain,
        },
        "tcp_hybla.rtt0": p.hybla.rtt0,
        "tcp_illinois.win_thresh": p.illinois.win_thresh,
        "tcp_illinois.theta": p.illinois.theta,
        "tcp_nv.nv_pad": p.nv.pad,
        "tcp_nv.nv_reset_period": p.nv.reset_period,
        "tcp_nv.nv_min_cwnd": p.nv.min_cwnd,
        "tcp_vegas.alpha": p.vegas.alpha,
        "tcp_vegas.beta": p.vegas.beta,
        "tcp_vegas.gamma": p.vegas.gamma,
    })
}

fn edca(ac: Ac, e: &EdcaOverride) -> Value {
    json!({
        "ac": ac.name(),
        "aifsn": e.aifsn,
        "cw_min": e.cw_min,
        "cw_max": e.cw_max,
        "txop_ns": e.txop.map(|d| d.nanos()),
    })
}
