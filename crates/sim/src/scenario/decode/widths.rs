//! Side effects of overriding a channel width, which may change the default scheme of devices.

use super::super::error::Origin;
use super::super::resolve::wiring::Device;
use super::super::spec::channel::Channel as Spec;
use super::super::spec::domain::Entry;
use super::super::{Attachment, Channel, Node};

/// Returns a note for each channel whose width is overridden and has devices whose default scheme differs
/// between channels up to 40 MHz and wider ones.
pub(super) fn notes(
    specs: &[Entry<Spec>],
    devices: &[Device],
    nodes: &[Node],
    channels: &[Channel],
) -> Vec<String> {
    let one = |(channel, spec): (usize, &Entry<Spec>)| {
        let name = &spec.name;
        spec.value.as_ref()?.width.place().filter(|at| at.origin == Origin::Set)?;
        let devices = devices.iter().filter_map(|device| {
            let (at, other) = (device.at, device.by_width?);
            let interface = &nodes[at.node].interfaces[at.interface];
            match &interface.medium {
                Attachment::Wifi(wifi) if wifi.channel == channel && wifi.scheme != other => {
                    Some((format!("{}.{}", nodes[at.node].name, interface.name), wifi.scheme, other))
                }
                _ => None,
            }
        });
        let devices: Vec<_> = devices.collect();
        let (first, scheme, other) = devices.first()?;
        let width = channels[channel].width.megahertz();
        let beyond = if width > 40 { "up to 40 MHz" } else { "80 MHz and more" };
        let more = match devices.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        Some(format!(
            "channel.{name}.width: with {width} MHz {first}{more} has the driver {} by default, and with {beyond} {}: results differ by that too, \
             unless scheme or device say which",
            scheme.name(),
            other.name()
        ))
    };
    specs.iter().enumerate().filter_map(one).collect()
}
