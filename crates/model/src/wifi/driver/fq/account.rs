//! TIDs are listed, but airtime is counted by station and access category: one TID represents each of these.

use crate::sched::drr::{Drr, Member};
use crate::types::{Ac, Duration};
use crate::wifi::config::AirtimeParams;
use crate::wifi::tx::transmitter::{TIDS, TidIndex};

/// For so long after it had frames a station counts among those that share the air.
// linux: net/mac80211/ieee80211_i.h AIRTIME_ACTIVE_DURATION (5.15) - 100 ms.
pub(super) const ACTIVE: Duration = Duration::from_millis(100);

/// The TID that stands for all of its peer's TIDs of its category.
pub(super) const fn representative(tid: TidIndex) -> TidIndex {
    let number = match tid.ac() {
        Ac::Vo => 6,
        Ac::Vi => 4,
        Ac::Be => 0,
        Ac::Bk => 1,
    };
    TidIndex::new(tid.peer(), number)
}

/// What a station may use in a round, in nanoseconds.
pub(super) const fn quantum(params: &AirtimeParams) -> i64 {
    params.quantum.nanos() as i64
}

/// A member for each TID, those of a station and category with one deficit, which begins at a quantum of this
/// many nanoseconds.
// linux: drivers/net/wireless/ath/ath9k (4.11) - TIDs are listed, the deficit is one per station and access
// category.
pub(super) fn deficits(peers: usize, quantum: i64) -> Drr {
    let tids = (peers * TIDS) as u32;
    let mut pool = Drr::new(tids);
    for tid in (0..tids).map(TidIndex) {
        pool.share(Member(tid.0), Member(representative(tid).0));
        pool.set_deficit(Member(tid.0), quantum);
    }
    pool
}
