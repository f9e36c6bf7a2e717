//! Wired links.

use stillair_model::types::{Duration, Rate};
use stillair_model::wire::{EthernetParams, WireParams};

use super::super::description::{Key, TableSchema, ValueType};
use super::super::document::Value;
use super::super::error::Diagnostic;
use super::super::network::LinkKind;
use super::super::reader::{Field, Section};
use super::super::{InterfaceRef, Link, Nic, Node, mtu};
use super::access::{self, RATE};

/// Most microseconds and frames that coalescing may be set to.
const MOST: i64 = 1_000_000;

/// Devices whose drivers are known.
const NIC: ValueType = ValueType::Choice(&["none", "e1000e", "tg3"]);

/// Key of a node.
pub(super) const NODE: Key = Key::open(
    "nic",
    NIC,
    "none",
    "the device of its Ethernet interfaces, unless their link has `nic`: it reports sent and received packets as that device's driver sets it",
);

/// What the devices at both ends do.
const DEVICES: &[Key] = &[
    Key::open(
        "nic",
        NIC,
        "that of each end's node: none",
        "defaults of the devices' drivers: `none` reports each arrival at once; `e1000e` has byte queue limits and at most 20000 \
         interrupts a second at 1 Gbit/s, 4000 at other rates; `tg3` byte queue limits, rx_usecs = 20, rx_frames = 5, tx_usecs = 72 and \
         tx_frames = 53; a key beside it overrides it. Both devices exist at 10, 100 and 1000 Mbit/s",
    ),
    Key::or("ring", ValueType::Integer(1, MOST), "256", "packets in a device's transmit ring"),
    Key::open("bql", ValueType::Boolean, "that of the `nic`: false", "byte queue limits keep the ring short"),
    Key::open(
        "tx_usecs",
        ValueType::Integer(0, MOST),
        "that of the `nic`: 125",
        "microseconds within which a completed transmission is reported",
    ),
    Key::open(
        "tx_frames",
        ValueType::Integer(0, MOST),
        "that of the `nic`: 0",
        "completed transmissions that are reported at once; 0: only `tx_usecs` counts",
    ),
    Key::open(
        "rx_usecs",
        ValueType::Integer(0, MOST),
        "that of the `nic`: 0",
        "microseconds within which an arrival is handed up, together with later ones",
    ),
    Key::open(
        "rx_frames",
        ValueType::Integer(0, MOST),
        "that of the `nic`: 0",
        "arrivals that are handed up at once; 0: only `rx_usecs` counts",
    ),
    Key::open(
        "rx_interrupts",
        ValueType::Integer(0, MOST),
        "that of the `nic`: 0",
        "most receive interrupts in a second (`InterruptThrottleRate` of Intel's drivers). Packets that arrive between two are handed up \
         together; 0: no limit",
    ),
];

/// An access line, with an Ethernet device at each end.
static ACCESS: TableSchema = TableSchema {
    title: "Link of kind access",
    about: "A line to the internet with a modem: what the hosts' devices send waits in the modem's buffer, which no queueing discipline hears of.",
    groups: &[&[Key::tag("kind", "access"), mtu::KEY], &access::KEYS, DEVICES],
};

/// An Ethernet link.
static ETHERNET: TableSchema = TableSchema {
    title: "Link",
    about: "A wired link between two interfaces: the two that name it. What its devices do holds for both.",
    groups: &[
        &[Key::or("kind", ValueType::Choice(&["ethernet"]), "ethernet", "kind of link")],
        &[
            Key::need("rate", RATE, "rate of each direction; `0 bit/s` is an outage until a `step`"),
            Key::need("delay", ValueType::Time, "one-way propagation delay"),
            mtu::KEY,
        ],
        DEVICES,
    ],
};

/// Two virtual devices.
static VETH: TableSchema = TableSchema {
    title: "Link of kind veth",
    about: "A pair of virtual devices: no rate, no delay, no queue; packets of several segments pass whole.",
    groups: &[&[Key::tag("kind", "veth"), mtu::KEY]],
};

/// What a link may be.
pub(super) const TYPE: ValueType = ValueType::OneOf(&[&ETHERNET, &ACCESS, &VETH]);

/// Reads the kind alone, which the interfaces' defaults depend on.
pub(super) fn kind(field: &Field<'_>) -> Result<LinkKind, Diagnostic> {
    kind_of(&mut section(field)?)
}

fn section<'a>(field: &Field<'a>) -> Result<Section<'a>, Diagnostic> {
    field.section("a table with rate and delay")
}

fn kind_of(section: &mut Section<'_>) -> Result<LinkKind, Diagnostic> {
    section.or_by("kind", LinkKind::Ethernet, |field| {
        field.choice(&[
            ("ethernet", LinkKind::Ethernet),
            ("access", LinkKind::Access),
            ("veth", LinkKind::Veth),
        ])
    })
}

/// Refuses keys of a wire on a pair of virtual devices.
fn no_wire(section: &mut Section<'_>) -> Result<(), Diagnostic> {
    let given = ETHERNET.keys().find(|key| VETH.key(key.name).is_none() && section.has(key.name));
    match given.and_then(|key| section.get(key.name)) {
        Some(field) => {
            Err(field.found("a key that a veth has not", "kind = \"veth\" alone, or kind = \"ethernet\""))
        }
        None => Ok(()),
    }
}

/// Reads link `name`; `ends` are the interfaces that name it, and `nics` the devices that nodes name.
pub(super) fn read(
    name: &str,
    field: &Field<'_>,
    ends: &[InterfaceRef],
    nodes: &[Node],
    nics: &[(usize, Field<'_>)],
) -> Result<Link, Diagnostic> {
    let mut section = section(field)?;
    let params = match kind_of(&mut section)? {
        LinkKind::Ethernet => {
            let rate_field = section.need("rate", "a rate such as \"1 Gbit/s\"")?;
            if matches!(rate_field.item.value, Value::Table(_)) {
                return Err(rate_field.wrong("a rate such as \"1 Gbit/s\", or kind = \"access\" beside it"));
            }
            let rate = rate_field.value()?;
            let delay = section.need("delay", "a time such as \"0.1 ms\"")?.value()?;
            ethernet(&mut section, &rate_field, (rate, delay), ends, nodes, nics)?.map(WireParams::Ethernet)
        }
        LinkKind::Access => {
            section.narrow(&ACCESS);
            let access = access::read(&mut section, ends, nodes)?;
            let rate_field = section.get("port").or(section.get("rate")).or(section.get("line"));
            let rate_field = rate_field.expect("an access line has a rate or a name");
            let devices =
                ethernet(&mut section, &rate_field, (access.port, access.delay), ends, nodes, nics)?;
            let [there, back] = access.lines();
            [WireParams::Access(devices[0], there), WireParams::Access(devices[1], back)]
        }
        LinkKind::Veth => {
            no_wire(&mut section)?;
            section.narrow(&VETH);
            [WireParams::Veth; 2]
        }
    };
    let ends: [InterfaceRef; 2] = ends.try_into().map_err(|_| {
        // A few names are enough to find the mistake.
        let name = |at: &InterfaceRef| {
            let node = &nodes[at.node];
            format!("{}.{}", node.name, node.interfaces[at.interface].name)
        };
        let some: Vec<String> = ends.iter().take(6).map(name).collect();
        let found = match ends.len() {
            0 => "a link that joins nothing".to_owned(),
            n => format!("a link of {n} ({})", some.join(", ")),
        };
        section.wrong(found, "exactly two interfaces that name it")
    })?;
    if ends[0].node == ends[1].node {
        let found = format!("a link of {:?} with itself", nodes[ends[0].node].name);
        return Err(section.wrong(found, "interfaces of two nodes that name it"));
    }
    let mtu = section.or("mtu", mtu::ETHERNET)?;
    section.finish()?;
    Ok(Link { name: name.to_owned(), params, ends, mtu })
}

/// Coalescing of a device: `bql`, `tx_usecs`, `tx_frames`, `rx_usecs`, `rx_frames`, `rx_interrupts`.
type Coalescing = (bool, u64, u32, u64, u32, u64);

/// One gigabit per second.
const GIGABIT: Rate = Rate::from_bps(1_000_000_000);

/// Rates at which those devices exist.
// linux: drivers/net/ethernet/intel/e1000e/ethtool.c e1000_get_link_ksettings, broadcom/tg3.c
// tg3_phy_init_link_config (6.12) - 10, 100 and 1000 Mbit/s; Intel's of 2.5 Gbit/s have igc, those of 10
// ixgbe.
const RATES: [Rate; 3] = [Rate::from_bps(10_000_000), Rate::from_bps(100_000_000), GIGABIT];

/// Reads the device that a node or a link names.
pub(super) fn nic(section: &mut Section<'_>) -> Result<Option<Nic>, Diagnostic> {
    let names = [("none", Nic::None), ("e1000e", Nic::E1000e), ("tg3", Nic::Tg3)];
    section.get("nic").map(|field| field.choice(&names)).transpose()
}

/// Refuses the device of a node none of whose interfaces has it.
pub(super) fn used(
    nics: &[(usize, Field<'_>)],
    links: &[Link],
    fields: &[(&str, Field<'_>)],
) -> Result<(), Diagnostic> {
    let leaves_it = |link: &Link, field: &Field<'_>| {
        let says = field.table("a table").is_ok_and(|table| table.get("nic").is_some());
        !says && link.params != [WireParams::Veth; 2]
    };
    for (node, nic) in nics {
        let mut own =
            links.iter().zip(fields).filter(|(link, _)| link.ends.iter().any(|end| end.node == *node));
        if !own.any(|(link, (_, field))| leaves_it(link, field)) {
            return Err(nic.idle(
                "without an Ethernet interface whose link leaves it open",
                "such an interface, or no nic",
            ));
        }
    }
    Ok(())
}

impl Nic {
    // linux: drivers/net/ethernet/intel/igb/igb.h IGB_DEFAULT_TXD, IGB_START_ITR (4.4) - 256 descriptors, and
    // about 8000 interrupts a second, which report transmissions.
    // linux: drivers/net/ethernet/intel/e1000e/netdev.c e1000_set_itr, e1000_update_itr, param.c DEFAULT_ITR
    // (6.12) - 20000 interrupts a second, 4000 at other rates than 1 Gbit/s; transmissions are reported by
    // the same.
    // deviation: without the 4000 of bulk traffic at 1 Gbit/s, which takes 10,000 bytes from one interrupt to
    // the next: more than Wi-Fi behind it carries.
    // linux: drivers/net/ethernet/broadcom/tg3.c tg3_init_coal, tg3.h LOW_RXCOL_TICKS_CLRTCKS and others
    // (6.12).
    const fn coalescing(self, rate: Rate) -> Coalescing {
        match self {
            Self::None => (false, 125, 0, 0, 0, 0),
            Self::E1000e if rate.bps() == GIGABIT.bps() => (true, 50, 0, 0, 0, 20_000),
            Self::E1000e => (true, 250, 0, 0, 0, 4_000),
            Self::Tg3 => (true, 72, 53, 20, 5, 0),
        }
    }
}

// deviation: arrivals are handed up one by one and byte queue limits are off unless a `nic` is named - what a
// device does there differs more than anything else, so a scenario says it.
/// Both directions of a link: from its first end to its second, and back.
fn ethernet(
    section: &mut Section<'_>,
    rate_field: &Field<'_>,
    (rate, delay): (Rate, Duration),
    ends: &[InterfaceRef],
    nodes: &[Node],
    named: &[(usize, Field<'_>)],
) -> Result<[EthernetParams; 2], Diagnostic> {
    let own = nic(section)?;
    // A link of more or fewer ends than two is refused afterwards.
    let nic_of = |end: usize| own.or_else(|| Some(nodes[ends.get(end)?.node].nic)).unwrap_or(Nic::None);
    let nics = [nic_of(0), nic_of(1)];
    if let Some(end) = (0..2).find(|end| nics[*end] != Nic::None && rate.bps() > 0 && !RATES.contains(&rate))
    {
        let of_node = |end: usize| named.iter().find(|(node, _)| *node == ends[end].node);
        let field = section.get("nic").or_else(|| of_node(end).map(|(_, field)| field.clone()));
        let rate = rate_field.item.value.describe();
        let found = format!("{:?} on a link of {rate}, at which none exists", nics[end].name());
        let right = "none, or a link of 10 Mbit/s, 100 Mbit/s or 1 Gbit/s";
        return Err(field.as_ref().unwrap_or(rate_field).found(found, right));
    }
    let ring = section.or("ring", 256)?;
    // The sender's device reports transmissions, the receiver's arrivals.
    let mut direction = |from: Nic, to: Nic| {
        let (bql, tx_usecs, tx_frames, ..) = from.coalescing(rate);
        let (.., rx_usecs, rx_frames, interrupts) = to.coalescing(rate);
        let interrupts = section.or("rx_interrupts", interrupts)?;
        Ok(EthernetParams {
            rate,
            delay,
            ring,
            bql: section.or("bql", bql)?,
            tx_usecs: Duration::from_micros(section.or("tx_usecs", tx_usecs)?),
            tx_frames: section.or("tx_frames", tx_frames)?,
            rx_usecs: Duration::from_micros(section.or("rx_usecs", rx_usecs)?),
            rx_frames: section.or("rx_frames", rx_frames)?,
            rx_gap: Duration::from_nanos(1_000_000_000_u64.checked_div(interrupts).unwrap_or(0)),
        })
    };
    Ok([direction(nics[0], nics[1])?, direction(nics[1], nics[0])?])
}
