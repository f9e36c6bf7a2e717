//! Positions of nodes. Distances determine audibility and loss between nodes with positions.

use stillair_model::wifi::air::audibility::Hearing;
use stillair_model::wifi::phy::path_loss::PathLoss;
use stillair_scenario_derive::Section;

use super::super::error::Diagnostic;
use super::super::spec::{self, Key, Place};
use super::super::{Attachment, CaptureLevels, Channel, Errors, InterfaceRef, Node, Role, SnrSteps};
use super::wifi::wifi;
use super::wiring::Device;

/// The node key.
#[derive(Section, Clone, Debug, Default)]
pub(in super::super) struct OfNode {
    /// its position. If all nodes on a channel have one, the channel's loss decides which of them hear each
    /// other, and a station without its own losses has those of its distance to the access point
    #[key(or = "hears everybody")]
    pub(in super::super) position: Key<spec::domain::Position>,
}

/// A position in millimetres.
type Position = [u64; 2];

/// Rejects the position of a node without a radio on a channel, or of the only node with a position on its
/// channel.
pub(in super::super) fn used(nodes: &[Node], places: &[(usize, Place)]) -> Result<(), Diagnostic> {
    let channels = |node: usize| {
        nodes[node].interfaces.iter().filter_map(|i| match &i.medium {
            Attachment::Wifi(wifi) => Some(wifi.channel),
            Attachment::Wired { .. } => None,
        })
    };
    // Nodes with a position, by channel; a node may have several radios on a channel.
    let mut placed: Vec<(usize, usize)> =
        places.iter().flat_map(|(node, _)| channels(*node).map(|channel| (channel, *node))).collect();
    placed.sort_unstable();
    placed.dedup();
    let on = |channel: usize| placed.iter().filter(move |(c, _)| *c == channel).take(2).count();
    for (node, place) in places {
        if channels(*node).next().is_none() {
            return Err(place.idle("without a Wi-Fi interface", "none, or such an interface"));
        }
        if channels(*node).all(|channel| on(channel) < 2) {
            return Err(place.idle(
                "where no other node on its channel has one",
                "a position of another node there, or none; a station's `distance` is that to its access point",
            ));
        }
    }
    Ok(())
}

/// Returns the distance between two positions in millimetres, rounded down.
pub(in super::super) const fn distance(a: Position, b: Position) -> u64 {
    let (x, y) = (a[0].abs_diff(b[0]) as u128, a[1].abs_diff(b[1]) as u128);
    (x * x + y * y).isqrt() as u64
}

/// Returns the minimum distance in millimetres at which a signal is below a level, or `None` if it exceeds
/// `most`.
fn least_below(path_loss: PathLoss, level: i32, most: u64) -> Option<u64> {
    let is_below = |distance: u64| path_loss.snr(distance).0 + path_loss.noise < level;
    if !is_below(most) {
        return None;
    }
    // The level falls monotonically with distance.
    let (mut louder, mut below) = (0, most);
    if is_below(louder) {
        return Some(0);
    }
    while below - louder > 1 {
        let middle = louder + (below - louder) / 2;
        if is_below(middle) { below = middle } else { louder = middle }
    }
    Some(below)
}

/// Returns true if the distance between two positions, rounded down, is at least `least`.
fn is_apart(a: Position, b: Position, least: Option<u64>) -> bool {
    let Some(least) = least.map(u128::from) else { return false };
    let (x, y) = (a[0].abs_diff(b[0]) as u128, a[1].abs_diff(b[1]) as u128);
    x * x + y * y >= least * least
}

/// Sets the pairs of radios that cannot hear or decode each other over their distance and, with capture, the
/// levels between radios.
pub(in super::super) fn audible(channel: &mut Channel, index: usize, nodes: &[Node], capture: Option<u32>) {
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
    // There are many pairs: compare squared distances, and compute levels only for capture.
    let extent = |axis: usize| placed.iter().map(|(_, place)| place[axis]).max().unwrap_or(0);
    let most = extent(0).saturating_add(extent(1)).saturating_add(1);
    let [unheard, unclear] = [channel.cca_sensitivity, channel.preamble_detection_threshold]
        .map(|level| least_below(channel.path_loss, level, most));
    for (n, &(a, from)) in placed.iter().enumerate() {
        for &(b, to) in &placed[n + 1..] {
            if a.node == b.node {
                // Radios of one node always hear each other.
            } else if is_apart(from, to, unheard) {
                channel.audible.apart.push((a, b, Hearing::Nothing));
            } else if is_apart(from, to, unclear) {
                channel.audible.apart.push((a, b, Hearing::Faint));
            }
            if capture.is_some() {
                let level = channel.path_loss.snr(distance(from, to)).0 + channel.path_loss.noise;
                levels.push((a, b, level));
            }
        }
    }
    channel.capture = capture.map(|threshold| CaptureLevels { threshold, levels });
}

/// Sets the losses of stations that configure none, if they and their access points have positions.
pub(in super::super) fn losses(nodes: &mut [Node], devices: &[Device], channels: &[Channel]) {
    for at in devices.iter().filter(|device| device.is_silent).map(|device| device.at) {
        let own = nodes[at.node].position;
        let Some(wifi) = wifi(nodes, at) else { continue };
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

    #[test]
    fn squared_distances_agree_with_levels() {
        let loss = PathLoss { tx_power: 16_000, at_1m: 46_700, per_decade: 30_000, noise: -94_000 };
        for level in [-150_000, -82_000, -81_999, -40_000, -30_700, -30_699, 20_000] {
            let least = least_below(loss, level, 200_001);
            for to in [0, 1, 999, 1_000, 1_001, 2_040, 51_000, 51_680, 51_681, 51_685, 51_690, 100_000] {
                for place in [[to, 0], [to / 2, to / 3], [to, to]] {
                    let below = loss.snr(distance([0, 0], place)).0 + loss.noise < level;
                    assert_eq!(is_apart([0, 0], place, least), below, "{level} {place:?} {least:?}");
                }
            }
        }
    }
}
