//! Statistics of a station's power save and scans.

use serde::Serialize;
use stillair_model::wifi::power::saver::SaverCounters;

/// A station's power save and scans over the whole run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PowerSummary {
    /// Time in which it heard beacons alone, and in which it was on other channels.
    pub dozing_s: f64,
    /// See there.
    pub away_s: f64,
    /// How often it fell asleep, and how often it left its channel.
    pub sleeps: u64,
    /// See there.
    pub trips: u64,
    /// Frames that it asked for one by one, and times that it asked for a service period.
    pub ps_polls: u64,
    /// See there.
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
