//! EDCA parameters under hostapd's names: `tx_queue_data2_*` for the access point's own queues, `wmm_ac_be_*` for stations.

use stillair_model::vocabulary::{Ac, Duration};

use super::super::EdcaOverride;
use super::super::error::Fault;
use super::super::reader::{Field, Section};

/// Reads what the access point uses itself. Windows are in slots, bursts are times.
// linux: hostapd.conf tx_queue_data (2.10) - queues 0 to 3 are VO, VI, BE, BK.
pub(super) fn access_point(section: &mut Section<'_>) -> Result<[EdcaOverride; 4], Fault> {
    let mut all = [EdcaOverride::default(); 4];
    for ac in Ac::ALL {
        let key = |what: &str| format!("tx_queue_data{}_{what}", ac.index());
        let e = &mut all[ac.index()];
        e.aifsn = section.get(&key("aifs")).map(|f| f.integer(1..=15)).transpose()?;
        e.cw_min = section.get(&key("cwmin")).map(|f| window(&f)).transpose()?;
        let field = section.get(&key("cwmax"));
        e.cw_max = field.as_ref().map(window).transpose()?;
        ordered(e, field.as_ref())?;
        e.txop = section.get(&key("burst")).map(|f| f.duration()).transpose()?;
    }
    Ok(all)
}

/// Reads what the beacons tell stations to use. Windows are exponents, TXOP limits are in units of 32 us, as on the air.
// spec: ieee80211-2020 9.4.2.28 - AIFSN of a station is at least 2; windows are 2^n - 1.
pub(super) fn beacon(section: &mut Section<'_>) -> Result<[EdcaOverride; 4], Fault> {
    let mut all = [EdcaOverride::default(); 4];
    for ac in Ac::ALL {
        let key = |what: &str| format!("wmm_ac_{}_{what}", ac.name().to_lowercase());
        let exponent = |f: &Field<'_>| f.integer(0..=15_u16).map(|n| (1 << n) - 1);
        let e = &mut all[ac.index()];
        e.aifsn = section.get(&key("aifs")).map(|f| f.integer(2..=15)).transpose()?;
        e.cw_min = section.get(&key("cwmin")).map(|f| exponent(&f)).transpose()?;
        let field = section.get(&key("cwmax"));
        e.cw_max = field.as_ref().map(exponent).transpose()?;
        ordered(e, field.as_ref())?;
        let units = section.get(&key("txop_limit")).map(|f| f.integer(0..=u16::MAX)).transpose()?;
        e.txop = units.map(|n| Duration::from_micros(32) * u64::from(n));
    }
    Ok(all)
}

fn window(field: &Field<'_>) -> Result<u16, Fault> {
    let n = field.integer(0..=32_767_u16)?;
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
