//! One interface: wired or Wi-Fi.

use std::net::Ipv4Addr;

use super::super::error::{Fault, Origin};
use super::super::reader::{Field, Section};
use super::super::{Channel, Interface, InterfaceRef, Medium, Profile, QdiscSpec, Role, Scheme, Wifi};
use super::qdisc::{self, Device};
use super::wiring::Wiring;
use super::{Names, edca, refer, scheme, station};

/// Tries of an MPDU by the driver.
// linux: drivers/net/wireless/ath/ath9k/ath9k.h ATH_MAX_SW_RETRIES (4.4) - 30; older trees have 10.
const RETRY_LIMIT: u8 = 30;

/// What an interface is read in the light of.
pub(super) struct Context<'c> {
    pub names: &'c Names<'c>,
    pub channels: &'c [Channel],
    pub profile: Profile,
    /// Where its node is written.
    pub node: Origin,
}

pub(super) fn read<'a>(
    at: InterfaceRef,
    name: &str,
    field: &Field<'a>,
    context: &Context<'_>,
    wiring: &mut Wiring<'a>,
) -> Result<Interface, Fault> {
    let mut section = field.section("a table with link or channel")?;
    if section.has("link") && section.has("channel") {
        return Err(section.wrong("both link and channel", "one of them"));
    }
    let address = address(&mut section, &field.path, context.node, wiring)?;
    let txqueuelen = section.or("txqueuelen", context.profile.txqueuelen, |f| f.integer(1..=1_000_000))?;
    let mut device = Device { profile: &context.profile, txqueuelen, scheme: None };
    let (medium, qdisc) = if let Some(link) = section.get("link") {
        let link = refer(&link, &context.names.links)?;
        wiring.ends[link].push(at);
        (Medium::Wired { link }, qdisc::read(&mut section, &device)?)
    } else {
        let (wifi, qdisc) = wifi(at, &mut section, &mut device, context, wiring)?;
        (Medium::Wifi(wifi), qdisc)
    };
    section.finish()?;
    Ok(Interface { name: name.to_owned(), address, qdisc, medium })
}

fn wifi<'a>(
    at: InterfaceRef,
    section: &mut Section<'a>,
    device: &mut Device<'_>,
    context: &Context<'_>,
    wiring: &mut Wiring<'a>,
) -> Result<(Wifi, QdiscSpec), Fault> {
    if !section.has("channel") && !section.has("role") {
        return Err(section.wrong("neither link nor channel", "one of them"));
    }
    let channel = refer(&section.need("channel", "the name of a channel")?, &context.names.channels)?;
    let is_ap = section.need("role", "\"ap\" or \"station\"")?.choice(&[("ap", true), ("station", false)])?;
    let mut radio = None;
    let (role, scheme) = if is_ap {
        (Role::Ap, scheme::read(&section.need("scheme", &scheme::names())?)?)
    } else {
        let ap = section.need("ap", "its access point's interface, such as \"ap.wlan0\"")?;
        let role = Role::Station(station::read(
            section,
            context.names.interface(&ap)?,
            context.channels[channel].width,
        )?);
        wiring.stations.push((at, ap));
        if let Some(field) = section.get("radio") {
            radio = Some(context.names.interface_from(at.node, &field)?);
            wiring.radios.push((at, field));
        }
        (
            role,
            section
                .get("scheme")
                .map_or_else(|| Ok(scheme::Choice::new(Scheme::Fifo)), |f| scheme::read(&f))?,
        )
    };
    device.scheme = Some(scheme.name);
    let qdisc = qdisc::read(section, device)?;
    let retry_limit = section.or("retry_limit", RETRY_LIMIT, |f| f.integer(0..=u8::MAX))?;
    let mut own = Default::default();
    if is_ap {
        own = edca::access_point(section)?;
        wiring.beacons.push((at, edca::beacon(section)?));
    }
    let scheme::Choice { name, driver, hardware } = scheme;
    Ok((Wifi { channel, role, scheme: name, driver, hardware, edca: own, retry_limit, radio }, qdisc))
}

fn address(
    section: &mut Section<'_>,
    path: &str,
    node: Origin,
    wiring: &mut Wiring<'_>,
) -> Result<Ipv4Addr, Fault> {
    let expected = "an IPv4 address of a host, such as \"10.0.0.1\"";
    let field = section.need("address", expected)?;
    let address: Ipv4Addr = field.text(expected)?.parse().map_err(|_| field.wrong(expected))?;
    if address.is_unspecified() || address.is_multicast() || address.is_broadcast() || address.is_loopback() {
        return Err(field.wrong(expected));
    }
    if let Some((_, origin, other)) = wiring.addresses.iter().find(|(taken, ..)| *taken == address) {
        // Text that both share was inherited: then it is this node that lacks its own.
        let at = if *origin == field.item.origin { node } else { field.item.origin };
        return Err(Fault::new(
            at,
            &*field.path,
            format!("{address}, which {other} has"),
            "an address of its own",
        ));
    }
    wiring.addresses.push((address, field.item.origin, path.to_owned()));
    Ok(address)
}
