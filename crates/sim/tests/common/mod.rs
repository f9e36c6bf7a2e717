//! Helpers for tests of the whole world: small scenarios as text, and a trace sink that checks order.

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

/// The shipped scenario of Table 1.
pub const ANOMALY: &str = include_str!("../../../../scenarios/anomaly-udp.toml");

/// Parses a scenario with overrides, which must be valid.
pub fn parse(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let sets: Vec<(String, String)> = overrides.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    scenario::parse(text, "test.toml", &sets).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Runs one repetition and checks its accounts.
pub fn run(scenario: &Scenario, run: u64) -> RunSummary {
    let seed = Seed { seed: scenario.seed, run };
    api::run_once(scenario, seed).unwrap_or_else(|e| panic!("{e}"))
}

/// Start of a scenario with one channel and an access point without a wire.
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

/// A station of such a scenario. `path` contains its rate.
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

/// A flow. `more` contains its rate or interval.
pub fn flow(kind: &str, from: &str, to: &str, more: &str) -> String {
    format!("\n[[flow]]\nkind = \"{kind}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{more}\n")
}

/// Trace sink that contains the recorder, and checks order within flows, tries and drops.
#[derive(Debug)]
pub struct Watcher {
    pub recorder: Recorder,
    /// Last sequence number delivered, by flow.
    last: Vec<u32>,
    /// Packets delivered, by flow.
    pub delivered: Vec<u64>,
    /// Packets dropped, by flow and reason.
    pub dropped: Vec<[u64; Reason::COUNT]>,
    pub check_order: bool,
    /// Flows whose order is not checked.
    pub unordered: Vec<bool>,
    /// First packet delivered out of order or twice.
    pub disorder: Option<String>,
    /// Tries of data frames, and those that collided.
    pub tries: u64,
    pub collided: u64,
    /// Beacons sent without a collision.
    pub beacons: u64,
    /// Bytes read by the receiver, by TCP flow.
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

    /// Returns the number of a flow's packets dropped for reasons other than `reason`.
    pub fn dropped_otherwise(&self, flow: usize, reason: Reason) -> u64 {
        self.dropped[flow].iter().sum::<u64>() - self.dropped[flow][reason as usize]
    }
}

impl Sink for Watcher {
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        self.recorder.event(now, what);
        match *what {
            // TCP and QUIC hide duplicates and reordering from their readers, and both ends of a QUIC
            // connection number their datagrams.
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

/// Builds a world with a watcher.
pub fn watched(scenario: &Scenario, run: u64) -> Wired<Watcher> {
    wire(scenario, Seed { seed: scenario.seed, run }, Watcher::new)
}

/// Runs a world to a time since the start. Checks order and accounts.
pub fn run_to(world: &mut World<Watcher>, until: Duration) -> Result<(), String> {
    let end = Instant::ZERO + until;
    world.run_until(end);
    world.close(end)?;
    world.trace_mut().disorder.take().map_or(Ok(()), Err)
}

/// Returns the use of the first channel's air in thousandths of the accounted time, in the order of
/// [`AirUse::ALL`].
pub fn air_permille(account: &AirAccount) -> [u64; AirUse::COUNT] {
    AirUse::ALL
        .map(|u| (account.used(u).nanos() * 1000 + account.total().nanos() / 2) / account.total().nanos())
}

/// Rounds a non-negative value.
pub fn rounded(x: f64) -> u64 {
    (x + 0.5) as u64
}

/// Returns the summary of a station.
pub fn of<'a>(summary: &'a RunSummary, station: &str) -> &'a recorder::StationSummary {
    &summary.stations[station]
}
