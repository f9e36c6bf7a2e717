//! Controllers against the kernel, over the path on which it was measured.

use proptest::prelude::*;

use super::testing::{MSS, Path, set_time, sock};
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

/// What may happen to a connection.
#[derive(Clone, Copy, Debug)]
enum Happens {
    /// So many segments are acknowledged after so many us, with such a round-trip time in us.
    Acked(u32, u64, i64),
    /// Nothing is sent for so many us.
    Idle(u64),
    Lost(u32),
    Timeout,
    Undone,
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

fn change_state(cc: &mut Cc, sk: &mut CcSock, new: CaState) {
    if sk.ca_state != new {
        cc.set_state(sk, new);
        sk.ca_state = new;
    }
}

proptest! {
    /// Whatever happens, the window stays between one segment and its clamp, thresholds are at least two, and a paced flow
    /// has a rate; nothing overflows.
    #[test]
    fn windows_stay_within_bounds(name in prop::sample::select(NAMES), list in prop::collection::vec(happens(), 1..300)) {
        let mut sk = sock();
        (sk.srtt_us, sk.min_rtt_us, sk.snd_cwnd_clamp) = (20_000 << 3, 20_000, 50_000);
        let mut cc = Cc::by_name(name).unwrap();
        cc.init(&mut sk);
        for happens in list {
            match happens {
                Happens::Acked(n, us, rtt_us) => {
                    let now = sk.now_us + us;
                    set_time(&mut sk, now);
                    sk.packets_out = sk.snd_cwnd.max(n) - n;
                    sk.snd_nxt = sk.snd_una.wrapping_add(sk.snd_cwnd.max(n) * MSS);
                    sk.snd_una = sk.snd_una.wrapping_add(n * MSS);
                    let prior_delivered = sk.delivered;
                    sk.delivered += n;
                    sk.delivered_mstamp = now;
                    cc.in_ack_event(&mut sk, false);
                    let in_flight = sk.snd_cwnd.saturating_mul(MSS);
                    cc.pkts_acked(&mut sk, &AckSample { pkts_acked: n, rtt_us, in_flight });
                    change_state(&mut cc, &mut sk, CaState::Open);
                    let rs = RateSample {
                        prior_delivered,
                        delivered: n as i32,
                        interval_us: us as i64,
                        rtt_us,
                        acked_sacked: n,
                        prior_in_flight: sk.packets_out + n,
                        ..RateSample::default()
                    };
                    if !cc.cong_control(&mut sk, &rs) {
                        let una = sk.snd_una;
                        cc.cong_avoid(&mut sk, una, n);
                    }
                }
                Happens::Idle(us) => {
                    let now = sk.now_us + us;
                    sk.packets_out = 0;
                    set_time(&mut sk, now);
                    cc.cwnd_event(&mut sk, CcEvent::TxStart);
                }
                Happens::Lost(n) => {
                    sk.lost += n;
                    sk.prior_cwnd = sk.snd_cwnd;
                    sk.snd_ssthresh = cc.ssthresh(&mut sk);
                    change_state(&mut cc, &mut sk, CaState::Recovery);
                    let rs = RateSample { losses: n as i32, ..RateSample::default() };
                    if !cc.cong_control(&mut sk, &rs) {
                        sk.snd_cwnd = sk.snd_ssthresh;
                    }
                    cc.cwnd_event(&mut sk, CcEvent::CompleteCwr);
                }
                Happens::Timeout => {
                    sk.prior_cwnd = sk.snd_cwnd;
                    sk.snd_ssthresh = cc.ssthresh(&mut sk);
                    cc.cwnd_event(&mut sk, CcEvent::Loss);
                    change_state(&mut cc, &mut sk, CaState::Loss);
                    sk.snd_cwnd = 1;
                    sk.packets_out = 0;
                }
                Happens::Undone => sk.snd_cwnd = cc.undo_cwnd(&mut sk).min(sk.snd_cwnd_clamp),
            }
            prop_assert!((1..=sk.snd_cwnd_clamp).contains(&sk.snd_cwnd), "{} {:?}: {}", name, happens, sk.snd_cwnd);
            // Vegas takes the window for its threshold before it sees to it that the window is two, as Linux does.
            let least = if name == "vegas" { 1 } else { 2 };
            prop_assert!(sk.snd_ssthresh >= least, "{} {:?}: {}", name, happens, sk.snd_ssthresh);
            prop_assert!(!sk.needs_pacing || sk.pacing_rate > 0);
        }
    }
}
