//! Every VHT and HE rate compared with an independent calculation: data rate, PPDU duration, and goodput of
//! saturating UDP.
//!
//! The calculation uses the standard's numbers and none of the model's code.

mod common;

use common::{cell, flow, parse, run, station};
use stillair_model::types::{Instant, PpduKind, PpduTry, Seed, Sink, TraceEvent};
use stillair_model::wifi::phy::{PhyRate, ppdu_duration_without_extension};
use stillair_sim::world::wire;

const WIDTHS: [u32; 4] = [20, 40, 80, 160];
/// UDP payload of a 1500-byte packet; its MPDU as an A-MPDU subframe: 1538 bytes, delimiter 4, padding 2,
/// which the last subframe lacks.
const PAYLOAD: u32 = 1472;
const SUBFRAME: u32 = 1544;
/// Gaps in us: SIFS and slot at 5 GHz, AIFS of best effort.
// spec: ieee80211-2016 table 17-21, table 9-137 - AIFSN 3.
const SIFS: f64 = 16.0;
const SLOT: f64 = 9.0;
const AIFS: f64 = SIFS + 3.0 * SLOT;

/// One rate, by the standard's numbers.
#[derive(Clone, Copy, Debug)]
struct Spec {
    he: bool,
    width: u32,
    streams: u32,
    mcs: u32,
    /// Guard interval in us.
    gi: f64,
}

/// Combinations without a VHT rate: MHz, streams, MCS.
// spec: ieee80211-2020 tables 21-30 to 21-61, "not valid".
const NOT_VALID: [(u32, u32, u32); 5] = [(20, 1, 9), (20, 2, 9), (20, 4, 9), (80, 3, 6), (160, 3, 9)];

impl Spec {
    fn all() -> impl Iterator<Item = Self> {
        let vht = [0.4, 0.8].map(|gi| (false, gi, 9));
        let he = [0.8, 1.6, 3.2].map(|gi| (true, gi, 11));
        vht.into_iter().chain(he).flat_map(|(he, gi, last)| {
            WIDTHS.into_iter().flat_map(move |width| {
                (1..=4).flat_map(move |streams| {
                    let one = move |mcs| Self { he, width, streams, mcs, gi };
                    (0..=last).map(one).filter(|r| r.he || !NOT_VALID.contains(&(r.width, r.streams, r.mcs)))
                })
            })
        })
    }

    fn name(self) -> String {
        let Self { width, streams, mcs, gi, .. } = self;
        match (self.he, gi < 0.5) {
            (true, _) => format!("he{width}-mcs{mcs}-nss{streams}-gi{gi}"),
            (false, true) => format!("vht{width}-mcs{mcs}-nss{streams}-sgi"),
            (false, false) => format!("vht{width}-mcs{mcs}-nss{streams}-lgi"),
        }
    }

    /// Data bits per symbol, and symbol duration in us.
    // spec: ieee80211-2016 table 21-5 and 21.3.6 - 52, 108, 234, 468 data subcarriers, symbols of 3.2 us plus
    // guard interval.
    // spec: ieee80211ax-2021 table 27-13 and 27.3.10 - 234, 468, 980, 1960 data subcarriers and 12.8 us.
    fn symbol(self) -> (f64, f64) {
        const BITS: [f64; 12] = [0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 4.5, 5.0, 6.0, 20.0 / 3.0, 7.5, 25.0 / 3.0];
        let at = WIDTHS.iter().position(|&w| w == self.width).unwrap();
        let (tones, length) = match self.he {
            true => ([234.0, 468.0, 980.0, 1_960.0][at], 12.8),
            false => ([52.0, 108.0, 234.0, 468.0][at], 3.2),
        };
        (tones * BITS[self.mcs as usize] * f64::from(self.streams), length + self.gi)
    }

    fn mbps(self) -> f64 {
        let (bits, length) = self.symbol();
        bits / length
    }

    /// Duration of a PPDU in us.
    // spec: ieee80211-2016 21.3.2, 21.3.10, 21.4.3 - legacy preamble 20, VHT-SIG-A 8, VHT-STF 4, VHT-LTFs of
    // 4 each, VHT-SIG-B 4 us; 16 SERVICE bits, and six tail bits per encoder, one encoder per 600 Mbit/s with
    // the short guard interval; on the 4 us grid.
    // spec: ieee80211ax-2021 27.3.4, 27.4.3 - legacy preamble 20, RL-SIG 4, HE-SIG-A 8, HE-STF 4 us, HE-LTFs
    // of 6.4 us (12.8 us with the longest guard interval) plus guard interval; LDPC, which has no tail, and
    // no packet extension.
    fn duration(self, psdu: u32) -> f64 {
        let fields = [1.0, 2.0, 4.0, 4.0][self.streams as usize - 1];
        let (bits, length) = self.symbol();
        let data = f64::from(16 + 8 * psdu);
        if self.he {
            let training = if self.gi > 2.0 { 12.8 } else { 6.4 } + self.gi;
            return 36.0 + fields * training + (data / bits.floor()).ceil() * length;
        }
        let encoders = (bits / 3.6 / 600.0).ceil();
        let data = ((data + 6.0 * encoders) / bits).ceil() * length;
        36.0 + 4.0 * fields + (data / 4.0 - 1e-9).ceil() * 4.0
    }

    /// Frames per aggregate: at most 64, the Block Ack window, and at most 4,096 us per PPDU, as in ath9k, or
    /// 5,484 us with HE.
    // spec: ieee80211ax-2021 table 27-61 - aPPDUMaxTime.
    fn frames(self) -> u32 {
        let longest = if self.he { 5_484.0 } else { 4_096.0 };
        (1..=64).rfind(|n| self.duration(n * SUBFRAME - 2) <= longest).unwrap()
    }

    /// Time of an exchange in us, from the start of its PPDU to that of the next, with `slots` slots of
    /// backoff.
    // spec: ieee80211-2016 10.6.6.5.2 - the 32-byte Block Ack is sent at the basic rate (6, 12 or 24 Mbit/s)
    // with the same modulation, or the fastest one with a lower modulation.
    fn exchange(self, slots: f64) -> f64 {
        let mbps = [6, 12, 12][..].get(self.mcs as usize).map_or(24, |&mbps| mbps);
        let block_ack = 20.0 + 4.0 * f64::from((16_u32 + 8 * 32 + 6).div_ceil(4 * mbps));
        self.duration(self.frames() * SUBFRAME - 2) + SIFS + block_ack + AIFS + slots * SLOT
    }

    /// UDP goodput in Mbit/s.
    fn goodput(self, slots: f64) -> f64 {
        f64::from(8 * self.frames() * PAYLOAD) / self.exchange(slots)
    }

    fn flood(self, more: &str, duration: f64) -> String {
        let channel = format!("band = \"5 GHz\"\nwidth = \"{} MHz\"\nbeacon_interval = \"off\"", self.width);
        let buffer = "profile = \"linux-4.6\"\nsysctl.\"net.core.wmem_default\" = 4000000";
        let load = 1.3 * self.goodput(0.0);
        cell(&format!("{} us", duration as u64), &channel, &format!("scheme = \"airtime\"{more}"))
            .replace("profile = \"linux-4.6\"", buffer)
            + &station("s", 0, &format!("rate = \"{}\"", self.name()))
            + &flow(
                "udp",
                "ap",
                "s",
                &format!("rate = \"{load:.0} Mbit/s\"\nburst = 64\npayload = {PAYLOAD}"),
            )
    }
}

fn within_1_percent(what: &str, got: f64, want: f64) {
    assert!((got / want - 1.0).abs() < 0.01, "{what}: {got}, by the standard {want}");
}

#[test]
fn data_rates_and_durations_match_the_standard() {
    let mut count = 0;
    for spec in Spec::all() {
        let name = spec.name();
        let rate = PhyRate::parse(&name).unwrap();
        within_1_percent(&name, rate.rate().bps() as f64 / 1e6, spec.mbps());
        for bytes in [14, 100, 1_538, 3_086, 12_350, 64 * SUBFRAME - 2, 1_048_575] {
            let got = ppdu_duration_without_extension(rate, bytes).nanos() as f64 / 1e3;
            within_1_percent(&format!("{name}, {bytes} bytes: us"), got, spec.duration(bytes));
        }
        count += 1;
    }
    assert_eq!(count, 2 * (160 - 5) + 3 * 4 * 4 * 12);
    // Some rates as printed in the standard, in Mbit/s.
    for (name, mbps) in [
        ("vht80-mcs9-nss2-sgi", 866.7),
        ("vht160-mcs9-nss4-sgi", 3_466.7),
        ("vht80-mcs9-nss3-lgi", 1_170.0),
        ("he160-mcs11-nss4-gi0.8", 4_803.9),
        ("he80-mcs11-nss2-gi3.2", 1_020.8),
    ] {
        let rate = PhyRate::parse(name).unwrap().rate().bps() as f64 / 1e6;
        assert!((rate - mbps).abs() < 0.1, "{name}: {rate}");
    }
}

#[test]
fn rates_missing_in_the_standard_are_rejected() {
    for (width, streams, mcs) in NOT_VALID {
        for gi in ["lgi", "sgi"] {
            let text =
                cell("1 s", &format!("band = \"5 GHz\"\nwidth = \"{width} MHz\""), "scheme = \"airtime\"")
                    + &station("s", 0, &format!("rate = \"vht{width}-mcs{mcs}-nss{streams}-{gi}\""));
            let error = stillair_sim::scenario::parse(&text, "test.toml", &[]).unwrap_err().to_string();
            assert!(error.contains(&format!("VHT has no MCS {mcs} at {width} MHz with")), "{error}");
        }
    }
}

/// Aggregates of the access point.
#[derive(Default)]
struct Aggregates(Vec<PpduTry>);

impl Sink for Aggregates {
    fn event(&mut self, _: Instant, what: &TraceEvent) {
        if let TraceEvent::Ppdu(t) = what
            && t.kind == PpduKind::Aggregate
        {
            self.0.push(*t);
        }
    }
}

/// Saturating UDP at each rate, with almost no backoff (CW of one slot), so that a few exchanges are enough.
#[test]
fn udp_at_every_rate() {
    for spec in Spec::all() {
        let name = spec.name();
        // Single frames are sent until the session opens.
        let until = 20_000.0 + 75.0 * spec.exchange(1.0);
        let text = spec.flood(", tx_queue_data2_cwmin = 1, tx_queue_data2_cwmax = 1", until);
        let mut world = wire(&parse(&text, &[]), Seed { seed: 1, run: 0 }, |_| Aggregates::default()).world;
        world.run_until(Instant::from_nanos(1_000 * until as u64));
        let seen = &world.trace().0;
        let (last, all) = seen[seen.len() - 61..].split_last().unwrap();
        let sizes: Vec<_> = all.iter().map(|t| u32::from(t.received)).collect();
        let micros = (last.start - all[0].start).nanos() as f64 / 1e3;
        let got = f64::from(8 * sizes.iter().sum::<u32>() * PAYLOAD) / micros;
        within_1_percent(&format!("{name} {sizes:?}"), got, spec.goodput(0.5));
    }
}

/// The same with the default CW, at the fastest rate of each width and number of streams.
#[test]
fn udp_with_the_backoff_of_best_effort() {
    let fastest = |spec: &Spec| match spec.he {
        true => spec.mcs == 11 && spec.gi < 1.0,
        false => spec.mcs == 8 && spec.gi < 0.5,
    };
    for spec in Spec::all().filter(fastest) {
        let mut scenario = parse(&spec.flood("", 800_000.0), &[("warm_up", "50 ms")]);
        scenario.seed = 3;
        let got = run(&scenario, 0).goodput_total_mbps;
        within_1_percent(&spec.name(), got, spec.goodput(7.5));
    }
}
