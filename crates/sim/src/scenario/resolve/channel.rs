//! Channels: settings that depend on the band and on the nodes of the channel.

use stillair_model::wifi::phy::{Band, DsssRate, OfdmRate, PhyRate, Preamble, Width};

use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::hearing::Audible;
use super::super::parts::Parts;
use super::super::reader::Field;
use super::super::spec::Key;
use super::super::spec::channel::Channel as Spec;
use super::super::spec::domain::Entry;
use super::super::{Attachment, Channel, InterfaceRef, Node, Role, Wifi, mtu, units};
use super::names::Names;
use super::position;

/// Returns a channel from its own keys, before its nodes are considered; `None` without a band and a width.
pub(in super::super) fn own(spec: &Entry<Spec>, faults: &mut Diagnostics) -> Option<Channel> {
    let own = spec.value.as_ref()?;
    let (band, (width, at)) = (*own.band.get()?, own.width.given()?);
    if band == Band::Ghz2 && *width > Width::Mhz40 {
        faults.add(at.wrong("at most 40 MHz at 2.4 GHz"));
    }
    if band == Band::Ghz6 {
        // spec: ieee80211ax-2021 26.17.2.1 - all stations at 6 GHz are HE stations, so legacy protection is
        // not needed.
        let why = "at 6 GHz, where all stations have OFDM";
        own.long_slot.idle(why, "a channel at another band, or no such key", faults);
        own.protection.idle(why, "a channel at another band, or no such key", faults);
    }
    let mut channel = own.applied();
    channel.name.clone_from(&spec.name);
    channel.mtu = own.mtu.mtu.or(mtu::ETHERNET);
    channel.path_loss.at_1m = own.reference_loss.or(match band {
        Band::Ghz2 => 40_200,
        Band::Ghz5 => 46_700,
        // 20 log10(4 pi / wavelength) at 5955 MHz, the lowest 20 MHz channel.
        Band::Ghz6 => 47_900,
    });
    channel.basic_rate = match band {
        Band::Ghz2 => PhyRate::Dsss(DsssRate::M1, Preamble::Long),
        Band::Ghz5 | Band::Ghz6 => PhyRate::Ofdm(OfdmRate::M6),
    };
    let read = |field: &Field<'_>| {
        let right =
            format!("a rate without HT that the channel's band has, such as \"{}\"", channel.basic_rate);
        let rate = field.unit(|text| units::phy_rate(text, None).map_err(|_| right.clone()))?;
        match (rate, band) {
            (PhyRate::Ofdm(_), _) | (PhyRate::Dsss(..), Band::Ghz2) => Ok(rate),
            _ => Err(field.wrong(right)),
        }
    };
    let lowest = own.basic_rate.late(Parts::none(), read).and_then(|rate| faults.unless(rate));
    channel.basic_rate = lowest.unwrap_or(channel.basic_rate);
    Some(channel)
}

/// Completes a channel from its nodes. `has_distance` is true if a station on the channel gives its distance.
pub(in super::super) fn complete(
    (index, own): (usize, &Spec),
    channel: &mut Channel,
    (names, nodes): (&Names<'_>, &[Node]),
    has_distance: bool,
    is_loud: bool,
    faults: &mut Diagnostics,
) {
    let here = || wifis(nodes).filter(move |(_, wifi)| wifi.channel == index);
    levels(own, here().any(|(at, _)| nodes[at.node].position.is_some()), has_distance, is_loud, faults);
    // linux: net/mac80211/cfg.c ieee80211_change_bss (4.4), hostapd: src/ap/ieee802_11.c handle_assoc,
    // src/ap/beacon.c ieee802_11_erp_info (2.10) - an access point disables short slots or enables protection
    // when a station without short slots or without OFDM associates.
    let old = here().any(|(_, wifi)| wifi.role.is_old());
    channel.long_slot = own.long_slot.or(old);
    channel.protection = own.protection.or(old).then_some(match channel.band {
        Band::Ghz2 => PhyRate::Dsss(DsssRate::M11, Preamble::Long),
        Band::Ghz5 | Band::Ghz6 => PhyRate::Ofdm(OfdmRate::M24),
    });
    channel.audible = audible(own, index, names, nodes, faults);
    if let Key::Misread(_) = own.capture {
        return;
    }
    let threshold = own.capture.given().and_then(|(ratio, at)| Some(((*ratio)?, at)));
    // A capture threshold requires a position for every node.
    let lost = here().find(|(at, _)| nodes[at.node].position.is_none());
    if let (Some((_, place)), Some((at, _))) = (threshold, lost) {
        let found = format!("that node {:?} has no position", nodes[at.node].name);
        faults.add(place.found(found, "a position of each node on the channel"));
        return;
    }
    position::audible(channel, index, nodes, threshold.map(|(ratio, _)| ratio));
}

/// Rejects the level keys of a channel without positions.
fn levels(own: &Spec, is_placed: bool, has_distance: bool, is_loud: bool, faults: &mut Diagnostics) {
    if !is_placed {
        let (why, right) = ("without a position on the channel", "positions of its nodes, or no such level");
        own.cca_sensitivity.idle(why, right, faults);
        own.preamble_detection_threshold.idle(why, right, faults);
    }
    if !is_loud {
        let why = "without interference on the channel";
        own.cca_ed_threshold.idle(why, "some of it, or no such level", faults);
    }
    if !is_placed && !has_distance {
        let why = "without a distance or a position on the channel";
        let right = "a distance or a position, or no such level";
        own.tx_power.idle(why, right, faults);
        own.reference_loss.idle(why, right, faults);
        own.path_loss_exponent.idle(why, right, faults);
        // With interference the noise level has an effect.
        if !is_loud {
            own.noise.idle(why, right, faults);
        }
    }
}

/// Returns the groups of radios that do not hear or cannot decode each other. A station and its access point
/// must be able to decode each other.
fn audible(
    own: &Spec,
    channel: usize,
    names: &Names<'_>,
    nodes: &[Node],
    faults: &mut Diagnostics,
) -> Audible {
    let groups = |field: &Field<'_>| {
        lists(field)?.iter().map(|field| group(field, channel, names, nodes)).collect::<Result<Vec<_>, _>>()
    };
    let hidden =
        own.hidden.late(Parts::none(), groups).and_then(|all| faults.unless(all)).unwrap_or_default();
    let sense_only = own.sense_only.late(Parts::none(), |field| {
        let sense_only = groups(field)?;
        beside(field, &hidden, &sense_only, nodes).map(|()| sense_only)
    });
    let sense_only = sense_only.and_then(|all| faults.unless(all)).unwrap_or_default();
    Audible { hidden, sense_only, apart: Vec::new() }
}

/// Rejects pairs that are in both `hidden` and `sense_only`.
fn beside(
    field: &Field<'_>,
    hidden: &[Vec<InterfaceRef>],
    sense_only: &[Vec<InterfaceRef>],
    nodes: &[Node],
) -> Result<(), Diagnostic> {
    for (group, at) in sense_only.iter().zip(field.list()) {
        for others in hidden {
            let mut both =
                group.iter().filter(|radio| others.contains(radio)).map(|radio| &nodes[radio.node].name);
            if let (Some(a), Some(b)) = (both.next(), both.next()) {
                let found = format!("{a:?} and {b:?}, which are hidden from each other");
                return Err(at.found(found, "each pair in one of hidden and sense_only"));
            }
        }
    }
    Ok(())
}

const EXPECTED: &str = "a list of lists of at least two, such as [[\"a\", \"b\"]]";

fn lists<'a>(field: &Field<'a>) -> Result<Vec<Field<'a>>, Diagnostic> {
    if field.is_list() { Ok(field.list()) } else { Err(field.wrong(EXPECTED)) }
}

fn group(
    field: &Field<'_>,
    channel: usize,
    names: &Names<'_>,
    nodes: &[Node],
) -> Result<Vec<InterfaceRef>, Diagnostic> {
    let members = lists(field)?;
    if members.len() < 2 {
        return Err(field.wrong(EXPECTED));
    }
    let mut group = Vec::new();
    for member in &members {
        let radios: Vec<InterfaceRef> = match &member.item.value {
            Value::String(name) if name.contains('.') => {
                on(names.interface(member)?, channel, nodes).into_iter().collect()
            }
            _ => {
                let node = names.node(member)?;
                let all = (0..nodes[node].interfaces.len()).map(|interface| InterfaceRef { node, interface });
                all.filter_map(|at| on(at, channel, nodes)).collect()
            }
        };
        if radios.is_empty() {
            return Err(member.wrong("a node or an interface on this channel"));
        }
        if radios.iter().any(|radio| group.contains(radio)) {
            let found = format!("{} a second time", member.item.value.describe());
            return Err(member.found(found, "others beside it, each radio once"));
        }
        group.extend(radios);
    }
    let associated = |(at, wifi): (InterfaceRef, &Wifi)| match &wifi.role {
        Role::Station(station) => {
            let ap = on(station.ap, channel, nodes)?;
            (group.contains(&wifi.radio.unwrap_or(at)) && group.contains(&ap)).then_some((at, station.ap))
        }
        Role::Ap => None,
    };
    if let Some((station, ap)) = wifis(nodes).find_map(associated) {
        let name = |at: InterfaceRef| &nodes[at.node].name;
        let found = format!("{:?} and its access point {:?}", name(station), name(ap));
        return Err(field.found(found, "those that exchange no frames"));
    }
    Ok(group)
}

pub(super) fn wifis(nodes: &[Node]) -> impl Iterator<Item = (InterfaceRef, &Wifi)> {
    nodes.iter().enumerate().flat_map(|(node, n)| {
        n.interfaces.iter().enumerate().filter_map(move |(interface, i)| match &i.medium {
            Attachment::Wifi(wifi) => Some((InterfaceRef { node, interface }, wifi)),
            Attachment::Wired { .. } => None,
        })
    })
}

/// Returns the interface whose radio an interface on a channel uses.
fn on(at: InterfaceRef, channel: usize, nodes: &[Node]) -> Option<InterfaceRef> {
    match &nodes[at.node].interfaces[at.interface].medium {
        Attachment::Wifi(wifi) if wifi.channel == channel => Some(wifi.radio.unwrap_or(at)),
        _ => None,
    }
}
