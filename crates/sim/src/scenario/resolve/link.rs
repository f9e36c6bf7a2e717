//! Wired links: the devices at their ends, the customer side of an access line, and the interfaces that name
//! them.

use stillair_model::qdisc::cake::Framing;
use stillair_model::types::{Duration, Rate};
use stillair_model::wire::{EthernetParams, LineBuffer, LineParams, WireParams};

use super::super::error::{Diagnostic, Diagnostics};
use super::super::parts::Parts;
use super::super::spec::domain::{Entry, OneOrTable, OrTable};
use super::super::spec::link::{Access, Buffers, Devices, Link as Spec, Rates, Waiting};
use super::super::spec::{Assign as _, Domain, Key, Place, Titled, overhead};
use super::super::{InterfaceRef, Link, Nic, Node, mtu};

/// Ethernet's header and FCS, as on cable.
const FRAMING: &str = "docsis";

/// Rates supported by devices other than `none`.
// linux: drivers/net/ethernet/intel/e1000e/ethtool.c e1000_get_link_ksettings, broadcom/tg3.c
// tg3_phy_init_link_config (6.12) - 10, 100 and 1000 Mbit/s; Intel's 2.5 Gbit/s devices use igc, and 10
// Gbit/s devices ixgbe.
const RATES: [Rate; 3] = [Rate::from_bps(10_000_000), Rate::from_bps(100_000_000), GIGABIT];
const GIGABIT: Rate = Rate::from_bps(1_000_000_000);

/// Context of the links.
pub(in super::super) struct Around<'a> {
    /// Interfaces that name each link.
    pub ends: &'a [Vec<InterfaceRef>],
    pub nodes: &'a [Node],
    /// The `nic` of each node.
    pub nics: &'a [Option<Place>],
}

/// Returns the links; those with errors are left out.
pub(in super::super) fn all(
    specs: &[Entry<Spec>],
    around: &Around<'_>,
    faults: &mut Diagnostics,
) -> Vec<Link> {
    let links: Vec<Link> = specs
        .iter()
        .enumerate()
        .filter_map(|(n, spec)| link(spec, &around.ends[n], around, faults))
        .collect();
    if links.len() == specs.len() {
        unused_nics(specs, &links, around, faults);
    }
    links
}

fn link(
    spec: &Entry<Spec>,
    ends: &[InterfaceRef],
    around: &Around<'_>,
    faults: &mut Diagnostics,
) -> Option<Link> {
    let params = match spec.value.as_ref()? {
        Spec::Ethernet(own) => {
            let wire = own.rate.get().copied().zip(own.delay.get().copied());
            wire.zip(own.rate.place())
                .and_then(|(wire, at)| ethernet(&own.devices, wire, at, ends, around, faults))
                .map(|devices| devices.map(WireParams::Ethernet))
        }
        Spec::Access(own) => access(own, &spec.place, ends, around, faults),
        Spec::Veth(_) => Some([WireParams::Veth; 2]),
    };
    let name = |at: &InterfaceRef| {
        let node = &around.nodes[at.node];
        format!("{}.{}", node.name, node.interfaces[at.interface].name)
    };
    let Ok(ends) = <[InterfaceRef; 2]>::try_from(ends) else {
        // A few names are enough to locate the error.
        let some: Vec<String> = ends.iter().take(6).map(name).collect();
        let found = match ends.len() {
            0 => "a link that joins nothing".to_owned(),
            n => format!("a link of {n} ({})", some.join(", ")),
        };
        faults.add(spec.place.found(found, "exactly two interfaces that name it"));
        return None;
    };
    if ends[0].node == ends[1].node {
        let found = format!("a link of {:?} with itself", around.nodes[ends[0].node].name);
        faults.add(spec.place.found(found, "interfaces of two nodes that name it"));
        return None;
    }
    let mtu = match spec.value.as_ref()? {
        Spec::Ethernet(own) => &own.mtu,
        Spec::Access(own) => &own.mtu,
        Spec::Veth(own) => &own.mtu,
    };
    Some(Link { name: spec.name.clone(), params: params?, ends, mtu: mtu.mtu.or(mtu::ETHERNET) })
}

/// Rejects the `nic` of a node without an interface that uses it.
fn unused_nics(specs: &[Entry<Spec>], links: &[Link], around: &Around<'_>, faults: &mut Diagnostics) {
    let open = |spec: &Entry<Spec>| match &spec.value {
        Some(Spec::Ethernet(own)) => own.devices.nic.place().is_none(),
        Some(Spec::Access(own)) => own.devices.nic.place().is_none(),
        _ => false,
    };
    for (node, place) in around.nics.iter().enumerate() {
        let mut own =
            links.iter().zip(specs).filter(|(link, _)| link.ends.iter().any(|end| end.node == node));
        if let Some(place) = place
            && !own.any(|(_, spec)| open(spec))
        {
            let why = "without an Ethernet interface whose link leaves it open";
            faults.add(place.idle(why, "such an interface, or no nic"));
        }
    }
}

impl Nic {
    /// Returns the device's coalescing as sender and as receiver; the other parameters are the link's.
    // linux: drivers/net/ethernet/intel/igb/igb.h IGB_DEFAULT_TXD, IGB_START_ITR (4.4) - 256 descriptors, and
    // about 8000 interrupts per second, which report transmissions.
    // linux: drivers/net/ethernet/intel/e1000e/netdev.c e1000_set_itr, e1000_update_itr, param.c DEFAULT_ITR
    // (6.12) - 20000 interrupts per second, 4000 at rates other than 1 Gbit/s; the same interrupts report
    // transmissions.
    // deviation: the 4000 of bulk traffic at 1 Gbit/s are not modelled. They require 10,000 bytes between
    // interrupts, more than Wi-Fi behind the device carries.
    // linux: drivers/net/ethernet/broadcom/tg3.c tg3_init_coal, tg3.h LOW_RXCOL_TICKS_CLRTCKS and others
    // (6.12).
    fn coalescing(self, rate: Rate) -> EthernetParams {
        let (bql, [tx_usecs, rx_usecs], [tx_frames, rx_frames], interrupts) = match self {
            Self::None => (false, [125, 0], [0; 2], 0),
            Self::E1000e if rate == GIGABIT => (true, [50, 0], [0; 2], 20_000),
            Self::E1000e => (true, [250, 0], [0; 2], 4_000),
            Self::Tg3 => (true, [72, 20], [53, 5], 0),
        };
        let [tx_usecs, rx_usecs] = [tx_usecs, rx_usecs].map(Duration::from_micros);
        let (delay, rx_gap) = (Duration::ZERO, gap(interrupts));
        EthernetParams { rate, delay, ring: 256, bql, tx_usecs, tx_frames, rx_usecs, rx_frames, rx_gap }
    }
}

fn gap(interrupts: u32) -> Duration {
    Duration::from_nanos(1_000_000_000_u64.checked_div(interrupts.into()).unwrap_or(0))
}

/// Returns both directions of a link: from its first end to its second, and back. `at` is the key of the
/// rate.
// deviation: without a `nic`, arrivals are delivered one by one and byte queue limits are off - devices
// differ more in this than in anything else, so the scenario must choose one.
fn ethernet(
    own: &Devices,
    (rate, delay): (Rate, Duration),
    at: &Place,
    ends: &[InterfaceRef],
    around: &Around<'_>,
    faults: &mut Diagnostics,
) -> Option<[EthernetParams; 2]> {
    if own.nic.is_misread() {
        return None;
    }
    // Links without exactly two ends are rejected later.
    let node = |end: usize| ends.get(end).map(|end| end.node);
    let nics = [0, 1].map(|end| own.nic.or(node(end).map_or(Nic::None, |node| around.nodes[node].nic)));
    if let Some(end) = (0..2).find(|end| nics[*end] != Nic::None && rate.bps() > 0 && !RATES.contains(&rate))
    {
        let of_node = || around.nics[node(end)?].as_ref();
        let found = format!("{:?} on a link of {}, at which none exists", nics[end].name(), at.found);
        let right = "none, or a link of 10 Mbit/s, 100 Mbit/s or 1 Gbit/s";
        faults.add(own.nic.place().or_else(of_node).unwrap_or(at).found(found, right));
        return None;
    }
    // Transmissions are reported by the sender's device, arrivals by the receiver's.
    let direction = |from: Nic, to: Nic| {
        let EthernetParams { rx_usecs, rx_frames, rx_gap, .. } = to.coalescing(rate);
        let mut params = EthernetParams { delay, rx_usecs, rx_frames, rx_gap, ..from.coalescing(rate) };
        own.assign(&mut params);
        params.rx_gap = own.rx_interrupts.get().map_or(rx_gap, |n| gap(*n));
        params
    };
    Some([direction(nics[0], nics[1]), direction(nics[1], nics[0])])
}

/// Returns both directions of an access line: from its first end to its second, and back.
fn access(
    own: &Access,
    at: &Place,
    ends: &[InterfaceRef],
    around: &Around<'_>,
    faults: &mut Diagnostics,
) -> Option<[WireParams; 2]> {
    if own.line.is_misread() {
        return None;
    }
    let product = own.line.get();
    let known = product.map_or([None; 2], |product| product.rates.map(Some));
    let right = "a rate, { down = \"500 Mbit/s\", up = \"50 Mbit/s\" }, or a line such as \"cable-500-50\"";
    let rates =
        each(&own.rate, known, |own: &Rates| [&own.down, &own.up], || at.missing("rate", right), faults);
    let known = product.map_or([None; 2], |product| product.buffers.map(|time| time.map(Waiting::Time)));
    let right = match (product, known) {
        (None, _) => "what the modems hold, such as { down = \"100 ms\", up = \"250 ms\" }",
        (Some(_), [None, Some(_)]) => {
            "what the provider's side holds, such as { down = \"100 ms\" }: no source states it for this line"
        }
        (Some(_), _) => {
            "what the modems hold, such as { down = \"100 ms\", up = \"250 ms\" }: no source states it for this line"
        }
    };
    let missing = || at.missing("buffer", right);
    let buffers = each(&own.buffer, known, |own: &Buffers| [&own.down, &own.up], missing, faults);
    let (rates, buffers, delay) = (rates?, buffers?, *own.delay.get()?);
    // The next Ethernet rate above the line's.
    let fastest = rates[0].max(rates[1]);
    let usual = if fastest <= GIGABIT { GIGABIT } else { Rate::from_mbps(10_000) };
    let port = own.port.known_or(usual)?;
    if port < fastest {
        faults.add(match own.port.place() {
            Some(port) => port.wrong("a rate that is not below that of the line"),
            None => {
                at.found("a line faster than the Ethernet before it, 10 Gbit/s", "a port as fast beside it")
            }
        });
        return None;
    }
    let usual =
        product.map_or(overhead::framing(FRAMING), |product| Some(product.framing)).unwrap_or(Framing::RAW);
    let framing = own.framing.framing(usual);
    let line = |n: usize| {
        let rate = rates[n];
        let buffer = match buffers[n] {
            Waiting::Size(size) => size,
            Waiting::Time(time) => LineBuffer::Bytes(bytes_in(rate, time)),
        };
        LineParams { rate, buffer, framing }
    };
    let [down, up] = [line(0), line(1)];
    let cpe = cpe(own, at, ends, around, faults)?;
    let rate_at = own.port.place().or(own.rate.place()).or(own.line.place())?;
    let [there, back] = ethernet(&own.devices, (port, delay), rate_at, ends, around, faults)?;
    let [first, second] = if cpe == 0 { [up, down] } else { [down, up] };
    Some([WireParams::Access(there, first), WireParams::Access(back, second)])
}

/// Reads one value for both directions, or a table with one each; `known` holds the defaults.
fn each<D: Domain<Value: Copy>, S: Titled + Clone + core::fmt::Debug>(
    own: &Key<OrTable<D, S>>,
    known: [Option<D::Value>; 2],
    of: impl Fn(&S) -> [&Key<D>; 2],
    missing: impl Fn() -> Diagnostic,
    faults: &mut Diagnostics,
) -> Option<[D::Value; 2]> {
    let [down, up] = match own {
        Key::Misread(_) => return None,
        Key::Absent if known.iter().any(Option::is_none) => {
            faults.add(missing());
            return None;
        }
        Key::Absent => known,
        Key::Given(OneOrTable::One(value), _) => [Some(*value); 2],
        Key::Given(OneOrTable::Table(table), place) => {
            let mut one = |n: usize, key: &Key<D>| match key {
                Key::Absent if known[n].is_none() => {
                    faults.add(place.missing(["down", "up"][n], "both down and up"));
                    None
                }
                Key::Absent => known[n],
                key => key.get().copied(),
            };
            let [down, up] = of(table);
            [one(0, down), one(1, up)]
        }
    };
    Some([down?, up?])
}

fn bytes_in(rate: Rate, time: Duration) -> u64 {
    (u128::from(rate.bps()) * u128::from(time.nanos()) / 8_000_000_000) as u64
}

/// Returns the index of the end at the customer.
fn cpe(
    own: &Access,
    at: &Place,
    ends: &[InterfaceRef],
    around: &Around<'_>,
    faults: &mut Diagnostics,
) -> Option<usize> {
    // Links without exactly two ends are rejected later.
    let [a, b] = ends else { return Some(0) };
    let name = |at: &InterfaceRef| {
        let node = &around.nodes[at.node];
        [node.name.clone(), format!("{}.{}", node.name, node.interfaces[at.interface].name)]
    };
    let names = [name(a), name(b)];
    let either = format!("{:?} or {:?}", names[0][0], names[1][0]);
    let given = own.cpe.late(Parts::none(), |field| {
        let text = field.text(&either)?;
        let end = names.iter().position(|end| end.iter().any(|name| name == text));
        end.ok_or_else(|| field.wrong(&*either))
    });
    faults.unless(given.unwrap_or_else(|| match [a, b].map(|at| around.nodes[at.node].forward) {
        [true, false] => Ok(0),
        [false, true] => Ok(1),
        _ => {
            let found = "an access line whose customer side is not given";
            let right = format!("cpe = {either}, or forward = true at one of the two alone");
            Err(at.found(found, right))
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_time_converts_to_bytes() {
        let bytes = |mbps, ms| bytes_in(Rate::from_mbps(mbps), Duration::from_millis(ms));
        assert_eq!((bytes(8, 1), bytes(50, 250), bytes(500, 20)), (1_000, 1_562_500, 1_250_000));
    }
}
