//! Internet access through slirp4netns. It runs outside the sandbox and opens connections as its user, with
//! a device in the namespace of the host whose interface has the default route. The machine's loopback is
//! unreachable, except its name server.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::fcntl::OFlag;
use nix::sched::CloneFlags;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use thiserror::Error;

use super::host;
use super::tool::{self, ToolError};
use crate::netlink::route::{RouteError, Rtnetlink};
use crate::sys::poll::Watched;
use crate::sys::process::{self, Forked};
use crate::sys::{SysError, files, net};

/// Device name of slirp4netns.
const DEVICE: &str = "uplink0";
/// Name server of slirp4netns, which forwards to the machine's.
// slirp4netns: slirp4netns.1 (1.2.0) - 10.0.2.3 in its default network.
pub const NAMES: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 2, 3));
/// IPv6 address of the host in slirp4netns's network, and the gateway.
// slirp4netns: slirp4netns.c create_slirp (1.2.0) - fd00::/64 with its host at fd00::2 and its name server at
// fd00::3.
const ADDRESS6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 0x64);
const GATEWAY6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
const BITS6: u8 = 64;
/// Maximum start-up time, in ns.
const PATIENCE: u64 = 10_000_000_000;

/// Errors of the uplink.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum UplinkError {
    /// The process outside the sandbox has ended.
    #[error("uplink: no response")]
    NoProcess,
    /// The process outside the sandbox failed, with this reason.
    #[error("uplink: {0}")]
    Outside(String),
    /// slirp4netns did not start in time.
    #[error("uplink: slirp4netns did not start in time")]
    Timeout,
    /// iptables is not installed.
    #[error("iptables: program not found, --uplink needs it; 'apt-get install iptables' installs it")]
    NoIptables,
    /// A system program failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A device, an address or a route failed.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// Errors of starting slirp4netns.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
enum SlirpError {
    #[error("no namespace")]
    Request,
    #[error("slirp4netns: program not found, --uplink needs it; 'apt-get install slirp4netns' installs it")]
    Missing,
    #[error("{0}, which slirp4netns needs; 'sudo chmod 0666 /dev/net/tun' gives all users access")]
    Tun(SysError),
    #[error("slirp4netns: {0}")]
    Failed(String),
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// The engine's end of the request connection.
#[derive(Debug)]
pub struct Asks {
    /// File for requests.
    pub ask: File,
    /// File for responses.
    pub answer: File,
}

impl Asks {
    /// Requests an uplink for an open network namespace of this process, and waits for the response.
    pub fn uplink(&mut self, namespace: &impl AsRawFd) -> Result<(), UplinkError> {
        self.ask
            .write_all(format!("{}\n", namespace.as_raw_fd()).as_bytes())
            .map_err(|_| UplinkError::NoProcess)?;
        let mut watched = Watched::default();
        watched.add(&self.answer);
        watched.wait(PATIENCE);
        let mut text = [0; 1024];
        let n = if watched.is_ready(0) { self.answer.read(&mut text).unwrap_or(0) } else { 0 };
        match core::str::from_utf8(&text[..n]) {
            Ok("ready") => Ok(()),
            Ok(why) if !why.is_empty() => Err(UplinkError::Outside(why.to_owned())),
            _ => Err(UplinkError::Timeout),
        }
    }
}

/// The end of the connection outside the sandbox.
#[derive(Debug)]
pub struct Outside {
    asked: File,
    answers: File,
    slirp: Option<Pid>,
}

/// Creates both ends.
pub fn ends() -> Result<(Asks, Outside), SysError> {
    let ((asked, ask), (answer, answers)) = (files::pipe()?, files::pipe()?);
    Ok((Asks { ask, answer }, Outside { asked, answers, slirp: None }))
}

impl Outside {
    /// The file descriptor to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.asked.as_fd()
    }

    /// Handles a request of the engine. Returns false if no more requests will come.
    pub fn serve(&mut self, engine: Pid) -> bool {
        let mut text = [0; 64];
        let Ok(n @ 1..) = self.asked.read(&mut text) else { return false };
        let number = core::str::from_utf8(&text[..n]).ok().and_then(|text| text.trim().parse().ok());
        let said = match number.ok_or(SlirpError::Request).and_then(|fd| start(engine, fd)) {
            Ok(pid) => {
                self.slirp = Some(pid);
                "ready".to_owned()
            }
            Err(why) => why.to_string(),
        };
        let _ = self.answers.write_all(said.as_bytes());
        true
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        if let Some(pid) = self.slirp {
            process::kill(pid, Signal::SIGKILL);
            process::wait(pid);
        }
    }
}

/// Starts slirp4netns for a namespace that the engine holds open.
fn start(engine: Pid, namespace: i32) -> Result<Pid, SlirpError> {
    let program = tool::find("slirp4netns").ok_or(SlirpError::Missing)?;
    files::open("/dev/net/tun", OFlag::O_RDWR).map_err(SlirpError::Tun)?;
    let ((mut ready, tells), (mut said, says)) = (files::pipe()?, files::pipe()?);
    let user = |of: &str| std::fs::read_link(format!("/proc/{of}/ns/user")).ok();
    let mut words = vec![
        program.display().to_string(),
        "--configure".to_owned(),
        "--mtu=1500".to_owned(),
        "--disable-host-loopback".to_owned(),
        "--enable-ipv6".to_owned(),
        format!("--ready-fd={}", tells.as_raw_fd()),
        "--netns-type=path".to_owned(),
    ];
    if user(&engine.to_string()) != user("self") {
        words.push(format!("--userns-path=/proc/{engine}/ns/user"));
    }
    words.extend([format!("/proc/{engine}/fd/{namespace}"), DEVICE.to_owned()]);
    let outside = std::process::id();
    let pid = match process::fork()? {
        Forked::Parent(pid) => pid,
        Forked::Child => process::end_with(|| {
            process::die_with_parent();
            if std::os::unix::process::parent_id() != outside {
                return 1;
            }
            process::redirect(&says);
            files::keep(&tells);
            files::signals_as_at_first();
            eprintln!("{}", process::become_program(&words, &[]));
            127
        }),
    };
    drop((tells, says));
    let mut one = [0; 1];
    if ready.read(&mut one).is_ok_and(|n| n == 1) {
        return Ok(pid);
    }
    process::kill(pid, Signal::SIGKILL);
    process::wait(pid);
    let mut text = String::new();
    let _ = said.read_to_string(&mut text);
    Err(SlirpError::Failed(text.trim().replace('\n', "; ")))
}

/// Makes the uplink host forward the other hosts' packets, and enables IPv6 to the Internet. An IPv6
/// failure is added to `notes`. The thread returns to its own namespace.
pub fn share(namespace: &impl AsFd, notes: &mut Vec<String>) -> Result<(), UplinkError> {
    let home = host::current()?;
    process::enter(namespace, CloneFlags::CLONE_NEWNET)?;
    let shared = files::set("/proc/sys/net/ipv4/ip_forward", "1")
        .map_err(UplinkError::from)
        .and_then(|()| masquerade(["iptables-legacy", "iptables"]));
    if shared.is_ok()
        && let Err(why) = by_ipv6()
    {
        notes.push(format!("--uplink: no IPv6 beyond the scenario: {why}"));
    }
    process::enter(&home, CloneFlags::CLONE_NEWNET)?;
    shared
}

/// Masquerades forwarded packets with the device's address.
fn masquerade(programs: [&str; 2]) -> Result<(), UplinkError> {
    let program = programs.into_iter().find(|name| tool::find(name).is_some());
    let program = program.ok_or(UplinkError::NoIptables)?;
    let rule = [program, "-w", "-t", "nat", "-A", "POSTROUTING", "-o", DEVICE, "-j", "MASQUERADE"];
    Ok(tool::run(&rule, &[("XTABLES_LOCKFILE", "xtables.lock")])?)
}

/// Configures IPv6. slirp4netns sets no IPv6 address, and duplicate address detection would delay ours.
fn by_ipv6() -> Result<(), UplinkError> {
    const ALL: &str = "/proc/sys/net/ipv6/conf/all";
    let device = net::index(DEVICE)?;
    // No other host can have this address, so skip duplicate address detection.
    files::set(&format!("/proc/sys/net/ipv6/conf/{DEVICE}/accept_dad"), "0")?;
    files::set(&format!("{ALL}/forwarding"), "1")?;
    let routes = Rtnetlink::open()?;
    routes.network(device, IpAddr::V6(ADDRESS6), BITS6)?;
    routes.gateway(device, IpAddr::V6(GATEWAY6))?;
    masquerade(["ip6tables-legacy", "ip6tables"])
}
