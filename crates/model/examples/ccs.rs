//! CPU cost per acknowledgement of each congestion control.
//!
//! `ccs` prints CPU time per acknowledgement by controller; `ccs --list` prints the names; `ccs --once NAME
//! ACKS` processes ACKS acknowledgements, for an external instruction count.
//!
//! The path holds 100 segments in 20 ms and queues 100 more. Each acknowledgement covers two segments, and a
//! window beyond 200 segments loses one. Calls are made in a sender's order: an acknowledgement arrives,
//! segments are removed, the state is left, the rate sample or the window is computed. `none` is the cost of
//! the driver loop, which all others include.

use std::fs;
use std::hint::black_box;
use std::process::ExitCode;

use stillair_model::transport::cc::{AckSample, CaState, Cc, CcEvent, CcSock, Controller, NAMES, RateSample};
use stillair_model::types::Seed;

const ACKS: u64 = 10_000_000;
const MSS: u32 = 1448;
/// Segments per acknowledgement.
const COVERS: u32 = 2;
/// Segments in flight without a queue; the queue holds as many more.
const HOLDS: u32 = 100;
const RTT_US: u32 = 20_000;

/// A new connection over the path.
fn sock() -> CcSock {
    CcSock {
        is_cwnd_limited: true,
        max_packets_out: 10,
        mss_cache: MSS,
        srtt_us: RTT_US << 3,
        min_rtt_us: RTT_US,
        app_limited: 0,
        snd_una: 1,
        snd_nxt: 1,
        unsent: 1 << 20,
        pacing_rate: 1,
        ..CcSock::new(Seed { seed: 1, run: 0 }.stream("ccs"))
    }
}

/// Drives a controller, or without one only advances the connection.
fn feed(mut cc: Option<Cc>, acks: u64) {
    let mut sk = sock();
    if let Some(cc) = &mut cc {
        cc.init(&mut sk);
    }
    for _ in 0..acks {
        let cwnd = if cc.is_some() { sk.snd_cwnd } else { HOLDS };
        let flight = cwnd.clamp(COVERS, 2 * HOLDS);
        // The bottleneck is busy once the window fills the path; from then on the queue increases the
        // round-trip time.
        let rtt_us = RTT_US * flight.max(HOLDS) / HOLDS;
        let apart_us = u64::from(RTT_US * COVERS / flight.min(HOLDS));
        sk.now_us += apart_us;
        sk.clock_ns = sk.now_us * 1000;
        sk.jiffies = (sk.now_us / 4000) as u32;
        sk.lsndtime = sk.jiffies;
        sk.srtt_us = sk.srtt_us - (sk.srtt_us >> 3) + rtt_us;
        sk.packets_out = flight;
        sk.max_packets_out = flight;
        sk.snd_una = sk.snd_una.wrapping_add(COVERS * MSS);
        sk.snd_nxt = sk.snd_una.wrapping_add(flight * MSS);
        sk.delivered += COVERS;
        sk.delivered_mstamp = sk.now_us;
        let rs = RateSample {
            prior_delivered: sk.delivered.wrapping_sub(flight),
            delivered: flight as i32,
            interval_us: i64::from(rtt_us),
            snd_interval_us: rtt_us,
            rcv_interval_us: rtt_us,
            rtt_us: i64::from(rtt_us),
            acked_sacked: COVERS,
            prior_in_flight: flight,
            ..RateSample::default()
        };
        let Some(cc) = &mut cc else {
            black_box((&mut sk, rs));
            continue;
        };
        cc.in_ack_event(&mut sk, false);
        let acked = AckSample { pkts_acked: COVERS, rtt_us: rs.rtt_us, in_flight: flight * MSS };
        cc.pkts_acked(&mut sk, &acked);
        if cwnd > 2 * HOLDS {
            lose(cc, &mut sk);
        }
        if !cc.cong_control(&mut sk, &rs) {
            let una = sk.snd_una;
            cc.cong_avoid(&mut sk, una, COVERS);
        }
    }
    black_box((sk, cc));
}

/// Loses and repairs a segment.
#[cold]
fn lose(cc: &mut Cc, sk: &mut CcSock) {
    sk.lost += 1;
    sk.prior_cwnd = sk.snd_cwnd;
    sk.snd_ssthresh = cc.ssthresh(sk);
    for state in [CaState::Recovery, CaState::Open] {
        cc.set_state(sk, state);
        sk.ca_state = state;
    }
    sk.snd_cwnd = sk.snd_ssthresh.min(sk.snd_cwnd);
    cc.cwnd_event(sk, CcEvent::CompleteCwr);
}

fn cpu_ns() -> u64 {
    // linux: Documentation/scheduler/sched-stats.rst - the first field of /proc/PID/schedstat.
    let text = fs::read_to_string("/proc/self/schedstat").expect("Linux has /proc");
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("nanoseconds")
}

fn names() -> impl Iterator<Item = &'static str> {
    ["none"].into_iter().chain(NAMES.iter().copied())
}

fn print_table() {
    println!("{:12}{:>9}", "ns", "per ACK");
    for name in names() {
        let before = cpu_ns();
        feed(Cc::by_name(name), ACKS);
        println!("{name:12}{:9.1}", (cpu_ns() - before) as f64 / ACKS as f64);
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => print_table(),
        ["--list"] => names().for_each(|name| println!("{name}")),
        ["--once", name, acks] => {
            let (Some(name), Ok(acks)) = (names().find(|known| *known == name), acks.parse()) else {
                return usage();
            };
            feed(Cc::by_name(name), acks);
        }
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: ccs [--list | --once NAME ACKS]");
    ExitCode::from(2)
}
