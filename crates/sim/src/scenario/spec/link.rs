//! Wired links: Ethernet, access lines and veth pairs.

use stillair_model::types::{Duration, Rate};
use stillair_model::wire::{EthernetParams, LineBuffer};
use stillair_scenario_derive::Section;

use super::super::Nic;
use super::super::description::ValueType;
use super::super::document::{Table, Value};
use super::super::error::{Diagnostic, Diagnostics};
use super::super::network::ETHERNET;
use super::super::reader::Field;
use super::super::units;
use super::domain::{
    Bytes, Choice, Flag, Int, OrTable, Thing, Time, as_written, bytes_text, named, quantity,
};
use super::line::Line;
use super::{Domain, Key, Section as _, Titled, alternative, overhead};

/// Maximum microseconds and frames of coalescing.
const MOST: i64 = 1_000_000;

/// A wired link.
#[derive(Clone, Debug)]
pub enum Link {
    /// An Ethernet link.
    Ethernet(Box<Ethernet>),
    /// An access line, with an Ethernet device at each end.
    Access(Box<Access>),
    /// A veth pair.
    Veth(Veth),
}

/// The `mtu` key of links and channels.
// deviation: qdisc quanta remain a full frame of 1,500 bytes, as given there by psched_mtu - a smaller
// quantum differs by a few bytes per turn.
// deviation: no jumbo frames - socket memory assumes segments that fit 1,500 bytes.
// deviation: the path MTU is known from the first packet on, as if path MTU discovery had found it earlier,
// or a router clamped the MSS of SYNs (OpenWrt's `mtu_fix`).
#[derive(Section, Clone, Debug, Default)]
pub struct OfMedium {
    /// MTU: the largest IP packet. 1492 with PPPoE, 1420 through WireGuard. TCP uses the smallest MTU of the
    /// path from its first segment on, as after path MTU discovery or behind a router that clamps the MSS.
    /// Datagrams that do not fit are refused; nothing is fragmented
    #[key(default = "1500 B")]
    pub mtu: Key<Bytes<576, ETHERNET>>,
}

/// Keys of the devices at both ends of a link.
#[derive(Section, Clone, Debug, Default)]
#[section(params = EthernetParams)]
pub struct Devices {
    /// defaults of the devices' drivers: `none` reports each arrival at once; `e1000e` has byte queue limits
    /// and at most 20000 interrupts a second at 1 Gbit/s, 4000 at other rates; `tg3` byte queue limits,
    /// rx_usecs = 20, rx_frames = 5, tx_usecs = 72 and tx_frames = 53; a key beside it overrides it. Both
    /// devices exist at 10, 100 and 1000 Mbit/s
    #[key(or = "that of each end's node: none")]
    pub nic: Key<Choice<Nic>>,
    /// packets in a device's transmit ring
    #[key(to = ring, default = "256")]
    pub ring: Key<Int<1, MOST>>,
    /// byte queue limits keep the ring short
    #[key(to = bql, or = "that of the `nic`: false")]
    pub bql: Key<Flag>,
    /// microseconds within which a completed transmission is reported
    #[key(to = tx_usecs, or = "that of the `nic`: 125")]
    pub tx_usecs: Key<Microseconds>,
    /// completed transmissions that are reported at once; 0: only `tx_usecs` counts
    #[key(to = tx_frames, or = "that of the `nic`: 0")]
    pub tx_frames: Key<Int<0, MOST>>,
    /// microseconds within which an arrival is handed up, together with later ones
    #[key(to = rx_usecs, or = "that of the `nic`: 0")]
    pub rx_usecs: Key<Microseconds>,
    /// arrivals that are handed up at once; 0: only `rx_usecs` counts
    #[key(to = rx_frames, or = "that of the `nic`: 0")]
    pub rx_frames: Key<Int<0, MOST>>,
    /// most receive interrupts in a second (`InterruptThrottleRate` of Intel's drivers). Packets that arrive
    /// between two are handed up together; 0: no limit
    #[key(or = "that of the `nic`: 0")]
    pub rx_interrupts: Key<Int<0, MOST>>,
}

/// A wired link between two interfaces: the two that name it. What its devices do holds for both.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Link")]
pub struct Ethernet {
    /// kind of link
    #[key(default = "ethernet")]
    pub kind: Key<Kind>,
    /// rate of each direction; `0 bit/s` is an outage until a `step`
    #[key(need = "a rate such as \"1 Gbit/s\"")]
    pub rate: Key<OneRate>,
    /// one-way propagation delay
    #[key(need = "a time such as \"0.1 ms\"")]
    pub delay: Key<Time>,
    /// Its MTU.
    #[key(group)]
    pub mtu: OfMedium,
    /// Its devices.
    #[key(group)]
    pub devices: Devices,
}

/// A line to the internet with a modem: what the hosts' devices send waits in the modem's buffer, which no
/// queueing discipline hears of.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Link of kind access", kind = "access")]
pub struct Access {
    /// Its MTU.
    #[key(group)]
    pub mtu: OfMedium,
    /// sets `rate` and `overhead`, and `buffer` if a source states it: a modem of `cable-500-50` holds
    /// 250 ms; keys beside it override it. The sources, and what a line must not be used for, are in
    /// `crates/sim/access`
    #[key(or = "none")]
    pub line: Key<Line>,
    /// rate of the line, of both directions or as `{ down = "500 Mbit/s", up = "50 Mbit/s" }`; `0 bit/s` is
    /// an outage until a `step`
    #[key(or = "that of `line`; required without one")]
    pub rate: Key<OrTable<LineRate, Rates>>,
    /// the modem's buffer, which no queueing discipline sees; packets beyond it are dropped. One value for
    /// both directions, or a table of `down` and `up`. A time is converted to bytes at the initial rate
    #[key(or = "that of `line`, if it has one; required otherwise")]
    pub buffer: Key<OrTable<Buffer, Buffers>>,
    /// one-way propagation delay
    #[key(need = "a time such as \"5 ms\"")]
    pub delay: Key<Time>,
    /// the node, or its interface, on the customer's side of the modem: the direction towards it is `down`
    #[key(or = "the end that forwards, if the other does not")]
    pub cpe: Key<End>,
    /// rate of the Ethernet between each host and its end of the line
    #[key(or = "`1 Gbit/s`; `10 Gbit/s` where the line is faster")]
    pub port: Key<Port>,
    /// Overhead of a packet on the line.
    #[key(group, or = "`docsis`: Ethernet's header and FCS, 18 bytes")]
    pub framing: overhead::Link,
    /// The devices at its ends.
    #[key(group)]
    pub devices: Devices,
}

/// A pair of virtual devices: no rate, no delay, no queue; packets of several segments pass whole.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Link of kind veth", kind = "veth")]
pub struct Veth {
    /// Its MTU.
    #[key(group)]
    pub mtu: OfMedium,
}

/// Other rates each way.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Rates of an access line", expected = "a table of down and up")]
pub struct Rates {
    /// rate to the customer
    #[key(or = "that of `line`; required without one")]
    pub down: Key<LineRate>,
    /// rate from the customer
    #[key(or = "that of `line`; required without one")]
    pub up: Key<LineRate>,
}

/// Other buffers each way.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Buffers of an access line", expected = "a table of down and up")]
pub struct Buffers {
    /// buffer on the provider's side
    #[key(or = "that of `line`; required without one")]
    pub down: Key<Buffer>,
    /// buffer of the customer's modem
    #[key(or = "that of `line`; required without one")]
    pub up: Key<Buffer>,
}

/// The node key.
#[derive(Section, Clone, Debug, Default)]
pub struct OfNode {
    /// the device of its Ethernet interfaces, unless their link has `nic`: it reports sent and received
    /// packets as that device's driver sets it
    #[key(or = "none")]
    pub nic: Key<Choice<Nic>>,
}

/// Kind of a wired link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkKind {
    /// An Ethernet link.
    Ethernet,
    /// An access line.
    Access,
    /// A veth pair.
    Veth,
}

named!(Nic { None, E1000e, Tg3 });
named!(LinkKind { Ethernet = "ethernet", Access = "access", Veth = "veth" });

impl Thing for Link {
    const WHAT: &'static str = "link";
}

impl Domain for Link {
    type Value = Self;
    const TYPE: ValueType = ValueType::OneOf(&[Ethernet::SCHEMA, Access::SCHEMA, Veth::SCHEMA]);

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self, Diagnostic> {
        let mut section = field.section("a table with rate and delay")?;
        let kind = section.get("kind").map_or(Ok(LinkKind::Ethernet), |field| Kind::read(&field, faults))?;
        Ok(match kind {
            LinkKind::Ethernet => Self::Ethernet(Box::new(alternative(section, faults))),
            LinkKind::Access => Self::Access(Box::new(alternative(section, faults))),
            LinkKind::Veth => {
                let wire = Ethernet::KEYS.iter().filter(|key| Veth::SCHEMA.key(key.name).is_none());
                let right = "kind = \"veth\" alone, or kind = \"ethernet\"";
                let refused = wire
                    .into_iter()
                    .find_map(|key| section.refuse(key.name, "a key that a veth has not", right));
                refused.into_iter().for_each(|fault| faults.add(fault));
                Self::Veth(alternative(section, faults))
            }
        })
    }

    fn written(value: &Self) -> Value {
        let mut table = Table::default();
        match value {
            Self::Ethernet(own) => own.written(&mut table),
            Self::Access(own) => return super::setting("access", &**own).into_value(),
            Self::Veth(own) => return super::setting("veth", own).into_value(),
        }
        Value::Table(table)
    }
}

impl Link {
    /// Returns the kind of the link.
    pub(in super::super) fn kind(&self) -> LinkKind {
        match self {
            Self::Ethernet(_) => LinkKind::Ethernet,
            Self::Access(_) => LinkKind::Access,
            Self::Veth(_) => LinkKind::Veth,
        }
    }
}

/// The kind of an Ethernet link.
pub struct Kind;

impl Domain for Kind {
    type Value = LinkKind;
    const TYPE: ValueType = ValueType::Choice(&["ethernet"]);

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<LinkKind, Diagnostic> {
        Choice::<LinkKind>::read(field, faults)
    }

    fn written(value: &LinkKind) -> Value {
        Choice::<LinkKind>::written(value)
    }
}

as_written! {
    /// An end of a link: a node or an interface.
    End = ValueType::Name("end");
}

/// Reason for the minimum rate: at lower ones, which suggest a wrong unit, a packet would outlast most runs.
const WHY: &str = "at which a full packet takes 12 s";

quantity! {
    /// Rate of one direction of an access line.
    LineRate: Rate = ValueType::RateOrZero("1 kbit/s", WHY), "_bps", units::rate_text;
    /// Rate of the Ethernet link before an access line.
    Port: Rate = ValueType::RateFrom("1 kbit/s", WHY), "_bps", units::rate_text;
}

/// Rate of both directions of a link.
pub struct OneRate;

impl Domain for OneRate {
    type Value = Rate;
    const TYPE: ValueType = LineRate::TYPE;

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Rate, Diagnostic> {
        match field.item.value {
            Value::Table(_) => {
                Err(field.wrong("a rate such as \"1 Gbit/s\", or kind = \"access\" beside it"))
            }
            _ => field.value(),
        }
    }

    fn written(value: &Rate) -> Value {
        LineRate::written(value)
    }
}

/// An integer number of microseconds.
pub struct Microseconds;

impl Domain for Microseconds {
    type Value = Duration;
    const TYPE: ValueType = ValueType::Integer(0, MOST);

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Duration, Diagnostic> {
        field.value().map(Duration::from_micros)
    }

    fn written(value: &Duration) -> Value {
        Value::Integer((value.nanos() / 1_000) as i64)
    }
}

/// The buffer before an access line.
pub struct Buffer;

/// Size of the buffer before a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiting {
    /// A size.
    Size(LineBuffer),
    /// The amount that the line transmits in this time.
    Time(Duration),
}

impl Domain for Buffer {
    type Value = Waiting;
    const TYPE: ValueType = ValueType::Written {
        words: "a size such as `256 KiB`, a time at the line's rate such as `100 ms`, or a number such as `1000 packets`",
        pattern: r"^[0-9]+(\.[0-9]+)? ?(B|kB|MB|KiB|MiB|ns|us|µs|ms|s|packets)$",
        examples: &["256 KiB", "100 ms", "1000 packets"],
    };

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Waiting, Diagnostic> {
        let expected =
            "a size such as \"256 KiB\", a time such as \"100 ms\", or a number such as \"1000 packets\"";
        let text = field.text(expected)?;
        let packets = text.strip_suffix("packets").map(|packets| packets.trim().parse());
        match (packets, units::duration(text), units::bytes(text)) {
            (Some(Ok(packets)), ..) => Ok(Waiting::Size(LineBuffer::Packets(packets))),
            (None, Ok(time), _) => Ok(Waiting::Time(time)),
            (None, _, Ok(bytes)) => Ok(Waiting::Size(LineBuffer::Bytes(bytes))),
            _ => Err(field.wrong(expected)),
        }
    }

    fn written(value: &Waiting) -> Value {
        Value::String(match value {
            Waiting::Size(LineBuffer::Packets(packets)) => format!("{packets} packets"),
            Waiting::Size(LineBuffer::Bytes(bytes)) => bytes_text(bytes),
            Waiting::Time(time) => units::duration_text(*time),
        })
    }
}
