//! The guests of a scenario: their interfaces, addresses and kernel settings.

use std::net::IpAddr;

use stillair_model::types::IfId;
use stillair_model::wire::WireParams;
use stillair_sim::run::Addresses;
use stillair_sim::scenario::{
    Attachment, FlowEnd, Guest, GuestQueue, Host, Link, Node, Role, Scenario, Ways,
};
use thiserror::Error;

/// A setting of the scenario that guests do not support.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PlanError {
    /// A node is driven by an external host.
    #[error(
        "node.{node}.host: found an external host, expected \"model\" or a guest: a run with guests has no external driver"
    )]
    OtherHost {
        /// Name of the node.
        node: String,
    },
    /// A guest is an access point.
    #[error("{key}.role: found an access point at a guest, expected a station: access points are modelled")]
    AccessPoint {
        /// Key of the interface.
        key: String,
    },
    /// A guest is the uplink.
    #[error(
        "{key}.default_route: found true at a guest, expected none: there is no Internet in virtual time"
    )]
    DefaultRoute {
        /// Key of the interface.
        key: String,
    },
    /// A guest has too many interfaces.
    #[error("node.{node}.interface: found {found} interfaces of a guest, expected at most {MOST}")]
    Interfaces {
        /// Name of the node.
        node: String,
        /// Number of its interfaces.
        found: usize,
    },
    /// Not a valid name of a Linux congestion control.
    #[error(
        "node.{node}.host.congestion_control: found \"{name}\", expected a name of up to 15 letters and digits"
    )]
    CongestionControl {
        /// Name of the node.
        node: String,
        /// Name of the congestion control.
        name: String,
    },
}

/// The kernel's default of `sk_pacing_shift`.
// linux: include/net/sock.h sk_pacing_shift, net/core/sock.c sock_init_data_uid (6.12) - 10.
pub const SHIFT: u8 = 10;
/// Maximum interfaces per guest: the pacing shift patch supports this many cards.
pub const MOST: usize = 16;
/// Ring size of a card whose packets wait in the model: larger than any modelled queue.
const LONG: u32 = 8192;
/// Ring size of a card whose packets wait in the guest. The driver stops when a packet of 17 fragments and
/// two more descriptors no longer fit, so the ring holds 13 packets.
// linux: drivers/net/virtio_net.c check_sq_full_and_disable (6.12) - 2 + MAX_SKB_FRAGS.
const SHORT: u32 = 32;

/// First of the guest's routing tables, one per interface, for packets with the interface's source address.
const TABLES: usize = 100;
/// The main routing table.
// linux: include/uapi/linux/rtnetlink.h RT_TABLE_MAIN (6.12).
const MAIN: usize = 254;

/// An interface of a guest: a network device named `eth0`, `eth1` and so on in the guest.
#[derive(Clone, Debug)]
pub struct GuestInterface {
    /// Number of the interface in the world.
    pub at: IfId,
    /// Name of the interface in the scenario, `node.interface`.
    pub name: String,
    /// Addresses of the interface: IPv4 and IPv6.
    pub addresses: [IpAddr; 2],
    /// True if received packets are merged (GRO).
    pub gro: bool,
    /// `sk_pacing_shift` requested by the modelled driver.
    pub pacing_shift: u8,
}

/// A guest of a scenario.
#[derive(Clone, Debug)]
pub struct GuestPlan {
    /// Name of the host.
    pub name: String,
    /// Index of the node in the scenario.
    pub node: usize,
    /// Interfaces, at least one.
    pub interfaces: Vec<GuestInterface>,
    /// Routes of a guest with several interfaces: other nodes' addresses, with the interface on the
    /// shortest path if that is not the first.
    routes: Vec<(IpAddr, usize)>,
    /// Guest table of the scenario.
    pub guest: Guest,
    /// True if TCP small queues are on.
    pub small_queues: bool,
    /// TCP small queues limit per socket, in periods of the pacing shift at the pacing rate. The kernel's
    /// default is one.
    pub periods: u32,
    /// Descriptors per transmit ring of its cards.
    pub ring: u32,
    /// Default congestion control.
    pub control: String,
    /// Header room of TCP packets in bytes (MAX_TCP_HEADER), from the node's profile.
    pub header_room: u32,
    /// Receive and send buffers of a socket in bytes: minimum, default, maximum (`tcp_rmem`, `tcp_wmem`).
    pub buffers: [[u32; 3]; 2],
    /// Sysctl settings of its kernel, by name.
    pub sysctl: Vec<(String, String)>,
}

/// The guests of a scenario.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The guests in the order of the scenario.
    pub guests: Vec<GuestPlan>,
    /// The interfaces of the scenario, by address.
    pub addresses: Addresses,
}

impl Plan {
    /// Reads the guests of a scenario. The error names a setting that guests do not support.
    pub fn new(scenario: &Scenario) -> Result<Self, PlanError> {
        let (mut guests, mut number) = (Vec::new(), 0);
        for (n, node) in scenario.nodes.iter().enumerate() {
            let first = IfId::from_index(number);
            number += node.interfaces.len();
            match (node.host, &node.guest) {
                (Host::Uml, Some(of)) => {
                    let mut one = guest(n, node, of, first, &scenario.links)?;
                    one.routes = routes(scenario, n);
                    guests.push(one);
                }
                (Host::External | Host::Live, _) => {
                    return Err(PlanError::OtherHost { node: node.name.clone() });
                }
                _ => {}
            }
        }
        Ok(Self { guests, addresses: Addresses::new(scenario) })
    }

    /// Index of the guest of a node; `None` if the node is not a guest.
    pub fn of_node(&self, node: usize) -> Option<usize> {
        self.guests.iter().position(|guest| guest.node == node)
    }
}

/// Addresses of other nodes that a node reaches through an interface other than its first.
fn routes(scenario: &Scenario, node: usize) -> Vec<(IpAddr, usize)> {
    let mut all = Vec::new();
    if scenario.nodes[node].interfaces.len() < 2 {
        return all;
    }
    let ways = Ways::new(scenario);
    for (other, of) in scenario.nodes.iter().enumerate().filter(|(other, _)| *other != node) {
        for (n, interface) in of.interfaces.iter().enumerate() {
            let [from, to] =
                [(node, None), (other, Some(n))].map(|(node, interface)| FlowEnd { node, interface });
            let by = ways.ends(from, to)[0].interface;
            if by > 0 {
                all.push((IpAddr::V4(interface.address), by));
                all.push((IpAddr::V6(interface.address6), by));
            }
        }
    }
    all
}

fn guest(n: usize, node: &Node, of: &Guest, first: IfId, links: &[Link]) -> Result<GuestPlan, PlanError> {
    let profile = &node.profile;
    let mut interfaces = Vec::new();
    for (number, interface) in node.interfaces.iter().enumerate() {
        let key = format!("node.{}.interface.{}", node.name, interface.name);
        let wifi = match &interface.medium {
            Attachment::Wifi(wifi) if !matches!(wifi.role, Role::Station(_)) => {
                return Err(PlanError::AccessPoint { key });
            }
            Attachment::Wifi(_) => true,
            Attachment::Wired { .. } => false,
        };
        let is_veth = matches!(interface.medium, Attachment::Wired { link } if links[link].params[0] == WireParams::Veth);
        if interface.default_route {
            return Err(PlanError::DefaultRoute { key });
        }
        interfaces.push(GuestInterface {
            at: IfId::from_index(first.index() + number),
            name: format!("{}.{}", node.name, interface.name),
            addresses: [IpAddr::V4(interface.address), IpAddr::V6(interface.address6)],
            // deviation: passes packets of several segments, which arrive whole over a veth pair, to a card
            // as single segments; the guest's GRO merges them again, and may merge more. So `gro = false`
            // of a veth has no effect at a guest.
            gro: interface.gro || is_veth,
            pacing_shift: if wifi { profile.wifi_pacing_shift } else { SHIFT },
        });
    }
    if interfaces.len() > MOST {
        return Err(PlanError::Interfaces { node: node.name.clone(), found: interfaces.len() });
    }
    // linux: include/net/tcp.h TCP_CA_NAME_MAX (6.12) - 16, including the terminating zero.
    let fits = |name: &&String| {
        name.len() <= 15 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    };
    if let Some(name) = of.congestion_control.as_ref().filter(|name| !fits(name)) {
        return Err(PlanError::CongestionControl { node: node.name.clone(), name: name.clone() });
    }
    Ok(GuestPlan {
        name: node.name.clone(),
        node: n,
        interfaces,
        routes: Vec::new(),
        guest: of.clone(),
        small_queues: !profile.tcp.small_queues.off,
        periods: profile.tcp.small_queues.rate_multiple,
        ring: if of.queue == GuestQueue::Model { LONG } else { SHORT },
        control: of
            .congestion_control
            .clone()
            .unwrap_or_else(|| profile.congestion_control.name().to_owned()),
        buffers: [profile.tcp.rmem, profile.tcp.wmem],
        header_room: profile.tcp.max_header,
        sysctl: node.sysctl.clone(),
    })
}

impl GuestPlan {
    /// Orders for the guest's first program: interfaces and kernel settings. Settings from the scenario
    /// come last.
    pub fn orders(&self) -> String {
        let mut all = Vec::new();
        let mut order = |words: &[&str]| all.push(words.join("\t"));
        let mut write = |file: &str, text: &str| order(&["write", file, text]);
        write("/proc/sys/net/ipv4/tcp_congestion_control", &self.control);
        // linux: net/ipv4/tcp.c tcp_init (6.12) - limits the largest buffers to 1/128 of memory if that is
        // less than 6 and 4 MB, and starts memory pressure at 1/16: 448 KiB and 4 MB for a guest of 64 MB.
        // A guest represents a machine with ample memory: buffers come from its profile, and pressure
        // starts at a third.
        for (name, [least, first, most]) in ["tcp_rmem", "tcp_wmem"].into_iter().zip(self.buffers) {
            write(&format!("/proc/sys/net/ipv4/{name}"), &format!("{least} {first} {most}"));
        }
        let pages = u64::from(self.guest.memory) * 256;
        let pressure = format!("{} {} {}", pages / 4, pages / 3, pages / 2);
        write("/proc/sys/net/ipv4/tcp_mem", &pressure);
        for n in 0..self.interfaces.len() {
            // Only the scenario's addresses, so that no neighbour discovery takes place.
            write(&format!("?/proc/sys/net/ipv6/conf/eth{n}/addr_gen_mode"), "1");
            write(&format!("?/proc/sys/net/ipv6/conf/eth{n}/accept_ra"), "0");
        }
        for (name, value) in &self.sysctl {
            write(&format!("/proc/sys/{}", name.replace('.', "/")), value);
        }
        for (n, interface) in self.interfaces.iter().enumerate() {
            let device = format!("eth{n}");
            // Wi-Fi drivers have no byte queue limits; those of a wire are modelled.
            let limits = format!("?/sys/class/net/{device}/queues/tx-0/byte_queue_limits/limit_min");
            order(&["write", &limits, "1000000000"]);
            order(&["gro", &device, if interface.gro { "1" } else { "0" }]);
        }
        order(&["up", "lo"]);
        for (n, interface) in self.interfaces.iter().enumerate() {
            let (device, table) = (format!("eth{n}"), (TABLES + n).to_string());
            order(&["up", &device]);
            for (address, all) in interface.addresses.iter().zip(["4", "6"]) {
                let address = address.to_string();
                order(&["address", &device, &address]);
                if n == 0 {
                    order(&["route", &device, all, &MAIN.to_string()]);
                }
                if self.interfaces.len() > 1 {
                    order(&["route", &device, all, &table]);
                    order(&["rule", &address, &table]);
                }
            }
            if self.guest.mptcp && n > 0 {
                order(&["endpoint", &device, &interface.addresses[0].to_string()]);
                order(&["endpoint", &device, &interface.addresses[1].to_string()]);
            }
        }
        for (address, by) in &self.routes {
            order(&["route", &format!("eth{by}"), &address.to_string(), &MAIN.to_string()]);
        }
        all.iter().map(|line| format!("{line}\n")).collect()
    }
}
