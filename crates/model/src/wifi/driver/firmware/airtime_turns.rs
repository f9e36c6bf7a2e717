//! Whose turn it is in a firmware that shares the air by airtime: deficit round robin over stations, as
//! MediaTek's MAC has it (VoW).

use crate::types::{Ac, Duration};
use crate::wifi::tx::transmitter::TidIndex;
use alloc::vec;
use alloc::vec::Vec;

/// Airtime of a turn by category, of a station of mac80211's default weight.
// linux: drivers/net/wireless/mediatek/mt76/mt76_connac.h VOW_DRR_QUANTUM_TABLE, mt76_connac_vow_dwrr_quantum
// (openwrt/mt76, 2026-06-29) - levels of 256 us; weight 256 is the fourth of BE and BK (10), video one lower
// (8), voice two (6).
const fn quantum(ac: Ac) -> i64 {
    256_000
        * match ac {
            Ac::Vo => 6,
            Ac::Vi => 8,
            Ac::Be | Ac::Bk => 10,
        }
}

/// Airtime that a station may owe at most.
// linux: drivers/net/wireless/mediatek/mt76/mt76_connac.h VOW_MAX_DEFICIT_ON (openwrt/mt76, 2026-06-29) - 64
// times 256 us.
const MOST_OWED: i64 = 64 * 256_000;

/// What stations have left of their turns, in nanoseconds, by station and category.
///
// deviation: what a station without frames has left it keeps - the MAC's documentation is not public.
#[derive(Clone, Debug)]
pub(super) struct AirtimeTurns(Vec<[i64; 4]>);

impl AirtimeTurns {
    pub(super) fn new(stations: usize) -> Self {
        Self(vec![Ac::ALL.map(quantum); stations])
    }

    /// Whether the station may send. One that owes airtime is given another turn's, and may not.
    pub(super) fn may_send(&mut self, tid: TidIndex) -> bool {
        let left = self.left(tid);
        let may = *left > 0;
        if !may {
            *left += quantum(tid.ac());
        }
        may
    }

    /// A PPDU took so long, all its tries together.
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
    fn a_station_in_debt_waits_for_as_many_turns_as_it_owes() {
        #[rustfmt::skip]
        let table = [
            // TID, PPDUs before it waits, and how often it is passed over, with PPDUs of 4, 0.8 and 30 ms.
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
                // It was passed over once to know.
                let mut waited = 1;
                while !turns.may_send(tid) {
                    waited += 1;
                }
                assert_eq!((sent, waited), (ppdus[n], waits[n]), "{tid:?} {us}");
            }
        }
    }
}
