//! Airtime fairness in firmware: deficit round robin over stations, as in MediaTek's MAC (VoW).

use crate::types::{Ac, Duration};
use crate::wifi::tx::transmitter::TidIndex;
use alloc::vec;
use alloc::vec::Vec;

/// Airtime quantum by access category, for a station of mac80211's default weight.
// linux: drivers/net/wireless/mediatek/mt76/mt76_connac.h VOW_DRR_QUANTUM_TABLE, mt76_connac_vow_dwrr_quantum
// (openwrt/mt76, 2026-06-29) - levels of 256 us; weight 256 is the fourth level of BE and BK (10), one lower
// for video (8), two lower for voice (6).
const fn quantum(ac: Ac) -> i64 {
    256_000
        * match ac {
            Ac::Vo => 6,
            Ac::Vi => 8,
            Ac::Be | Ac::Bk => 10,
        }
}

/// Maximum airtime debt of a station.
// linux: drivers/net/wireless/mediatek/mt76/mt76_connac.h VOW_MAX_DEFICIT_ON (openwrt/mt76, 2026-06-29) - 64
// times 256 us.
const MOST_OWED: i64 = 64 * 256_000;

/// Deficits in nanoseconds, by station and access category.
// deviation: a station without frames keeps its deficit - the MAC's documentation is not public.
#[derive(Clone, Debug)]
pub(super) struct AirtimeTurns(Vec<[i64; 4]>);

impl AirtimeTurns {
    pub(super) fn new(stations: usize) -> Self {
        Self(vec![Ac::ALL.map(quantum); stations])
    }

    /// Returns true if the station may send. If not, its deficit grows by a quantum.
    pub(super) fn may_send(&mut self, tid: TidIndex) -> bool {
        let left = self.left(tid);
        let may = *left > 0;
        if !may {
            *left += quantum(tid.ac());
        }
        may
    }

    /// Charges a PPDU's airtime, including all its tries.
    pub(super) fn charge(&mut self, tid: TidIndex, airtime: Duration) {
        let left = self.left(tid);
        *left = (*left - airtime.nanos() as i64).max(-MOST_OWED);
    }

    fn left(&mut self, tid: TidIndex) -> &mut i64 {
        &mut self.0[tid.peer().index()][tid.ac().index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::PeerId;

    #[test]
    fn a_station_in_debt_waits_until_its_debt_is_paid() {
        #[rustfmt::skip]
        let table = [
            // TID, PPDUs before the station waits, and the number of rounds that it waits, with PPDUs of 4,
            // 0.8 and 30 ms.
            (0, [1, 4, 1], [1, 1, 7]),
            (1, [1, 4, 1], [1, 1, 7]),
            (5, [1, 3, 1], [1, 1, 9]),
            (6, [1, 2, 1], [2, 1, 11]),
        ];
        for (tid, ppdus, waits) in table {
            for (n, us) in [4_000, 800, 30_000].into_iter().enumerate() {
                let mut turns = AirtimeTurns::new(2);
                let tid = TidIndex::new(PeerId(1), tid);
                let mut sent = 0;
                while turns.may_send(tid) {
                    turns.charge(tid, Duration::from_micros(us));
                    sent += 1;
                }
                // The call that returned false was the first.
                let mut waited = 1;
                while !turns.may_send(tid) {
                    waited += 1;
                }
                assert_eq!((sent, waited), (ppdus[n], waits[n]), "{tid:?} {us}");
            }
        }
    }
}
