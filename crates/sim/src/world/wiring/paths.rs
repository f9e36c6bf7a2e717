//! What a path between two devices is made of: how its rates are chosen, and what is lost on it.

use stillair_model::vocabulary::{Instant, Seed};
use stillair_model::wifi::air::given::{FrameErrors, RateErrors};
use stillair_model::wifi::air::reception::{Noise, PathErrors};
use stillair_model::wifi::rate::RateControl;
use stillair_model::wifi::rate::minstrel::Minstrel;
use stillair_model::wifi::rate::minstrel_ht::{MinstrelHt, Version};

use super::Plan;
use crate::scenario::{self, GivenErrors, InterfaceRef, Rates};

impl Plan<'_> {
    /// What chooses the rates of frames from one device to another: each end by its own kernel.
    pub(super) fn rate_control(
        &self,
        at: InterfaceRef,
        peer: InterfaceRef,
        rates: &Rates,
        seed: Seed,
    ) -> RateControl {
        let stream = || seed.stream(&format!("{}.rate.{}", self.name(at), self.name(peer)));
        match *rates {
            Rates::Fixed(chain) => RateControl::Fixed(chain),
            Rates::MinstrelHt(can) => {
                let by_need = self.scenario.nodes[at.node].profile.minstrel_ht_probes_by_need;
                let version = if by_need { Version::From512 } else { Version::Before512 };
                RateControl::MinstrelHt(Box::new(MinstrelHt::new(can, version, &mut stream())))
            }
            // deviation: the same with every kernel - since 5.12 Minstrel-HT has groups for these rates.
            Rates::Minstrel(can) => {
                let protected = self.scenario.channels[self.wifi_of(at).channel].protection.is_some();
                RateControl::Minstrel(Box::new(Minstrel::new(can, protected, &mut stream())))
            }
        }
    }
}

/// The losses of a path, of which each direction has its own draws.
pub(super) fn errors(of: &scenario::Errors) -> PathErrors {
    match of {
        scenario::Errors::Given { unheard, frame, answer } => {
            let frame = match frame {
                &GivenErrors::Same(chance) => FrameErrors::Same(chance),
                GivenErrors::ByRate(all) => FrameErrors::ByRate(RateErrors::new(all)),
            };
            PathErrors::Given { unheard: *unheard, frame, answer: *answer }
        }
        scenario::Errors::Noise(steps) => {
            let steps: Vec<_> = steps.iter().map(|(at, snr)| (Instant::ZERO + at, snr)).collect();
            PathErrors::Noise(Box::new(Noise::new(&steps).expect("a path has a ratio from the start on")))
        }
    }
}
