//! Other users of a scenario's channels: interference and neighbouring networks.

use stillair_model::types::{Ac, Duration, Instant, Seed};
use stillair_model::wifi::air::edca::EdcaSet;
use stillair_model::wifi::air::interference::{Interference, Pattern, Source};
use stillair_model::wifi::air::medium::Medium;
use stillair_model::wifi::phy::path_loss::PathLoss;
use stillair_model::wifi::phy::{OfdmRate, PhyRate};
use stillair_model::wifi::timeline::Timeline;

use super::super::air::{Foreign, Load, Neighbour};
use super::medium::medium;
use super::paths::timeline;
use crate::scenario::{Channel, Interferer, NeighbourLoad, SourceLevel, SwitchPattern};

/// Builds the other users of a channel. Their radios get media behind those of the nodes; `places` holds the
/// positions of the nodes.
pub(super) fn foreign(
    channel: &Channel,
    places: &[Option<[u64; 2]>],
    media: &mut Vec<Medium>,
    seed: Seed,
) -> Foreign {
    let neighbours = channel.neighbours.iter().map(|n| neighbour(channel, n, media, seed)).collect();
    let sources: Vec<Source> = channel.interference.iter().map(|s| source(s, seed)).collect();
    let level = |source: usize, radio: usize| {
        let place = places.get(radio);
        match channel.interference[source].level {
            SourceLevel::Everywhere(level) => Some(level),
            // deviation: a neighbour's stations have no position, so they do not hear a source with a
            // position.
            SourceLevel::At(from, sent) => {
                let to = place.copied().flatten()?;
                let loss = PathLoss { tx_power: sent, ..channel.path_loss };
                Some(loss.snr(crate::scenario::distance(from, to)).0 + loss.noise)
            }
        }
    };
    let radios = media.len();
    let levels = (channel.path_loss.noise, channel.cca_ed_threshold);
    let interference = (!sources.is_empty()).then(|| Interference::new(sources, radios, levels, level));
    Foreign { interference, neighbours, radios }
}

fn source(given: &Interferer, seed: Seed) -> Source {
    let mut stream = seed.stream(&format!("interference.{}", given.name));
    let pattern = match &given.pattern {
        SwitchPattern::Always => Pattern::Always,
        &SwitchPattern::Cycle { on, period, phase } => {
            let phase = phase.unwrap_or_else(|| stream.between(Duration::ZERO, period));
            Pattern::Cycle { on, period, phase }
        }
        &SwitchPattern::Random { on, off } => Pattern::Random { on, off, stream },
        SwitchPattern::Recorded { repeat, steps, .. } => Pattern::Recorded(timeline(steps.clone(), *repeat)),
    };
    let stop = given.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop);
    Source::new(pattern, Instant::ZERO + given.start, stop)
}

/// Builds a neighbour. Its senders and its receiver are the next radios.
fn neighbour(channel: &Channel, given: &NeighbourLoad, media: &mut Vec<Medium>, seed: Seed) -> Neighbour {
    let (first, senders) = (media.len(), usize::from(given.senders));
    let name = format!("neighbour.{}", given.name);
    for n in 0..senders {
        let mut own = medium(channel);
        own.add(EdcaSet::STATION.get(Ac::Be), seed.stream(&format!("{name}.{n}.edca.be")));
        media.push(own);
    }
    media.push(medium(channel));
    let load = Load {
        frame: given.frame,
        // deviation: acknowledged at 24 Mbit/s, the highest basic rate, at any data rate.
        answer: channel.timing().ack_duration(PhyRate::Ofdm(OfdmRate::M24)),
        share: shares(&given.load.steps),
        queue: given.queue,
        stream: seed.stream(&format!("{name}.load")),
    };
    Neighbour::new(given.name.clone(), load, first, senders)
}

fn shares(steps: &[(Duration, f64)]) -> Timeline<f64> {
    timeline(steps.to_vec(), None)
}
