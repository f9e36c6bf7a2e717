use std::net::Ipv4Addr;

use stillair_model::node::jitter::Spread;
use stillair_model::qdisc::cake::{CakeParams, Tins};
use stillair_model::types::{Duration, Rate};

use super::super::builder::{InterfaceBuilder, LinkBuilder, NodeBuilder, ScenarioBuilder, Setting};
use super::super::document::Table;
use super::super::{parse, reference, schema};
use super::jitter::Options;
use super::qdisc::Qdisc;
use super::qdisc::cake::Cake;
use super::qdisc::fq_codel::FqCodel;
use super::qdisc::htb::Htb;
use super::{Domain, Section as _};

const SPECIMEN: &str = include_str!("../../../tests/scenario/good.toml");

#[test]
fn schema_and_reference_match_stored_files() {
    let kept = include_str!("../../../../../python/stillair/schema/scenario.schema.json");
    assert_eq!(first_difference(&schema(), kept), None);
    assert_eq!(first_difference(&reference(), include_str!("../../../../../docs/scenario.md")), None);
}

#[test]
fn setters_round_trip() {
    let ms = Duration::from_millis;
    let cake = Cake::default().rtt(ms(40)).tins(Tins::Besteffort).memlimit(1 << 20).nat(false);
    let mut table = Table::default();
    cake.written(&mut table);
    let keys: Vec<&str> = table.0.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["rtt", "tins", "memlimit", "nat"]);
    let text =
        "{ kind = \"cake\", rtt = \"40 ms\", tins = \"besteffort\", memlimit = \"1048576 B\", nat = false }";
    let sets = [("node.server.interface.eth0.qdisc".to_owned(), text.to_owned())];
    let read = parse(SPECIMEN, "good.toml", &sets).expect("it is right");
    let params = CakeParams { target: ms(2), ..cake.params() };
    assert!(format!("{:?}", read.nodes).contains(&format!("{params:?}")), "{params:?}");
}

#[test]
fn defaults_round_trip() {
    let jitter = Options::default().softirq(Spread::Uniform(Duration::ZERO, Duration::from_micros(50)));
    let mut table = Table::default();
    jitter.written(&mut table);
    assert_eq!(table.0[0].1.value.describe(), "\"uniform 0 us..50 us\"");
}

/// Returns the first lines in which two texts differ.
fn first_difference(a: &str, b: &str) -> Option<[String; 2]> {
    let [mut a, mut b] = [a.lines(), b.lines()];
    loop {
        match (a.next(), b.next()) {
            (None, None) => return None,
            (a, b) if a != b => return Some([a, b].map(|line| line.unwrap_or("the end").to_owned())),
            _ => {}
        }
    }
}

#[test]
fn tables_may_be_recursive() {
    let shape =
        Qdisc::TYPE.shapes().into_iter().find(|shape| shape.kind() == "htb").expect("htb is declared");
    let inner = shape.key("child").expect("it has a child").form.shapes();
    assert!(inner.iter().any(|inner| core::ptr::eq(*inner, shape)));
}

#[test]
fn child_round_trips() {
    let child = FqCodel::default().limit(100).target(Duration::from_millis(20));
    let htb = Htb::default().rate(Rate::from_mbps(10)).child(child.into());
    let network = |qdisc: Setting| {
        let end = |at: u8| InterfaceBuilder::wired("lan", Ipv4Addr::new(10, 0, 0, at));
        ScenarioBuilder::new("a link")
            .link("lan", LinkBuilder::new(Rate::from_mbps(50), Duration::ZERO))
            .node("a", NodeBuilder::new("linux-6.1").interface("eth0", end(1).qdisc(qdisc)))
            .node("b", NodeBuilder::new("linux-6.1").interface("eth0", end(2)))
            .build()
            .map_err(|error| error.to_string())
    };
    let child = [("kind", "fq_codel".into()), ("limit", 100.into()), ("target", "20 ms".into())];
    let text = [("kind", "htb".into()), ("rate", "10 Mbit/s".into()), ("child", child.into())];
    let built = network(htb.into());
    assert!(built.is_ok(), "{built:?}");
    assert_eq!(built, network(text.into()));
}
