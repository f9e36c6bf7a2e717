//! EDCA parameter sets: the one that the access point uses and the one that it announces to its stations.

use crate::types::{Ac, Duration};

/// EDCA parameters of one access category.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdcaParams {
    /// AIFSN: slots between SIFS and the backoff.
    pub aifsn: u8,
    /// CWmin: the first backoff is drawn from 0 to this many slots.
    pub cw_min: u16,
    /// CWmax: largest contention window, in slots.
    pub cw_max: u16,
    /// TXOP limit. Zero allows one PPDU.
    pub txop: Duration,
}

/// Parameters of the four access categories.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdcaSet([EdcaParams; 4]);

/// Unit of the TXOP limit in the WMM element.
// spec: ieee80211-2016 9.4.2.29 - 32 us.
pub const TXOP_UNIT: Duration = Duration::from_micros(32);

const fn params(aifsn: u8, cw_min: u16, cw_max: u16, txop_units: u64) -> EdcaParams {
    EdcaParams { aifsn, cw_min, cw_max, txop: Duration::from_nanos(TXOP_UNIT.nanos() * txop_units) }
}

impl EdcaSet {
    /// Parameters of the access point's own queues.
    // hostapd: src/ap/ap_config.c hostapd_config_defaults (2.10) - tx_queue: VO 1/3/7/1.5 ms, VI 1/7/15/3.0
    // ms, BE 3/15/63/0, BK 7/15/1023/0; src/drivers/driver_nl80211.c converts the bursts to 47 and 94 units
    // of 32 us.
    pub const ACCESS_POINT: Self =
        Self([params(1, 3, 7, 47), params(1, 7, 15, 94), params(3, 15, 63, 0), params(7, 15, 1_023, 0)]);

    /// Parameters of stations, from the WMM element in the access point's beacon.
    // hostapd: src/ap/ap_config.c hostapd_config_defaults (2.10) - wmm_ac: VO 2/2/3/47, VI 2/3/4/94, BE
    // 3/4/10/0, BK 7/4/10/0, with windows as exponents.
    // spec: ieee80211-2016 table 9-137 - the same values for OFDM, with 15 to 1023 for best effort and
    // background.
    pub const STATION: Self =
        Self([params(2, 3, 7, 47), params(2, 7, 15, 94), params(3, 15, 1_023, 0), params(7, 15, 1_023, 0)]);

    /// Returns the parameters of access category `ac`.
    #[inline]
    pub const fn get(&self, ac: Ac) -> EdcaParams {
        self.0[ac.index()]
    }

    /// Returns the parameters of access category `ac`, mutable.
    #[inline]
    pub const fn get_mut(&mut self, ac: Ac) -> &mut EdcaParams {
        &mut self.0[ac.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_sets() {
        let rows = |set: EdcaSet| {
            Ac::ALL.map(|ac| {
                let p = set.get(ac);
                (p.aifsn, p.cw_min, p.cw_max, p.txop.nanos() / 1_000)
            })
        };
        assert_eq!(
            rows(EdcaSet::ACCESS_POINT),
            [(1, 3, 7, 1_504), (1, 7, 15, 3_008), (3, 15, 63, 0), (7, 15, 1_023, 0)]
        );
        assert_eq!(
            rows(EdcaSet::STATION),
            [(2, 3, 7, 1_504), (2, 7, 15, 3_008), (3, 15, 1_023, 0), (7, 15, 1_023, 0)]
        );
    }
}
