//! EDCA parameters: ordered contention windows, and times in whole units.

use stillair_model::types::{Ac, Duration};
use stillair_model::wifi::air::edca::{EdcaParams, EdcaSet, TXOP_UNIT};

use super::super::EdcaOverride;
use super::super::error::Diagnostics;
use super::super::spec::edca::Edca;
use super::super::spec::{Domain, Key};

/// Returns the access point's own parameters. Windows are in slots, bursts are times.
// hostapd: hostapd/hostapd.conf tx_queue_data (2.10) - queues 0 to 3 are VO, VI, BE, BK.
pub(super) fn access_point(own: &Edca, faults: &mut Diagnostics) -> [EdcaOverride; 4] {
    each(|ac| {
        let name = |what: &str| format!("tx_queue_data{}_{what}", ac.index());
        let e = EdcaOverride {
            aifsn: own.aifs.of(ac).get().copied(),
            cw_min: own.cwmin.of(ac).get().copied(),
            cw_max: own.cwmax.of(ac).get().copied(),
            txop: own.burst.of(ac).get().copied().map(units_of),
        };
        let windows = [(name("cwmin"), own.cwmin.of(ac)), (name("cwmax"), own.cwmax.of(ac))];
        in_order(&e, windows, u32::from, EdcaSet::ACCESS_POINT.get(ac), faults);
        e
    })
}

/// Returns the parameters announced in beacons. Windows are exponents, and TXOP limits are in units of 32 us,
/// as on the air.
// spec: ieee80211-2020 9.4.2.28 - a station's AIFSN is at least 2; windows are 2^n - 1, n from 0 to 15.
pub(super) fn beacon(own: &Edca, faults: &mut Diagnostics) -> [EdcaOverride; 4] {
    each(|ac| {
        let name = |what: &str| format!("wmm_ac_{}_{what}", ac.name().to_lowercase());
        let slots = |exponent: &u8| ((1_u32 << exponent) - 1) as u16;
        let e = EdcaOverride {
            aifsn: own.beacon_aifs.of(ac).get().copied(),
            cw_min: own.beacon_cwmin.of(ac).get().map(slots),
            cw_max: own.beacon_cwmax.of(ac).get().map(slots),
            txop: own.beacon_txop.of(ac).get().map(|n| TXOP_UNIT * u64::from(*n)),
        };
        let windows = [(name("cwmin"), own.beacon_cwmin.of(ac)), (name("cwmax"), own.beacon_cwmax.of(ac))];
        in_order(&e, windows, u16::trailing_ones, EdcaSet::STATION.get(ac), faults);
        e
    })
}

fn each(mut of: impl FnMut(Ac) -> EdcaOverride) -> [EdcaOverride; 4] {
    let mut all = [EdcaOverride::default(); 4];
    Ac::ALL.into_iter().for_each(|ac| all[ac.index()] = of(ac));
    all
}

/// Rejects a category whose minimum window exceeds its maximum, with defaults for missing values: such a
/// window would shrink after a failure. `shown` formats a number of slots as in a scenario.
fn in_order<D: Domain>(
    e: &EdcaOverride,
    [(min, least), (max, most)]: [(String, &Key<D>); 2],
    shown: impl Fn(u16) -> u32,
    shipped: EdcaParams,
    faults: &mut Diagnostics,
) {
    let mut merged = shipped;
    e.apply(&mut merged);
    if merged.cw_min <= merged.cw_max || least.is_misread() || most.is_misread() {
        return;
    }
    let [own, other] = [merged.cw_min, merged.cw_max].map(shown);
    // The defaults are ordered, so at least one of the two is given.
    faults.add(match (least.place(), most.place()) {
        (Some(_), Some(at)) => at.found(format!("{other}, while {min} is {own}"), format!("at least {min}")),
        (Some(at), None) => at.found(
            format!("{own}, while {max} as shipped is {other}"),
            format!("at most that, or {max} beside it"),
        ),
        (None, Some(at)) => at.found(
            format!("{other}, while {min} as shipped is {own}"),
            format!("at least that, or {min} beside it"),
        ),
        (None, None) => unreachable!("windows as shipped are in order"),
    });
}

/// Rounds a time to the nearest whole number of the driver's units.
// hostapd: src/drivers/driver_nl80211.c i802_set_tx_queue_params (2.10) - also rounds half up: the default of
// 1.5 ms is 47 units.
// deviation: hostapd.conf uses tenths of a millisecond - scenarios accept any time with a unit, as in all
// their keys.
fn units_of(burst: Duration) -> Duration {
    TXOP_UNIT * ((burst + TXOP_UNIT / 2) / TXOP_UNIT)
}
