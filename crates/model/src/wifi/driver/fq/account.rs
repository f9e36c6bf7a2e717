//! TIDs are listed, but airtime is counted per station and access category, represented by one TID.

use crate::sched::drr::{Drr, Member};
use crate::types::{Ac, Duration};
use crate::wifi::config::AirtimeParams;
use crate::wifi::tx::transmitter::{TIDS, TidIndex};

/// Time for which a station counts as active after it had frames.
// linux: net/mac80211/ieee80211_i.h AIRTIME_ACTIVE_DURATION (5.15) - 100 ms.
pub(super) const ACTIVE: Duration = Duration::from_millis(100);

/// Returns the TID that represents all TIDs of its peer and category.
pub(super) const fn representative(tid: TidIndex) -> TidIndex {
    let number = match tid.ac() {
        Ac::Vo => 6,
        Ac::Vi => 4,
        Ac::Be => 0,
        Ac::Bk => 1,
    };
    TidIndex::new(tid.peer(), number)
}

/// Airtime that a station may use per round, in nanoseconds.
pub(super) const fn quantum(params: &AirtimeParams) -> i64 {
    params.quantum.nanos() as i64
}

/// Creates a member per TID. The members of a station and category share a deficit, initially `quantum`
/// nanoseconds.
// linux: drivers/net/wireless/ath/ath9k (4.11) - lists TIDs, with one deficit per station and access
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
