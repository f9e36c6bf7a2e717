//! What a packet costs in each queueing discipline: to be queued and to leave again, with some queued all the
//! time.
//!
//! `qdiscs` prints CPU time per packet by discipline and number of flows; `qdiscs --list` prints the names;
//! `qdiscs --once NAME FLOWS PACKETS` moves so many packets, for a count of instructions from outside.
//!
//! As many packets are queued as there are flows, 64 at least; one comes and one leaves in turn, 100 ns
//! apart, of flows in random order. Limits are out of reach and rates too high to hold anything back, so that
//! what is measured is the way of a packet that meets no trouble. `none` is what the packet itself costs,
//! which all others contain.

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
/// Packets of one measurement.
const PACKETS: u64 = 2_000_000;
const LIMIT: u32 = 100_000;

/// A discipline with its name.
struct Subject {
    name: &'static str,
    /// None: packets are made and freed.
    config: Option<QdiscConfig>,
    /// Most packets that it is given to hold.
    holds: u32,
    /// All flows go to one host, instead of each to another.
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
    // Flows by their whole hash, as those of local sockets are told apart.
    let fq = FqParams { limit: LIMIT, flow_limit: LIMIT, orphan_mask: u32::MAX, ..FqParams::default() };
    let (burst, cburst) = (1600, 1600);
    // A bucket that is full for good: every packet passes it.
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
        // sfq takes 127 packets.
        holds: if name == "sfq" { 100 } else { LIMIT },
        config: (config != QdiscConfig::Noqueue).then_some(config),
        one_host: name == "cake one host",
    };
    all.map(subject).into()
}

/// Moves packets through a discipline, or with none just makes and frees them.
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
        // Nobody's memory is charged, but whoever charges drains.
        while all.pop_uncharged().is_some() {}
    }
    let dropped = all.account().dropped_total();
    assert!(dropped * 100 <= packets, "{dropped} of {packets} packets dropped");
}

/// Time that this process has run, in ns.
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
