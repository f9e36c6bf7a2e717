//! A recorder that also records packet delays by layer and cause.

use stillair_model::types::{DevId, Instant, Packets, Sink, Step, TraceEvent};

use super::Records;
use crate::recorder::{HostFlows, Recorder, Sojourn, SojournWorld};
use crate::scenario::Scenario;
use crate::world;

/// A recorder, and packet delays by layer and cause.
#[derive(Debug)]
pub struct Followed(pub Recorder, pub Sojourn);

/// Returns a function that adds delay records to a recorder. Follows packets as requested by the scenario, or
/// every packet if the scenario does not request any.
pub fn follow(scenario: &Scenario) -> impl FnOnce(Recorder) -> Followed + use<> {
    let layout = world::layout(scenario);
    // The ifbs of shapers are numbered behind the interfaces.
    let mut devs = vec![None; layout.interfaces.len() + scenario.shaped().count()];
    for (n, dev) in layout.devs.iter().enumerate() {
        devs[dev.interface.index()] = Some(DevId::from_index(n));
    }
    let channels = layout.devs.iter().map(|dev| dev.channel).collect();
    let every = scenario.record.sojourn.unwrap_or(1);
    let external = HostFlows::names(&scenario.external_hosts()).len();
    move |recorder| {
        let of_flows = recorder.flows.iter().map(|flow| flow.station);
        let world = SojournWorld {
            measured: recorder.measured.clone(),
            stations: of_flows.chain(core::iter::repeat_n(None, external)).collect(),
            senders: recorder.flows.iter().map(|f| f.quic.as_ref().map(|quic| quic.sender())).collect(),
            by_due: recorder
                .flows
                .iter()
                .map(|f| f.datagrams.as_ref().is_some_and(|d| d.is_by_due()))
                .collect(),
            devs,
            channels,
            links: recorder.links.clone(),
        };
        Followed(recorder, Sojourn::new(world, every))
    }
}

impl Sink for Followed {
    const STEPS: bool = true;

    #[inline]
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        self.0.event(now, what);
        self.1.event(now, what);
    }

    #[inline]
    fn step(&mut self, now: Instant, packets: &Packets, what: &Step<'_>) {
        self.1.step(now, packets, what);
    }
}

impl Records for Followed {
    fn recorder(&self) -> &Recorder {
        &self.0
    }
    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.0
    }
    fn sojourn(&self) -> Option<&Sojourn> {
        Some(&self.1)
    }
}
