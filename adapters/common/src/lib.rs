//! What adapters share: the loop between a sans-I/O stack and a link, and what was seen as one line of a
//! table.

#[cfg(feature = "tls")]
pub mod tls;

use std::error::Error;
use std::fmt;
use std::time::Duration;

use stillair_link::{Endpoint, Enqueue, Link, Mark, Path, Poll, Statistics};

/// One end of a connection, as a stack without I/O has it.
pub trait End {
    /// A datagram has come.
    fn receive(&mut self, now: Duration, payload: &[u8], ecn: u8);
    /// The application's turn: it reads what has come and writes what there is room for.
    fn work(&mut self, now: Duration);
    /// The next datagram that it wants to send, in the place of what is in `out`; its ECN bits.
    fn transmit(&mut self, now: Duration, out: &mut Vec<u8>) -> Option<u8>;
    /// When it wants to be called again.
    fn timeout(&mut self) -> Option<Duration>;
    /// That time has come.
    fn on_timeout(&mut self, now: Duration);
}

/// Drives both ends over a link until a time.
///
/// # Errors
/// A datagram that the link refuses: too long, for example.
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
                // What the host's own queue drops is lost, as for a socket without IP_RECVERR.
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
                // All that came at this instant is taken in before anything is answered.
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

/// What a transfer came to.
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
    /// One-way delay of what came to the client in ms: median and 99th percentile.
    pub delay_ms: [f64; 2],
    /// Datagrams to the client that were dropped on the way.
    pub dropped: u64,
    /// Packets that the stack says were lost.
    pub lost: u64,
    /// Where most packets were dropped on the way, and why; nothing if none was.
    pub place: String,
}

/// The head of the table.
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
    /// Ends a link: what its client had in [`LENGTH`], the bytes that its application read, and the packets
    /// that the server's stack says were lost.
    ///
    /// # Errors
    /// The link's accounts do not close.
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

/// Where most packets were dropped in a run, and why.
fn worst(seen: &Statistics) -> String {
    let most = seen.drops.iter().max_by_key(|drop| drop.packets);
    most.map_or(String::new(), |drop| format!("{}: {}", drop.place, drop.reason))
}

/// How long a download lasts.
pub const LENGTH: Duration = Duration::from_secs(10);

/// Paths that every adapter shows.
pub const PATHS: [&str; 5] =
    ["home-80211ac-far", "cafe-busy-11n", "openwrt-aql", "home-walk-away", "vdsl-40-10"];

/// Downloads for [`LENGTH`] over a preset: `server` writes without end, and `read` tells what `client` has
/// read and what the server's stack says was lost.
///
/// # Errors
/// There is no such preset, or the stack sends what the link refuses.
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

/// Prints the table: each controller over each path, as `row` measures it.
///
/// # Errors
/// As of `row`.
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
