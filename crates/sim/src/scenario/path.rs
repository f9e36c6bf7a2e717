//! The path between a station and its access point: rates, and what is lost.

use stillair_model::vocabulary::Duration;
use stillair_model::wifi::air::given::RateError;
use stillair_model::wifi::phy::errors::Snr;
use stillair_model::wifi::phy::{PhyRate, RetryChain};
use stillair_model::wifi::rate::ath9k_htc;
use stillair_model::wifi::rate::mask::McsMask;
use stillair_model::wifi::rate::minstrel::LegacyMinstrel;
use stillair_model::wifi::rate::table::{Formats, HtCapabilities, rates};

use super::InterfaceRef;

/// A station and its path to its access point; what is lost is the same in both directions.
#[derive(Clone, PartialEq, Debug)]
pub struct Station {
    /// Its access point's interface.
    pub ap: InterfaceRef,
    /// Rates of what it is sent.
    pub rates: Rates,
    /// Rates of what it sends: the same unless it has some of its own.
    pub uplink: Rates,
    /// What is lost.
    pub errors: Errors,
    /// Its share of the airtime against other stations', where the scheme has weights.
    pub airtime_weight: u32,
}

impl Station {
    /// Every rate that data may be sent at, in either direction.
    pub fn all_rates(&self) -> impl Iterator<Item = PhyRate> + use<> {
        self.rates.all().into_iter().chain(self.uplink.all())
    }

    /// Whether its link is one of HE.
    pub fn can_he(&self) -> bool {
        self.all_rates().any(|rate| matches!(rate, PhyRate::He(_)))
    }
}

/// What is lost on a path, the same in both directions.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "one for each interface, read once when the world is wired")]
pub enum Errors {
    /// Chances.
    Given {
        /// That nothing of a data PPDU is heard.
        unheard: f64,
        /// That an MPDU is broken.
        frame: GivenErrors,
        /// That an ACK or Block Ack is lost.
        answer: f64,
    },
    /// What follows from a signal-to-noise ratio.
    Noise(SnrSteps),
}

impl Errors {
    /// Nothing is lost.
    pub const NONE: Self = Self::Given { unheard: 0.0, frame: GivenErrors::Same(0.0), answer: 0.0 };
}

/// Chances that an MPDU is broken.
#[derive(Clone, PartialEq, Debug)]
pub enum GivenErrors {
    /// The same whatever the rate.
    Same(f64),
    /// By rate, each table from its time on, the first at 0; all rates that the path may use are in each.
    ByRate(Vec<(Duration, Vec<RateError>)>),
}

/// A signal-to-noise ratio from the start of the run on, and the times at which it changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SnrSteps {
    steps: [(Duration, Snr); Self::MOST],
    len: usize,
}

impl SnrSteps {
    /// Most ratios of a path.
    pub const MOST: usize = 16;

    /// The ratio that holds from the start on.
    pub const fn new(snr: Snr) -> Self {
        Self { steps: [(Duration::ZERO, snr); Self::MOST], len: 1 }
    }

    /// Another from `at` on; false if that is not after the last, or if there are too many.
    pub fn then(&mut self, at: Duration, snr: Snr) -> bool {
        let fits = self.len < Self::MOST && at > self.steps[self.len - 1].0;
        if fits {
            self.steps[self.len] = (at, snr);
            self.len += 1;
        }
        fits
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Duration, Snr)> + '_ {
        self.steps[..self.len].iter().copied()
    }
}

/// How the rates of a path are chosen, at each of its ends by itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rates {
    /// Always this chain.
    Fixed(RetryChain),
    /// Minstrel-HT, between devices that can do this, and what may be sent of what it chooses.
    MinstrelHt(HtCapabilities, McsMask),
    /// Minstrel, between devices without HT.
    Minstrel(LegacyMinstrel),
    /// That of the AR9271's firmware, between devices that can do this with one stream.
    Ath9kHtc(HtCapabilities),
}

impl Rates {
    /// Every rate that data may be sent at.
    pub fn all(&self) -> Vec<PhyRate> {
        match self {
            Self::Fixed(chain) => chain.entries().iter().map(|entry| entry.rate).collect(),
            Self::MinstrelHt(can, _) => rates(*can).collect(),
            Self::Minstrel(can) => can.rates().collect(),
            Self::Ath9kHtc(can) => ath9k_htc::rates(*can).collect(),
        }
    }

    /// Whether they are Minstrel-HT's with its groups of VHT.
    pub fn has_vht_groups(&self) -> bool {
        matches!(self, Self::MinstrelHt(can, _) if can.formats != Formats::Ht)
    }
}
