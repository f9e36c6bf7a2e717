//! EDCA parameters under hostapd's names: `tx_queue_data2_*` for the access point's own queues, `wmm_ac_be_*`
//! for stations.

use stillair_model::types::{Ac, Duration};
use stillair_model::wifi::air::edca::{EdcaParams, EdcaSet, TXOP_UNIT};

use super::super::EdcaOverride;
use super::super::description::{Key, ValueType};
use super::super::error::Diagnostic;
use super::super::reader::{Field, Section};

/// One key for each access category.
macro_rules! four {
    ($before:literal, [$($ac:literal),*], $after:literal, $form:expr, $about:literal) => {
        &[$(Key::open(concat!($before, $ac, $after), $form, "as hostapd ships it", $about)),*]
    };
}

macro_rules! own {
    ($after:literal, $form:expr, $about:literal) => {
        four!("tx_queue_data", [0, 1, 2, 3], $after, $form, $about)
    };
}
macro_rules! beacon {
    ($after:literal, $form:expr, $about:literal) => {
        four!("wmm_ac_", ["vo", "vi", "be", "bk"], $after, $form, $about)
    };
}

/// Slots of a window: 2^n - 1.
// hostapd: hostapd/config_file.c valid_cw (2.10) - the windows that it takes, of which 0 is none.
const WINDOW: ValueType =
    ValueType::Numbers(&[1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 2047, 4095, 8191, 16_383, 32_767]);

const BURST_FORM: ValueType =
    ValueType::Times { least: "0 ms", most: Some("2097.12 ms"), why: "65535 units of 32 us are the most" };

const AIFS: &[Key] = own!(
    "_aifs",
    ValueType::Integer(1, 15),
    "the access point's own AIFSN; queues 0 to 3 are VO, VI, BE, BK"
);
const CWMIN: &[Key] = own!("_cwmin", WINDOW, "its least window in slots, at most its greatest");
const CWMAX: &[Key] = own!("_cwmax", WINDOW, "its greatest window in slots");
const BURST: &[Key] = own!(
    "_burst",
    BURST_FORM,
    "its longest transmission opportunity, rounded to units of 32 us as hostapd does; zero is one frame exchange"
);
const B_AIFS: &[Key] =
    beacon!("_aifs", ValueType::Integer(2, 15), "the AIFSN that its stations use, from its beacons");
const B_CWMIN: &[Key] =
    beacon!("_cwmin", ValueType::Integer(0, 15), "their least window as an exponent: n for 2^n - 1 slots");
const B_CWMAX: &[Key] = beacon!("_cwmax", ValueType::Integer(0, 15), "their greatest window as an exponent");
const B_TXOP: &[Key] = beacon!(
    "_txop_limit",
    ValueType::Integer(0, 65_535),
    "their longest transmission opportunity, in units of 32 us"
);

/// Keys of an access point's interface.
pub(super) const GROUPS: [&[Key]; 8] = [AIFS, CWMIN, CWMAX, BURST, B_AIFS, B_CWMIN, B_CWMAX, B_TXOP];

/// Reads what the access point uses itself. Windows are in slots, bursts are times.
// hostapd: hostapd/hostapd.conf tx_queue_data (2.10) - queues 0 to 3 are VO, VI, BE, BK.
pub(super) fn access_point(section: &mut Section<'_>) -> Result<[EdcaOverride; 4], Diagnostic> {
    let mut all = [EdcaOverride::default(); 4];
    for ac in Ac::ALL {
        let key = |what: &str| format!("tx_queue_data{}_{what}", ac.index());
        let e = &mut all[ac.index()];
        e.aifsn = section.find(&key("aifs"))?;
        windows(section, [key("cwmin"), key("cwmax")], Scale::Slots, EdcaSet::ACCESS_POINT.get(ac), e)?;
        e.txop = section.find(&key("burst"))?.map(units_of);
    }
    Ok(all)
}

/// Reads what the beacons tell stations to use. Windows are exponents, TXOP limits are in units of 32 us, as
/// on the air.
// spec: ieee80211-2020 9.4.2.28 - AIFSN of a station is at least 2; windows are 2^n - 1, n from 0 to 15.
pub(super) fn beacon(section: &mut Section<'_>) -> Result<[EdcaOverride; 4], Diagnostic> {
    let mut all = [EdcaOverride::default(); 4];
    for ac in Ac::ALL {
        let key = |what: &str| format!("wmm_ac_{}_{what}", ac.name().to_lowercase());
        let e = &mut all[ac.index()];
        e.aifsn = section.find(&key("aifs"))?;
        windows(section, [key("cwmin"), key("cwmax")], Scale::Exponent, EdcaSet::STATION.get(ac), e)?;
        e.txop = section.find::<u16>(&key("txop_limit"))?.map(|n| TXOP_UNIT * u64::from(n));
    }
    Ok(all)
}

/// How windows are written.
#[derive(Clone, Copy)]
enum Scale {
    Slots,
    Exponent,
}

impl Scale {
    fn slots(self, number: u16) -> u16 {
        match self {
            Self::Slots => number,
            Self::Exponent => (1 << number) - 1,
        }
    }

    fn number(self, slots: u16) -> u32 {
        match self {
            Self::Slots => u32::from(slots),
            Self::Exponent => slots.trailing_ones(),
        }
    }
}

/// Reads both windows of a category. With what is not given as shipped they must be in order: a window that
/// begins above its end would shrink after a failure.
fn windows(
    section: &mut Section<'_>,
    keys: [String; 2],
    scale: Scale,
    shipped: EdcaParams,
    e: &mut EdcaOverride,
) -> Result<(), Diagnostic> {
    let [least, most] = keys.each_ref().map(|key| section.get(key));
    let read = |field: &Option<Field<'_>>| {
        field.as_ref().map(|f| f.value().map(|number| scale.slots(number))).transpose()
    };
    (e.cw_min, e.cw_max) = (read(&least)?, read(&most)?);
    let mut merged = shipped;
    e.apply(&mut merged);
    if merged.cw_min <= merged.cw_max {
        return Ok(());
    }
    let [own, other] = [merged.cw_min, merged.cw_max].map(|slots| scale.number(slots));
    let [min, max] = keys;
    // As shipped they are in order, so one of them is given.
    Err(match (least, most) {
        (Some(_), Some(field)) => {
            field.found(format!("{other}, while {min} is {own}"), format!("at least {min}"))
        }
        (Some(field), None) => field.found(
            format!("{own}, while {max} as shipped is {other}"),
            format!("at most that, or {max} beside it"),
        ),
        (None, Some(field)) => field.found(
            format!("{other}, while {min} as shipped is {own}"),
            format!("at least that, or {min} beside it"),
        ),
        (None, None) => unreachable!("windows as shipped are in order"),
    })
}

/// A time as the whole number of units that the driver is given, the nearest.
// hostapd: src/drivers/driver_nl80211.c i802_set_tx_queue_params (2.10) - rounds so, a half up: the shipped
// 1.5 ms are 47 units.
// deviation: hostapd.conf has tenths of a millisecond - any time with a unit is read here, as everywhere in a
// scenario.
fn units_of(burst: Duration) -> Duration {
    TXOP_UNIT * ((burst + TXOP_UNIT / 2) / TXOP_UNIT)
}
