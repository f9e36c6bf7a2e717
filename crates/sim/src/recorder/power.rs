//! Statistics of a station's power save and scans.

use serde::Serialize;
use stillair_model::wifi::power::saver::SaverCounters;

/// A station's power save and scans over the whole run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PowerSummary {
    /// Time in the doze state, in s; the station wakes only for beacons.
    pub dozing_s: f64,
    /// Time on other channels, in s.
    pub away_s: f64,
    /// Number of times that the station entered the doze state.
    pub sleeps: u64,
    /// Number of times that the station left its channel to scan.
    pub trips: u64,
    /// PS-Poll requests, each for one frame.
    pub ps_polls: u64,
    /// Triggers of a service period (U-APSD).
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
