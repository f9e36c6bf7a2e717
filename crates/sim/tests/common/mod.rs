//! What tests of the whole world share: small scenarios as text, and a reader of the trace that looks at
//! order.

#![allow(dead_code, reason = "each test that includes this file uses a part of it")]

pub mod drain;
pub mod external;
pub mod random;
pub mod stacks;

use stillair_model::types::{Duration, Instant, PacketKind, PpduKind, Reason, Seed, Sink, TraceEvent};
use stillair_model::wifi::air::account::{AirAccount, AirUse};
use stillair_sim::recorder::{Recorder, RunSummary};
use stillair_sim::scenario::{self, Scenario};
use stillair_sim::world::{Wired, World, wire};
use stillair_sim::{api, recorder};

/// The scenario of Table 1 that is shipped.
pub const ANOMALY: &str = include_str!("../../../../scenarios/anomaly-udp.toml");

/// Parses a scenario with overrides; a mistake in it is one of the test.
pub fn parse(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let sets: Vec<(String, String)> = overrides.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    scenario::parse(text, "test.toml", &sets).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// One run whose accounts close.
pub fn run(scenario: &Scenario, run: u64) -> RunSummary {
    let seed = Seed { seed: scenario.seed, run };
    api::run_once(scenario, seed).unwrap_or_else(|e| panic!("{e}"))
}

/// The head of a scenario with one channel, and an access point without a wire.
pub fn cell(duration: &str, channel: &str, ap: &str) -> String {
    format!(
        r#"
name = "test"
duration = "{duration}"

[channel.wifi]
{channel}

[node.ap]
profile = "linux-4.6"
forward = true
interface.wlan0 = {{ channel = "wifi", role = "ap", address = "10.0.1.1", {ap} }}
"#
    )
}

/// A station of such a scenario; `path` has its rate.
pub fn station(name: &str, number: usize, path: &str) -> String {
    format!(
        r#"
[node.{name}]
profile = "linux-4.4"
interface.wlan0 = {{ channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.1.{}", {path} }}
"#,
        10 + number
    )
}

/// A flow; `more` has its rate or interval.
pub fn flow(kind: &str, from: &str, to: &str, more: &str) -> String {
    format!("\n[[flow]]\nkind = \"{kind}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{more}\n")
}

/// Reads the trace beside the recorder: order within flows, tries, drops.
#[derive(Debug)]
pub struct Watcher {
    pub recorder: Recorder,
    /// By flow: the last sequence number delivered.
    last: Vec<u32>,
    /// By flow: packets delivered.
    pub delivered: Vec<u64>,
    /// By flow and reason: packets dropped.
    pub dropped: Vec<[u64; Reason::COUNT]>,
    pub check_order: bool,
    /// By flow: its order is not looked at.
    pub unordered: Vec<bool>,
    /// The first packet delivered out of order or twice.
    pub disorder: Option<String>,
    /// Tries of data frames, and how many of them collided.
    pub tries: u64,
    pub collided: u64,
    /// Beacons sent without a collision.
    pub beacons: u64,
    /// By flow of TCP: bytes that the reader at its far end got.
    pub read: Vec<u64>,
}

impl Watcher {
    pub fn new(recorder: Recorder) -> Self {
        let flows = recorder.flows.len();
        Self {
            recorder,
            last: vec![0; flows],
            delivered: vec![0; flows],
            dropped: vec![[0; Reason::COUNT]; flows],
            check_order: true,
            unordered: vec![false; flows],
            disorder: None,
            tries: 0,
            collided: 0,
            beacons: 0,
            read: vec![0; flows],
        }
    }

    /// Packets of a flow that were dropped for any reason but this one.
    pub fn dropped_otherwise(&self, flow: usize, reason: Reason) -> u64 {
        self.dropped[flow].iter().sum::<u64>() - self.dropped[flow][reason as usize]
    }
}

impl Sink for Watcher {
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        self.recorder.event(now, what);
        match *what {
            // What TCP or QUIC delivers twice or out of order its reader never sees, and both ends of QUIC
            // number their datagrams.
            TraceEvent::Delivered { kind: PacketKind::Tcp | PacketKind::Quic, .. } => {}
            TraceEvent::Delivered { flow, seq, kind, .. } => {
                let last = &mut self.last[flow.index()];
                let looks = self.check_order && !self.unordered[flow.index()];
                if looks && seq <= *last && self.disorder.is_none() {
                    self.disorder =
                        Some(format!("{kind:?} {seq} of flow {} after {last} at {now:?}", flow.0));
                }
                *last = seq;
                self.delivered[flow.index()] += u64::from(kind.reply().is_none());
            }
            TraceEvent::Read { flow, forth, bytes } => {
                self.read[flow.index()] += if forth { u64::from(bytes) } else { 0 };
            }
            TraceEvent::Dropped { flow, reason, .. } => self.dropped[flow.index()][reason as usize] += 1,
            TraceEvent::Asked { .. }
            | TraceEvent::Skipped { .. }
            | TraceEvent::Doubled { .. }
            | TraceEvent::Loaded { .. }
            | TraceEvent::Probed { .. }
            | TraceEvent::Quic { .. } => {}
            TraceEvent::Ppdu(t) => match t.kind {
                PpduKind::Single | PpduKind::Aggregate => {
                    self.tries += 1;
                    self.collided += u64::from(t.collided);
                }
                PpduKind::Beacon => self.beacons += u64::from(!t.collided),
                PpduKind::Bar | PpduKind::Management | PpduKind::Group => {}
            },
        }
    }
}

/// A world that is watched.
pub fn watched(scenario: &Scenario, run: u64) -> Wired<Watcher> {
    wire(scenario, Seed { seed: scenario.seed, run }, Watcher::new)
}

/// Runs a world to an instant, given as time since the start, and checks that order was kept and accounts
/// close.
pub fn run_to(world: &mut World<Watcher>, until: Duration) -> Result<(), String> {
    let end = Instant::ZERO + until;
    world.run_until(end);
    world.close(end)?;
    world.trace_mut().disorder.take().map_or(Ok(()), Err)
}

/// Use of the first channel's air in thousandths of all that is booked, in the order of [`AirUse::ALL`].
pub fn air_permille(account: &AirAccount) -> [u64; AirUse::COUNT] {
    AirUse::ALL
        .map(|u| (account.used(u).nanos() * 1000 + account.total().nanos() / 2) / account.total().nanos())
}

/// The nearest integer of a measure that is not negative.
pub fn rounded(x: f64) -> u64 {
    (x + 0.5) as u64
}

/// The summary of a station.
pub fn of<'a>(summary: &'a RunSummary, station: &str) -> &'a recorder::StationSummary {
    &summary.stations[station]
}
