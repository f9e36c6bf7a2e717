//! Interfaces: wired ones, and Wi-Fi devices of access points and stations.

use std::net::Ipv4Addr;

use stillair_scenario_derive::Section;

use super::super::description::ValueType;
use super::super::document::{Table, Value};
use super::super::error::{Diagnostic, Diagnostics};
use super::super::reader::Field;
use super::device::OfWifi;
use super::domain::{Bytes, Flag, Int, Thing, as_written};
use super::edca::Edca;
use super::qdisc::Root;
use super::qdisc::shaper::Shaper;
use super::retries::{Receiver, Sender};
use super::{Domain, Key, Section as _, Titled, alternative, path, power, scheme};

/// An interface table.
#[derive(Clone, Debug)]
pub enum Interface {
    /// A wired interface.
    Wired(Box<Wired>),
    /// An access point's interface.
    Ap(Box<Ap>),
    /// A station's interface.
    Station(Box<Station>),
}

/// Keys of any interface.
#[derive(Section, Clone, Debug, Default)]
pub struct Common {
    /// its IPv4 address, unique in the scenario
    #[key(
        or = "the next free one of its network: of the 256 addresses around the first that is given there, or of 10.128.N.0, N counting links and then \
        access points"
    )]
    pub address: Key<Address>,
    /// packets that its default qdisc holds
    #[key(or = "the kernel's")]
    pub txqueuelen: Key<Int<1, 1_000_000>>,
    /// TSO: sockets build packets of several segments. A device that cannot split them has them split in
    /// software (GSO)
    #[key(or = "on a wired interface, and on Wi-Fi since Linux 4.17")]
    pub tso: Key<Flag>,
    /// GRO: segments of a flow that arrive together are merged. Drivers of the Wi-Fi devices here do not do
    /// this
    #[key(or = "on an Ethernet interface")]
    pub gro: Key<Flag>,
    /// packets to addresses outside the scenario, such as the Internet, leave the model here. One interface
    /// of an external or live host may have it
    #[key(default = "false")]
    pub default_route: Key<Flag>,
    /// memory of each received packet (skb truesize). It decides how large a window TCP offers, and how many
    /// packets a memory limit admits. Two segments share a buffer of 4352 bytes. Leave the default unless you
    /// know your driver's
    #[key(or = "that of the sender's packet; 2304 from Ethernet")]
    pub rx_buffer: Key<Bytes<768, 65_536>>,
}

/// An interface with a `link`.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Wired interface")]
pub struct Wired {
    /// Keys of any interface.
    #[key(group)]
    pub common: Common,
    /// the link that it is an end of
    #[key(need = "the name of a link")]
    pub link: Key<LinkName>,
    /// its qdisc
    #[key(or = "`pfifo_fast`; over a veth `noqueue`")]
    pub qdisc: Key<Root<false>>,
    /// the rates to which this router shapes both directions, as sqm does
    #[key(or = "off")]
    pub shaper: Key<Shaper>,
    // deviation: addresses are not changed - captures behind the router show those of the hosts, and what
    // begins outside comes in as by a port forward.
    /// the router hides its hosts behind this interface's IPv4 address: cake at it, also by `shaper`, takes
    /// them for one host unless it has `nat`. Captures show the hosts' own addresses; IPv6 is not masqueraded
    #[key(default = "false")]
    pub masquerade: Key<Flag>,
}

/// An interface with a `channel` and `role = "ap"`. EDCA parameters stand under hostapd's names.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Access point's interface", role = "ap")]
pub struct Ap {
    /// Keys of any interface.
    #[key(group)]
    pub common: Common,
    /// Keys of any Wi-Fi device.
    #[key(group)]
    pub wifi: OfWifi,
    /// Keys of a sender.
    #[key(group)]
    pub sender: Sender,
    /// Its scheme.
    #[key(group)]
    pub scheme: scheme::OfWifi,
    /// Keys of a receiver.
    #[key(group)]
    pub receiver: Receiver,
    /// Power save of its stations.
    #[key(group)]
    pub power: power::OfAp,
    /// EDCA parameters.
    #[key(group)]
    pub edca: Edca,
}

/// An interface with a `channel` and `role = "station"`. The path to its access point is the same in both
/// directions.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Station's interface", role = "station")]
pub struct Station {
    /// Keys of any interface.
    #[key(group)]
    pub common: Common,
    /// Keys of any Wi-Fi device.
    #[key(group)]
    pub wifi: OfWifi,
    /// Keys of a sender.
    #[key(group)]
    pub sender: Sender,
    /// Its path.
    #[key(group)]
    pub path: path::OfStation,
    /// Its power save.
    #[key(group)]
    pub power: power::OfStation,
    /// Its scheme.
    #[key(group)]
    pub scheme: scheme::OfWifi,
}

/// Keys that the error for an unknown key suggests first.
const FIRST: [&str; 19] = [
    "address",
    "txqueuelen",
    "link",
    "channel",
    "role",
    "ap",
    "retry_chain",
    "qdisc",
    "shaper",
    "masquerade",
    "default_route",
    "tx_queue_data0_aifs",
    "tx_queue_data0_cwmin",
    "tx_queue_data0_cwmax",
    "tx_queue_data0_burst",
    "tx_queue_data1_aifs",
    "tx_queue_data1_cwmin",
    "tx_queue_data1_cwmax",
    "tx_queue_data1_burst",
];

impl Thing for Interface {
    const WHAT: &'static str = "interface";
}

impl Domain for Interface {
    type Value = Self;
    const TYPE: ValueType = ValueType::OneOf(&[Wired::SCHEMA, Ap::SCHEMA, Station::SCHEMA]);

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self, Diagnostic> {
        let mut section = field.section("a table with link or channel")?;
        let shape = match (section.has("link"), section.has("channel"), section.has("role")) {
            (true, true, _) => return Err(section.wrong("both link and channel", "one of them")),
            (true, false, _) => Wired::SCHEMA,
            (false, false, false) => return Err(section.wrong("neither link nor channel", "one of them")),
            (false, ..) => Station::SCHEMA,
        };
        section.narrow(shape);
        let mut is_ap = false;
        if section.offers("role") {
            let role = section.need("role", "\"ap\" or \"station\"")?;
            is_ap = role.choice(&[("ap", true), ("station", false)])?;
        }
        section.narrow(if is_ap { Ap::SCHEMA } else { shape });
        section.suggest_first(&FIRST);
        Ok(match section.has("link") {
            true => Self::Wired(Box::new(alternative(section, faults))),
            false if is_ap => Self::Ap(Box::new(alternative(section, faults))),
            false => Self::Station(Box::new(alternative(section, faults))),
        })
    }

    fn written(value: &Self) -> Value {
        let mut table = Table::default();
        let role = |table: &mut Table, role: &str| table.0.push(("role".to_owned(), super::name(role)));
        match value {
            Self::Wired(own) => own.written(&mut table),
            Self::Ap(own) => {
                role(&mut table, "ap");
                own.written(&mut table);
            }
            Self::Station(own) => {
                role(&mut table, "station");
                own.written(&mut table);
            }
        }
        Value::Table(table)
    }
}

impl Interface {
    /// Returns the keys common to all interfaces.
    pub(in super::super) fn common(&self) -> &Common {
        match self {
            Self::Wired(own) => &own.common,
            Self::Ap(own) => &own.common,
            Self::Station(own) => &own.common,
        }
    }
}

as_written! {
    /// The name of a link.
    LinkName = ValueType::Name("link");
}

/// The address of a host.
pub struct Address;

impl Domain for Address {
    type Value = Ipv4Addr;
    const TYPE: ValueType = ValueType::Written {
        words: "an IPv4 address of a host",
        pattern: r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$",
        examples: &["10.9.9.9"],
    };

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Ipv4Addr, Diagnostic> {
        let right = "an IPv4 address of a host, such as \"10.0.0.1\"";
        let address: Ipv4Addr = field.text(right)?.parse().map_err(|_| field.wrong(right))?;
        // spec: rfc1122 3.2.1.3 - an address in network 0 is not a valid destination.
        let of_zero = address.octets()[0] == 0;
        if of_zero || address.is_multicast() || address.is_broadcast() || address.is_loopback() {
            return Err(field.wrong(right));
        }
        Ok(address)
    }

    fn written(value: &Ipv4Addr) -> Value {
        Value::String(value.to_string())
    }
}
