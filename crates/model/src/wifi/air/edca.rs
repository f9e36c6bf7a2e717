//! EDCA parameter sets: what an access point uses itself, what it tells its stations, and hostapd's names for both.

use crate::vocabulary::{Ac, Duration};

/// How one access category contends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdcaParams {
    /// Slots after a SIFS before the back-off.
    pub aifsn: u8,
    /// First contention window: the back-off is 0 to this many slots.
    pub cw_min: u16,
    /// Largest contention window.
    pub cw_max: u16,
    /// TXOP limit; zero allows one PPDU.
    pub txop: Duration,
}

/// The parameters of the four access categories.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdcaSet([EdcaParams; 4]);

/// Unit of TXOP limits in the WMM element.
// spec: ieee80211-2016 9.4.2.29 - 32 us.
const TXOP_UNIT: Duration = Duration::from_micros(32);

const fn params(aifsn: u8, cw_min: u16, cw_max: u16, txop_units: u64) -> EdcaParams {
    EdcaParams { aifsn, cw_min, cw_max, txop: Duration::from_nanos(TXOP_UNIT.nanos() * txop_units) }
}

impl EdcaSet {
    /// What an access point uses for its own queues.
    // hostapd: src/ap/ap_config.c hostapd_config_defaults (2.10) - tx_queue: VO 1/3/7/1.5 ms, VI 1/7/15/3.0 ms, BE 3/15/63/0,
    // BK 7/15/1023/0; src/drivers/driver_nl80211.c turns the bursts into 47 and 94 units of 32 us.
    pub const ACCESS_POINT: Self =
        Self([params(1, 3, 7, 47), params(1, 7, 15, 94), params(3, 15, 63, 0), params(7, 15, 1_023, 0)]);

    /// What stations use: the WMM element of the access point's beacon.
    // hostapd: src/ap/ap_config.c hostapd_config_defaults (2.10) - wmm_ac: VO 2/2/3/47, VI 2/3/4/94, BE 3/4/10/0, BK 7/4/10/0,
    // windows as exponents.
    // spec: ieee80211-2016 table 9-137 - the same values, for OFDM, with best effort and background at 15 to 1023.
    pub const STATION: Self =
        Self([params(2, 3, 7, 47), params(2, 7, 15, 94), params(3, 15, 1_023, 0), params(7, 15, 1_023, 0)]);

    /// The parameters of a category.
    #[inline]
    pub const fn get(&self, ac: Ac) -> EdcaParams {
        self.0[ac.index()]
    }

    /// The parameters of a category, to be changed.
    #[inline]
    pub const fn get_mut(&mut self, ac: Ac) -> &mut EdcaParams {
        &mut self.0[ac.index()]
    }

    /// Sets one parameter under hostapd's name for it, in hostapd's unit.
    ///
    /// `tx_queue_data2_aifs`, `_cwmin`, `_cwmax` (windows as they are) and `_burst` (ms with at most one decimal) are for
    /// an access point's own set; `wmm_ac_be_aifs`, `_cwmin`, `_cwmax` (exponents) and `_txop_limit` (units of 32 us) for
    /// the stations'. The error says what was found and what would be right.
    // hostapd: hostapd.conf (2.10) - data0 to data3 are VO, VI, BE, BK.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let wrong = |right: &str| format!("`{name}` is `{value}`: it must be {right}");
        let (index, field, own) = split_name(name).ok_or_else(|| {
            format!("no EDCA parameter `{name}`: write it as `tx_queue_data2_cwmin` or `wmm_ac_be_cwmin`")
        })?;
        let it = &mut self.0[index];
        match field {
            "aifs" => {
                let range = if own { "0 to 255" } else { "1 to 255" };
                it.aifsn = value.parse().ok().filter(|&n: &u8| own || n > 0).ok_or_else(|| wrong(range))?;
            }
            "cwmin" | "cwmax" => {
                let cw = if own {
                    value
                        .parse()
                        .ok()
                        .filter(|&cw: &u16| cw <= 32_767 && (cw + 1).is_power_of_two() && cw > 0)
                        .ok_or_else(|| wrong("1, 3, 7, ..., 32767"))?
                } else {
                    let exponent: u32 = value
                        .parse()
                        .ok()
                        .filter(|&e| e <= 15)
                        .ok_or_else(|| wrong("an exponent, 0 to 15"))?;
                    (1_u16 << exponent) - 1
                };
                *(if field == "cwmin" { &mut it.cw_min } else { &mut it.cw_max }) = cw;
            }
            "burst" => {
                // Tenths of a millisecond, rounded to units as hostapd does it.
                let tenths =
                    tenths(value).ok_or_else(|| wrong("ms with at most one decimal, such as `1.5`"))?;
                it.txop = TXOP_UNIT * ((tenths * 100 + 16) / 32);
            }
            _ => {
                let units: u16 = value.parse().map_err(|_| wrong("a number of 32 us, 0 to 65535"))?;
                it.txop = TXOP_UNIT * u64::from(units);
            }
        }
        Ok(())
    }

    /// Whether every category's windows are in order; to be asked once all parameters are set.
    pub fn check(&self) -> Result<(), String> {
        match Ac::ALL.into_iter().find(|&ac| self.get(ac).cw_min > self.get(ac).cw_max) {
            Some(ac) => Err(format!(
                "cwmin of {} is {}, above its cwmax {}",
                ac.name(),
                self.get(ac).cw_min,
                self.get(ac).cw_max
            )),
            None => Ok(()),
        }
    }
}

/// Index of the category, field, and whether the name is of the access point's own queues.
fn split_name(name: &str) -> Option<(usize, &str, bool)> {
    if let Some(rest) = name.strip_prefix("tx_queue_data") {
        let (queue, field) = rest.split_once('_')?;
        let index = ["0", "1", "2", "3"].iter().position(|&q| q == queue)?;
        return ["aifs", "cwmin", "cwmax", "burst"].contains(&field).then_some((index, field, true));
    }
    let (ac, field) = name.strip_prefix("wmm_ac_")?.split_once('_')?;
    let index = ["vo", "vi", "be", "bk"].iter().position(|&a| a == ac)?;
    ["aifs", "cwmin", "cwmax", "txop_limit"].contains(&field).then_some((index, field, false))
}

fn tenths(text: &str) -> Option<u64> {
    let (whole, tenth) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if tenth.len() != 1 || whole.len() > 3 || !digits(tenth) || !digits(whole) {
        return None;
    }
    Some(whole.parse::<u64>().ok()? * 10 + tenth.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_as_shipped() {
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

    #[test]
    fn the_shipped_sets_under_their_own_names() {
        // The lines of hostapd.conf, applied to a set in which every value is another.
        let mut own = EdcaSet([params(9, 1, 1, 9); 4]);
        let mut stations = own;
        let fields = ["aifs", "cwmin", "cwmax"];
        for (queue, values) in [
            (0, ["1", "3", "7", "1.5"]),
            (1, ["1", "7", "15", "3.0"]),
            (2, ["3", "15", "63", "0"]),
            (3, ["7", "15", "1023", "0"]),
        ] {
            for (field, value) in fields.into_iter().chain(["burst"]).zip(values) {
                own.set(&format!("tx_queue_data{queue}_{field}"), value).unwrap();
            }
        }
        for (ac, values) in [
            ("vo", ["2", "2", "3", "47"]),
            ("vi", ["2", "3", "4", "94"]),
            ("be", ["3", "4", "10", "0"]),
            ("bk", ["7", "4", "10", "0"]),
        ] {
            for (field, value) in fields.into_iter().chain(["txop_limit"]).zip(values) {
                stations.set(&format!("wmm_ac_{ac}_{field}"), value).unwrap();
            }
        }
        assert_eq!((own, stations), (EdcaSet::ACCESS_POINT, EdcaSet::STATION));
        assert_eq!((own.check(), stations.check()), (Ok(()), Ok(())));
    }

    #[test]
    fn openwrt_burst_of_best_effort() {
        let mut set = EdcaSet::ACCESS_POINT;
        set.set("tx_queue_data2_burst", "2.0").unwrap();
        assert_eq!(set.get(Ac::Be).txop, Duration::from_micros(63 * 32));
    }

    #[test]
    fn wrong_values_are_explained_and_change_nothing() {
        for (name, value, hint) in [
            ("tx_queue_data4_aifs", "1", "tx_queue_data2_cwmin"),
            ("tx_queue_data2_txop_limit", "1", "tx_queue_data2_cwmin"),
            ("wmm_ac_be_burst", "1", "wmm_ac_be_cwmin"),
            ("wmm_ac_xx_aifs", "1", "wmm_ac_be_cwmin"),
            ("tx_queue_data2_cwmin", "16", "1, 3, 7"),
            ("tx_queue_data2_cwmin", "65535", "1, 3, 7"),
            ("tx_queue_data2_burst", "1.55", "1.5"),
            ("wmm_ac_be_cwmin", "16", "0 to 15"),
            ("wmm_ac_be_aifs", "0", "1 to 255"),
            ("wmm_ac_be_txop_limit", "-1", "32 us"),
        ] {
            let mut set = EdcaSet::STATION;
            let message = set.set(name, value).unwrap_err();
            assert!(message.contains(hint) && message.contains(name), "{message}");
            assert_eq!(set, EdcaSet::STATION);
        }
        let mut set = EdcaSet::STATION;
        set.set("wmm_ac_be_cwmax", "3").unwrap();
        assert!(set.check().unwrap_err().contains("BE"));
    }
}
