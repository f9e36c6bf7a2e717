//! Interference and neighbouring networks: their channels and levels.

use stillair_model::types::Duration;
use stillair_model::wifi::air::interference::MOST_SOURCES;

use super::super::error::Diagnostics;
use super::super::parts::Parts;
use super::super::spec::channel::ChannelName;
use super::super::spec::domain::Entry;
use super::super::spec::interference::{Interference, Mains, Pattern, Phase};
use super::super::spec::neighbour::{Load, LoadFile, Neighbour};
use super::super::spec::{Domain, Key, Place};
use super::super::{
    Channel, Errors, Interferer, NeighbourLoad, Node, Role, ShareFormat, ShareOfTime, SourceLevel,
    SwitchPattern, Wifi,
};
use super::channel::wifis;
use super::names::{Names, refer};

fn channel_of<'k>(
    key: &'k Key<ChannelName>,
    names: &Names<'_>,
    faults: &mut Diagnostics,
) -> Option<(usize, &'k Place)> {
    let channel = key.late(Parts::none(), |field| refer(field, &names.channels))?;
    faults.unless(channel).zip(key.place())
}

/// Returns true if any valid interference source is on the channel.
pub(in super::super) fn is_loud(channel: &str, sources: &[Entry<Interference>]) -> bool {
    let of =
        |source: &Interference| source.channel.late(Parts::none(), |at| at.text("").ok() == Some(channel));
    sources.iter().any(|source| source.value.as_ref().and_then(of) == Some(true))
}

/// Adds interference sources to their channels.
pub(in super::super) fn interference(
    sources: &[Entry<Interference>],
    names: &Names<'_>,
    nodes: &[Node],
    channels: &mut [Channel],
    end: Duration,
    faults: &mut Diagnostics,
) {
    for Entry { name, value, .. } in sources {
        let Some(own) = value else { continue };
        let Some((channel, at)) = channel_of(&own.channel, names, faults) else { continue };
        let here = || on(channel, nodes);
        let level = level(own, at, here().find(|(node, _)| node.position.is_none()), faults);
        let pattern = match &own.pattern {
            Key::Absent => Some(SwitchPattern::Always),
            Key::Given(pattern, _) => switch(pattern, faults),
            Key::Misread(_) => None,
        };
        let start = checked(&own.start, |start| *start < end, "a time before the end of the run", faults);
        let start = start.map(|start| start.unwrap_or(Duration::ZERO));
        let stop =
            start.and_then(|start| checked(&own.stop, |stop| *stop > start, "a time after start", faults));
        let (Some(level), Some(pattern), Some(start), Some(stop)) = (level, pattern, start, stop) else {
            continue;
        };
        if !is_used(at, channel, nodes, faults) {
            continue;
        }
        let silent = here().find(|(_, wifi)| match &wifi.role {
            Role::Station(station) => wifi.trace.is_some() || !matches!(station.errors, Errors::Noise(_)),
            Role::Ap => false,
        });
        if let Some((node, _)) = silent {
            faults.add(at.found(
                format!("a channel on which it is not known how loud {:?} is", node.name),
                "an snr, a distance or a position of each station there, instead of probabilities of loss",
            ));
        }
        let all = &mut channels[channel].interference;
        if all.len() == MOST_SOURCES {
            let found = format!("{:?}, which has {MOST_SOURCES} sources already", names.channels[channel]);
            faults.add(at.found(found, format!("at most {MOST_SOURCES} of a channel")));
        } else {
            all.push(Interferer { name: name.clone(), level, pattern, start, stop });
        }
    }
}

/// Returns the value of an optional key; `None` if it is misread or does not meet a condition.
fn checked<D: Domain<Value: Copy>>(
    key: &Key<D>,
    is_right: impl Fn(&D::Value) -> bool,
    right: &str,
    faults: &mut Diagnostics,
) -> Option<Option<D::Value>> {
    match key {
        Key::Absent => Some(None),
        Key::Given(value, _) if is_right(value) => Some(Some(*value)),
        Key::Given(_, at) => {
            faults.add(at.wrong(right));
            None
        }
        Key::Misread(_) => None,
    }
}

fn on(channel: usize, nodes: &[Node]) -> impl Iterator<Item = (&Node, &Wifi)> {
    wifis(nodes).filter(move |(_, wifi)| wifi.channel == channel).map(|(at, wifi)| (&nodes[at.node], wifi))
}

/// Returns false, with an error, for a channel without stations.
fn is_used(at: &Place, channel: usize, nodes: &[Node], faults: &mut Diagnostics) -> bool {
    let is_used = on(channel, nodes).next().is_some();
    if !is_used {
        faults.add(at.found("a channel that no node is on", "one with a node"));
    }
    is_used
}

/// Returns the level of a source; `lost` is a node on its channel without a position.
fn level(
    own: &Interference,
    at: &Place,
    lost: Option<(&Node, &Wifi)>,
    faults: &mut Diagnostics,
) -> Option<SourceLevel> {
    let fault = match (own.power.place(), own.position.place(), own.tx_power.place()) {
        (Some(_), None, None) => return own.power.get().map(|power| SourceLevel::Everywhere(*power)),
        (None, Some(place), Some(_)) => match lost {
            None => return Some(SourceLevel::At(*own.position.get()?, *own.tx_power.get()?)),
            Some((node, _)) => place.found(
                format!("that node {:?} has no position", node.name),
                "a position of each node on the channel, or power",
            ),
        },
        (Some(_), Some(place), _) | (Some(_), None, Some(place)) => {
            place.found("a place or what it sends at beside the power at every receiver", "one of them")
        }
        (None, Some(place), None) | (None, None, Some(place)) => {
            place.found("one of position and tx_power", "both of them, or power")
        }
        (None, None, None) => at.found("neither power nor position and tx_power", "one of them"),
    };
    faults.add(fault);
    None
}

fn switch(pattern: &Pattern, faults: &mut Diagnostics) -> Option<SwitchPattern> {
    let phase = |own: &Phase, period: Duration, faults: &mut Diagnostics| {
        checked(&own.phase, |phase| *phase < period, "a time shorter than a period", faults)
    };
    Some(match pattern {
        Pattern::Always(_) => SwitchPattern::Always,
        Pattern::Cycle(own) => {
            let on = *own.on.get()?;
            let period = checked(&own.period, |period| *period > on, "a time longer than on", faults)??;
            let phase = phase(&own.phase, period, faults)?;
            SwitchPattern::Cycle { on, period, phase }
        }
        Pattern::Microwave(own) => {
            let hertz = if own.mains.or(Mains::Hz50) == Mains::Hz50 { 50 } else { 60 };
            let period = Duration::from_nanos(1_000_000_000 / hertz);
            let on = Duration::from_nanos(period.nanos() / 2);
            SwitchPattern::Cycle { on, period, phase: phase(&own.phase, period, faults)? }
        }
        Pattern::Random(own) => SwitchPattern::Random { on: *own.on.get()?, off: *own.off.get()? },
        Pattern::Trace(own) => SwitchPattern::Recorded {
            file: own.file.get()?.clone(),
            repeat: own.repeat.get().copied(),
            steps: Vec::new(),
        },
    })
}

/// Adds neighbouring networks to their channels.
pub(in super::super) fn neighbours(
    all: &[Entry<Neighbour>],
    names: &Names<'_>,
    nodes: &[Node],
    channels: &mut [Channel],
    end: Duration,
    faults: &mut Diagnostics,
) {
    for Entry { name, value, .. } in all {
        let Some(own) = value else { continue };
        let load = own.load.get().and_then(|load| share(load, end, faults));
        let Some((channel, at)) = channel_of(&own.channel, names, faults) else { continue };
        let (Some(load), Some(frame)) = (load, own.frame.get().copied()) else { continue };
        if is_used(at, channel, nodes, faults) && channels[channel].capture.is_some() {
            faults.add(at.found(
                "a neighbour on a channel with capture, where it is not known how loud its frames are",
                "capture = \"off\", or no neighbour",
            ));
        }
        let (senders, queue) = (own.senders.or(1), own.queue.or(32));
        channels[channel].neighbours.push(NeighbourLoad { name: name.clone(), load, senders, frame, queue });
    }
}

fn share(load: &Load, end: Duration, faults: &mut Diagnostics) -> Option<ShareOfTime> {
    let (file, format) = match load {
        Load::Steps(steps) => {
            let mut all = vec![(Duration::ZERO, steps.first?)];
            for change in &steps.later {
                let ((at, place), load) = (change.at.given()?, *change.load.get()?);
                if *at <= all[all.len() - 1].0 || *at >= end {
                    let right = "a time after that of the change before, and before the end of the run";
                    faults.add(place.wrong(right));
                    return None;
                }
                all.push((*at, load));
            }
            return Some(ShareOfTime { file: None, steps: all });
        }
        Load::File(LoadFile::Shares(own)) => (&own.file, ShareFormat::Shares),
        Load::File(LoadFile::Survey(own)) => (&own.file, ShareFormat::Survey),
    };
    Some(ShareOfTime { file: Some((file.get()?.clone(), format)), steps: Vec::new() })
}
