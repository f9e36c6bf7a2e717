//! Power save and scan statistics of a station.

use serde::Serialize;
use stillair_model::wifi::power::saver::SaverCounters;

/// Power save and scans of a station over the whole run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PowerSummary {
    /// Time in the doze state in s. The station wakes only for beacons.
    pub dozing_s: f64,
    /// Time on other channels, in s.
    pub away_s: f64,
    /// Transitions to the doze state.
    pub sleeps: u64,
    /// Scan trips to other channels.
    pub trips: u64,
    /// PS-Poll frames, each requesting one frame.
    pub ps_polls: u64,
    /// Trigger frames, each starting a service period (U-APSD).
    pub triggers: u64,
}

impl From<SaverCounters> for PowerSummary {
    fn from(c: SaverCounters) -> Self {
        Self {
            dozing_s: c.dozed.secs_f64(),
            away_s: c.away.secs_f64(),
            sleeps: c.sleeps,
            trips: c.trips,
            ps_polls: c.polls,
            triggers: c.triggers,
        }
    }
}
