//! Power save and scans: a station's sleep and wakeup ([`saver`]), its scans on other channels ([`scan`]),
//! the access point's buffers for sleeping stations ([`sleepers`]), their announcement in beacons ([`tim`]),
//! and the access point's own scans ([`trips`]).
//!
//! Pure algorithms: the caller passes the time, and frames to send are return values; [`super::dev`] sends
//! them.

pub mod group;
pub mod saver;
pub mod scan;
pub mod sleepers;
pub mod tim;
pub mod trips;

use saver::Saver;
use sleepers::Sleepers;

/// Power-save state of a device.
#[derive(Debug)]
pub enum Power {
    /// A station that sleeps, or leaves its channel to scan.
    Station(Saver),
    /// The access point of such stations.
    AccessPoint(Sleepers),
}
