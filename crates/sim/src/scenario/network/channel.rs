//! Wi-Fi channels.

use stillair_model::types::Duration;
use stillair_model::wifi::phy::frame::Cipher;
use stillair_model::wifi::phy::path_loss::PathLoss;
use stillair_model::wifi::phy::timing::{LONG_SLOT, Timing};
use stillair_model::wifi::phy::{Band, PhyRate, Width};

use super::super::{Audible, CaptureLevels, Interferer, NeighbourLoad};

/// A Wi-Fi channel: one medium shared by all of its interfaces.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    /// Name in the scenario.
    pub name: String,
    /// Frequency band.
    pub band: Band,
    /// Channel width; stations may use less.
    pub width: Width,
    /// MTU of its interfaces in bytes, from the IP header on.
    pub mtu: u32,
    /// Path loss and noise level: received power at a distance.
    pub path_loss: PathLoss,
    /// Audibility: which radios hear each other.
    pub audible: Audible,
    /// Lowest level, in thousandths of a dBm, at which nodes with a position sense each other.
    pub cca_sensitivity: i32,
    /// Lowest level, in thousandths of a dBm, at which nodes with a position decode each other's frames.
    pub preamble_detection_threshold: i32,
    /// Capture effect: levels for which a frame is received despite quieter frames at the same time.
    pub capture: Option<CaptureLevels>,
    /// Interference that is not Wi-Fi.
    pub interference: Vec<Interferer>,
    /// Energy detection threshold, in thousandths of a dBm: interference from this level on makes the medium
    /// busy.
    pub cca_ed_threshold: i32,
    /// Neighbouring networks as load.
    pub neighbours: Vec<NeighbourLoad>,
    /// Cipher of data frames.
    pub cipher: Cipher,
    /// Lowest basic rate.
    pub basic_rate: PhyRate,
    /// Whether slots are 20 us long, because stations without OFDM are present.
    pub long_slot: bool,
    /// Whether a frame that finds the medium busy, with no backoff left, draws a new backoff.
    pub busy_backoff: bool,
    /// Rate of CTS-to-self frames that protect OFDM and HT from stations without them, if such stations are
    /// present.
    pub protection: Option<PhyRate>,
    /// Beacon interval of each access point; `None` if beacons are off.
    pub beacon_interval: Option<Duration>,
}

impl Channel {
    /// Whether all radios take part in every exchange in the same way, so that one event per exchange is
    /// enough.
    pub fn is_one_medium(&self) -> bool {
        let own = self.interference.is_empty() && self.neighbours.is_empty();
        own && self.audible.is_full() && self.capture.is_none()
    }

    /// Interframe spaces, slot time and lowest rate.
    pub const fn timing(&self) -> Timing {
        let short = Timing::of(self.band);
        short.with(self.basic_rate, if self.long_slot { LONG_SLOT } else { short.slot })
    }
}
