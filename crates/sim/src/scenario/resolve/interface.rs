//! Interfaces: defaults from the host's kernel and the device, and the links and channels that they name.

use std::net::{Ipv4Addr, Ipv6Addr};

use stillair_model::wifi::phy::Width;
use stillair_model::wifi::phy::frame::Cipher;

use super::super::error::{Diagnostic, Diagnostics, Origin};
use super::super::parts::Parts;
use super::super::spec::domain::Entry;
use super::super::spec::interface::{Common, Interface as Spec, Wired};
use super::super::spec::link::LinkKind;
use super::super::spec::power::Written;
use super::super::spec::qdisc::DeviceQueue;
use super::super::spec::{Assign as _, Place, power as power_spec};
use super::super::{
    Attachment, Channel, Guest, Host, Interface, InterfaceRef, Profile, QdiscSpec, Role, Wifi,
};
use super::names::{Names, refer};
use super::wiring::{Device, Wiring};
use super::{device, edca, path, qdisc, scheme};

/// The host of an interface, and the names in scope.
pub(in super::super) struct Context<'c> {
    pub names: &'c Names<'c>,
    pub channels: &'c [Channel],
    pub parts: &'c Parts,
    pub profile: Profile,
    /// Kind of host that the interface belongs to.
    pub host: Host,
    /// The guest kernel of the node, if any.
    pub guest: Option<Guest>,
    /// The `sysctl` settings of a live host or guest.
    pub sysctl: Vec<(String, String)>,
    /// Place of the node in the scenario file.
    pub node: Origin,
}

/// Returns an interface, or `None` after adding its errors to `faults`.
pub(in super::super) fn interface(
    at: InterfaceRef,
    entry: Entry<Spec>,
    context: &Context<'_>,
    wiring: &mut Wiring,
    faults: &mut Diagnostics,
) -> Option<Interface> {
    let (name, place, own) = (entry.name, entry.place, entry.value?);
    let common = own.common().clone();
    let address = address(&common, &place, context.node, at, wiring, faults);
    let txqueuelen = common.txqueuelen.or(context.profile.txqueuelen);
    let mut queue = DeviceQueue { profile: &context.profile, txqueuelen, link: None, scheme: None };
    let (medium, qdisc, ingress) = match own {
        Spec::Wired(own) => wired(at, &own, &place, &mut queue, context, wiring, faults)?,
        own => {
            let (wifi, mut qdisc) = wifi(at, own, &mut queue, context, wiring, faults)?;
            qdisc::no_masquerade(&mut qdisc.config, &place, faults);
            (Attachment::Wifi(wifi), qdisc, None)
        }
    };
    if context.host == Host::Model {
        if let Some((true, at)) = common.default_route.given() {
            let found = "true at a modelled host, which knows no addresses beyond";
            faults.add(at.found(found, "host = \"external\""));
        }
    } else {
        let right = "none: packets come in one by one, and their bytes leave the model";
        common.tso.idle("at an external host", right, faults);
        common.rx_buffer.idle("at an external host", right, faults);
    }
    Some(Interface {
        name,
        address,
        address6: Ipv6Addr::UNSPECIFIED,
        // linux: net/mac80211/main.c ieee80211_register_hw, net/mac80211/rx.c (4.4) - ath9k lacks NETIF_F_SG,
        // so its packets are single segments before 4.17, and lacks NAPI, so frames are passed up one by one.
        // drivers/net/veth.c veth_setup (6.1) - no GRO unless enabled by the user.
        tso: common.tso.or(queue.link.is_some() || context.profile.memory.gso_always),
        gro: common.gro.or(queue.link.is_some_and(|link| link != LinkKind::Veth)),
        default_route: common.default_route.or(false),
        rx_buffer: common.rx_buffer.get().copied(),
        txqueuelen,
        qdisc,
        ingress,
        medium,
    })
}

/// Returns the address of an interface, or the unspecified address.
fn address(
    own: &Common,
    place: &Place,
    node: Origin,
    at: InterfaceRef,
    wiring: &mut Wiring,
    faults: &mut Diagnostics,
) -> Ipv4Addr {
    let Some((&address, own)) = own.address.given() else {
        wiring.unaddressed.push(at);
        return Ipv4Addr::UNSPECIFIED;
    };
    if let Some((_, origin, other)) = wiring.addresses.iter().find(|(taken, ..)| *taken == address) {
        // Shared text was inherited: report the node that lacks its own address.
        let at = if *origin == own.origin { node } else { own.origin };
        let found = format!("{address}, which {other} has");
        faults.add(Diagnostic::new(at, &*own.path, found, "an address of its own"));
    } else {
        wiring.addresses.push((address, own.origin, place.path.clone()));
    }
    address
}

fn wired(
    at: InterfaceRef,
    own: &Wired,
    place: &Place,
    queue: &mut DeviceQueue<'_>,
    context: &Context<'_>,
    wiring: &mut Wiring,
    faults: &mut Diagnostics,
) -> Option<(Attachment, QdiscSpec, Option<stillair_model::qdisc::QdiscConfig>)> {
    let link = own.link.late(context.parts, |field| refer(field, &context.names.links))?;
    let link = faults.unless(link)?;
    wiring.ends[link].push(at);
    queue.link = Some(context.names.link_kinds[link]);
    if context.host.is_external() {
        own.shaper.idle("at an external host", "that host's own, or none", faults);
    }
    let (mut qdisc, mut ingress) = qdisc::shaped(own, queue, faults)?;
    qdisc::masquerade(&own.masquerade, place, &mut qdisc.config, ingress.as_mut(), faults);
    Some((Attachment::Wired { link }, qdisc, ingress))
}

fn wifi(
    at: InterfaceRef,
    own: Spec,
    queue: &mut DeviceQueue<'_>,
    context: &Context<'_>,
    wiring: &mut Wiring,
    faults: &mut Diagnostics,
) -> Option<(Wifi, QdiscSpec)> {
    let (common, sender, own_scheme) = match &own {
        Spec::Ap(own) => (own.wifi.clone(), own.sender.clone(), own.scheme.scheme.clone()),
        Spec::Station(own) => (own.wifi.clone(), own.sender.clone(), own.scheme.scheme.clone()),
        Spec::Wired(_) => unreachable!("it is a Wi-Fi device"),
    };
    let parts = context.parts;
    let channel = common.channel.late(parts, |field| refer(field, &context.names.channels))?;
    let channel = faults.unless(channel)?;
    let on = &context.channels[channel];
    let (mut radio, mut traced, mut places) = (None, None, (None, None, None));
    let (mut is_silent, mut has_distance) = (false, false);
    let role = match &own {
        Spec::Station(own) => {
            let own = &own.path;
            let ap = own.ap.late(parts, |field| context.names.access_point(field));
            let ap = ap.and_then(|ap| faults.unless(ap));
            if let Some(field) = own.radio.place() {
                let of = own.radio.late(parts, |field| context.names.interface_from(at.node, field));
                radio = of.and_then(|of| faults.unless(of));
                places.1 = Some(Box::new(field.clone()));
            }
            // Check the station's path even if its access point is unknown.
            let station = path::station(own, ap.unwrap_or(at), on, faults);
            if let Some(station) = &station {
                traced = path::trace(own, station, on.width, faults);
            }
            let (_, station) = (ap?, station?);
            places.0 = own.ap.place().cloned().map(Box::new);
            places.2 = own.airtime_weight.place().cloned().map(Box::new);
            is_silent = !path::says_losses(own);
            has_distance = own.distance.place().is_some();
            Role::Station(station)
        }
        _ => Role::Ap,
    };
    let is_ap = role == Role::Ap;
    let wide = on.width > Width::Mhz40;
    let kernel = (context.profile.wifi_version, context.profile.airtime_quantum);
    let product = common.device.get().copied();
    let is_default = common.device.place().is_none() && own_scheme.place().is_none();
    let by_width = is_default.then(|| scheme::of_other_width(kernel.0, wide));
    let scheme = own_scheme.late(parts, |field| scheme::read(field, kernel, product));
    let scheme = scheme.unwrap_or_else(|| Ok(scheme::usual(kernel, wide, product)));
    let scheme = faults.unless(scheme)?;
    queue.scheme = Some(scheme.name);
    let qdisc = qdisc::root(&common.qdisc, queue, faults);
    let has_cipher = on.cipher != Cipher::None;
    device::check(&common, &scheme, has_cipher, faults);
    let version = context.profile.wifi_version;
    let (filter, filter_by_device) = device::filter(&common, &scheme, is_ap || has_cipher, version, faults);
    let mut params = Default::default();
    let (mut receiver, mut saves, mut beacon) = (None, None, None);
    match own {
        Spec::Ap(own) => {
            params = edca::access_point(&own.edca, faults);
            beacon = Some(Box::new(edca::beacon(&own.edca, faults)));
            receiver = Some(own.receiver);
            saves = Some(Written::Ap(Box::new(own.power)));
        }
        Spec::Station(own) => saves = Some(Written::Station(Box::new(own.power))),
        Spec::Wired(_) => {}
    }
    let saves = saves?;
    let power = saves.params(faults);
    let scheme::Choice { name, driver, hardware, by_device } = scheme;
    let (ap, of_radio, weight) = places;
    wiring.devices.push(Device {
        at,
        ap,
        radio: of_radio,
        weight,
        is_silent,
        has_distance,
        by_device: scheme::ByDevice { filter: filter_by_device, ..by_device },
        by_width,
        beacon,
        power: saves,
    });
    let mut wifi = Wifi {
        channel,
        role,
        scheme: name,
        hardware,
        edca: params,
        retry_limit: device::retry_limit(name, product),
        report_failed_ppdus: driver.reports_failed_ppdus(),
        driver,
        retry_limit_by_rate: false,
        retry_out: None,
        rx_mitigation: None,
        trace: traced,
        filter,
        rts_threshold: u32::MAX,
        cipher_delimiters: device::cipher_delimiters(name, has_cipher),
        block_ack_window: device::block_ack_window(name, product),
        radio,
        power_save: power.power_save,
        scan: power.scan,
        dtim_period: power.dtim_period.unwrap_or(power_spec::DTIM_PERIOD),
        device: product,
    };
    common.assign(&mut wifi);
    sender.assign(&mut wifi);
    receiver.into_iter().for_each(|receiver| receiver.assign(&mut wifi));
    Some((wifi, qdisc?))
}
