//! Rate mask that limits rate control: `iw dev DEVICE set bitrates`.

use super::Probe;
use crate::wifi::phy::{HtRate, PhyRate, RetryChain};

/// Allowed MCS indices, 0 to 31.
///
/// The mask is applied after rate control, which is not aware of it. A masked rate is never reported as
/// tried, so rate control keeps probing it. Such a probe is still sent alone.
// linux: net/mac80211/rate.c ieee80211_get_tx_rates, rate_control_apply_mask (4.4).
// deviation: applies to one link in both directions - in Linux, to all frames sent by an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct McsMask(u32);

impl McsMask {
    /// All MCS indices allowed.
    pub const ALL: Self = Self(u32::MAX);

    /// Allows only these MCS indices.
    pub fn only(mcs: impl IntoIterator<Item = u8>) -> Self {
        Self(mcs.into_iter().fold(0, |mask, mcs| mask | 1 << mcs))
    }

    /// Returns the allowed MCS indices in ascending order.
    pub fn allowed(self) -> impl DoubleEndedIterator<Item = u8> {
        (0..32).filter(move |mcs| self.0 >> mcs & 1 == 1)
    }

    /// Returns the chain with each masked rate replaced.
    pub(super) fn chain(self, chain: RetryChain) -> RetryChain {
        if self == Self::ALL {
            return chain;
        }
        let mut entries = [chain.entries()[0]; RetryChain::MAX];
        let n = chain.entries().len();
        for (masked, entry) in entries.iter_mut().zip(chain.entries()) {
            *masked = *entry;
            masked.rate = self.nearest(entry.rate);
        }
        RetryChain::new(&entries[..n]).expect("as many entries as before, with tries")
    }

    /// Returns the probe with a masked rate replaced.
    pub(super) fn probe(self, probe: Probe) -> Probe {
        Probe { rate: self.nearest(probe.rate), ..probe }
    }

    /// Replacement for a masked rate: the next lower allowed rate or, failing that, the next higher.
    // linux: net/mac80211/rate.c rate_idx_match_mcs_mask (4.4).
    fn nearest(self, rate: PhyRate) -> PhyRate {
        let PhyRate::Ht(rate) = rate else { return rate };
        let lower = self.allowed().rfind(|&mcs| mcs <= rate.mcs);
        let mcs = lower.or_else(|| self.allowed().next()).unwrap_or(rate.mcs);
        PhyRate::Ht(HtRate { mcs, ..rate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Duration, Instant, Seed};
    use crate::wifi::phy::{RateTry, Width};
    use crate::wifi::rate::minstrel_ht::{MinstrelHt, MinstrelVersion};
    use crate::wifi::rate::table::{Formats, HtCapabilities};
    use crate::wifi::rate::{RateControl, TxReport};
    use alloc::boxed::Box;
    use alloc::string::ToString;

    #[test]
    fn masked_rates_are_replaced() {
        let near = |mask: &[u8], rate: &str| {
            McsMask::only(mask.iter().copied()).nearest(PhyRate::parse(rate).unwrap()).to_string()
        };
        for (mask, rate, sent) in [
            (&[5, 7][..], "ht20-mcs0-sgi", "ht20-mcs5-sgi"),
            (&[5, 7], "ht20-mcs6-lgi", "ht20-mcs5-lgi"),
            (&[5, 7], "ht40-mcs15-sgi", "ht40-mcs7-sgi"),
            (&[0, 9], "ht20-mcs8-sgi", "ht20-mcs0-sgi"),
            (&[0, 9], "ofdm-24", "ofdm-24"),
        ] {
            assert_eq!(near(mask, rate), sent, "{mask:?} {rate}");
        }
    }

    #[test]
    fn masked_probes_are_still_sent_alone() {
        // Probes are sent at MCS 0, and still alone. Before 5.12, one frame in 18 is a probe: 16 plus twice
        // the integer part of the mean aggregate length, 1.9. Since 5.12 at most one per 20 ms; faster rates,
        // which are never reported, are always probed.
        for (version, probes) in [(MinstrelVersion::Before512, 134), (MinstrelVersion::From512, 236)] {
            let can =
                HtCapabilities { streams: 1, width: Width::Mhz20, short_gi: true, formats: Formats::Ht };
            let control = MinstrelHt::new(can, version, &mut Seed { seed: 7, run: 0 }.stream("rate"));
            let mut control = RateControl::MinstrelHt(Box::new(control), McsMask::only([0]));
            let (mut now, mut found, mut held) = (Instant::ZERO, 0, None);
            while now < Instant::ZERO + Duration::from_secs(5) {
                let probe = held.take().or_else(|| control.probe(now));
                let mut frames = 1;
                if probe.is_none() {
                    held = control.probe(now);
                    frames += u32::from(held.is_none());
                }
                found += u32::from(probe.is_some());
                let first = control.chain().entries()[0];
                let rate = probe.map_or(first.rate, |p| p.rate);
                let PhyRate::Ht(sent) = rate else { panic!("{rate}") };
                assert_eq!(sent.mcs, 0);
                now += Duration::from_millis(2 * u64::from(frames));
                control.sent(
                    now,
                    TxReport { tries: &[RateTry::new(rate, 1)], frames, acked: frames, probe, unsent: 0 },
                );
            }
            assert_eq!(found, probes, "{version:?}");
        }
    }
}
