//! The live part of a scenario: its hosts, their addresses and names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use stillair_model::types::IfId;
use stillair_sim::run::Addresses;
use stillair_sim::scenario::{Attachment, FlowKind, Host, Node, Role, Scenario};
use thiserror::Error;

/// A setting of the scenario that live hosts do not support.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PlanError {
    /// A node is a guest in virtual time.
    #[error(
        "node.{node}.host: found a guest in virtual time, expected \"live\" or \"model\": live runs are in real time"
    )]
    Guest {
        /// Name of the node.
        node: String,
    },
    /// A node is driven by an external host.
    #[error(
        "node.{node}.host: found \"external\", expected \"live\" or \"model\": a live run has no external driver"
    )]
    External {
        /// Name of the node.
        node: String,
    },
    /// No node is a live host.
    #[error("node: found no live host, expected host = \"live\" at one node at least")]
    NoHost,
    /// A live host has no interface, or several.
    #[error("node.{node}.interface: found {found} interfaces of a live host, expected one")]
    Interfaces {
        /// Name of the node.
        node: String,
        /// Number of its interfaces.
        found: usize,
    },
    /// The name of an interface is not a device name.
    #[error("{key}: found an invalid device name, expected 1 to {LONGEST} letters and digits")]
    Device {
        /// Key of the interface.
        key: String,
    },
    /// A live host is an access point.
    #[error(
        "{key}.role: found an access point at a live host, expected a station: access points are modelled"
    )]
    AccessPoint {
        /// Key of the interface.
        key: String,
    },
    /// An attached host has sysctl settings.
    #[error(
        "node.{node}.sysctl: found settings of an attached host, expected none: the namespace keeps its own"
    )]
    AttachedSysctl {
        /// Name of the node.
        node: String,
    },
    /// An attached host is the uplink.
    #[error(
        "--attach: found {node}, which is the uplink, expected another host: routes of an existing namespace do not change"
    )]
    AttachedUplink {
        /// Name of the node.
        node: String,
    },
}

/// Maximum length of a device name in bytes.
const LONGEST: usize = 15;
/// MTU in bytes, as for Ethernet and mac80211 devices.
pub const MTU: u32 = 1500;

/// A live host.
#[derive(Clone, Debug)]
pub struct HostPlan {
    /// Name of the host.
    pub name: String,
    /// Number of its interface in the world.
    pub at: IfId,
    /// Name of its interface.
    pub device: String,
    /// IPv4 address.
    pub address: Ipv4Addr,
    /// IPv6 address.
    pub address6: Ipv6Addr,
    /// True for a station of a Wi-Fi channel.
    pub station: bool,
    /// True if packets to addresses outside the scenario leave the model here.
    pub uplink: bool,
    /// True if received packets are merged (GRO).
    pub gro: bool,
    /// True if sent packets stay charged to their sockets while they wait, as TCP small queues require.
    pub small_queues: bool,
    /// `sk_pacing_shift` of its sockets, set by the driver on Wi-Fi.
    pub pacing_shift: u8,
    /// True if the host has flows with a congestion control that paces.
    pub paces: bool,
    /// Default congestion control.
    pub control: String,
    /// Sysctl settings of its kernel, by name.
    pub sysctl: Vec<(String, String)>,
}

/// The live part of a scenario.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The live hosts in the order of the scenario.
    pub hosts: Vec<HostPlan>,
    /// The addresses of all hosts, with their names.
    pub names: Vec<(IpAddr, String)>,
    /// The interfaces of the scenario, by address.
    pub addresses: Addresses,
    /// True if the scenario has an uplink.
    pub elsewhere: bool,
}

/// Shift of devices whose driver sets none.
// linux: include/net/sock.h sk_pacing_shift, net/core/sock.c sock_init_data_uid (6.18) - 10.
const WIRED_SHIFT: u8 = 10;

/// The congestion control that requires pacing.
// linux: net/ipv4/tcp_bbr.c bbr_init (6.18) - SK_PACING_NEEDED.
const PACES: &str = "bbr";

impl HostPlan {
    /// Adapts the host to an existing network namespace. Returns a note for the user, if there is one. The
    /// error names a setting that such a host does not support.
    pub fn attach(&mut self, uplink: bool) -> Result<Option<String>, PlanError> {
        let name = &self.name;
        if !self.sysctl.is_empty() {
            return Err(PlanError::AttachedSysctl { node: name.clone() });
        }
        if uplink && self.uplink {
            return Err(PlanError::AttachedUplink { node: name.clone() });
        }
        // The firewall rule would stay in the namespace.
        let charged = core::mem::take(&mut self.small_queues);
        Ok(charged.then(|| {
            format!(
                "{name} is attached: TCP small queues do not include packets in the model (tcp.tsq = \"off\")"
            )
        }))
    }
}

impl Plan {
    /// The live part of a scenario. The error names a setting that live hosts do not support.
    pub fn new(scenario: &Scenario) -> Result<Self, PlanError> {
        let (mut hosts, mut names) = (Vec::new(), Vec::new());
        let mut number = 0;
        let mut elsewhere = false;
        for node in &scenario.nodes {
            for interface in &node.interfaces {
                number += 1;
                elsewhere |= interface.default_route;
                for address in [IpAddr::V4(interface.address), IpAddr::V6(interface.address6)] {
                    names.push((address, node.name.clone()));
                }
            }
            if node.host == Host::Live {
                hosts.push(host(node, IfId::from_index(number - node.interfaces.len()))?);
            }
            if node.host == Host::Uml {
                return Err(PlanError::Guest { node: node.name.clone() });
            }
            if node.host == Host::External {
                return Err(PlanError::External { node: node.name.clone() });
            }
        }
        if hosts.is_empty() {
            return Err(PlanError::NoHost);
        }
        for flow in &scenario.live_flows {
            let name = &scenario.nodes[flow.from.node].name;
            let FlowKind::Tcp { congestion_control, .. } = &flow.kind else { continue };
            let paces = congestion_control.name() == PACES;
            hosts.iter_mut().filter(|host| host.name == *name).for_each(|host| host.paces |= paces);
        }
        Ok(Self { hosts, names, addresses: Addresses::new(scenario), elsewhere })
    }

    /// Index of the first live station, or else of the first live host.
    pub fn first(&self) -> usize {
        self.hosts.iter().position(|host| host.station).unwrap_or(0)
    }

    /// Index of the live host with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name == name)
    }
}

fn host(node: &Node, at: IfId) -> Result<HostPlan, PlanError> {
    let [interface] = &node.interfaces[..] else {
        return Err(PlanError::Interfaces { node: node.name.clone(), found: node.interfaces.len() });
    };
    let key = format!("node.{}.interface.{}", node.name, interface.name);
    let good = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let taken = ["lo", "all", "default", ".", ".."].contains(&interface.name.as_str());
    if interface.name.len() > LONGEST || taken || !interface.name.bytes().all(good) {
        return Err(PlanError::Device { key });
    }
    let wifi = match &interface.medium {
        Attachment::Wifi(wifi) if !matches!(wifi.role, Role::Station(_)) => {
            return Err(PlanError::AccessPoint { key });
        }
        Attachment::Wifi(_) => true,
        Attachment::Wired { .. } => false,
    };
    let profile = &node.profile;
    Ok(HostPlan {
        name: node.name.clone(),
        at,
        device: interface.name.clone(),
        address: interface.address,
        address6: interface.address6,
        station: wifi,
        uplink: interface.default_route,
        gro: interface.gro,
        small_queues: !profile.tcp.small_queues.off,
        paces: profile.congestion_control.name() == PACES,
        pacing_shift: if wifi { profile.wifi_pacing_shift } else { WIRED_SHIFT },
        control: profile.congestion_control.name().to_owned(),
        sysctl: node.sysctl.clone(),
    })
}

/// The live hosts of a scenario that marks none: all nodes with one interface that do not forward, except
/// access points.
pub fn ends(scenario: &Scenario) -> Vec<String> {
    let is_end = |node: &&Node| {
        let ap = |i: &stillair_sim::scenario::Interface| matches!(&i.medium, Attachment::Wifi(wifi) if !matches!(wifi.role, Role::Station(_)));
        node.host == Host::Model
            && !node.forward
            && node.interfaces.len() == 1
            && !node.interfaces.iter().any(ap)
    };
    scenario.nodes.iter().filter(is_end).map(|node| node.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use stillair_sim::scenario;

    use super::*;

    #[test]
    fn a_host_paces_if_it_or_one_of_its_flows_uses_bbr() {
        let paces = |more: &[(&str, &str)]| {
            let text = "name = \"x\"\nlink.lan = { rate = \"1 Mbit/s\", delay = \"1 ms\" }\n\
                        node.a = { profile = \"linux-6.18\", host = \"live\", interface.eth0.link = \"lan\" }\n\
                        node.b = { profile = \"linux-6.18\", host = \"live\", interface.eth0.link = \"lan\" }\n\
                        [[flow]]\nkind = \"tcp\"\nfrom = \"a\"\nto = \"b\"\n";
            let set: Vec<_> =
                more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            let read = scenario::parse(text, "x.toml", &set).expect("a good scenario");
            let plan = Plan::new(&read).expect("live hosts");
            plan.hosts.iter().map(|host| host.paces).collect::<Vec<_>>()
        };
        assert_eq!(paces(&[]), [false, false]);
        assert_eq!(paces(&[("flow.0.congestion_control", "bbr")]), [true, false]);
        assert_eq!(paces(&[("node.b.sysctl.net.ipv4.tcp_congestion_control", "bbr")]), [false, true]);
    }
}
