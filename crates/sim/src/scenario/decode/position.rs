//! Where nodes stand: between those that say so, who hears whom and what is lost follow from the distance.

use super::super::contract::{Form, Key};
use super::super::error::Fault;
use super::super::reader::{Field, Section};
use super::super::{Attachment, CaptureLevels, Channel, Errors, InterfaceRef, Node, Role, SnrSteps, units};

const EXPECTED: &str = "two coordinates such as \"3 m, 4.5 m\"";

/// A place.
pub(super) const FORM: Form = Form::Written {
    words: "two coordinates such as `3 m, 4.5 m`",
    pattern: r"^[0-9]+(\.[0-9]{1,3})? ?m *, *[0-9]+(\.[0-9]{1,3})? ?m$",
    examples: &["0 m, 0 m", "10 m, 2.5 m"],
};

/// Key of a node.
pub(super) const KEY: Key = Key::open(
    "position",
    FORM,
    "hears everybody",
    "where it stands: of those on a channel that all do, it hears whom it hears by the channel's loss, and a station that says \
     nothing of its losses has those of the distance to its access point",
);

/// A place in millimetres.
pub(super) type Position = [u64; 2];

pub(super) fn read(section: &mut Section<'_>) -> Result<Option<Position>, Fault> {
    section.get("position").map(|field| coordinates(&field)).transpose()
}

/// The place that a value says.
pub(super) fn coordinates(field: &Field<'_>) -> Result<Position, Fault> {
    let coordinate = |text: &str| match text.trim() {
        "0 m" | "0m" => Ok(0),
        other => units::length(other).map_err(|_| field.wrong(EXPECTED)),
    };
    let (x, y) = field.text(EXPECTED)?.split_once(',').ok_or_else(|| field.wrong(EXPECTED))?;
    Ok([coordinate(x)?, coordinate(y)?])
}

/// Refuses the place of a node that has no radio on a channel, or there is the only one that says where it is.
pub(super) fn used(nodes: &[Node], places: &[(usize, Field<'_>)]) -> Result<(), Fault> {
    let channels = |node: usize| {
        nodes[node].interfaces.iter().filter_map(|i| match &i.medium {
            Attachment::Wifi(wifi) => Some(wifi.channel),
            Attachment::Wired { .. } => None,
        })
    };
    // By channel, nodes with a place; a node may have several radios on it.
    let mut placed: Vec<(usize, usize)> =
        places.iter().flat_map(|(node, _)| channels(*node).map(|channel| (channel, *node))).collect();
    placed.sort_unstable();
    placed.dedup();
    let on = |channel: usize| placed.iter().filter(move |(c, _)| *c == channel).take(2).count();
    for (node, field) in places {
        if channels(*node).next().is_none() {
            return Err(field.idle("without a Wi-Fi interface", "none, or such an interface"));
        }
        if channels(*node).all(|channel| on(channel) < 2) {
            return Err(field.idle(
                "where no other node on its channel has one",
                "a position of another node there, or none; a station's `distance` is that to its access point",
            ));
        }
    }
    Ok(())
}

/// Millimetres between two places, rounded down.
pub(in crate::scenario) const fn distance(a: Position, b: Position) -> u64 {
    let (x, y) = (a[0].abs_diff(b[0]) as u128, a[1].abs_diff(b[1]) as u128);
    (x * x + y * y).isqrt() as u64
}

/// Puts the pairs of radios that do not hear or understand each other over the distance between them, and how loud they do with capture.
pub(super) fn audible(channel: &mut Channel, index: usize, nodes: &[Node], capture: Option<u32>) {
    let mut levels = Vec::new();
    let radio = |(at, medium): (InterfaceRef, &Attachment)| match medium {
        Attachment::Wifi(wifi) if wifi.channel == index && wifi.radio.is_none() => Some(at),
        _ => None,
    };
    let interfaces = nodes.iter().enumerate().flat_map(|(node, n)| {
        n.interfaces.iter().enumerate().map(move |(i, x)| (InterfaceRef { node, interface: i }, &x.medium))
    });
    let placed: Vec<_> =
        interfaces.filter_map(radio).filter_map(|at| Some((at, nodes[at.node].position?))).collect();
    for (n, &(a, from)) in placed.iter().enumerate() {
        for &(b, to) in &placed[n + 1..] {
            let level = channel.path_loss.snr(distance(from, to)).0 + channel.path_loss.noise;
            if a.node == b.node {
                // Radios of one node always hear each other.
            } else if level < channel.sensed_from {
                channel.audible.deaf.push(vec![a, b]);
            } else if level < channel.understood_from {
                channel.audible.faint.push(vec![a, b]);
            }
            levels.push((a, b, level));
        }
    }
    channel.capture = capture.map(|threshold| CaptureLevels { threshold, levels });
}

/// The losses of stations that say nothing of them, where they and their access points have a place.
pub(super) fn losses(nodes: &mut [Node], silent: &[InterfaceRef], channels: &[Channel]) {
    for at in silent {
        let own = nodes[at.node].position;
        let Attachment::Wifi(wifi) = &nodes[at.node].interfaces[at.interface].medium else { continue };
        let (Role::Station(station), channel) = (&wifi.role, &channels[wifi.channel]) else { continue };
        let Some((from, to)) = own.zip(nodes[station.ap.node].position) else { continue };
        let snr = channel.path_loss.snr(distance(from, to));
        if let Attachment::Wifi(wifi) = &mut nodes[at.node].interfaces[at.interface].medium
            && let Role::Station(station) = &mut wifi.role
        {
            station.errors = Errors::Noise(SnrSteps::new(snr));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance([0, 0], [3_000, 4_000]), 5_000);
        assert_eq!(distance([1, 7], [1, 7]), 0);
        assert_eq!(distance([2_000, 0], [1_000, 1_000]), 1_414);
    }
}
