//! A path: a scenario, parsed once, for any number of links.

use std::net::Ipv4Addr;
use std::sync::Arc;

use stillair_sim::scenario::builder::ScenarioBuilder;
use stillair_sim::scenario::paths::{self, Preset};
use stillair_sim::scenario::{self, Host, MTU, Scenario};

use crate::datagram::Endpoint;
use crate::error::LinkError;
use crate::header;

/// An endpoint of a path: an interface of an external host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct End {
    pub(crate) name: String,
    pub(crate) interface: u16,
    /// Index of its host among the external hosts.
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
    /// Returns the preset of that name.
    ///
    /// # Errors
    /// There is no such preset; the message lists the presets.
    pub fn preset(name: &str) -> Result<Self, LinkError> {
        Self::preset_with(name, &[])
    }

    /// Returns a preset with other values for some scenario keys, as with `stillair run --set KEY=VALUE`:
    /// `("node.client.interface.wlan0.distance", "30 m")`.
    ///
    /// # Errors
    /// There is no such preset, or a key or value is invalid.
    pub fn preset_with(name: &str, sets: &[(&str, &str)]) -> Result<Self, LinkError> {
        let preset: &Preset = paths::preset(name).map_err(LinkError::Preset)?;
        Self::parse(preset.text, preset.name, sets)
    }

    /// Parses a scenario from TOML text; `file` is its name in error messages. Files named by the scenario
    /// are not read; use [`Path::of`] for such a scenario.
    ///
    /// # Errors
    /// The scenario is invalid, or has fewer than two endpoints.
    pub fn parse(text: &str, file: &str, sets: &[(&str, &str)]) -> Result<Self, LinkError> {
        let sets: Vec<(String, String)> =
            sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        Self::of(scenario::parse(text, file, &sets)?)
    }

    /// Builds a scenario in Rust.
    ///
    /// # Errors
    /// As for [`Path::parse`].
    pub fn build(scenario: &ScenarioBuilder) -> Result<Self, LinkError> {
        Self::of(scenario.build()?)
    }

    /// Creates a path from a parsed scenario. Its endpoints are the interfaces of its external hosts, in
    /// the order of the scenario, named after the node, or `NODE.INTERFACE` if a node has several.
    ///
    /// # Errors
    /// The scenario has fewer than two endpoints.
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

    /// Returns the endpoint of that name.
    ///
    /// # Errors
    /// There is no such endpoint; the message lists those of the path.
    pub fn endpoint(&self, name: &str) -> Result<Endpoint, LinkError> {
        let at = self.ends.iter().position(|end| end.name == name);
        let unknown = || LinkError::Endpoint(name.to_owned(), self.endpoints().map(str::to_owned).collect());
        at.map(|at| Endpoint(at as u32)).ok_or_else(unknown)
    }

    /// MTU of the path: the largest IP packet in bytes.
    pub fn mtu(&self) -> usize {
        usize::from(MTU)
    }

    /// Largest payload of a datagram in bytes: the MTU minus the IPv4 and UDP headers.
    pub fn max_payload(&self) -> usize {
        self.mtu() - header::BYTES
    }

    /// Notes on the path, such as a rate that its signal cannot support, or values without a source.
    pub fn notes(&self) -> Vec<String> {
        self.scenario.notes()
    }

    /// The scenario of the path.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }
}
