use super::*;
use crate::types::Seed;
use crate::wifi::phy::{HtRate, RateTry, Width};
use crate::wifi::rate::table::Formats;
use crate::wifi::rate::{Probe, probe_chain};
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

mod vht;

const VERSIONS: [MinstrelVersion; 3] =
    [MinstrelVersion::Before512, MinstrelVersion::From512, MinstrelVersion::From519];

/// A saturated link with a delivery probability by rate.
struct Bench {
    control: MinstrelHt,
    now: Instant,
    /// The probe that ended the last aggregate.
    held: Option<Probe>,
    stream: RandomStream,
}

impl Bench {
    fn new(can: HtCapabilities, version: MinstrelVersion) -> Self {
        let seed = Seed { seed: 7, run: 0 };
        let control = MinstrelHt::new(can, version, &mut seed.stream("rate"));
        Self { control, now: Instant::ZERO, held: None, stream: seed.stream("air") }
    }

    /// Sends for `millis` ms between HT stations; each PPDU has up to `most` frames and takes 4 ms, or 0.3 ms
    /// for a single frame.
    fn send(&mut self, millis: u64, most: u32, works: impl Fn(HtRate) -> f64) {
        self.send_any(millis, most, |rate| match rate {
            PhyRate::Ht(rate) => works(rate),
            _ => unreachable!("all rates are HT"),
        });
    }

    /// Like `send`, at any rates.
    fn send_any(&mut self, millis: u64, most: u32, works: impl Fn(PhyRate) -> f64) {
        let end = self.now + Duration::from_millis(millis);
        while self.now < end {
            let look = |control: &mut MinstrelHt, now| {
                control.probe(now).map(|rate| Probe { rate, tries: 1, second: false })
            };
            let (mut frames, probe) = (1, self.held.take().or_else(|| look(&mut self.control, self.now)));
            while probe.is_none() && frames < most {
                self.held = look(&mut self.control, self.now);
                if self.held.is_some() {
                    break;
                }
                frames += 1;
            }
            let chain = self.control.chain();
            let chain = probe.map_or(chain, |probe| probe_chain(probe, &chain));
            self.now += Duration::from_micros(if frames > 1 { 4_000 } else { 300 });
            let (mut used, mut acked) = (Vec::new(), 0);
            'chain: for entry in chain.entries() {
                used.push(RateTry { tries: 0, ..*entry });
                for _ in 0..entry.tries {
                    used.last_mut().expect("just pushed").tries += 1;
                    acked = (0..frames).map(|_| u32::from(self.stream.chance(works(entry.rate)))).sum();
                    if acked > 0 {
                        break 'chain;
                    }
                }
            }
            self.control.sent(self.now, TxReport { tries: &used, frames, acked, probe, unsent: 0 });
        }
    }

    fn chain(&self) -> Vec<String> {
        self.control.chain().entries().iter().map(|e| format!("{} x{}", e.rate, e.tries)).collect()
    }

    fn best(&self) -> String {
        self.control.chain().entries()[0].rate.to_string()
    }
}

fn two_streams(width: Width) -> HtCapabilities {
    HtCapabilities { streams: 2, width, short_gi: true, formats: Formats::Ht }
}

#[test]
fn initial_chain() {
    for version in VERSIONS {
        let b = Bench::new(two_streams(Width::Mhz20), version);
        let entries = if version == MinstrelVersion::From519 { 4 } else { 3 };
        assert_eq!(b.chain(), vec!["ht20-mcs0-lgi x2"; entries]);
        assert_eq!(b.control.expected().bps(), 0);
    }
}

#[test]
fn expected_throughput() {
    let mut b = Bench::new(two_streams(Width::Mhz20), MinstrelVersion::Before512);
    b.control.mean_aggregate = 18 * ONE;
    let index = |m: &MinstrelHt, name: &str| m.index(PhyRate::parse(name).unwrap()).unwrap();
    let at = |b: &mut Bench, name: &str, prob| {
        let i = index(&b.control, name);
        b.control.rates[usize::from(i)].stats.prob = prob;
        b.control.throughput(i)
    };
    // 3,686,000 / (69,200 + 6,000) ns = 49; 49 * 100,000 / 4,096 = 1,196 (11,960 packets per second).
    assert_eq!(at(&mut b, "ht20-mcs15-sgi", ONE), 1_196);
    assert_eq!(at(&mut b, "ht20-mcs15-sgi", percent(90)), 1_196);
    // 2,048,000 / 75,200 = 27.
    assert_eq!(at(&mut b, "ht20-mcs15-sgi", ONE / 2), 659);
    assert_eq!([409, 408].map(|prob| at(&mut b, "ht20-mcs15-sgi", prob)), [122, 0]);
    // 3,686,000 / 1,338,800 = 2: the slowest rates are hardly distinguished.
    assert_eq!([at(&mut b, "ht20-mcs0-sgi", ONE), at(&mut b, "ht20-mcs0-lgi", ONE)], [48, 48]);
    let mut b = Bench::new(two_streams(Width::Mhz20), MinstrelVersion::From512);
    b.control.mean_aggregate = 18 * ONE;
    // 3,686,000,000 / (66,640 + 6,000) ns.
    assert_eq!(at(&mut b, "ht20-mcs15-sgi", ONE), 1_238);
    assert_eq!([at(&mut b, "ht20-mcs0-sgi", ONE), at(&mut b, "ht20-mcs0-lgi", ONE)], [67, 60]);
}

#[test]
fn a_perfect_link_ends_the_chain_with_one_stream() {
    for version in VERSIONS {
        let mut b = Bench::new(two_streams(Width::Mhz20), version);
        b.send(3_000, 32, |_| 1.0);
        let chain = b.chain();
        let last = chain.last().expect("a chain has entries");
        assert_eq!([&chain[0], last], ["ht20-mcs15-sgi x2", "ht20-mcs7-sgi x2"], "{version:?}");
        let mut b = Bench::new(two_streams(Width::Mhz40), version);
        b.send(3_000, 32, |_| 1.0);
        let chain = b.chain();
        let last = chain.last().expect("a chain has entries");
        assert_eq!([&chain[0], last], ["ht40-mcs15-sgi x4", "ht40-mcs7-sgi x2"], "{version:?}");
    }
}

#[test]
fn the_chain_is_filled_since_5_19() {
    // The best rates by throughput, followed by the most reliable; all but the first after an RTS.
    let chain = |version| {
        let mut b = Bench::new(two_streams(Width::Mhz20), version);
        b.send(3_000, 32, |rate| if rate.mcs % 8 < 5 { 1.0 } else { 0.0 });
        let rts: Vec<_> = b.control.chain().entries().iter().map(|e| e.rts).collect();
        assert_eq!(rts.iter().filter(|&&rts| !rts).count(), 1, "{version:?}");
        assert!(!rts[0], "{version:?}");
        b.chain()
    };
    assert_eq!(
        chain(MinstrelVersion::From512),
        ["ht20-mcs12-sgi x2", "ht20-mcs11-sgi x2", "ht20-mcs4-sgi x2"]
    );
    assert_eq!(
        chain(MinstrelVersion::From519),
        ["ht20-mcs12-sgi x2", "ht20-mcs11-sgi x2", "ht20-mcs11-lgi x2", "ht20-mcs4-sgi x2"]
    );
}

#[test]
fn only_one_stream_works() {
    for version in VERSIONS {
        let mut b = Bench::new(two_streams(Width::Mhz20), version);
        b.send(3_000, 16, |rate| if rate.streams() == 1 && rate.mcs <= 5 { 0.95 } else { 0.0 });
        assert_eq!(b.best(), "ht20-mcs5-sgi", "{version:?}");
    }
}

#[test]
fn short_packets_are_tried_more_often() {
    let mut b = Bench::new(two_streams(Width::Mhz20), MinstrelVersion::Before512);
    // Single frames carry the full 108 us, and then 4.4 cannot distinguish the guard intervals: 3,686,000 by
    // 177,200 or by 184,000 ns is 20. Tries: 206 us of backoff and 184 us each for two, then 467, 755, 1,331
    // and 2,483 us.
    b.send(3_000, 1, |_| 1.0);
    assert_eq!(b.chain()[0], "ht20-mcs15-lgi x6");
}

/// Intervals until the best rate is `want`.
fn recovery(b: &mut Bench, want: &str, works: impl Fn(HtRate) -> f64 + Copy) -> u32 {
    (0..1_000)
        .find(|_| {
            let there = b.best() == want;
            if !there {
                b.send(50, 32, works);
            }
            there
        })
        .expect("it gets there")
}

#[test]
fn adaptation_to_a_step() {
    // Intervals of 50 ms until recovery, down and up, by version. Since 5.12, up is a matter of luck: other
    // seeds take from 2 to 19, before and since 5.19.
    let mut table = Vec::new();
    for version in VERSIONS {
        let mut b = Bench::new(two_streams(Width::Mhz20), version);
        let poor = |rate: HtRate| if rate.mcs <= 4 { 1.0 } else { 0.0 };
        let good = |_: HtRate| 1.0;
        b.send(3_000, 32, good);
        let down = recovery(&mut b, "ht20-mcs4-sgi", poor);
        b.send(3_000, 32, poor);
        table.push((down, recovery(&mut b, "ht20-mcs15-sgi", good)));
    }
    assert_eq!(table, [(4, 13), (6, 4), (5, 16)]);
}

#[test]
fn probes_are_few() {
    for (version, least, most) in [
        (MinstrelVersion::Before512, 15, 22),
        (MinstrelVersion::From512, 5, 10),
        (MinstrelVersion::From519, 5, 10),
    ] {
        let mut b = Bench::new(two_streams(Width::Mhz20), version);
        b.send(10_000, 32, |rate| if rate.mcs % 8 < 6 { 1.0 } else { 0.3 });
        let (total, probes) = b.control.totals();
        let per_mille = 1000 * probes / total;
        assert!((least..most).contains(&per_mille), "{version:?}: {probes} of {total}");
    }
}
