//! Power save: when a station sleeps and what wakes it ([`saver`]), when it leaves its channel to scan
//! ([`scan`]), what its access point keeps meanwhile ([`sleepers`]) and says of that in its beacons
//! ([`tim`]), and when that leaves its own channel ([`trips`]).
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
    /// An access point of such stations.
    AccessPoint(Sleepers),
}
