//! Rate control statistics of a link, with the columns of `rc_stats_csv`.

use serde::Serialize;
use stillair_model::wifi::rate::StatsRow;
use stillair_model::wifi::rate::stats::ONE;
use stillair_model::wifi::rate::table::PACKET_BITS;

/// Statistics of one rate of a link at the end of a run.
// linux: net/mac80211/rc80211_minstrel_ht_debugfs.c (4.4) - the columns of rc_stats_csv.
#[derive(Clone, Debug, Serialize)]
pub struct RateSummary {
    /// Channel width and guard interval.
    pub mode: &'static str,
    /// Name of the rate.
    pub rate: String,
    /// Role of the rate: `A` to `D` for the best throughputs, `P` for the best probability.
    pub best: String,
    /// Expected throughput in Mbit/s.
    pub avg_tp_mbps: f64,
    /// Average success probability in %.
    pub avg_prob_percent: f64,
    /// Tries as the first rate of a retry chain.
    pub retry: u8,
    /// Frames acknowledged in the last interval.
    pub suc: u64,
    /// Frame tries in the last interval.
    pub att: u64,
    /// Frames acknowledged in all completed intervals.
    pub success: u64,
    /// Frame tries in all completed intervals.
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
