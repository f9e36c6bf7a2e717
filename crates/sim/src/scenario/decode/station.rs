//! A station's path to its access point: rates and errors.

use super::super::contract::{Form, Key};
use super::super::error::Fault;
use super::super::reader::Section;
use super::super::{Channel, InterfaceRef, Station};
use super::{losses, rate};

/// Keys of a station's interface, beside those of its rates and losses.
pub(super) const KEYS: &[Key] = &[
    Key::need("ap", Form::Name("interface"), "its access point, such as `ap.wlan0`"),
    Key::open(
        "radio",
        Form::Name("radio"),
        "one of its own",
        "the interface whose radio it shares, such as `wlan0`: a virtual station",
    ),
];

pub(super) fn read(section: &mut Section<'_>, ap: InterfaceRef, channel: &Channel) -> Result<Station, Fault> {
    Ok(Station {
        ap,
        rates: rate::read(section, channel)?,
        errors: losses::read(section, channel.path_loss)?,
    })
}
