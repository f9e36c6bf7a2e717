//! EDCA parameters under hostapd's names: `tx_queue_data2_*` for the access point's own queues, `wmm_ac_be_*`
//! for stations.

use stillair_model::vocabulary::{Ac, Duration};

use super::super::EdcaOverride;
use super::super::contract::{Form, Key};
use super::super::error::Fault;
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

const AIFS: &[Key] =
    own!("_aifs", Form::Integer(1, 15), "the access point's own AIFSN; queues 0 to 3 are VO, VI, BE, BK");
const CWMIN: &[Key] = own!("_cwmin", Form::Integer(0, 32_767), "its least window, 2^n - 1 slots");
const CWMAX: &[Key] = own!("_cwmax", Form::Integer(0, 32_767), "its greatest window, 2^n - 1 slots");
const BURST: &[Key] =
    own!("_burst", Form::Time, "its longest transmission opportunity; zero is one frame exchange");
const B_AIFS: &[Key] =
    beacon!("_aifs", Form::Integer(2, 15), "the AIFSN that its stations use, from its beacons");
const B_CWMIN: &[Key] =
    beacon!("_cwmin", Form::Integer(0, 15), "their least window as an exponent: n for 2^n - 1 slots");
const B_CWMAX: &[Key] = beacon!("_cwmax", Form::Integer(0, 15), "their greatest window as an exponent");
const B_TXOP: &[Key] = beacon!(
    "_txop_limit",
    Form::Integer(0, 65_535),
    "their longest transmission opportunity, in units of 32 us"
);

/// Keys of an access point's interface.
pub(super) const GROUPS: [&[Key]; 8] = [AIFS, CWMIN, CWMAX, BURST, B_AIFS, B_CWMIN, B_CWMAX, B_TXOP];

/// Reads what the access point uses itself. Windows are in slots, bursts are times.
// linux: hostapd.conf tx_queue_data (2.10) - queues 0 to 3 are VO, VI, BE, BK.
pub(super) fn access_point(section: &mut Section<'_>) -> Result<[EdcaOverride; 4], Fault> {
    let mut all = [EdcaOverride::default(); 4];
    for ac in Ac::ALL {
        let key = |what: &str| format!("tx_queue_data{}_{what}", ac.index());
        let e = &mut all[ac.index()];
        e.aifsn = section.find(&key("aifs"))?;
        e.cw_min = section.get(&key("cwmin")).map(|f| window(&f)).transpose()?;
        let field = section.get(&key("cwmax"));
        e.cw_max = field.as_ref().map(window).transpose()?;
        ordered(e, field.as_ref())?;
        e.txop = section.find(&key("burst"))?;
    }
    Ok(all)
}

/// Reads what the beacons tell stations to use. Windows are exponents, TXOP limits are in units of 32 us, as
/// on the air.
// spec: ieee80211-2020 9.4.2.28 - AIFSN of a station is at least 2; windows are 2^n - 1.
pub(super) fn beacon(section: &mut Section<'_>) -> Result<[EdcaOverride; 4], Fault> {
    let mut all = [EdcaOverride::default(); 4];
    for ac in Ac::ALL {
        let key = |what: &str| format!("wmm_ac_{}_{what}", ac.name().to_lowercase());
        let exponent = |f: &Field<'_>| f.value().map(|n: u16| (1 << n) - 1);
        let e = &mut all[ac.index()];
        e.aifsn = section.find(&key("aifs"))?;
        e.cw_min = section.get(&key("cwmin")).map(|f| exponent(&f)).transpose()?;
        let field = section.get(&key("cwmax"));
        e.cw_max = field.as_ref().map(exponent).transpose()?;
        ordered(e, field.as_ref())?;
        let units = section.find::<u16>(&key("txop_limit"))?;
        e.txop = units.map(|n| Duration::from_micros(32) * u64::from(n));
    }
    Ok(all)
}

fn window(field: &Field<'_>) -> Result<u16, Fault> {
    let n = field.value::<u16>()?;
    if (n + 1).is_power_of_two() {
        Ok(n)
    } else {
        Err(field.wrong("a window of 2^n - 1 slots: 1, 3, 7, ... 32767"))
    }
}

fn ordered(e: &EdcaOverride, cw_max: Option<&Field<'_>>) -> Result<(), Fault> {
    match (e.cw_min, e.cw_max, cw_max) {
        (Some(min), Some(max), Some(field)) if max < min => {
            Err(field.wrong("a window at least as long as cwmin"))
        }
        _ => Ok(()),
    }
}
