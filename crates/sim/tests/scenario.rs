//! The scenario reader from the outside: a complete file, errors and their messages, and randomly corrupted
//! text.

#[path = "scenario/idle.rs"]
mod idle;
#[path = "scenario/kernels.rs"]
mod kernels;
#[path = "scenario/limits.rs"]
mod limits;
#[path = "scenario/mistakes.rs"]
mod mistakes;
#[path = "scenario/notes.rs"]
mod notes;

use proptest::prelude::*;
use stillair_model::app::WhenFull;
use stillair_model::qdisc::QdiscConfig;
use stillair_model::types::{Ac, Duration, Rate};
use stillair_model::wifi::air::edca::{EdcaParams, EdcaSet};
use stillair_model::wifi::config::{DriverConfig, Mac80211Rules, Scheduler, SlowBelow};
use stillair_model::wifi::phy::{Band, Gi, HtRate, PhyRate, Width};
use stillair_model::wire::{EthernetParams, WireParams};
use stillair_sim::scenario::{
    self, Attachment, EdcaOverride, Errors, FlowEnd, FlowKind, Gap, GivenErrors, InterfaceRef, Rates, Role,
    Scenario, ScenarioError, Scheme, SocketMemory, Station, Wifi,
};

const GOOD: &str = include_str!("scenario/good.toml");
const MALFORMED: &str = include_str!("scenario/malformed.toml");

fn with(sets: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    scenario::parse(GOOD, "good.toml", &sets)
}

fn wifi(scenario: &Scenario, node: &str) -> Wifi {
    let node = scenario.nodes.iter().find(|n| n.name == node).expect("node");
    node.interfaces
        .iter()
        .find_map(|i| match &i.medium {
            Attachment::Wifi(wifi) => Some(wifi.clone()),
            Attachment::Wired { .. } => None,
        })
        .expect("a Wi-Fi interface")
}

fn station(scenario: &Scenario, node: &str) -> Station {
    match wifi(scenario, node).role {
        Role::Station(station) => station,
        Role::Ap => panic!("{node} is an access point"),
    }
}

/// Returns the parameters of the first link.
fn ethernet(scenario: &Scenario) -> EthernetParams {
    match scenario.links[0].params[0] {
        WireParams::Ethernet(params) => params,
        WireParams::Access(..) | WireParams::Veth => panic!("no Ethernet"),
    }
}

fn mcs(station: &Station) -> Vec<(u8, u8)> {
    let one = |e: &stillair_model::wifi::phy::RateTry| match e.rate {
        PhyRate::Ht(HtRate { mcs, width: Width::Mhz20, gi: Gi::Short }) => (mcs, e.tries),
        other => panic!("{other:?}"),
    };
    let Rates::Fixed(chain) = station.rates else { panic!("a fixed rate") };
    chain.entries().iter().map(one).collect()
}

#[test]
fn the_whole_contract() {
    let s = with(&[("node.fast1.interface.wlan0.scheme", "fifo")]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((s.name.as_str(), s.seed), ("anomaly-udp", 1));
    assert_eq!((s.duration, s.warm_up), (Duration::from_secs(30), Duration::from_secs(5)));
    let channel = &s.channels[0];
    assert_eq!((channel.band, channel.width), (Band::Ghz5, Width::Mhz20));
    assert_eq!(channel.beacon_interval, Some(Duration::from_micros(102_400)));

    let names: Vec<&str> = s.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["server", "ap", "fast1", "fast2", "slow"]);
    assert_eq!(s.nodes.iter().map(|n| n.forward).collect::<Vec<_>>(), [false, true, false, false, false]);
    assert_eq!((s.nodes[1].profile.name, s.nodes[3].profile.name), ("linux-4.6", "linux-4.14"));
    assert_eq!(s.nodes[1].interfaces[1].address.to_string(), "10.0.1.1");
    assert_eq!(s.nodes[3].interfaces[0].address.to_string(), "10.0.1.12");

    let ap = wifi(&s, "ap");
    assert_eq!((ap.role, ap.scheme, ap.retry_limit), (Role::Ap, Scheme::Airtime, 30));
    assert!(matches!(ap.driver, DriverConfig::Fq(q, Scheduler::Airtime(a))
        if q.limit == 8192 && a.sparse && a.quantum == Duration::from_micros(300)));
    assert_eq!(s.nodes[1].interfaces[1].qdisc.config, QdiscConfig::Noqueue);
    let qdisc = &s.nodes[2].interfaces[0].qdisc;
    assert!(
        qdisc.mq && matches!(qdisc.config, QdiscConfig::PfifoFast(p) if p.limit == 1000 && !p.limit_per_band)
    );
    assert!(!s.nodes[0].interfaces[0].qdisc.mq);

    assert_eq!(station(&s, "fast1"), station(&s, "fast2"));
    assert_eq!(mcs(&station(&s, "fast2")), [(15, 4), (14, 4), (13, 4), (5, 4)]);
    assert_eq!(mcs(&station(&s, "slow")), [(0, 4)]);
    assert_eq!(station(&s, "slow").ap, InterfaceRef { node: 1, interface: 1 });
    assert!(matches!(wifi(&s, "slow").driver, DriverConfig::Legacy(p) if p.qlen == 123));

    let only = |node| FlowEnd { node, interface: None };
    let link = &s.links[0];
    let wire = ethernet(&s);
    assert_eq!((wire.rate, wire.delay), (Rate::from_mbps(1000), Duration::from_micros(100)));
    assert_eq!((wire.ring, wire.bql, wire.tx_usecs), (256, false, Duration::from_micros(125)));
    let offloads = |node: usize| s.nodes[node].interfaces.iter().map(|i| (i.tso, i.gro)).collect::<Vec<_>>();
    assert_eq!((offloads(0), offloads(1)), (vec![(true, true)], vec![(true, true), (false, false)]));
    assert_eq!(link.ends, [InterfaceRef { node: 0, interface: 0 }, InterfaceRef { node: 1, interface: 0 }]);

    assert_eq!((s.flows[0].name.as_str(), s.flows[0].from), ("udp-0", only(0)));
    assert_eq!(s.flows[0].to, [2, 3, 4].map(only));
    let rates = vec![Rate::from_mbps(100); 3];
    assert_eq!(
        s.flows[0].kind,
        FlowKind::Udp { rates, payload: 1470, burst: 8, gap: Gap::Exponential, when_full: WhenFull::Block }
    );
    assert_eq!(s.flows[1].kind, FlowKind::Ping { interval: Duration::from_millis(200), payload: 56 });
}

#[test]
fn overrides_act_as_edits() {
    const SCHEME: &str = "node.ap.interface.wlan0.scheme";
    let s = with(&[(SCHEME, "fq_codel")]).unwrap();
    assert!(matches!(wifi(&s, "ap").driver, DriverConfig::Legacy(_)));
    let qdisc = &s.nodes[1].interfaces[1].qdisc;
    assert!(qdisc.mq && matches!(qdisc.config, QdiscConfig::FqCodel(p) if p.limit == 10_240));

    let s = with(&[
        ("node.ap.interface.wlan0.scheme.sparse", "false"),
        ("node.ap.interface.wlan0.scheme.quantum", "1 ms"),
        ("node.ap.interface.wlan0.scheme.hw_aggregates", "1"),
        ("node.ap.interface.wlan0.scheme.memory_limit", "16 MiB"),
    ]);
    let ap = wifi(&s.unwrap(), "ap");
    assert_eq!(ap.hardware.aggregates, 1);
    assert!(matches!(ap.driver, DriverConfig::Fq(q, Scheduler::Airtime(a))
        if q.memory_limit == 16 << 20 && !a.sparse && a.charge_rx && a.quantum == Duration::from_millis(1)));

    // A node that inherits from a changed node changes with it, except for keys of its own.
    let chain = "[\"mcs7\", { rate = \"mcs3\", tries = 2 }]";
    let s = with(&[
        ("node.fast1.interface.wlan0.rate", "ht20-mcs7-sgi"),
        ("node.fast1.interface.wlan0.retry_chain", chain),
    ])
    .unwrap();
    assert_eq!(mcs(&station(&s, "fast2")), [(7, 4), (3, 2)]);
    assert_eq!(mcs(&station(&s, "slow")), [(0, 4)]);

    let s = with(&[
        ("flow.0.rate", "[\"60 Mbit/s\", \"60 Mbit/s\", \"20 Mbit/s\"]"),
        ("flow.0.gap", "uniform 0.5..1.5"),
        ("flow.1.dscp", "EF"),
        ("channel.wifi.beacon_interval", "off"),
        ("node.server.sysctl.net.core.wmem_default", "1 MiB"),
        ("node.server.interface.eth0.qdisc", "{ kind = \"fq_codel\", target = \"20 ms\", ecn = false }"),
        ("node.slow.interface.wlan0.ack_error_rate", "0.25"),
    ])
    .unwrap();
    let rates = [60, 60, 20].map(Rate::from_mbps).to_vec();
    let gap = Gap::Uniform { low: 500_000, high: 1_500_000 };
    assert_eq!(
        s.flows[0].kind,
        FlowKind::Udp { rates, payload: 1470, burst: 8, gap, when_full: WhenFull::Block }
    );
    assert_eq!((s.flows[0].tos, s.flows[1].tos), (0, 184));
    assert_eq!(s.channels[0].beacon_interval, None);
    assert_eq!((s.nodes[0].profile.wmem_default, s.nodes[2].profile.wmem_default), (1 << 20, 212_992));
    assert!(matches!(s.nodes[0].interfaces[0].qdisc.config, QdiscConfig::FqCodel(p)
        if p.codel.target == Duration::from_millis(20) && !p.codel.ecn && p.flows == 1024));
    let given = Errors::Given { unheard: 0.0, frame: GivenErrors::Same(0.0), answer: 0.25 };
    assert_eq!(station(&s, "slow").errors, given);
}

/// good.toml with a second interface on the radio of fast1, and so of the nodes that inherit from it.
fn with_virtual(sets: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let first = "interface.wlan1 = { channel = \"wifi\", role = \"station\", ap = \"ap.wlan0\", radio = \"wlan0\", \
                 address = \"10.0.1.14\", rate = \"ht20-mcs15-sgi\" }\n[node.fast2]\n\
                 interface.wlan1 = { address = \"10.0.1.15\", radio = \"fast1.wlan0\" }\n";
    let slow = "[node.slow]\ninterface.wlan1 = { address = \"10.0.1.16\" }\n";
    let text = GOOD.replacen("[node.fast2]\n", first, 1).replacen("[node.slow]\n", slow, 1);
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    scenario::parse(&text, "good.toml", &sets)
}

#[test]
fn parameters_of_new_vegas() {
    let sets = [("nv_pad", 20), ("nv_reset_period", 7), ("nv_min_cwnd", 3)]
        .map(|(name, n)| (format!("node.server.module.\"tcp_nv.{name}\""), n.to_string()));
    let s = scenario::parse(GOOD, "good.toml", &sets).unwrap_or_else(|e| panic!("{e}"));
    let nv = s.nodes[0].profile.cc.nv;
    assert_eq!((nv.pad, nv.reset_period, nv.min_cwnd), (20, 7, 3));
    let json: serde_json::Value = serde_json::from_str(&s.resolved()).unwrap();
    assert_eq!(json["nodes"][0]["profile"]["congestion_controls"]["tcp_nv.nv_pad"], 20);
}

#[test]
fn second_interface_on_a_radio() {
    let at = |node, interface| InterfaceRef { node, interface };
    let s = with_virtual(&[
        ("node.fast1.interface.wlan0.scheme", "{ kind = \"fifo\", hw_aggregates = 1 }"),
        ("node.ap.interface.wlan0.wmm_ac_be_cwmin", "5"),
        ("flow.1.to", "[\"fast1.wlan1\", \"fast1\", \"fast2.wlan0\"]"),
    ])
    .unwrap_or_else(|e| panic!("{e}"));
    let second = |node: usize| match &s.nodes[node].interfaces[1].medium {
        Attachment::Wifi(wifi) => wifi.clone(),
        Attachment::Wired { .. } => panic!("a wired interface"),
    };
    assert_eq!([2, 3, 4].map(|node| second(node).radio), [at(2, 0), at(2, 0), at(4, 0)].map(Some));
    // Hardware queue depth and EDCA parameters belong to the radio.
    assert_eq!((second(2).hardware.aggregates, second(2).edca[2].cw_min), (1, Some(31)));
    let end = |node, interface| FlowEnd { node, interface };
    assert_eq!(s.flows[1].to, [end(2, Some(1)), end(2, None), end(3, Some(0))]);
    let names = [at(2, 0), at(2, 1)].map(|i| s.station_name(i));
    assert_eq!(names, ["fast1", "fast1.wlan1"]);
    assert_eq!(s.station_name(at(1, 1)), "ap.wlan0");
    let json: serde_json::Value = serde_json::from_str(&s.resolved()).unwrap();
    assert_eq!(json["nodes"][2]["interfaces"][1]["medium"]["radio"], "fast1.wlan0");
    assert_eq!(json["flows"][1]["to"], serde_json::json!(["fast1.wlan1", "fast1", "fast2.wlan0"]));
}

#[test]
fn errors_in_radios() {
    let wrong =
        |sets: &[(&str, &str)]| with_virtual(sets).map_or_else(|e| e.to_string(), |_| "no error".to_owned());
    let radio = "node.fast1.interface.wlan1.radio";
    for (sets, says) in [
        (
            [(radio, "wlan9"), ("flow.0.to", "slow")],
            "radio: found \"wlan9\", expected one of \"wlan0\", \"wlan1\" in node \"fast1\"",
        ),
        (
            [(radio, "wlan1"), ("seed", "1")],
            "found \"wlan1\", expected a station's interface, or an access point's of its node, with a radio of its own",
        ),
        (
            [(radio, "ap.wlan0"), ("seed", "1")],
            "found \"ap.wlan0\", expected a station's interface, or an access point's of its node, with a radio of its own",
        ),
        (
            [(radio, "ap.eth0"), ("seed", "1")],
            "found \"ap.eth0\", expected a station's interface, or an access point's of its node, with a radio of its own",
        ),
        (
            [("node.fast1.interface.wlan1.scheme", "{ kind = \"fifo\", hw_singles = 3 }"), ("seed", "1")],
            "found hw_aggregates or hw_singles beside it, expected them at the interface whose radio it is",
        ),
        (
            [("flow.0.to", "[\"fast1\", \"fast1.wlan0\"]"), ("seed", "1")],
            "found \"fast1.wlan0\" a second time",
        ),
        ([("flow.0.from", "fast1.wlan0"), ("flow.0.to", "fast1.wlan1")], "expected a node other than from"),
        ([("flow.0.to", "fast1.wlan7"), ("seed", "1")], "found \"fast1.wlan7\", expected one of"),
    ] {
        let said = wrong(&sets);
        assert!(said.contains(says), "said: {said}\nnot:  {says}");
    }
}

#[test]
fn edca_under_hostapd_names() {
    let key = |name: &str| format!("node.ap.interface.wlan0.{name}");
    let s = with(&[
        (&key("tx_queue_data2_cwmax"), "63"),
        (&key("tx_queue_data2_burst"), "2 ms"),
        (&key("wmm_ac_be_cwmin"), "4"),
        (&key("wmm_ac_vi_txop_limit"), "94"),
    ])
    .unwrap();
    let none = EdcaOverride::default();
    let be = EdcaOverride { cw_max: Some(63), txop: Some(Duration::from_micros(63 * 32)), ..none };
    assert_eq!(wifi(&s, "ap").edca, [none, none, be, none]);
    let slow = wifi(&s, "slow").edca;
    assert_eq!(slow[Ac::Be.index()], EdcaOverride { cw_min: Some(15), ..none });
    assert_eq!(slow[Ac::Vi.index()], EdcaOverride { txop: Some(Duration::from_micros(3008)), ..none });
}

/// hostapd passes whole units of 32 us to the driver, rounded to the nearest; the shipped bursts are 47 and
/// 94 units.
#[test]
fn bursts_in_units_of_32_us() {
    for (burst, units) in [
        ("0 ms", 0),
        ("15999 ns", 0),
        ("16 us", 1),
        ("1.5 ms", 47),
        ("2.0 ms", 63),
        ("3.0 ms", 94),
        ("2097.12 ms", 65_535),
    ] {
        let s = with(&[("node.ap.interface.wlan0.tx_queue_data1_burst", burst)]).unwrap();
        assert_eq!(wifi(&s, "ap").edca[1].txop, Some(Duration::from_micros(32 * units)), "{burst}");
    }
}

/// The shipped values, written under hostapd's names, are accepted and equal the defaults.
#[test]
fn shipped_edca_written_out() {
    let own = [
        ["1", "3", "7", "1.5 ms"],
        ["1", "7", "15", "3.0 ms"],
        ["3", "15", "63", "0 ms"],
        ["7", "15", "1023", "0 ms"],
    ];
    let stations =
        [["2", "2", "3", "47"], ["2", "3", "4", "94"], ["3", "4", "10", "0"], ["7", "4", "10", "0"]];
    let mut sets = Vec::new();
    for ac in Ac::ALL {
        let name = |text: &str| format!("node.ap.interface.wlan0.{text}");
        for (what, value) in ["aifs", "cwmin", "cwmax", "burst"].iter().zip(own[ac.index()]) {
            sets.push((name(&format!("tx_queue_data{}_{what}", ac.index())), value));
        }
        for (what, value) in ["aifs", "cwmin", "cwmax", "txop_limit"].iter().zip(stations[ac.index()]) {
            sets.push((name(&format!("wmm_ac_{}_{what}", ac.name().to_lowercase())), value));
        }
    }
    let sets: Vec<(&str, &str)> = sets.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let s = with(&sets).unwrap_or_else(|e| panic!("{e}"));
    for (node, shipped) in [("ap", EdcaSet::ACCESS_POINT), ("slow", EdcaSet::STATION)] {
        for ac in Ac::ALL {
            // Every field is set, so none of these values remain.
            let mut params = EdcaParams { aifsn: 99, cw_min: 0, cw_max: 0, txop: Duration::from_secs(1) };
            wifi(&s, node).edca[ac.index()].apply(&mut params);
            assert_eq!(params, shipped.get(ac), "{node} {}", ac.name());
        }
    }
}

/// Contents of the project's own scenarios.
#[test]
fn shipped_scenarios() {
    let anomaly = include_str!("../../../scenarios/anomaly-udp.toml");
    let sets = scenario::sweep(anomaly, "anomaly-udp.toml", &[]).unwrap();
    let mut schemes = Vec::new();
    for set in &sets {
        let s = scenario::parse(anomaly, "anomaly-udp.toml", set).unwrap_or_else(|e| panic!("{e}"));
        schemes.push(wifi(&s, "ap").scheme);
        assert_eq!(ethernet(&s).delay * 2, Duration::from_micros(500));
    }
    assert_eq!(schemes, [Scheme::Fifo, Scheme::FqCodel, Scheme::FqMac, Scheme::Airtime]);

    let bench = include_str!("../../../scenarios/bench/anomaly-udp.toml");
    let s = scenario::parse(bench, "bench/anomaly-udp.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((wifi(&s, "ap").scheme, s.duration - s.warm_up), (Scheme::FqCodel, Duration::from_secs(30)));
    let gap = Gap::Uniform { low: 500_000, high: 1_500_000 };
    let rates = [60, 60, 20].map(Rate::from_mbps).to_vec();
    assert_eq!(
        s.flows[0].kind,
        FlowKind::Udp { rates, payload: 1472, burst: 1, gap, when_full: WhenFull::Block }
    );
    assert_eq!(mcs(&station(&s, "fast1")), [(15, 4)]);
}

#[test]
fn resolved_text_has_defaults_and_distinguishes_scenarios() {
    let text = with(&[]).unwrap().resolved();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["nodes"][1]["interfaces"][1]["medium"]["driver"]["airtime"]["quantum_ns"], 300_000);
    assert_eq!(
        json["nodes"][4]["interfaces"][0]["medium"]["role"]["retry_chain"][0]["rate"],
        "ht20-mcs0-sgi"
    );
    assert_eq!(json["links"][0]["ends"][1], "ap.eth0");
    assert_eq!(text, with(&[]).unwrap().resolved());
    for (key, value) in [
        ("node.ap.interface.wlan0.scheme.charge_tx", "false"),
        ("node.ap.interface.wlan0.scheme.slow_ecn", "true"),
        ("node.ap.interface.wlan0.retry_limit", "10"),
        ("node.ap.interface.wlan0.wmm_ac_bk_aifs", "9"),
        ("node.server.interface.eth0.txqueuelen", "10"),
        ("node.slow.interface.wlan0.error_rate", "0.1"),
        ("flow.0.gap", "periodic"),
        ("flow.0.stop", "20 s"),
    ] {
        assert_ne!(text, with(&[(key, value)]).unwrap_or_else(|e| panic!("{e}")).resolved(), "{key}");
    }
}

#[test]
fn a_scenario_needs_a_node() {
    let said = scenario::parse("name = \"x\"\nnode = {}\n", "f.toml", &[]).unwrap_err().to_string();
    assert_eq!(said, "f.toml:2: node: found no node, expected at least one");
}

#[test]
fn every_mistake_has_its_message() {
    let table: toml::Table = MALFORMED.parse().expect("the table of cases is TOML");
    let mut wrong = Vec::new();
    let cases = table["case"].as_array().unwrap();
    for case in cases {
        let pair = |key: &str| case.get(key).map(|v| [v[0].as_str().unwrap(), v[1].as_str().unwrap()]);
        let says = case["says"].as_str().unwrap();
        let result = match (pair("change"), pair("set")) {
            (Some([is, becomes]), None) => {
                assert!(GOOD.contains(is), "{is:?} is not in good.toml");
                scenario::parse(&GOOD.replacen(is, becomes, 1), "good.toml", &[])
            }
            (None, Some([key, value])) => with(&[(key, value)]),
            _ => panic!("a case has change or set: {case}"),
        };
        let said = result.map_or_else(|e| e.to_string(), |_| "no error".to_owned());
        if said != says {
            wrong.push(format!("said: {said}\nnot:  {says}"));
        }
    }
    assert!(cases.len() >= 20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the number of lines of an error: one per error, at most twenty, and one for the rest.
fn lines_of(e: &ScenarioError) -> usize {
    assert!(e.others.len() < 20 && (e.more == 0 || e.others.len() == 19));
    1 + e.others.len() + usize::from(e.more > 0)
}

#[derive(Clone, Debug)]
enum Damage {
    Delete(usize, usize),
    Swap(usize, usize),
    Set(usize, u8),
    Copy(usize, usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = 0..GOOD.len();
    prop_oneof![
        (at.clone(), 1..40_usize).prop_map(|(i, n)| Damage::Delete(i, n)),
        (at.clone(), at.clone()).prop_map(|(i, j)| Damage::Swap(i, j)),
        (at.clone(), any::<u8>()).prop_map(|(i, b)| Damage::Set(i, b)),
        (at.clone(), 1..80_usize, at).prop_map(|(i, n, to)| Damage::Copy(i, n, to)),
    ]
}

fn damaged(all: &[Damage]) -> String {
    let mut bytes = GOOD.as_bytes().to_vec();
    for one in all {
        let len = bytes.len();
        match *one {
            Damage::Delete(i, n) => drop(bytes.drain(i.min(len)..(i + n).min(len))),
            Damage::Swap(i, j) if i < len && j < len => bytes.swap(i, j),
            Damage::Set(i, b) if i < len => bytes[i] = b,
            Damage::Copy(i, n, to) if to <= len => {
                let piece = bytes[i.min(len)..(i + n).min(len)].to_vec();
                drop(bytes.splice(to..to, piece));
            }
            Damage::Swap(..) | Damage::Set(..) | Damage::Copy(..) => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn corrupted_text_is_read_or_rejected_with_a_line(all in prop::collection::vec(damage(), 1..5)) {
        let text = damaged(&all);
        let lines = 1 + text.matches('\n').count() as u32;
        if let Err(e) = scenario::parse(&text, "f.toml", &[]) {
            prop_assert!(e.line.is_some_and(|line| (1..=lines).contains(&line)), "{}", e);
            prop_assert_eq!(e.to_string().lines().count(), lines_of(&e));
        }
        // A valid sweep gives overrides that can be applied without a panic.
        if let Ok(sets) = scenario::sweep(&text, "f.toml", &[]) {
            for set in sets.iter().take(3) {
                let _read_or_refused = scenario::parse(&text, "f.toml", set);
            }
        }
    }

    #[test]
    fn any_override_is_accepted_or_rejected(
        path in "(node|flow|channel|seed|sweep)(\\.(ap|0|wifi|interface|wlan0|scheme|to|x|sparse)){0,6}",
        value in "(fifo|airtime|1|\\[\\]|true|\\PC{0,20})",
    ) {
        if let Err(e) = with(&[(&path, &value)]) {
            prop_assert_eq!(e.to_string().lines().count(), lines_of(&e));
        }
    }
}
