//! The network namespace of a host: device, addresses, routes, settings, and packet queue.

use std::net::IpAddr;
use std::os::fd::OwnedFd;

use netlink_packet_route::link::LinkFlags;
use nix::fcntl::OFlag;
use nix::sched::CloneFlags;
use thiserror::Error;

use super::tool::{self, ToolError};
use crate::netlink::route::{RouteError, Rtnetlink};
use crate::plan::{HostPlan, MTU, Plan};
use crate::port::{PacketPort, Port, PortError, Queue, Tun};
use crate::sys::{SysError, files, net, process};

/// Errors of setting up a host.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SetupError {
    /// A device, an address or a route failed.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// A route with the host's congestion control failed.
    #[error(
        "{source}; the kernel lists its congestion controls in net.ipv4.tcp_available_congestion_control, 'sudo modprobe tcp_{control}' loads one"
    )]
    RouteWithControl {
        /// The failure.
        source: RouteError,
        /// Name of the congestion control.
        control: String,
    },
    /// The name of the congestion control is too long for Linux.
    #[error("found the congestion control {control}, expected one of Linux")]
    Control {
        /// Name of the congestion control.
        control: String,
    },
    /// A sysctl of the scenario failed.
    #[error("node.{node}.sysctl.{name}: {source}")]
    Sysctl {
        /// Name of the node.
        node: String,
        /// Name of the setting.
        name: String,
        /// The failure.
        source: SysError,
    },
    /// The device or the queue of the host failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// iptables is not installed.
    #[error(
        "iptables: program not found, small queues need it; 'apt-get install iptables' installs it, or set tcp.tsq = \"off\" at the node"
    )]
    NoIptables,
    /// The rule for the host's queue failed.
    #[error(
        "{0}; without CONFIG_NETFILTER_XT_TARGET_NFQUEUE set tcp.tsq = \"off\" at the node: its small queues then have no effect"
    )]
    QueueRule(ToolError),
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// Errors of setting up the hosts.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum HostError {
    /// A host failed.
    #[error("{host}: {source}")]
    Setup {
        /// Name of the host.
        host: String,
        /// The failure.
        source: SetupError,
    },
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// NFQUEUE number in each namespace.
const QUEUE: u16 = 1;
/// Queue length of a TUN device in packets, large enough for bursts.
// linux: drivers/net/tun.c tun_net_xmit (6.12) - drops packets that find the ring full without reporting it
// to the sender.
const LENGTH: u32 = 10_000;
const UP: LinkFlags = LinkFlags::Up;
const NOARP: LinkFlags = LinkFlags::Noarp;

/// A host that has been set up.
#[derive(Debug)]
pub struct LiveHost {
    /// Its network namespace.
    pub namespace: OwnedFd,
    /// Its device, through which packets pass.
    pub port: Port,
    /// Its NFQUEUE, if TCP small queues apply to the model.
    pub queue: Option<Queue>,
}

/// Opens the network namespace of this thread.
pub fn current() -> Result<OwnedFd, SysError> {
    files::open("/proc/thread-self/ns/net", OFlag::O_RDONLY)
}

/// Sets up all hosts, each in its namespace in `attached`, or else in a new one. The thread ends in the
/// namespace `home`. Deviations from the scenario are added to `notes`.
pub fn all(
    plan: &Plan,
    uplink: bool,
    attached: &[Option<OwnedFd>],
    home: &OwnedFd,
    notes: &mut Vec<String>,
) -> Result<Vec<LiveHost>, HostError> {
    let tun = Tun::available();
    if let Err(why) = &tun {
        notes.push(format!(
            "live: {why}, so hosts have veth devices; 'sudo chmod 0666 /dev/net/tun' gives them TUN devices"
        ));
    }
    let all: Vec<IpAddr> = plan.names.iter().map(|(address, _)| *address).collect();
    let mut hosts = Vec::new();
    for (n, (of, attached)) in plan.hosts.iter().zip(attached).enumerate() {
        // The uplink has its default route elsewhere, and so may an attached namespace.
        let only = if attached.is_some() || uplink && of.uplink { &all[..] } else { &[] };
        let given = Given { n, plan: of, tun: tun.is_ok(), home, attached: attached.as_ref(), only };
        hosts.push(one(&given, notes).map_err(|source| HostError::Setup { host: of.name.clone(), source })?);
    }
    process::enter(home, CloneFlags::CLONE_NEWNET)?;
    Ok(hosts)
}

/// Input for setting up a host.
struct Given<'a> {
    n: usize,
    plan: &'a HostPlan,
    tun: bool,
    home: &'a OwnedFd,
    attached: Option<&'a OwnedFd>,
    /// Destinations reached through the device; `None` for all.
    only: &'a [IpAddr],
}

fn one(given: &Given<'_>, notes: &mut Vec<String>) -> Result<LiveHost, SetupError> {
    let &Given { n, plan, tun, home, attached, only } = given;
    match attached {
        Some(namespace) => process::enter(namespace, CloneFlags::CLONE_NEWNET)?,
        None => process::unshare(CloneFlags::CLONE_NEWNET)?,
    }
    let namespace = current()?;
    let routes = Rtnetlink::open()?;
    if attached.is_none() {
        routes.set(net::index("lo")?, UP, 0, 0)?;
    }
    let port = if tun {
        // NFQUEUE delivers and charges segments individually.
        Port::Tun(Tun::new(&plan.device, plan.gro, !plan.small_queues)?)
    } else {
        veth(n, plan, &namespace, home, &routes)?
    };
    let device = net::index(&plan.device)?;
    of_device(&plan.device)?;
    if attached.is_none() {
        settings(plan)?;
    }
    routes.set(device, UP, MTU, if tun { LENGTH } else { 0 })?;
    let control = allowed(&plan.control)?;
    for address in [IpAddr::V4(plan.address), IpAddr::V6(plan.address6)] {
        match routes.address(device, address) {
            Err(why) if attached.is_some() && address.is_ipv6() => {
                notes.push(format!("{}: no IPv6 in the attached namespace: {why}", plan.name));
                continue;
            }
            made => made?,
        }
        let is_of = |to: &&IpAddr| to.is_ipv4() == address.is_ipv4() && **to != address;
        let towards: Vec<Option<IpAddr>> = if only.is_empty() {
            vec![None]
        } else {
            only.iter().filter(is_of).map(|to| Some(*to)).collect()
        };
        for to in towards {
            routes
                .route(device, to, address, Some(control))
                .map_err(|source| SetupError::RouteWithControl { source, control: control.to_owned() })?;
        }
    }
    let queue = if plan.small_queues { Some(queue(&plan.device)?) } else { None };
    Ok(LiveHost { namespace, port, queue })
}

fn allowed(control: &str) -> Result<&str, SetupError> {
    if control.len() < 16 { Ok(control) } else { Err(SetupError::Control { control: control.to_owned() }) }
}

/// Creates a veth pair. The thread starts and ends in the host's namespace.
fn veth(
    n: usize,
    plan: &HostPlan,
    own: &OwnedFd,
    home: &OwnedFd,
    routes: &Rtnetlink,
) -> Result<Port, SetupError> {
    let [a, b] = (n as u16 + 1).to_be_bytes();
    let address = [0x02, 0, 0, 0, a, b];
    let other = format!("host{n}");
    routes.pair(&plan.device, address, &other, home)?;
    // The engine must read packets with complete checksums, one segment each.
    // linux: include/uapi/linux/ethtool.h ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO (6.12).
    for command in [0x17, 0x1f, 0x24] {
        net::ethtool_off(&plan.device, command)?;
    }
    // Without ARP, no neighbour resolution takes place.
    routes.set(net::index(&plan.device)?, NOARP, 0, 0)?;
    process::enter(home, CloneFlags::CLONE_NEWNET)?;
    let made = (|| {
        // Keep the machine's own stack off this device.
        let _ = files::set(&format!("/proc/sys/net/ipv6/conf/{other}/disable_ipv6"), "1");
        let device = net::index(&other)?;
        Rtnetlink::open()?.set(device, UP | NOARP, MTU, 0)?;
        Ok::<_, SetupError>(PacketPort::new(device, address, plan.gro)?)
    })();
    process::enter(own, CloneFlags::CLONE_NEWNET)?;
    Ok(Port::Packet(made?))
}

/// Restricts a device to the scenario's addresses.
fn of_device(device: &str) -> Result<(), SysError> {
    let all = format!("/proc/sys/net/ipv6/conf/{device}");
    // The kernel may lack IPv6.
    if !std::path::Path::new(&all).exists() {
        return Ok(());
    }
    ["accept_ra", "router_solicitations", "accept_dad"]
        .iter()
        .try_for_each(|name| files::set(&format!("{all}/{name}"), "0"))
}

/// Applies the settings common to all hosts, and those of the scenario for this host.
fn settings(plan: &HostPlan) -> Result<(), SetupError> {
    let (_, group) = process::ids();
    // Allow pings and low ports without privileges.
    for (name, value) in [
        ("net/ipv4/ping_group_range".to_owned(), format!("{group} {group}")),
        ("net/ipv4/ip_unprivileged_port_start".to_owned(), "0".to_owned()),
        ("net/ipv4/conf/all/rp_filter".to_owned(), "0".to_owned()),
    ] {
        files::set(&format!("/proc/sys/{name}"), &value)?;
    }
    // Congestion control is set on the routes, which take precedence.
    let own = plan.sysctl.iter().filter(|(name, _)| name != "net.ipv4.tcp_congestion_control");
    for (name, value) in own {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        files::set(&path, value).map_err(|source| SetupError::Sysctl {
            node: plan.name.clone(),
            name: name.clone(),
            source,
        })?;
    }
    Ok(())
}

/// Queues all packets that leave through a device.
fn queue(device: &str) -> Result<Queue, SetupError> {
    let queue = Queue::new(QUEUE)?;
    let number = QUEUE.to_string();
    for (legacy, other) in [("iptables-legacy", "iptables"), ("ip6tables-legacy", "ip6tables")] {
        let program = [legacy, other].into_iter().find(|name| tool::find(name).is_some());
        let program = program.ok_or(SetupError::NoIptables)?;
        let rule = [
            "-w",
            "-t",
            "mangle",
            "-A",
            "POSTROUTING",
            "-o",
            device,
            "-j",
            "NFQUEUE",
            "--queue-num",
            &number,
        ];
        let command = [&[program], &rule[..]].concat();
        tool::run(&command, &[("XTABLES_LOCKFILE", "xtables.lock")]).map_err(SetupError::QueueRule)?;
    }
    Ok(queue)
}
