//! Path between two devices: rate selection and losses.

use stillair_model::types::{Ac, Duration, Instant, Seed};
use stillair_model::wifi::air::given::{FrameErrors, RateErrors};
use stillair_model::wifi::air::reception::{Noise, PathErrors};
use stillair_model::wifi::rate::RateControl;
use stillair_model::wifi::rate::ath9k_htc::Ath9kHtc;
use stillair_model::wifi::rate::minstrel::Minstrel;
use stillair_model::wifi::rate::minstrel_ht::MinstrelHt;
use stillair_model::wifi::timeline::Timeline;
use stillair_model::wifi::tx::transmitter::Peer;

use super::Plan;
use crate::scenario::{self, ErrorTables, GivenErrors, InterfaceRef, PathTrace, Rates};

impl Plan<'_> {
    /// Returns the rate selection for frames from one device to another, as implemented by the sender's
    /// kernel.
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
            Rates::MinstrelHt(mut can, mask) => {
                let profile = &self.scenario.nodes[at.node].profile;
                if rates.has_vht_groups() {
                    can.streams = can.streams.min(profile.most_vht_streams());
                }
                let version = profile.minstrel_ht;
                RateControl::MinstrelHt(Box::new(MinstrelHt::new(can, version, &mut stream())), mask)
            }
            // deviation: the same for all kernels; Minstrel-HT has groups for these rates only since 5.12.
            Rates::Minstrel(can) => {
                let protected = self.scenario.channels[self.wifi_of(at).channel].protection.is_some();
                RateControl::Minstrel(Box::new(Minstrel::new(can, protected, &mut stream())))
            }
            Rates::Ath9kHtc(can) => RateControl::Ath9kHtc(Box::new(Ath9kHtc::new(can))),
        }
    }
}

/// Returns the losses of a path. Each direction draws its own.
pub(super) fn errors(of: &scenario::Errors, tables: &ErrorTables) -> PathErrors {
    match of {
        scenario::Errors::Given { unheard, frame, answer } => {
            let frame = match frame {
                &GivenErrors::Same(chance) => FrameErrors::Same(chance),
                GivenErrors::ByRate(tables) => {
                    let tables = tables.iter().map(|(at, all)| (*at, RateErrors::new(all))).collect();
                    FrameErrors::ByRate(Box::new(timeline(tables, None)))
                }
            };
            PathErrors::Given { unheard: *unheard, frame, answer: *answer }
        }
        scenario::Errors::Noise(steps) => {
            let steps: Vec<_> = steps.iter().map(|(at, snr)| (Instant::ZERO + at, snr)).collect();
            let noise = Noise::with_tables(&steps, |snr| tables.of(snr));
            PathErrors::Noise(Box::new(noise.expect("a path has a ratio from the start on")))
        }
    }
}

/// Makes a peer's rates and errors follow a trace. `txop` is as for [`Peer::choose`].
pub(super) fn follow(peer: &mut Peer, trace: &PathTrace, txop: impl Fn(Ac) -> Duration) {
    let chains = trace.steps.iter().map(|&(at, chain, _)| (at, chain)).collect();
    peer.rate = RateControl::Traced(Box::new(timeline(chains, trace.length)));
    let losses = trace.steps.iter().map(|&(at, _, loss)| (at, loss)).collect();
    peer.errors = PathErrors::Traced(Box::new(timeline(losses, trace.length)));
    peer.choose(txop);
}

/// Returns the timeline of a trace or a table that was checked when it was read.
pub(super) fn timeline<T>(steps: Vec<(Duration, T)>, length: Option<Duration>) -> Timeline<T> {
    Timeline::new(steps, length).expect("it begins at 0 and is in order")
}
