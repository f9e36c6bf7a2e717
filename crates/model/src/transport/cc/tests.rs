//! Compares controllers with the kernel, on the measured path.

use alloc::boxed::Box;
use proptest::prelude::*;

use super::testing::Path;
use super::*;
use crate::conformance::controller::{Fed, Happens};

/// Kernel measurements: Linux 6.1, one greedy flow for 30 s, one segment per packet; means after 2 s.
struct Kernel {
    cc: &'static str,
    rate: u64,
    rtt_us: u64,
    limit: usize,
    cwnd: f64,
    srtt_ms: f64,
    retransmissions: u64,
    goodput_mbps: f64,
}

const MEASURED: [Kernel; 12] = [
    of("reno", 142.0, 34.478, 201),
    of("cubic", 163.4, 39.713, 17),
    of("hybla", 137.9, 33.557, 139),
    of("nv", 106.7, 25.89, 0),
    of("scalable", 171.8, 41.746, 593),
    of("highspeed", 147.3, 35.946, 228),
    of("illinois", 152.3, 36.969, 247),
    of("westwood", 138.2, 33.542, 197),
    of("yeah", 143.0, 34.703, 540),
    of("vegas", 87.0, 21.253, 130),
    Kernel { goodput_mbps: 47.028, ..of("bbr", 175.7, 22.494, 185) },
    Kernel {
        cc: "cubic",
        rate: 100_000_000,
        rtt_us: 80_000,
        limit: 350,
        cwnd: 875.5,
        srtt_ms: 106.107,
        retransmissions: 38,
        goodput_mbps: 95.633,
    },
];

/// 50 Mbit/s, 20 ms, a FIFO of 100 packets.
const fn of(cc: &'static str, cwnd: f64, srtt_ms: f64, retransmissions: u64) -> Kernel {
    let goodput_mbps = 47.813;
    Kernel { cc, rate: 50_000_000, rtt_us: 20_000, limit: 100, cwnd, srtt_ms, retransmissions, goodput_mbps }
}

#[test]
fn windows_and_delays_match_the_kernel() {
    for k in MEASURED {
        let path = Path { rate: k.rate, rtt_us: k.rtt_us, limit: k.limit, delayed: true };
        let run = path.run(Cc::by_name(k.cc).unwrap(), 2, 30, |_, _| ());
        let (cwnd, srtt) = (run.mean_cwnd(), run.mean_srtt_ms());
        let goodput = run.delivered as f64 * 1448.0 * 8.0 / 28e6;
        let near = |is: f64, measured: f64, part: f64| (is - measured).abs() <= part * measured;
        assert!(near(cwnd, k.cwnd, 0.1), "{}: cwnd {cwnd}, measured {}", k.cc, k.cwnd);
        assert!(near(srtt, k.srtt_ms, 0.1), "{}: srtt {srtt} ms, measured {}", k.cc, k.srtt_ms);
        assert!(near(goodput, k.goodput_mbps, 0.03), "{}: {goodput} Mbit/s", k.cc);
        let again = run.retransmissions;
        let within = k.retransmissions / 2..=2 * k.retransmissions;
        assert!(within.contains(&again), "{}: {again}, measured {}", k.cc, k.retransmissions);
    }
}

#[test]
fn every_name_is_a_controller_of_that_name() {
    for &name in NAMES {
        assert_eq!(Cc::by_name(name).as_ref().map(Cc::name), Some(name));
    }
    assert!(Cc::by_name("Reno").is_none());
    assert!(NAMES.is_sorted());
}

proptest! {
    /// Applies the conformance checks to random event lists, which proptest shrinks on failure.
    #[test]
    fn windows_stay_within_bounds(name in prop::sample::select(NAMES), list in prop::collection::vec(happens(), 1..300)) {
        let mut fed = Fed::new(Cc::by_name(name).expect("a name"));
        for happens in list {
            let held = fed.happens(happens);
            prop_assert!(held.is_ok(), "{} {:?}: {:?}", name, happens, held);
            // As in Linux, Vegas derives the threshold from the window before raising the window to two.
            let (least, is) = (if name == "vegas" { 1 } else { 2 }, fed.sock().snd_ssthresh);
            prop_assert!(is >= least, "{} {:?}: {}", name, happens, is);
        }
    }
}

fn happens() -> impl Strategy<Value = Happens> {
    let acked =
        (1_u32..64, 1_u64..50_000, -1_i64..2_000_000).prop_map(|(n, us, rtt)| Happens::Acked(n, us, rtt));
    prop_oneof![
        20 => acked,
        1 => (1_u64..60_000_000).prop_map(Happens::Idle),
        2 => (1_u32..50).prop_map(Happens::Lost),
        1 => Just(Happens::Timeout),
        1 => Just(Happens::Undone),
    ]
}

#[test]
fn conformance_check_passes_for_every_built_in_controller() {
    for &name in NAMES {
        assert_eq!(crate::conformance::controller(|| Cc::by_name(name).expect("a name")), Ok(()), "{name}");
    }
}

/// A boxed controller behaves identically, segment by segment.
#[test]
fn custom_controllers_are_driven_like_built_in_ones() {
    let path = Path { rate: 20_000_000, rtt_us: 20_000, limit: 30, delayed: true };
    let own = Cc::Custom(CustomCc::new("mine", Box::new(cubic::Cubic::new(cubic::CubicParams::default()))));
    assert_eq!((own.name(), own.clone().name()), ("mine", "mine"));
    let [built_in, own] = [Cc::by_name("cubic").expect("cubic"), own].map(|cc| path.run(cc, 0, 5, |_, _| ()));
    assert_eq!((built_in.delivered, built_in.cwnd), (own.delivered, own.cwnd));
}
