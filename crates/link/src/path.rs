//! A path: a scenario that is read once and can make any number of links.

use std::net::Ipv4Addr;
use std::sync::Arc;

use stillair_sim::scenario::builder::ScenarioBuilder;
use stillair_sim::scenario::paths::{self, Preset};
use stillair_sim::scenario::{self, Host, MTU, Scenario};

use crate::datagram::Endpoint;
use crate::error::LinkError;
use crate::header;

/// An end of a path: an interface of an external host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct End {
    pub(crate) name: String,
    pub(crate) interface: u16,
    /// Its host, by its position among the external hosts.
    pub(crate) host: u32,
    pub(crate) address: Ipv4Addr,
}

/// A network with two or more endpoints. It is cheap to clone.
#[derive(Clone, Debug)]
pub struct Path {
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) ends: Arc<[End]>,
}

impl Path {
    /// The preset of that name.
    ///
    /// # Errors
    /// There is none; the message has those that there are.
    pub fn preset(name: &str) -> Result<Self, LinkError> {
        Self::preset_with(name, &[])
    }

    /// A preset with other values for some keys of its scenario, as with `stillair run --set KEY=VALUE`:
    /// `("node.client.interface.wlan0.distance", "30 m")`.
    ///
    /// # Errors
    /// There is no such preset, or a key or value is wrong.
    pub fn preset_with(name: &str, sets: &[(&str, &str)]) -> Result<Self, LinkError> {
        let preset: &Preset = paths::preset(name).map_err(LinkError::Preset)?;
        Self::parse(preset.text, preset.name, sets)
    }

    /// A scenario as TOML text; `file` is its name in error messages. Files that the scenario names are not
    /// read; for such a scenario use [`Path::of`].
    ///
    /// # Errors
    /// The scenario is wrong, or has fewer than two endpoints.
    pub fn parse(text: &str, file: &str, sets: &[(&str, &str)]) -> Result<Self, LinkError> {
        let sets: Vec<(String, String)> =
            sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        Self::of(scenario::parse(text, file, &sets)?)
    }

    /// A scenario that is built in Rust.
    ///
    /// # Errors
    /// As of [`Path::parse`].
    pub fn build(scenario: &ScenarioBuilder) -> Result<Self, LinkError> {
        Self::of(scenario.build()?)
    }

    /// A scenario that has been read. Its endpoints are the interfaces of its external hosts, in the order of
    /// the scenario, named after the node, or `NODE.INTERFACE` if a node has several.
    ///
    /// # Errors
    /// It has fewer than two endpoints.
    pub fn of(scenario: Scenario) -> Result<Self, LinkError> {
        let mut ends = Vec::new();
        let (mut interface, mut host) = (0_u16, 0);
        for node in &scenario.nodes {
            for own in &node.interfaces {
                if node.host == Host::External {
                    let name = match node.interfaces.len() {
                        1 => node.name.clone(),
                        _ => format!("{}.{}", node.name, own.name),
                    };
                    ends.push(End { name, interface, host, address: own.address });
                }
                interface += 1;
            }
            host += u32::from(node.host == Host::External);
        }
        if ends.len() < 2 {
            return Err(LinkError::Endpoints(ends.into_iter().map(|end| end.name).collect()));
        }
        Ok(Self { scenario: Arc::new(scenario), ends: ends.into() })
    }

    /// Names of the endpoints, in order.
    pub fn endpoints(&self) -> impl Iterator<Item = &str> {
        self.ends.iter().map(|end| end.name.as_str())
    }

    /// The endpoint of that name.
    ///
    /// # Errors
    /// There is none; the message has those that there are.
    pub fn endpoint(&self, name: &str) -> Result<Endpoint, LinkError> {
        let at = self.ends.iter().position(|end| end.name == name);
        let unknown = || LinkError::Endpoint(name.to_owned(), self.endpoints().map(str::to_owned).collect());
        at.map(|at| Endpoint(at as u32)).ok_or_else(unknown)
    }

    /// The largest IP packet of the path, in bytes.
    pub fn mtu(&self) -> usize {
        usize::from(MTU)
    }

    /// The largest payload of a datagram, in bytes: the MTU without the headers of IPv4 and UDP.
    pub fn max_payload(&self) -> usize {
        self.mtu() - header::BYTES
    }

    /// Notes on the path, such as a rate that its signal cannot carry, or values without a source.
    pub fn notes(&self) -> Vec<String> {
        self.scenario.notes()
    }

    /// The scenario of the path.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }
}
