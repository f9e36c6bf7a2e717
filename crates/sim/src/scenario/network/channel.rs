//! Wi-Fi channels.

use stillair_model::types::Duration;
use stillair_model::wifi::phy::frame::Cipher;
use stillair_model::wifi::phy::path_loss::PathLoss;
use stillair_model::wifi::phy::timing::{LONG_SLOT, Timing};
use stillair_model::wifi::phy::{Band, OfdmRate, PhyRate, Width};

use super::super::{Audible, CaptureLevels, Interferer, NeighbourLoad};
use super::ETHERNET;

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
    /// True if slots are 20 us long because stations without OFDM are present.
    pub long_slot: bool,
    /// True if a frame that finds the medium busy with no backoff pending draws a new backoff.
    pub busy_backoff: bool,
    /// Rate of CTS-to-self frames that protect OFDM and HT from stations without them, if such stations are
    /// present.
    pub protection: Option<PhyRate>,
    /// Beacon interval of each access point; `None` if beacons are off.
    pub beacon_interval: Option<Duration>,
}

impl Default for Channel {
    /// Returns an unnamed channel of 20 MHz at 5 GHz.
    // deviation: levels are a choice: those of ns-3's LogDistancePropagationLossModel, YansWifiPhy's 16.02
    // dBm and noise figure of 7 dB - free space up to one metre, exponent 3, and -101 dBm of thermal noise.
    // hostapd: src/ap/hw_features.c hostapd_prepare_rates (2.10) - basic rates are 1, 2, 5.5 and 11 Mbit/s at
    // 2.4 GHz, and 6, 12 and 24 Mbit/s at 5 GHz. hostapd.conf beacon_int - 100 time units of 1024 us.
    // spec: ieee80211-2016 17.3.10.6 - a preamble at -82 dBm or more in 20 MHz makes the medium busy.
    // 17.3.10.6, 19.3.19.5.2 and 21.3.18.5.2 - so do -62 dBm of other energy, 20 dB above the minimum
    // sensitivity, in the primary 20 MHz.
    // deviation: most radios detect weaker preambles, depending on the device.
    fn default() -> Self {
        Self {
            name: String::new(),
            band: Band::Ghz5,
            width: Width::Mhz20,
            mtu: ETHERNET,
            path_loss: PathLoss { tx_power: 16_000, at_1m: 46_700, per_decade: 30_000, noise: -94_000 },
            audible: Audible::default(),
            cca_sensitivity: -82_000,
            preamble_detection_threshold: -82_000,
            capture: None,
            interference: Vec::new(),
            cca_ed_threshold: -62_000,
            neighbours: Vec::new(),
            cipher: Cipher::None,
            basic_rate: PhyRate::Ofdm(OfdmRate::M6),
            long_slot: false,
            busy_backoff: true,
            protection: None,
            beacon_interval: Some(Duration::from_micros(102_400)),
        }
    }
}

impl Channel {
    /// Returns true if all radios take part in every exchange in the same way, so that one event per exchange
    /// is enough.
    pub fn is_one_medium(&self) -> bool {
        let own = self.interference.is_empty() && self.neighbours.is_empty();
        own && self.audible.is_full() && self.capture.is_none()
    }

    /// Returns the interframe spaces, slot time and lowest rate.
    pub const fn timing(&self) -> Timing {
        let short = Timing::of(self.band);
        short.with(self.basic_rate, if self.long_slot { LONG_SLOT } else { short.slot })
    }
}
