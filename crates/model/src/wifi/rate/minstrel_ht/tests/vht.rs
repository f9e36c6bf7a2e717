//! Links between VHT stations.

use super::*;
use crate::wifi::phy::errors::{ErrorTable, Snr};
use crate::wifi::phy::ppdu_duration_without_extension;
use crate::wifi::phy::{Gi, VhtRate};
use crate::wifi::rate::table::{Format, rates};

fn can(streams: u8, width: Width, formats: Formats) -> HtCapabilities {
    HtCapabilities { streams, width, short_gi: true, formats }
}

fn vht(streams: u8) -> HtCapabilities {
    can(streams, Width::Mhz80, Formats::Vht)
}

#[test]
fn groups_match_linux() {
    let modes = |can| groups(can).iter().map(|g| format!("{} {}", g.mode(), g.streams)).collect::<Vec<_>>();
    assert_eq!(
        modes(vht(2)),
        [
            "VHT20/LGI 1",
            "VHT20/LGI 2",
            "VHT20/SGI 1",
            "VHT20/SGI 2",
            "VHT40/LGI 1",
            "VHT40/LGI 2",
            "VHT40/SGI 1",
            "VHT40/SGI 2",
            "VHT80/LGI 1",
            "VHT80/LGI 2",
            "VHT80/SGI 1",
            "VHT80/SGI 2",
        ]
    );
    // 160 MHz adds no groups; together with HT, VHT groups come last.
    assert_eq!(modes(can(2, Width::Mhz160, Formats::Vht)), modes(vht(2)));
    let both = modes(can(2, Width::Mhz80, Formats::HtAndVht));
    assert_eq!((both.len(), &both[7][..], &both[8][..]), (20, "HT40/SGI 2", "VHT20/LGI 1"));
    assert_eq!(both[8..], modes(vht(2)));
    // MCS 9 at 20 MHz exists only with three streams; MCS 6 at 80 MHz does not exist with three.
    let count = |streams, width| rates(can(streams, width, Formats::Vht)).count();
    assert_eq!([1, 2, 3, 4].map(|n| count(n, Width::Mhz20)), [18, 36, 56, 74]);
    assert_eq!([1, 2, 3, 4].map(|n| count(n, Width::Mhz80)), [58, 116, 174, 232]);
    assert!(rates(vht(4)).all(|rate| matches!(rate, PhyRate::Vht(r) if r.is_allowed())));
    let MinstrelHt { groups, rates, .. } =
        MinstrelHt::new(vht(4), MinstrelVersion::From512, &mut Seed { seed: 1, run: 0 }.stream("rate"));
    for (n, group) in groups.iter().enumerate() {
        for place in 0..group.of.places() {
            let known = group.at(place).map(|i| &rates[usize::from(i)]);
            let at = known.map(|known| (known.rate, usize::from(known.group)));
            assert_eq!(at, group.of.rate(place).map(|rate| (rate, n)), "{} {place}", group.of.mode());
        }
    }
}

#[test]
fn packet_time_matches_the_symbols_on_the_air() {
    for group in groups(vht(4)) {
        for rate in group.rates() {
            let place = group.place(rate).unwrap();
            let nothing = ppdu_duration_without_extension(rate, 0).nanos();
            // Sixteen packets: SERVICE and tail bits may need another symbol, and VHT rounds up to 4 us.
            let on_air = ppdu_duration_without_extension(rate, 16 * 1_200).nanos() - nothing;
            for time in [packet_time(group, place), packet_time_in_aggregate(group, place)] {
                let all = 16 * time.nanos();
                assert!(on_air.abs_diff(all) <= 8_000 + all / 400, "{rate}: {on_air}, {all}");
            }
        }
    }
}

#[test]
fn throughput_at_80_mhz_with_two_streams() {
    // Computed independently from the formulas: 234 times coded bits times code rate times two bits per
    // symbol, 153,600 bits in whole symbols of 3.6 us plus 0.8 us, divided by 16, minus the bits of MCS 0
    // that do not fit into 16 since 5.0; plus 108 us / 16; 90 % arrive.
    let times = [147_875, 74_075, 49_325, 37_175, 24_800, 18_725, 16_475, 14_900, 12_425, 11_300];
    let cut = [147_872, 74_072, 49_324, 37_172, 24_800, 18_724, 16_472, 14_900, 12_424, 11_300];
    let old = [561, 1_098, 1_586, 2_026, 2_832, 3_515, 3_857, 4_150, 4_687, 4_980];
    let new = [581, 1_113, 1_604, 2_048, 2_852, 3_532, 3_875, 4_156, 4_693, 4_985];
    for (version, times, want) in [
        (MinstrelVersion::Before512, times, old),
        (MinstrelVersion::From512, cut, new),
        (MinstrelVersion::From519, cut, new),
    ] {
        let mut b = Bench::new(vht(2), version);
        b.control.mean_aggregate = 16 * ONE;
        for mcs in 0..10 {
            let rate = VhtRate { mcs, streams: 2, width: Width::Mhz80, gi: Gi::Short };
            let index = b.control.index(PhyRate::Vht(rate)).unwrap();
            b.control.rates[usize::from(index)].stats.prob = ONE;
            let got = (b.control.packet(index).nanos(), b.control.throughput(index));
            let n = usize::from(mcs);
            assert_eq!(got, (times[n], want[n]), "{version:?} {mcs}");
        }
    }
}

#[test]
fn three_streams_at_20_mhz_have_an_mcs_9() {
    // Three times 346 bits, where the standard has 1040: 148 symbols of 3.6 us plus 0.8 us, divided by 16.
    let group = Group { format: Format::Vht, streams: 3, width: Width::Mhz20, gi: Gi::Short };
    assert_eq!(packet_time(group, 9).nanos(), 33_350);
    assert_eq!(packet_time_in_aggregate(group, 9).nanos(), 33_344);
}

#[test]
fn a_perfect_link_uses_80_mhz() {
    for version in VERSIONS {
        for (streams, fastest, surest) in [
            (1, "vht80-mcs9-nss1-sgi", "vht80-mcs9-nss1-sgi"),
            (2, "vht80-mcs9-nss2-sgi", "vht80-mcs9-nss1-sgi"),
            (3, "vht80-mcs9-nss3-sgi", "vht80-mcs9-nss2-sgi"),
            (4, "vht80-mcs9-nss4-sgi", "vht80-mcs9-nss3-sgi"),
        ] {
            let mut b = Bench::new(vht(streams), version);
            b.send_any(10_000, 64, |_| 1.0);
            let chain = b.control.chain();
            let last = chain.entries().last().expect("a chain has entries").rate.to_string();
            assert_eq!((&b.best()[..], &last[..]), (fastest, surest), "{version:?}");
        }
        // The same rate with HT rates in addition.
        let mut b = Bench::new(can(2, Width::Mhz80, Formats::HtAndVht), version);
        b.send_any(10_000, 64, |_| 1.0);
        assert_eq!(b.best(), "vht80-mcs9-nss2-sgi", "{version:?}");
    }
}

#[test]
fn row_names() {
    let mut b = Bench::new(vht(2), MinstrelVersion::From519);
    b.send_any(5_000, 64, |_| 1.0);
    let rows = b.control.rows();
    assert_eq!(rows.len(), 116);
    let best = rows.iter().find(|row| row.places.starts_with('A')).unwrap();
    assert_eq!((best.mode, &best.rate.to_string()[..]), ("VHT80/SGI", "vht80-mcs9-nss2-sgi"));
    assert!(best.stats.total.attempts > 1_000 && best.packets_per_second > 40_000);
}

/// Random links, on which each number of streams at each width works up to a random MCS and not above. The
/// fastest working rate is found.
#[test]
fn random_links_find_their_best_rate() {
    for seed in 0..24 {
        for version in VERSIONS {
            let mut draws = Seed { seed, run: 0 }.stream("link");
            let highest: [[u8; 2]; 3] =
                core::array::from_fn(|_| core::array::from_fn(|_| draws.below(10) as u8));
            let works = |rate: PhyRate| match rate {
                PhyRate::Vht(r) => r.mcs <= highest[r.width as usize][usize::from(r.streams - 1)],
                _ => false,
            };
            let mut b = Bench::new(vht(2), version);
            b.send_any(20_000, 32, |rate| if works(rate) { 1.0 } else { 0.0 });
            let fastest = rates(vht(2)).filter(|&rate| works(rate)).map(PhyRate::rate).max().unwrap();
            let found = PhyRate::parse(&b.best()).unwrap();
            // The older formula distinguishes rates only to a few percent.
            let least = if version == MinstrelVersion::Before512 { 95 } else { 99 };
            let near = found.rate().bps() * 100 >= fastest.bps() * least;
            assert!(works(found) && near, "{version:?} {seed}: {found}, {highest:?}");
        }
    }
}

/// With noise, the chosen rate carries nearly as much as the best one.
#[test]
fn near_the_best_rate_with_noise() {
    for version in VERSIONS {
        for decibels in [6, 12, 18, 24, 30, 36, 42] {
            let table = ErrorTable::new(Snr(1_000 * decibels));
            let works = |rate| (1.0 - table.unheard(rate)) * (1.0 - table.broken(rate, 1_538));
            let carries = |rate: PhyRate| works(rate) * rate.rate().bps() as f64;
            let best = rates(vht(2)).map(carries).fold(0.0, f64::max);
            let mut b = Bench::new(vht(2), version);
            b.send_any(20_000, 32, works);
            let found = PhyRate::parse(&b.best()).unwrap();
            assert!(carries(found) > 0.75 * best, "{version:?} {decibels} dB: {found}");
        }
    }
}

#[test]
fn a_msdu_limits_by_rate() {
    // The most reliable rate, its success probability and that of the best rate in percent, and the maximum
    // bytes.
    let at = |surest: &str, surest_works: u32, best_works: u32| {
        let mut m =
            MinstrelHt::new(vht(2), MinstrelVersion::From519, &mut Seed { seed: 1, run: 0 }.stream("rate"));
        let index = |m: &MinstrelHt, name: &str| m.index(PhyRate::parse(name).unwrap()).unwrap();
        (m.surest, m.best[0]) = (index(&m, surest), index(&m, "vht80-mcs9-nss2-sgi"));
        let (surest, best) = (usize::from(m.surest), usize::from(m.best[0]));
        m.rates[surest].stats.prob = percent(surest_works);
        m.rates[best].stats.prob = percent(best_works);
        m.amsdu_bytes()
    };
    for (surest, surest_works, best_works, bytes) in [
        ("vht20-mcs0-nss1-lgi", 49, 90, Some(1)),
        ("vht20-mcs0-nss1-lgi", 51, 90, Some(500)),
        ("vht20-mcs1-nss1-lgi", 90, 90, Some(1_600)),
        ("vht20-mcs3-nss1-lgi", 90, 90, Some(3_200)),
        ("vht20-mcs6-nss1-lgi", 90, 90, Some(3_200)),
        ("vht20-mcs7-nss1-lgi", 90, 90, None),
        ("vht80-mcs9-nss2-sgi", 70, 70, Some(3_200)),
        ("vht80-mcs9-nss2-sgi", 90, 90, None),
    ] {
        assert_eq!(at(surest, surest_works, best_works), bytes, "{surest} {surest_works} {best_works}");
    }
}
