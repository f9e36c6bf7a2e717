//! Controllers against the kernel, over the path on which it was measured.

use super::testing::Path;
use super::*;

/// What Linux 6.1 did over 30 s with one greedy flow, one segment a packet; means from 2 s on.
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

const MEASURED: [Kernel; 4] = [
    of("reno", 142.0, 34.478, 201),
    of("cubic", 163.4, 39.713, 17),
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
fn windows_and_delays_are_the_kernels() {
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
        assert_eq!(Cc::by_name(name).map(|cc| cc.name()), Some(name));
    }
    assert!(Cc::by_name("Reno").is_none());
    assert!(NAMES.is_sorted());
}
