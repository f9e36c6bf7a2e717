//! Interrupt mitigation of a Wi-Fi device for received frames.

use serde_json::Value as Json;
use stillair_model::types::Duration;
use stillair_model::wifi::rx::interrupts::RxMitigation;
use stillair_scenario_derive::Section;

use super::super::description::ValueType;
use super::super::units;
use super::domain::quantity;
use super::{Key, Resolved};

/// A time that fits the device's register.
pub struct Wait;
quantity!(Wait: Duration
    = ValueType::Times { least: "0 ms", most: Some("65535 us"), why: "the register has 16 bits of microseconds" },
    "_ns", units::duration_text;);

/// Delays before the device interrupts its host.
#[derive(Section, Clone, Debug, Default)]
#[section(params = RxMitigation)]
pub struct Times {
    /// after the last PPDU, if no other comes before
    #[key(to = last, need = "a time such as \"0.5 ms\"")]
    pub last: Key<Wait>,
    /// after the first one, however many follow
    #[key(to = first, need = "a time such as \"2 ms\"")]
    pub first: Key<Wait>,
}

kinds! {
    /// Receive interrupt mitigation.
    pub struct Mitigation: Times => RxMitigation {
        /// The host learns of a received PPDU when its exchange ends.
        "none": "Receive interrupts without waiting",
        /// As ath9k sets the AR9300 and its successors, the AR9580 among them: 0.5 ms after the last PPDU, 2
        /// ms after the first. OpenWrt has had other times.
        "ar9300": "Receive interrupts of the AR9300" => RxMitigation::AR9300,
        /// As ath9k sets chips before the AR9300: 0.25 ms after the last PPDU, 0.7 ms after the first.
        "ar9002": "Receive interrupts of the AR9002" => RxMitigation::AR9002,
        /// By two times of one's own.
        "times" needs "a table with kind, last and first": "Receive interrupts by times" = RxMitigation::NONE,
    }
}

impl From<Mitigation> for Option<RxMitigation> {
    fn from(own: Mitigation) -> Self {
        own.params()
    }
}

impl Resolved for RxMitigation {
    fn json(&self) -> Json {
        super::resolved::<Times, _>(self).into()
    }
}
