//! One interface: wired or Wi-Fi.

use std::net::Ipv6Addr;

use stillair_model::wifi::phy::Width;
use stillair_model::wifi::phy::frame::Cipher;

use super::super::description::{Key, TableSchema, ValueType};
use super::super::error::{Diagnostic, Diagnostics, Origin};
use super::super::network::LinkKind;
use super::super::reader::{Field, Section};
use super::super::resolve::power::Written;
use super::super::resolve::{self, scheme};
use super::super::spec::device::OfWifi;
use super::super::spec::qdisc::DeviceQueue;
use super::super::spec::retries::{Receiver, Sender};
use super::super::spec::{self, Assign as _, Section as _, power};
use super::super::{
    Attachment, Channel, Guest, Host, Interface, InterfaceRef, Profile, QdiscSpec, Role, Wifi,
};
use super::qdisc;
use super::wiring::Wiring;
use super::{Names, address, device as product, edca, host, losses, rate, refer, shaper, station, trace};

const COMMON: &[Key] = &[
    address::KEY,
    Key::open(
        "txqueuelen",
        ValueType::Integer(1, 1_000_000),
        "the kernel's",
        "packets that its default qdisc holds",
    ),
    Key::open(
        "tso",
        ValueType::Boolean,
        "on a wired interface, and on Wi-Fi since Linux 4.17",
        "TSO: sockets build packets of several segments. A device that cannot split them has them split in software (GSO)",
    ),
    Key::open(
        "gro",
        ValueType::Boolean,
        "on an Ethernet interface",
        "GRO: segments of a flow that arrive together are merged. Drivers of the Wi-Fi devices here do not do this",
    ),
    host::DEFAULT_ROUTE,
    Key::open(
        "rx_buffer",
        ValueType::Bytes(768, 65_536),
        "that of the sender's packet; 2304 from Ethernet",
        "memory of each received packet (skb truesize). It decides how large a window TCP offers, and how many packets a memory limit \
         admits. Two segments share a buffer of 4352 bytes. Leave the default unless you know your driver's",
    ),
];

const WIFI: &[Key] = &[
    spec::key(OfWifi::KEYS, "rts_threshold"),
    spec::key(OfWifi::KEYS, "rx_mitigation"),
    spec::key(OfWifi::KEYS, "destination_filter"),
    product::KEY,
    spec::key(OfWifi::KEYS, "block_ack_window"),
    spec::key(OfWifi::KEYS, "cipher_delimiters"),
    Key::need("channel", ValueType::Name("channel"), "the channel that it is on"),
    Key::open("qdisc", spec::qdisc::WIFI, "that of the scheme", "its qdisc"),
];

static WIRED: TableSchema = TableSchema {
    title: "Wired interface",
    about: "An interface with a `link`.",
    groups: &[
        COMMON,
        &[
            Key::need("link", ValueType::Name("link"), "the link that it is an end of"),
            Key::open("qdisc", spec::qdisc::WIRED, "`pfifo_fast`; over a veth `noqueue`", "its qdisc"),
            shaper::KEY,
            shaper::MASQUERADE,
        ],
    ],
};

static AP: TableSchema = TableSchema {
    title: "Access point's interface",
    about: "An interface with a `channel` and `role = \"ap\"`. EDCA parameters stand under hostapd's names.",
    groups: &[
        &[Key::tag("role", "ap")],
        COMMON,
        WIFI,
        Sender::KEYS,
        &[spec::scheme::KEY],
        Receiver::KEYS,
        power::OfAp::KEYS,
        edca::GROUPS[0],
        edca::GROUPS[1],
        edca::GROUPS[2],
        edca::GROUPS[3],
        edca::GROUPS[4],
        edca::GROUPS[5],
        edca::GROUPS[6],
        edca::GROUPS[7],
    ],
};

static STATION: TableSchema = TableSchema {
    title: "Station's interface",
    about: "An interface with a `channel` and `role = \"station\"`. The path to its access point is the same in both directions.",
    groups: &[
        &[Key::tag("role", "station")],
        COMMON,
        WIFI,
        Sender::KEYS,
        station::KEYS,
        rate::KEYS,
        losses::KEYS,
        trace::KEYS,
        power::OfStation::KEYS,
        &[spec::scheme::KEY],
    ],
};

/// What an interface may be.
pub(super) const TYPE: ValueType = ValueType::OneOf(&[&WIRED, &AP, &STATION]);

/// What an interface is read in the light of.
pub(super) struct Context<'c> {
    pub names: &'c Names<'c>,
    pub channels: &'c [Channel],
    pub profile: Profile,
    /// Kind of host that the interface belongs to.
    pub host: Host,
    /// The guest kernel of the node, if there is one.
    pub guest: Option<Guest>,
    /// The `sysctl` settings of a live host or guest.
    pub sysctl: Vec<(String, String)>,
    /// Place of the node in the scenario file.
    pub node: Origin,
}

pub(super) fn read<'a>(
    at: InterfaceRef,
    name: &str,
    field: &Field<'a>,
    context: &Context<'_>,
    wiring: &mut Wiring<'a>,
) -> Result<Interface, Diagnostic> {
    let mut section = field.section("a table with link or channel")?;
    if section.has("link") && section.has("channel") {
        return Err(section.wrong("both link and channel", "one of them"));
    }
    if !section.has("link") {
        section.narrow(&STATION);
    }
    let address = address::read(&mut section, &field.path, context.node, at, wiring)?;
    let txqueuelen = section.or("txqueuelen", context.profile.txqueuelen)?;
    let mut device = DeviceQueue { profile: &context.profile, txqueuelen, link: None, scheme: None };
    let (medium, qdisc, ingress) = if section.has("link") {
        let name = section.need("link", "the name of a link")?;
        let link = refer(&name, &context.names.links)?;
        wiring.ends[link].push(at);
        device.link = Some(context.names.link_kinds[link]);
        let own = qdisc::read(&mut section, &device)?;
        if context.host.is_external() {
            section.idle("shaper", "at an external host", "that host's own, or none")?;
        }
        let (mut qdisc, mut ingress) = shaper::read(&mut section, own, &device)?;
        shaper::masquerade(&mut section, &mut qdisc.config, ingress.as_mut())?;
        (Attachment::Wired { link }, qdisc, ingress)
    } else {
        let (wifi, mut qdisc) = wifi(at, &mut section, &mut device, context, wiring)?;
        shaper::no_masquerade(&section, &mut qdisc.config)?;
        (Attachment::Wifi(wifi), qdisc, None)
    };
    let default_route = host::interface(&mut section, context.host)?;
    // linux: net/mac80211/main.c ieee80211_register_hw, net/mac80211/rx.c (4.4) - ath9k sets no NETIF_F_SG,
    // so its packets are single segments before 4.17, and has no NAPI, so frames go up one by one.
    // drivers/net/veth.c veth_setup (6.1) - no GRO unless a user turns it on.
    let tso = section.or("tso", device.link.is_some() || context.profile.memory.gso_always)?;
    let gro = section.or("gro", device.link.is_some_and(|link| link != LinkKind::Veth))?;
    let rx_buffer = section.get("rx_buffer").map(|field| field.value()).transpose()?;
    section.finish()?;
    Ok(Interface {
        name: name.to_owned(),
        address,
        address6: Ipv6Addr::UNSPECIFIED,
        tso,
        gro,
        default_route,
        rx_buffer,
        txqueuelen,
        qdisc,
        ingress,
        medium,
    })
}

fn wifi<'a>(
    at: InterfaceRef,
    section: &mut Section<'a>,
    device: &mut DeviceQueue<'_>,
    context: &Context<'_>,
    wiring: &mut Wiring<'a>,
) -> Result<(Wifi, QdiscSpec), Diagnostic> {
    if !section.has("channel") && !section.has("role") {
        return Err(section.wrong("neither link nor channel", "one of them"));
    }
    let channel = refer(&section.need("channel", "the name of a channel")?, &context.names.channels)?;
    let is_ap = section.need("role", "\"ap\" or \"station\"")?.choice(&[("ap", true), ("station", false)])?;
    let (mut radio, mut traced) = (None, None);
    section.narrow(if is_ap { &AP } else { &STATION });
    let role = if is_ap {
        Role::Ap
    } else {
        let ap = section.need("ap", "its access point's interface, such as \"ap.wlan0\"")?;
        let on = &context.channels[channel];
        let (station, lossy) = station::read(section, context.names.access_point(&ap)?, on)?;
        if !lossy {
            wiring.silent.push(at);
        }
        if section.has("distance") {
            wiring.distances.push(channel);
        }
        traced = trace::read(section, &station, on.width)?;
        wiring.stations.push((at, ap));
        if let Some(field) = section.get("airtime_weight") {
            wiring.weights.push((at, field));
        }
        if let Some(field) = section.get("radio") {
            radio = Some(context.names.interface_from(at.node, &field)?);
            wiring.radios.push((at, field));
        }
        Role::Station(station)
    };
    let wide = context.channels[channel].width > Width::Mhz40;
    let kernel = (context.profile.wifi_version, context.profile.airtime_quantum);
    let product = product::read(section)?;
    if product.is_none() && !section.has("scheme") {
        wiring.by_width.push((at, scheme::of_other_width(kernel.0, wide)));
    }
    let scheme = scheme::read(section, kernel, wide, product)?;
    device.scheme = Some(scheme.name);
    let qdisc = qdisc::read(section, device)?;
    let mut faults = Diagnostics::default();
    let has_cipher = context.channels[channel].cipher != Cipher::None;
    let own: OfWifi = spec::Section::read(section, &mut faults);
    let sender: Sender = spec::Section::read(section, &mut faults);
    let receiver: Receiver = spec::Section::read(section, &mut faults);
    resolve::device::check(&own, &scheme, has_cipher, &mut faults);
    let version = context.profile.wifi_version;
    let (filter, filter_by_device) =
        resolve::device::filter(&own, &scheme, is_ap || has_cipher, version, &mut faults);
    let mut edca = Default::default();
    let saves = if is_ap {
        edca = faults.unless(edca::access_point(section)).unwrap_or_default();
        wiring.beacons.extend(faults.unless(edca::beacon(section)).map(|beacon| (at, beacon)));
        Written::Ap(Box::new(spec::Section::read(section, &mut faults)))
    } else {
        Written::Station(Box::new(spec::Section::read(section, &mut faults)))
    };
    let power = saves.params(&mut faults);
    faults.or(())?;
    wiring.power.push((at, saves));
    let scheme::Choice { name, driver, hardware, by_device } = scheme;
    wiring.by_device.push((at, scheme::ByDevice { filter: filter_by_device, ..by_device }));
    let mut wifi = Wifi {
        channel,
        role,
        scheme: name,
        hardware,
        edca,
        retry_limit: resolve::device::retry_limit(name, product),
        report_failed_ppdus: driver.reports_failed_ppdus(),
        driver,
        retry_limit_by_rate: false,
        retry_out: None,
        rx_mitigation: None,
        trace: traced,
        filter,
        rts_threshold: u32::MAX,
        cipher_delimiters: resolve::device::cipher_delimiters(name, has_cipher),
        block_ack_window: resolve::device::block_ack_window(name, product),
        radio,
        power_save: power.power_save,
        scan: power.scan,
        dtim_period: power.dtim_period.unwrap_or(power::DTIM_PERIOD),
        device: product,
    };
    own.assign(&mut wifi);
    sender.assign(&mut wifi);
    receiver.assign(&mut wifi);
    Ok((wifi, qdisc))
}
