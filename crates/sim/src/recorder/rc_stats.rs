//! Rate control's statistics of the rates of a link, with the columns of `rc_stats_csv`.

use serde::Serialize;
use stillair_model::wifi::rate::StatsRow;
use stillair_model::wifi::rate::stats::ONE;
use stillair_model::wifi::rate::table::PACKET_BITS;

/// One rate of a link at the end of a run.
// linux: net/mac80211/rc80211_minstrel_ht_debugfs.c (4.4) - the columns of rc_stats_csv.
#[derive(Clone, Debug, Serialize)]
pub struct RateSummary {
    /// Width and guard interval.
    pub mode: &'static str,
    /// The rate.
    pub rate: String,
    /// What it is used for: `A` to `D` by throughput, `P` by reliability.
    pub best: String,
    /// Expected throughput in Mbit/s.
    pub avg_tp_mbps: f64,
    /// Average chance of success in per cent.
    pub avg_prob_percent: f64,
    /// Tries that it would have as the first of a chain.
    pub retry: u8,
    /// Frames acknowledged in the last interval.
    pub suc: u64,
    /// Frames tried in the last interval, each try counted.
    pub att: u64,
    /// Frames acknowledged in all intervals that have ended.
    pub success: u64,
    /// Frames tried in them.
    pub attempts: u64,
}

impl From<StatsRow> for RateSummary {
    fn from(row: StatsRow) -> Self {
        let s = row.stats;
        Self {
            mode: row.mode,
            rate: row.rate.to_string(),
            best: row.places,
            avg_tp_mbps: (row.packets_per_second * PACKET_BITS) as f64 / 1e6,
            avg_prob_percent: f64::from(s.prob) * 100.0 / f64::from(ONE),
            retry: row.tries,
            suc: s.last.successes,
            att: s.last.attempts,
            success: s.total.successes,
            attempts: s.total.attempts,
        }
    }
}
