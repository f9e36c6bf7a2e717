//! CPU cost per packet of each queueing discipline: enqueue and dequeue with a standing queue.
//!
//! `qdiscs` prints CPU time per packet by discipline and number of flows; `qdiscs --list` prints the names;
//! `qdiscs --once NAME FLOWS PACKETS` moves PACKETS packets, for an external instruction count.
//!
//! The queue holds one packet per flow, at least 64. Packets arrive and leave alternately, 100 ns apart, from
//! flows in random order. Limits are never reached and rates never hold packets back, so the measurement
//! covers the normal path. `none` is the cost of the packet itself, which all others include.

use std::fs;
use std::process::ExitCode;

use stillair_model::qdisc::cake::CakeParams;
use stillair_model::qdisc::codel::CodelQdiscParams;
use stillair_model::qdisc::fifo::FifoParams;
use stillair_model::qdisc::fq::FqParams;
use stillair_model::qdisc::fq_codel::FqCodelParams;
use stillair_model::qdisc::htb::HtbParams;
use stillair_model::qdisc::netem::NetemParams;
use stillair_model::qdisc::pfifo_fast::PfifoFastParams;
use stillair_model::qdisc::pie::PieQdiscParams;
use stillair_model::qdisc::sfq::SfqParams;
use stillair_model::qdisc::tbf::TbfParams;
use stillair_model::qdisc::{Qdisc, QdiscConfig};
use stillair_model::types::{
    Addr, Ctx, Duration, Fate, FlowId, Instant, NewPacket, NoSink, Packets, PlaceId, RandomStream, Rate, Seed,
};

const FLOWS: [u32; 3] = [1, 100, 10_000];
const PACKETS: u64 = 2_000_000;
const LIMIT: u32 = 100_000;

struct Subject {
    name: &'static str,
    /// `None`: packets are only created and freed.
    config: Option<QdiscConfig>,
    /// Maximum number of packets to queue.
    holds: u32,
    /// All flows go to one host instead of one host each.
    one_host: bool,
}

fn subjects() -> Vec<Subject> {
    let rate = Rate::from_mbps(1_000_000);
    let fast = || Box::new(QdiscConfig::PfifoFast(PfifoFastParams { limit: LIMIT, limit_per_band: true }));
    let cake = CakeParams { memlimit: Some(1 << 30), ..CakeParams::default() };
    let shaped = CakeParams { bandwidth: Some(rate), ..cake };
    let codel = CodelQdiscParams { limit: LIMIT, ..CodelQdiscParams::default() };
    let fq_codel = FqCodelParams { limit: LIMIT, memory_limit: 1 << 30, ..FqCodelParams::default() };
    let pie = PieQdiscParams { limit: LIMIT, ..PieQdiscParams::new(250) };
    // The whole hash identifies a flow, as for local sockets.
    let fq = FqParams { limit: LIMIT, flow_limit: LIMIT, orphan_mask: u32::MAX, ..FqParams::default() };
    let (burst, cburst) = (1600, 1600);
    // A bucket that never runs empty: every packet passes.
    let tbf = TbfParams { rate, burst: 1 << 20, peak: None, child: fast() };
    let netem = NetemParams { limit: LIMIT, delay: Duration::from_nanos(100), ..NetemParams::default() };
    let all = [
        ("none", QdiscConfig::Noqueue),
        ("pfifo", QdiscConfig::Fifo(FifoParams::Packets(LIMIT))),
        ("pfifo_fast", *fast()),
        ("codel", QdiscConfig::Codel(codel)),
        ("fq_codel", QdiscConfig::FqCodel(fq_codel)),
        ("pie", QdiscConfig::Pie(pie)),
        ("fq", QdiscConfig::Fq(fq)),
        ("sfq", QdiscConfig::Sfq(SfqParams::default())),
        ("cake", QdiscConfig::Cake(cake)),
        ("cake one host", QdiscConfig::Cake(cake)),
        ("cake bandwidth", QdiscConfig::Cake(shaped)),
        ("htb pfifo_fast", QdiscConfig::Htb(HtbParams { rate, ceil: rate, burst, cburst, child: fast() })),
        ("tbf pfifo_fast", QdiscConfig::Tbf(tbf)),
        ("netem", QdiscConfig::Netem(netem, None)),
    ];
    let subject = |(name, config): (&'static str, QdiscConfig)| Subject {
        name,
        // sfq holds 127 packets.
        holds: if name == "sfq" { 100 } else { LIMIT },
        config: (config != QdiscConfig::Noqueue).then_some(config),
        one_host: name == "cake one host",
    };
    all.map(subject).into()
}

/// Moves packets through a qdisc, or without one only creates and frees them.
fn walk(subject: &Subject, flows: u32, packets: u64) {
    let mut stream: RandomStream = Seed { seed: 1, run: 1 }.stream("bench");
    let mut qdisc = subject.config.as_ref().and_then(|config| Qdisc::new(config, PlaceId(0), &mut stream));
    let (mut all, mut sink) = (Packets::new(), NoSink);
    let mut now = Instant::ZERO;
    let mut offer = |now, qdisc: &mut Option<Qdisc>, all: &mut Packets, sink: &mut NoSink| {
        let flow = stream.below(flows);
        let p = all.create(NewPacket {
            now,
            flow: FlowId(flow),
            flow_hash: flow.wrapping_mul(0x9e37_79b9),
            src: Addr(flow as u16),
            dst: Addr(if subject.one_host { 0 } else { flow as u16 }),
            ..NewPacket::PLAIN
        });
        let mut ctx = Ctx { packets: all, trace: sink };
        match qdisc {
            Some(q) => {
                let _ = q.enqueue(now, p, &mut ctx);
            }
            None => ctx.packets.free(p, Fate::Delivered),
        }
    };
    for _ in 0..flows.clamp(64, subject.holds) {
        offer(now, &mut qdisc, &mut all, &mut sink);
    }
    for _ in 0..packets {
        now += Duration::from_nanos(100);
        offer(now, &mut qdisc, &mut all, &mut sink);
        let left =
            qdisc.as_mut().and_then(|q| q.dequeue(now, &mut Ctx { packets: &mut all, trace: &mut sink }));
        if let Some(p) = left {
            all.free(p, Fate::Delivered);
        }
        // No socket is charged, but a real caller drains ended charges.
        while all.pop_uncharged().is_some() {}
    }
    let dropped = all.account().dropped_total();
    assert!(dropped * 100 <= packets, "{dropped} of {packets} packets dropped");
}

fn cpu_ns() -> u64 {
    // linux: Documentation/scheduler/sched-stats.rst - the first field of /proc/PID/schedstat.
    let text = fs::read_to_string("/proc/self/schedstat").expect("Linux has /proc");
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("nanoseconds")
}

fn print_table() {
    print!("{:16}", "ns per packet");
    FLOWS.iter().for_each(|flows| print!("{flows:>9}"));
    println!("  flows");
    for subject in subjects() {
        print!("{:16}", subject.name);
        for flows in FLOWS {
            let before = cpu_ns();
            walk(&subject, flows, PACKETS);
            print!("{:9.0}", (cpu_ns() - before) as f64 / PACKETS as f64);
        }
        println!();
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => print_table(),
        ["--list"] => subjects().iter().for_each(|subject| println!("{}", subject.name)),
        ["--once", name, flows, packets] => {
            let subject = subjects().into_iter().find(|subject| subject.name == name);
            let (Some(subject), Ok(flows), Ok(packets)) = (subject, flows.parse(), packets.parse()) else {
                return usage();
            };
            walk(&subject, flows, packets);
        }
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: qdiscs [--list | --once NAME FLOWS PACKETS]");
    ExitCode::from(2)
}
