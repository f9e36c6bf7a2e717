//! Wi-Fi channels.

use stillair_model::vocabulary::Duration;
use stillair_model::wifi::phy::frame::Cipher;
use stillair_model::wifi::phy::path_loss::PathLoss;
use stillair_model::wifi::phy::timing::{LONG_SLOT, Timing};
use stillair_model::wifi::phy::{Band, PhyRate, Width};

use super::super::{Audible, CaptureLevels, Interferer, NeighbourLoad};

/// A Wi-Fi channel: one medium that everyone on it shares.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    /// Name in the scenario.
    pub name: String,
    /// Frequency band.
    pub band: Band,
    /// Width; stations may use less.
    pub width: Width,
    /// Largest packet of its interfaces in bytes, from the IP header on.
    pub mtu: u32,
    /// How loud a signal is at a distance, and how loud the noise.
    pub path_loss: PathLoss,
    /// Who hears whom.
    pub audible: Audible,
    /// Least level in thousandths of a dBm at which nodes with a position sense each other.
    pub sensed_from: i32,
    /// And at which they understand each other.
    pub understood_from: i32,
    /// Frames come through others at the same time that are quieter.
    pub capture: Option<CaptureLevels>,
    /// Interference that is not Wi-Fi.
    pub interference: Vec<Interferer>,
    /// Least level of such energy in thousandths of a dBm that makes the medium busy.
    pub energy_from: i32,
    /// Neighbouring networks as load.
    pub neighbours: Vec<NeighbourLoad>,
    /// How the payload of its data frames is encrypted.
    pub cipher: Cipher,
    /// Lowest basic rate.
    pub lowest_rate: PhyRate,
    /// Slots are of 20 us, because stations without OFDM are there.
    pub long_slot: bool,
    /// A frame that finds the medium busy and no back-off left draws a new one.
    pub busy_backoff: bool,
    /// Rate of the CTS that protects OFDM and HT from stations without them, where such are.
    pub protection: Option<PhyRate>,
    /// Time between beacons of each access point; none where beacons are off.
    pub beacon_interval: Option<Duration>,
}

impl Channel {
    /// Whether all its radios take part in every exchange in the same way, so that one event is enough for it.
    pub fn is_one_medium(&self) -> bool {
        let own = self.interference.is_empty() && self.neighbours.is_empty();
        own && self.audible.is_full() && self.capture.is_none()
    }

    /// Its gaps, slots and lowest rate.
    pub const fn timing(&self) -> Timing {
        let short = Timing::of(self.band);
        short.with(self.lowest_rate, if self.long_slot { LONG_SLOT } else { short.slot })
    }
}
