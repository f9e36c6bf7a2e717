//! Code shared by the adapters: the loop between a sans-I/O stack and a link, and results as table rows.

#[cfg(feature = "tls")]
pub mod tls;

use std::error::Error;
use std::fmt;
use std::time::Duration;

use stillair_link::{Endpoint, Enqueue, Link, Mark, Path, Poll, Statistics};

/// One end of a connection in a sans-I/O stack.
pub trait End {
    /// Processes a received datagram.
    fn receive(&mut self, now: Duration, payload: &[u8], ecn: u8);
    /// Runs the application: it reads received data and writes as much as there is room for.
    fn work(&mut self, now: Duration);
    /// Replaces the content of `out` by the next datagram to send. Returns the ECN bits, or `None` if there
    /// is nothing to send.
    fn transmit(&mut self, now: Duration, out: &mut Vec<u8>) -> Option<u8>;
    /// Time of the next timer.
    fn timeout(&mut self) -> Option<Duration>;
    /// Handles the timer.
    fn on_timeout(&mut self, now: Duration);
}

/// Drives both ends over a link until a time.
///
/// # Errors
/// The link refuses a datagram, for example because it is too long.
pub fn drive(
    link: &mut Link,
    ends: &mut [(Endpoint, &mut dyn End); 2],
    until: Duration,
) -> Result<(), Box<dyn Error>> {
    let way = [ends[0].0.to(ends[1].0), ends[0].0.to(ends[1].0).back()];
    let (mut now, mut out) = (link.now(), Vec::new());
    loop {
        for (n, (_, end)) in ends.iter_mut().enumerate() {
            if end.timeout().is_some_and(|at| at <= now) {
                end.on_timeout(now);
            }
            end.work(now);
            while let Some(ecn) = end.transmit(now, &mut out) {
                // Drops by the host's own queue count as losses, as for a socket without IP_RECVERR.
                let _: Enqueue = link.send(now, way[n], &out, Mark { ecn, dscp: 0 })?.queue;
            }
        }
        if now >= until {
            return Ok(());
        }
        let timer = ends.iter_mut().filter_map(|(_, end)| end.timeout()).min().unwrap_or(until);
        match link.poll(timer.clamp(now, until))? {
            Poll::Packet(packet) => {
                now = packet.at;
                let (_, end) = ends.iter_mut().find(|(at, _)| *at == packet.to).ok_or("an end of no one")?;
                end.receive(now, link.payload(), packet.ecn);
                // Receive everything that arrives at this time before anything is sent.
                while let Poll::Packet(more) = link.poll(now)? {
                    let (_, end) =
                        ends.iter_mut().find(|(at, _)| *at == more.to).ok_or("an end of no one")?;
                    end.receive(now, link.payload(), more.ecn);
                }
            }
            Poll::Writable(_) => now = link.now(),
            Poll::Wait(_) => now = link.now().max(timer.min(until)),
        }
    }
}

/// Result of a transfer.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Stack and version.
    pub stack: String,
    /// Its congestion controller.
    pub controller: String,
    /// The preset.
    pub path: String,
    /// Payload that the application read, in Mbit/s.
    pub goodput_mbps: f64,
    /// One-way delay of datagrams to the client in ms: median and 99th percentile.
    pub delay_ms: [f64; 2],
    /// Datagrams to the client dropped in the network.
    pub dropped: u64,
    /// Packets declared lost by the stack.
    pub lost: u64,
    /// Place and reason of most drops in the network; empty without drops.
    pub place: String,
}

/// Header line of the table.
pub const HEAD: &str =
    "stack            controller  path               Mbit/s     p50     p99  dropped   lost  most of them";

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stack, controller, path, goodput_mbps, delay_ms: [p50, p99], dropped, lost, place } = self;
        write!(
            f,
            "{stack:16} {controller:11} {path:18} {goodput_mbps:6.1} {p50:7.1} {p99:7.1} {dropped:8} {lost:6}  {place}"
        )
    }
}

impl Row {
    /// Ends a link. The result covers the datagrams that the client received in [`LENGTH`], the bytes that
    /// its application read, and the packets declared lost by the server's stack.
    ///
    /// # Errors
    /// The link's packet accounts do not balance.
    pub fn of(
        [stack, controller, path]: [&str; 3],
        link: Link,
        read: u64,
        lost: u64,
    ) -> Result<Self, Box<dyn Error>> {
        let seen = link.finish()?;
        let to = &seen.hosts["client"].to;
        Ok(Self {
            stack: stack.to_owned(),
            controller: controller.to_owned(),
            path: path.to_owned(),
            goodput_mbps: read as f64 * 8.0 / LENGTH.as_secs_f64() / 1e6,
            delay_ms: [to.delay_p50_ms, to.delay_p99_ms].map(|delay| delay.unwrap_or(f64::NAN)),
            dropped: to.lost,
            lost,
            place: worst(&seen),
        })
    }
}

/// Place and reason of most drops in a run.
fn worst(seen: &Statistics) -> String {
    let most = seen.drops.iter().max_by_key(|drop| drop.packets);
    most.map_or(String::new(), |drop| format!("{}: {}", drop.place, drop.reason))
}

/// Duration of a download.
pub const LENGTH: Duration = Duration::from_secs(10);

/// Presets that every adapter shows.
pub const PATHS: [&str; 5] =
    ["home-80211ac-far", "cafe-busy-11n", "openwrt-aql", "home-walk-away", "vdsl-40-10"];

/// Runs a download for [`LENGTH`] over a preset. `server` writes without end. `read` returns the bytes that
/// `client` has read and the packets declared lost by the server's stack.
///
/// # Errors
/// The preset does not exist, or the link refuses a datagram.
pub fn download<C: End, S: End>(
    [stack, controller, path]: [&str; 3],
    seed: u64,
    (client, server): (&mut C, &mut S),
    read: impl FnOnce(&mut C, &mut S) -> (u64, u64),
) -> Result<Row, Box<dyn Error>> {
    let mut link = Path::preset(path)?.link(seed)?;
    let ends = [link.endpoint("client")?, link.endpoint("server")?];
    drive(&mut link, &mut [(ends[0], client), (ends[1], server)], LENGTH)?;
    let (read, lost) = read(client, server);
    Row::of([stack, controller, path], link, read, lost)
}

/// Prints the table: each controller over each preset, as measured by `row`.
///
/// # Errors
/// The errors of `row`.
pub fn compare(
    controllers: &[&str],
    mut row: impl FnMut(&str, &str) -> Result<Row, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    println!("{HEAD}");
    for path in PATHS {
        for controller in controllers {
            println!("{}", row(controller, path)?);
        }
    }
    Ok(())
}
