//! Builds a scenario in Rust, with the same checks, defaults and errors as for a file.
//!
//! Common settings are typed functions. Any other key of the [reference](super::reference()) can be
//! [`set`](NodeBuilder::set) by its name, with a typed value. Nothing is checked before
//! [`Reader::build`](super::Reader::build).
//!
//! ```
//! use std::net::Ipv4Addr;
//! use stillair_model::types::{Duration, Rate, Seed};
//! use stillair_model::wifi::phy::{Band, PhyRate, Width};
//! use stillair_sim::api;
//! use stillair_sim::scenario::Scheme;
//! use stillair_sim::scenario::builder::{ChannelBuilder, ScenarioBuilder, FlowBuilder, InterfaceBuilder, LinkBuilder, NodeBuilder};
//!
//! let at = |a, b| Ipv4Addr::new(10, 0, a, b);
//! let rate = PhyRate::parse("ht20-mcs7-lgi")?;
//! let scenario = ScenarioBuilder::new("home")
//!     .duration(Duration::from_secs(2))
//!     .channel("air", ChannelBuilder::new(Band::Ghz5, Width::Mhz20))
//!     .link("lan", LinkBuilder::new(Rate::from_mbps(1000), Duration::from_millis(5)))
//!     .node("server", NodeBuilder::new("linux-6.12").interface("eth0", InterfaceBuilder::wired("lan", at(0, 2))))
//!     .node(
//!         "ap",
//!         NodeBuilder::new("linux-6.12")
//!             .forward()
//!             .interface("eth0", InterfaceBuilder::wired("lan", at(0, 1)))
//!             .interface("wlan0", InterfaceBuilder::access_point("air", Scheme::FqMac, at(1, 1))),
//!     )
//!     .node("phone", NodeBuilder::new("linux-6.12").interface("wlan0", InterfaceBuilder::station("air", "ap.wlan0", rate, at(1, 2))))
//!     .flow(FlowBuilder::tcp("server", "phone").set("congestion_control", "bbr"))
//!     .flow(FlowBuilder::ping("phone", "server", Duration::from_millis(100)))
//!     .build()?;
//! let summary = api::run_once(&scenario, Seed { seed: 1, run: 0 })?;
//! assert!(summary.goodput_total_mbps > 30.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::net::Ipv4Addr;

use stillair_model::types::{Duration, Rate};
use stillair_model::wifi::phy::{Band, PhyRate, Width};

use super::document::{self, Item, Table, Value};
use super::error::Origin;
use super::{Scenario, ScenarioError, Scheme};

/// The value of a key, as in a scenario file.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting(Value);

impl Setting {
    pub(super) const fn of(value: Value) -> Self {
        Self(value)
    }

    pub(super) fn into_value(self) -> Value {
        self.0
    }
}

macro_rules! settings {
    ($($from:ty: $value:ident => $make:expr;)*) => {
        $(
            impl From<$from> for Setting {
                fn from($value: $from) -> Self {
                    Self($make)
                }
            }
        )*
    };
}

settings! {
    &str: text => Value::String(text.to_owned());
    String: text => Value::String(text);
    bool: on => Value::Boolean(on);
    i64: number => Value::Integer(number);
    i32: number => Value::Integer(number.into());
    u32: number => Value::Integer(number.into());
    f64: number => Value::Float(number);
    Duration: time => Value::String(format!("{} ns", time.nanos()));
    Rate: rate => Value::String(format!("{} bit/s", rate.bps()));
    PhyRate: rate => Value::String(rate.to_string());
    Ipv4Addr: address => Value::String(address.to_string());
}

impl<T: Into<Self>> From<Vec<T>> for Setting {
    fn from(all: Vec<T>) -> Self {
        Self(Value::Array(all.into_iter().map(|one| item(one.into().0)).collect()))
    }
}

/// A table, such as `{ kind = "fq_codel", limit = 100 }`.
impl<const N: usize> From<[(&str, Self); N]> for Setting {
    fn from(keys: [(&str, Self); N]) -> Self {
        let mut table = Table::default();
        keys.into_iter().for_each(|(key, value)| put(&mut table, key, value.0));
        Self(Value::Table(table))
    }
}

fn item(value: Value) -> Item {
    Item { value, origin: Origin::Built }
}

/// Puts a value at a dotted key, replacing any previous value and creating missing tables. Parts that contain
/// dots are quoted, and list elements are numbered: `flow.0.rate`.
fn put(table: &mut Table, key: &str, value: Value) {
    let (first, rest) = document::first_part(key);
    let place = match table.0.iter().position(|(name, _)| name == first) {
        Some(place) => place,
        None => {
            table.0.push((first.to_owned(), item(Value::Table(Table::default()))));
            table.0.len() - 1
        }
    };
    let entry = &mut table.0[place].1;
    match (rest, &mut entry.value) {
        (None, _) => *entry = item(value),
        (Some(rest), Value::Table(inner)) => put(inner, rest, value),
        (Some(rest), Value::Array(all)) => {
            let (number, rest) = document::first_part(rest);
            let one = number.parse().ok().and_then(|n: usize| all.get_mut(n));
            let one = one.unwrap_or_else(|| panic!("{key}: there is no number {number:?} in it yet"));
            match (rest, &mut one.value) {
                (Some(rest), Value::Table(inner)) => put(inner, rest, value),
                _ => *one = item(value),
            }
        }
        (Some(rest), _) => {
            let mut inner = Table::default();
            put(&mut inner, rest, value);
            *entry = item(Value::Table(inner));
        }
    }
}

/// Adds a named part to the table of its kind. Panics if the name is already used.
fn add(table: &mut Table, kind: &str, name: &str, part: Table) {
    if !table.0.iter().any(|(key, _)| key == kind) {
        table.0.push((kind.to_owned(), item(Value::Table(Table::default()))));
    }
    if let Some((_, Item { value: Value::Table(all), .. })) = table.0.iter_mut().find(|(key, _)| key == kind)
    {
        assert!(all.get(name).is_none(), "{kind} {name:?} is there already");
        all.0.push((name.to_owned(), item(Value::Table(part))));
    }
}

macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, PartialEq, Debug, Default)]
            pub struct $name(Table);

            impl $name {
                /// Sets a key of the reference; the last value applies. Keys of nested tables are joined by
                /// dots. A key that contains dots is quoted: `sysctl."net.ipv4.tcp_ecn"`.
                pub fn set(mut self, key: &str, value: impl Into<Setting>) -> Self {
                    put(&mut self.0, key, value.into().0);
                    self
                }
            }
        )*
    };
}

parts! {
    /// A scenario under construction.
    ScenarioBuilder;
    /// A Wi-Fi channel.
    ChannelBuilder;
    /// A wired link.
    LinkBuilder;
    /// A host, router or access point.
    NodeBuilder;
    /// A network interface.
    InterfaceBuilder;
    /// Traffic.
    FlowBuilder;
}

impl ScenarioBuilder {
    /// Creates a scenario with this name.
    pub fn new(name: &str) -> Self {
        Self::default().set("name", name)
    }

    /// Sets the length of the run; 30 s by default.
    pub fn duration(self, length: Duration) -> Self {
        self.set("duration", length)
    }

    /// Sets the time at the start of the run that is not measured (warm-up).
    pub fn warm_up(self, time: Duration) -> Self {
        self.set("warm_up", time)
    }

    /// Adds a channel. Panics if the name is in use, as do [`link`](Self::link), [`node`](Self::node) and
    /// [`NodeBuilder::interface`].
    pub fn channel(self, name: &str, channel: ChannelBuilder) -> Self {
        self.named("channel", name, channel.0)
    }

    /// Adds a wired link.
    pub fn link(self, name: &str, link: LinkBuilder) -> Self {
        self.named("link", name, link.0)
    }

    /// Adds a node.
    pub fn node(self, name: &str, node: NodeBuilder) -> Self {
        self.named("node", name, node.0)
    }

    /// Adds a flow. Flows are numbered in the order in which they are added.
    pub fn flow(mut self, flow: FlowBuilder) -> Self {
        let flow = item(Value::Table(flow.0));
        match self.0.0.iter_mut().find(|(key, _)| key == "flow") {
            Some((_, Item { value: Value::Array(flows), .. })) => flows.push(flow),
            _ => put(&mut self.0, "flow", Value::Array(vec![flow])),
        }
        self
    }

    /// Builds the scenario with built-in parts and without files. For user-defined parts or files use
    /// [`Reader::build`](super::Reader::build).
    pub fn build(&self) -> Result<Scenario, ScenarioError> {
        super::Reader { parts: super::Parts::none(), files: &super::NoFiles }.build(self)
    }

    pub(super) const fn tree(&self) -> &Table {
        &self.0
    }

    fn named(mut self, kind: &str, name: &str, table: Table) -> Self {
        add(&mut self.0, kind, name, table);
        self
    }
}

impl ChannelBuilder {
    /// Creates a channel with this band and width.
    pub fn new(band: Band, width: Width) -> Self {
        let band = match band {
            Band::Ghz2 => "2.4 GHz",
            Band::Ghz5 => "5 GHz",
            Band::Ghz6 => "6 GHz",
        };
        Self::default().set("band", band).set("width", format!("{} MHz", width.megahertz()))
    }
}

impl LinkBuilder {
    /// Creates a link with this rate and delay in both directions.
    pub fn new(rate: Rate, delay: Duration) -> Self {
        Self::default().set("rate", rate).set("delay", delay)
    }
}

impl NodeBuilder {
    /// Creates a node with this kernel profile, such as `linux-6.12`.
    pub fn new(profile: &str) -> Self {
        Self::default().set("profile", profile)
    }

    /// Lets the node forward packets.
    pub fn forward(self) -> Self {
        self.set("forward", true)
    }

    /// Adds an interface.
    pub fn interface(mut self, name: &str, interface: InterfaceBuilder) -> Self {
        add(&mut self.0, "interface", name, interface.0);
        self
    }

    /// Sets a `sysctl` of the node.
    pub fn sysctl(self, name: &str, value: impl Into<Setting>) -> Self {
        self.set(&format!("sysctl.\"{name}\""), value)
    }
}

impl InterfaceBuilder {
    fn at(address: Ipv4Addr) -> Self {
        Self::default().set("address", address)
    }

    /// Creates a wired interface on a link.
    pub fn wired(link: &str, address: Ipv4Addr) -> Self {
        Self::at(address).set("link", link)
    }

    /// Creates the Wi-Fi interface of an access point with this queueing scheme.
    pub fn access_point(channel: &str, scheme: Scheme, address: Ipv4Addr) -> Self {
        Self::at(address).set("channel", channel).set("role", "ap").set("scheme", scheme.name())
    }

    /// Creates the Wi-Fi interface of a station of the access point `NODE.INTERFACE`, with a fixed rate in
    /// both directions.
    pub fn station(channel: &str, ap: &str, rate: PhyRate, address: Ipv4Addr) -> Self {
        Self::at(address).set("channel", channel).set("role", "station").set("ap", ap).set("rate", rate)
    }

    /// Sets the queueing discipline.
    pub fn qdisc(self, qdisc: impl Into<Setting>) -> Self {
        self.set("qdisc", qdisc)
    }
}

impl FlowBuilder {
    fn of(kind: &str, from: &str, to: &str) -> Self {
        Self::default().set("kind", kind).set("from", from).set("to", to)
    }

    /// Creates a bulk TCP transfer.
    pub fn tcp(from: &str, to: &str) -> Self {
        Self::of("tcp", from, to)
    }

    /// Creates a UDP flow with this payload rate.
    pub fn udp(from: &str, to: &str, rate: Rate) -> Self {
        Self::of("udp", from, to).set("rate", rate)
    }

    /// Creates a ping with this interval between requests.
    pub fn ping(from: &str, to: &str, interval: Duration) -> Self {
        Self::of("ping", from, to).set("interval", interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;

    const AT: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];

    fn built() -> ScenarioBuilder {
        let qdisc = Setting::from([("kind", "fq_codel".into()), ("limit", 100.into())]);
        ScenarioBuilder::new("a link")
            .duration(Duration::from_millis(1_500))
            .link("wan-1", LinkBuilder::new(Rate::from_mbps(50), Duration::from_micros(2_500)))
            .node(
                "a",
                NodeBuilder::new("linux-6.1")
                    .interface("eth0", InterfaceBuilder::wired("wan-1", AT[0]).qdisc(qdisc)),
            )
            .node(
                "b",
                NodeBuilder::new("linux-6.1")
                    .sysctl("net.ipv4.tcp_ecn", 1)
                    .interface("eth0", InterfaceBuilder::wired("wan-1", AT[1])),
            )
            .flow(FlowBuilder::udp("a", "b", Rate::from_mbps(5)).set("dscp", "EF"))
            .flow(FlowBuilder::ping("b", "a", Duration::from_millis(100)))
    }

    const TEXT: &str = r#"
name = "a link"
duration = "1500 ms"
link.wan-1 = { rate = "50 Mbit/s", delay = "2.5 ms" }
[node.a]
profile = "linux-6.1"
interface.eth0 = { link = "wan-1", address = "10.0.0.1", qdisc = { kind = "fq_codel", limit = 100 } }
[node.b]
profile = "linux-6.1"
sysctl."net.ipv4.tcp_ecn" = 1
interface.eth0 = { link = "wan-1", address = "10.0.0.2" }
[[flow]]
kind = "udp"
from = "a"
to = "b"
rate = "5 Mbit/s"
dscp = "EF"
[[flow]]
kind = "ping"
from = "b"
to = "a"
interval = "100 ms"
"#;

    #[test]
    fn built_scenario_equals_parsed_text() {
        let read = scenario::parse(TEXT, "link.toml", &[]).expect("a good text");
        assert_eq!(built().build().expect("a good network"), read);
    }

    #[test]
    fn errors_name_the_key() {
        let wrong = built().set("node.a.interface.eth0.qdisc.limt", 3);
        let error = wrong.build().expect_err("no such key").to_string();
        assert!(
            error.starts_with(
                "a scenario built in Rust: node.a.interface.eth0.qdisc.limt: found an unknown key"
            ),
            "{error}"
        );
        let wrong = built().flow(FlowBuilder::tcp("a", "c"));
        let error = wrong.build().expect_err("no such node").to_string();
        assert!(error.starts_with("a scenario built in Rust: flow.2.to: found \"c\""), "{error}");
        assert!(built().set("duration", true).build().is_err());
        let faster = built().set("flow.0.rate", Rate::from_mbps(7)).build().expect("a good network");
        assert_ne!(faster, built().build().expect("a good network"));
        assert_eq!(faster.flows.len(), 2);
    }

    #[test]
    #[should_panic(expected = "node \"a\" is there already")]
    fn a_second_node_of_a_name_is_no_other() {
        let _ = built().node("a", NodeBuilder::new("linux-6.1"));
    }
}
