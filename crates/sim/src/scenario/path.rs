//! The path between a station and its access point: rates and losses.

use stillair_model::types::Duration;
use stillair_model::wifi::air::given::RateError;
use stillair_model::wifi::phy::errors::Snr;
use stillair_model::wifi::phy::{PhyRate, RetryChain};
use stillair_model::wifi::rate::ath9k_htc;
use stillair_model::wifi::rate::mask::McsMask;
use stillair_model::wifi::rate::minstrel::LegacyMinstrel;
use stillair_model::wifi::rate::table::{Formats, HtCapabilities, rates};

use super::InterfaceRef;

/// A station and its path to its access point. Errors are the same in both directions.
#[derive(Clone, PartialEq, Debug)]
pub struct Station {
    /// The access point's interface.
    pub ap: InterfaceRef,
    /// Rates of downlink data.
    pub rates: Rates,
    /// Rates of uplink data: those of the downlink, unless the scenario sets others.
    pub uplink: Rates,
    /// True if the scenario gives the retry chain: of the downlink, of the uplink.
    pub own_chain: [bool; 2],
    /// Errors of the path.
    pub errors: Errors,
    /// Airtime weight of the station, for schemes with weights.
    pub airtime_weight: u32,
}

impl Station {
    /// Returns all rates at which data may be sent, in either direction.
    pub fn all_rates(&self) -> impl Iterator<Item = PhyRate> + use<> {
        self.rates.all().into_iter().chain(self.uplink.all())
    }

    /// Returns true if the link uses 802.11ax (HE).
    pub fn can_he(&self) -> bool {
        self.all_rates().any(|rate| matches!(rate, PhyRate::He(_)))
    }
}

/// Errors of a path, the same in both directions.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "one for each interface, read once when the world is wired")]
pub enum Errors {
    /// Given probabilities.
    Given {
        /// Probability that a data PPDU is not detected.
        unheard: f64,
        /// Probability of an MPDU error.
        frame: GivenErrors,
        /// Probability that an ACK or Block Ack is lost.
        answer: f64,
    },
    /// Errors computed from a signal-to-noise ratio.
    Noise(SnrSteps),
}

impl Errors {
    /// No errors.
    pub const NONE: Self = Self::Given { unheard: 0.0, frame: GivenErrors::Same(0.0), answer: 0.0 };
}

/// Probability of an MPDU error.
#[derive(Clone, PartialEq, Debug)]
pub enum GivenErrors {
    /// The same for all rates.
    Same(f64),
    /// Tables by rate, each with its start time, the first at 0. Each table covers all rates that the path
    /// may use.
    ByRate(Vec<(Duration, Vec<RateError>)>),
}

/// A signal-to-noise ratio that may change at given times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SnrSteps {
    steps: [(Duration, Snr); Self::MOST],
    len: usize,
}

impl SnrSteps {
    /// Maximum number of ratios of a path.
    pub const MOST: usize = 16;

    /// Creates a ratio that applies from the start.
    pub const fn new(snr: Snr) -> Self {
        Self { steps: [(Duration::ZERO, snr); Self::MOST], len: 1 }
    }

    /// Adds a ratio that applies from `at` on. Returns false if `at` is not after the last time, or if there
    /// are too many ratios.
    pub fn then(&mut self, at: Duration, snr: Snr) -> bool {
        let fits = self.len < Self::MOST && at > self.steps[self.len - 1].0;
        if fits {
            self.steps[self.len] = (at, snr);
            self.len += 1;
        }
        fits
    }

    /// Returns all ratios in order, with their start times.
    pub fn iter(&self) -> impl Iterator<Item = (Duration, Snr)> + '_ {
        self.steps[..self.len].iter().copied()
    }
}

/// Rate selection on a path. Each end selects its own rates.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rates {
    /// A fixed retry chain.
    Fixed(RetryChain),
    /// Minstrel-HT with the capabilities common to both devices, and the mask of allowed rates.
    MinstrelHt(HtCapabilities, McsMask),
    /// Minstrel, between devices without HT.
    Minstrel(LegacyMinstrel),
    /// Rate control of the AR9271 firmware, with the single-stream capabilities common to both devices.
    Ath9kHtc(HtCapabilities),
}

impl Rates {
    /// Returns all rates at which data may be sent.
    pub fn all(&self) -> Vec<PhyRate> {
        match self {
            Self::Fixed(chain) => chain.entries().iter().map(|entry| entry.rate).collect(),
            Self::MinstrelHt(can, _) => rates(*can).collect(),
            Self::Minstrel(can) => can.rates().collect(),
            Self::Ath9kHtc(can) => ath9k_htc::rates(*can).collect(),
        }
    }

    /// Returns true if Minstrel-HT is used with VHT groups.
    pub fn has_vht_groups(&self) -> bool {
        matches!(self, Self::MinstrelHt(can, _) if can.formats != Formats::Ht)
    }
}
