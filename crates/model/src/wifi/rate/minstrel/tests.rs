use super::*;
use crate::types::Seed;
use crate::wifi::rate::probe_chain;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A link with a delivery probability by rate, and one frame at a time.
struct Bench {
    control: Minstrel,
    now: Instant,
    stream: RandomStream,
    /// Probes in the first and in the second place.
    probes: [u32; 2],
    frames: u32,
}

impl Bench {
    fn new(can: LegacyMinstrel, protected: bool) -> Self {
        let seed = Seed { seed: 7, run: 0 };
        let control = Minstrel::new(can, protected, &mut seed.stream("rate"));
        Self { control, now: Instant::ZERO, stream: seed.stream("air"), probes: [0; 2], frames: 0 }
    }

    /// Sends a frame per millisecond for `millis` ms.
    fn send(&mut self, millis: u64, works: impl Fn(PhyRate) -> f64) {
        for _ in 0..millis {
            self.now += Duration::from_millis(1);
            self.frames += 1;
            let probe = self.control.probe();
            probe.iter().for_each(|p| self.probes[usize::from(p.second)] += 1);
            let chain = self.control.chain();
            let chain = probe.map_or(chain, |probe| probe_chain(probe, &chain));
            let (mut used, mut acked) = (Vec::new(), 0);
            'chain: for entry in chain.entries() {
                used.push(RateTry { tries: 0, ..*entry });
                for _ in 0..entry.tries {
                    used.last_mut().expect("just pushed").tries += 1;
                    if self.stream.chance(works(entry.rate)) {
                        acked = 1;
                        break 'chain;
                    }
                }
            }
            self.control.sent(self.now, TxReport { tries: &used, frames: 1, acked, probe, unsent: 0 });
        }
    }

    fn chain(&self) -> Vec<String> {
        self.control.chain().entries().iter().map(|e| format!("{} x{}", e.rate, e.tries)).collect()
    }
}

fn rate(name: &str) -> PhyRate {
    PhyRate::parse(name).unwrap()
}

#[test]
fn durations_and_tries() {
    let row = |name: &str, lowest: &str| {
        let t = Times::of(rate(name), frame_micros(rate(lowest), 10), MOST_TRIES);
        (t.packet, t.tries, t.tries_after_cts)
    };
    // 36 us and 403, 68 and 45 symbols of 4 us for 9,654 bits; ACKs of 134 bits are 6, 1 and 1 symbols: 60,
    // 40 and 40 us. 6 Mbit/s: 1708, then 1775, 1847 (5330), 1991 (over): 3. After a CTS: 1835, 1907 (3742),
    // 2051 (5793).
    assert_eq!(row("ofdm-6", "ofdm-6"), (1_648, 3, 4));
    // 36 Mbit/s: 368, then 411, 483, 627, 915, 1491 (4295), 2643.
    assert_eq!(row("ofdm-36", "ofdm-6"), (308, 6, 6));
    // 54 Mbit/s: 276, then 323, 395, 539, 827, 1403 (3763), 2555 (6318).
    assert_eq!(row("ofdm-54", "ofdm-6"), (216, 6, 6));
    // 11 Mbit/s: 106 and 876 us for 9,632 bits.
    assert_eq!(row("cck-11", "dsss-1").0, 982);
    assert_eq!(row("dsss-1", "dsss-1").0, 106 + 9_632);
    let t = Times::of(rate("dsss-1"), frame_micros(rate("dsss-1"), 10), MOST_TRIES);
    assert_eq!((t.tries, t.tries_after_cts), (1, 1));
}

#[test]
fn expected_throughput() {
    let mut b = Bench::new(LegacyMinstrel::A, false);
    let mut at = |n: usize, prob: u32| {
        b.control.rates[n].stats.prob = prob;
        b.control.throughput(n as Index)
    };
    // 3,686 / 216 = 17: 415 tens of packets per second, at 90 % as at 100 %; 2,048 / 216 = 9.
    assert_eq!([ONE, percent(90), ONE / 2].map(|prob| at(7, prob)), [415, 415, 219]);
    assert_eq!([409, 408].map(|prob| at(7, prob)), [24, 0]);
    // 3,686 / 1,648 = 2.
    assert_eq!(at(0, ONE), 48);
}

#[test]
fn initial_chain() {
    assert_eq!(
        Bench::new(LegacyMinstrel::A, false).chain(),
        ["ofdm-6 x3", "ofdm-6 x3", "ofdm-6 x3", "ofdm-6 x10"]
    );
    assert_eq!(Bench::new(LegacyMinstrel::B, false).chain()[3], "dsss-1 x10");
    assert_eq!(Bench::new(LegacyMinstrel::G, false).control.rates.len(), 12);
}

#[test]
fn a_perfect_link_uses_the_fastest_rates() {
    let mut b = Bench::new(LegacyMinstrel::A, false);
    b.send(5_000, |_| 1.0);
    // With nearly all frames delivered, half of six tries, at most two. The fastest rate is also the most
    // reliable.
    assert_eq!(b.chain(), ["ofdm-54 x2", "ofdm-48 x2", "ofdm-54 x2", "ofdm-6 x10"]);
    // 4,150 packets of 9,600 bits, with 1,024 bits per kilobit.
    assert_eq!(b.control.expected().bps(), 4_150 * 9_600 / 1024 * 1000);
    let mut b = Bench::new(LegacyMinstrel::G, false);
    b.send(5_000, |rate| if matches!(rate, PhyRate::Dsss(..)) { 1.0 } else { 0.0 });
    assert_eq!([&b.chain()[0], &b.chain()[3]], ["cck-11 x2", "dsss-1 x10"]);
}

#[test]
fn a_lossy_rate_is_backed_by_a_reliable_one() {
    let mut b = Bench::new(LegacyMinstrel::A, false);
    let works = |r: PhyRate| match r {
        PhyRate::Ofdm(r) if r <= OfdmRate::M24 => 1.0,
        PhyRate::Ofdm(OfdmRate::M36) => 0.8,
        _ => 0.0,
    };
    b.send(10_000, works);
    // 24 and 36 Mbit/s tie in the coarse estimate, or 36 wins; the most reliable rate is 24.
    assert_eq!([&b.chain()[0], &b.chain()[2]], ["ofdm-36 x6", "ofdm-24 x2"]);
}

#[test]
fn a_tenth_of_the_frames_are_probes() {
    // Half of the rates work: rates above the best are probed first in the chain, those below in the second
    // place.
    let works = |r: PhyRate| match r {
        PhyRate::Ofdm(r) if r <= OfdmRate::M24 => 0.9,
        _ => 0.05,
    };
    let mut b = Bench::new(LegacyMinstrel::A, false);
    b.send(9_000, works);
    let [first, second] = b.probes.map(|n| 1_000 * n / b.frames);
    assert!(
        (50..=102).contains(&(first + second)) && first > 10 && second > 10,
        "{first} and {second} per mille"
    );
    // With a CTS before each frame 5 %, and never in the second place.
    let mut b = Bench::new(LegacyMinstrel::G, true);
    b.send(9_000, works);
    let [first, second] = b.probes.map(|n| 1_000 * n / b.frames);
    assert!((10..=51).contains(&first) && second == 0, "{first} and {second} per mille");
}

#[test]
fn adaptation_to_a_step() {
    // Tenths of a second until the rate is reached, down and up.
    let there = |b: &mut Bench, want: &str, works: &dyn Fn(PhyRate) -> f64| {
        (0..200)
            .find(|_| {
                let there = b.chain()[0].starts_with(want);
                if !there {
                    b.send(100, works);
                }
                there
            })
            .expect("it gets there")
    };
    let mut b = Bench::new(LegacyMinstrel::A, false);
    let poor = |r: PhyRate| if matches!(r, PhyRate::Ofdm(r) if r <= OfdmRate::M12) { 1.0 } else { 0.0 };
    b.send(3_000, |_| 1.0);
    let down = there(&mut b, "ofdm-12", &poor);
    b.send(3_000, poor);
    assert_eq!((down, there(&mut b, "ofdm-54", &|_| 1.0)), (6, 8));
}

#[test]
fn each_column_of_probes_has_each_rate_once() {
    let order = order(12, &mut Seed { seed: 1, run: 0 }.stream("order"));
    assert_eq!(order.len(), 120);
    for column in order.chunks(12) {
        let mut column = column.to_vec();
        column.sort_unstable();
        assert_eq!(column, (0..12).collect::<Vec<_>>());
    }
}
