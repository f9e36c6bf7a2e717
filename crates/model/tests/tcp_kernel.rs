//! Greedy uploads over a path of 100 Mbit/s, compared with kernel measurements: sender, receiver, small
//! queues, pacing and congestion controls together, with a single queue.

#[path = "common/tcp_rig.rs"]
mod tcp_rig;

use std::collections::VecDeque;

use stillair_model::transport::tcp::config::TcpConfig;
use stillair_model::transport::tcp::socket::Tcp;
use stillair_model::types::{Duration, Instant, SockId};
use tcp_rig::{Sent, Wire, end_charges, socket};

/// Transmission time of a full packet with its Ethernet header at 100 Mbit/s.
const PACKET: Duration = Duration::from_nanos(121_120);
/// Delay of the return path.
const DELAY: Duration = Duration::from_micros(400);
/// Length of a run, the initial part to discard, and the sampling interval.
const END: Instant = Instant::from_nanos(30_000_000_000);
const WARM_UP: Instant = Instant::from_nanos(2_000_000_000);
const SAMPLE: Duration = Duration::from_millis(50);

/// Position of the queue: at the sender, where small queues count its content, or behind the sender, with
/// room for 1,000 packets.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Bottleneck {
    Local,
    Remote,
}

struct Path {
    bottleneck: Bottleneck,
    now: Instant,
    /// Sender and receiver of each flow.
    flows: Vec<[(Tcp, Wire); 2]>,
    started: Vec<bool>,
    queue: VecDeque<(usize, Sent)>,
    /// Departure of the first packet in the queue.
    leaves: Instant,
    back: VecDeque<(Instant, usize, Sent)>,
}

/// Observations of a run after its warm-up.
#[derive(Debug)]
struct Seen {
    srtt_median_us: u32,
    cwnd_mean: f64,
    goodput_mbps: f64,
    retransmissions: u32,
}

impl Path {
    fn new(cc: &str, flows: usize, bottleneck: Bottleneck) -> Self {
        let config = TcpConfig::default();
        let end = |listens| (socket(&config, cc, listens), Wire::default());
        let flows: Vec<_> = (0..flows).map(|_| [end(false), end(true)]).collect();
        let started = vec![false; flows.len()];
        let (now, leaves) = (Instant::ZERO, Instant::NEVER);
        let mut path =
            Self { bottleneck, now, flows, started, queue: VecDeque::new(), leaves, back: VecDeque::new() };
        for i in 0..path.flows.len() {
            let [(tcp, wire), _] = &mut path.flows[i];
            tcp.connect(path.now, wire);
            path.settle(i);
        }
        path
    }

    /// Runs the applications of a flow, and forwards the packets that its sockets have sent.
    fn settle(&mut self, i: usize) {
        let now = self.now;
        let [(sender, out), (receiver, back)] = &mut self.flows[i];
        if sender.is_established() && (!self.started[i] || sender.wants_data()) {
            self.started[i] = true;
            sender.write(now, u64::MAX, out);
        }
        receiver.read(now, u64::MAX, back);
        while let Some(sent) = back.sent.pop_front() {
            self.back.push_back((now + DELAY, i, sent));
        }
        if self.bottleneck == Bottleneck::Remote {
            while end_charges(now, sender, out, usize::MAX) > 0 {}
        }
        while let Some(sent) = out.sent.pop_front() {
            if self.bottleneck == Bottleneck::Remote && self.queue.len() >= 1000 {
                continue;
            }
            if self.queue.is_empty() {
                self.leaves = now + PACKET;
            }
            self.queue.push_back((i, sent));
        }
    }

    /// Moves a packet from the queue to its receiver.
    fn forward(&mut self) {
        let Some((i, sent)) = self.queue.pop_front() else { return };
        self.leaves = if self.queue.is_empty() { Instant::NEVER } else { self.now + PACKET };
        if self.bottleneck == Bottleneck::Local && sent.packet.charge != SockId::NONE {
            let [(sender, out), _] = &mut self.flows[i];
            end_charges(self.now, sender, out, 1);
        }
        self.deliver(i, 1, &sent);
    }

    fn deliver(&mut self, i: usize, end: usize, sent: &Sent) {
        let (tcp, wire) = &mut self.flows[i][end];
        let p = &sent.packet;
        tcp.on_segment(self.now, p.seq, sent.ack, sent.segs, p.tos, p.truesize, &sent.header, wire);
        self.settle(i);
    }

    /// The next timer of any socket: time, flow and end.
    fn timer(&self) -> (Instant, usize, usize) {
        let each = self.flows.iter().enumerate().flat_map(|(i, ends)| {
            (0..2).map(move |end| (ends[end].0.next_timer().unwrap_or(Instant::NEVER), i, end))
        });
        each.min().unwrap_or((Instant::NEVER, 0, 0))
    }

    fn run(mut self) -> Seen {
        let (mut rtt, mut cwnd, mut look) = (Vec::new(), 0.0, WARM_UP);
        loop {
            let timer = self.timer();
            let arrival = self.back.front().map_or(Instant::NEVER, |b| b.0);
            let next = self.leaves.min(arrival).min(timer.0);
            while look <= next && look <= END {
                for [(tcp, _), _] in &self.flows {
                    let info = tcp.info(look);
                    rtt.push(info.rtt_us);
                    cwnd += f64::from(info.cwnd);
                }
                look += SAMPLE;
            }
            if next > END {
                break;
            }
            self.now = next;
            if next == self.leaves {
                self.forward();
            } else if next == arrival {
                if let Some((_, i, sent)) = self.back.pop_front() {
                    self.deliver(i, 0, &sent);
                }
            } else {
                let (_, i, end) = timer;
                let (tcp, wire) = &mut self.flows[i][end];
                tcp.on_timer(self.now, wire);
                self.settle(i);
            }
        }
        rtt.sort_unstable();
        let info: Vec<_> = self.flows.iter().map(|f| f[0].0.info(END)).collect();
        Seen {
            srtt_median_us: rtt[rtt.len() / 2],
            cwnd_mean: cwnd / rtt.len() as f64,
            goodput_mbps: info.iter().map(|i| i.bytes_acked as f64 * 8.0 / END.secs_f64() / 1e6).sum(),
            retransmissions: info.iter().map(|i| i.retrans_total).sum(),
        }
    }
}

/// Linux 6.1.192 in virtual time: four uploads, or one, over HTB at 100 Mbit/s with pfifo_fast, small queues
/// on (off for one flow through a remote bottleneck, where they have no effect); means and medians of 28 s
/// after a warm-up of 2 s.
#[test]
fn a_path_of_100_mbits_matches_the_kernel() {
    use Bottleneck::{Local, Remote};
    // controller, flows, bottleneck, median srtt in us, mean window, retransmissions in 30 s
    let table = [
        ("cubic", 4, Local, 3_410, 26.2, 0),
        ("cubic", 1, Local, 1_485, 18.0, 0),
        ("bbr", 4, Local, 1_852, 15.9, 0),
        ("cubic", 4, Remote, 106_510, 219.0, 92),
        ("cubic", 1, Remote, 102_141, 853.9, 64),
        ("bbr", 4, Remote, 8_276, 15.8, 0),
    ];
    for (cc, flows, bottleneck, srtt, cwnd, retransmissions) in table {
        let seen = Path::new(cc, flows, bottleneck).run();
        let within = |value: f64, want: f64, part: f64| (value - want).abs() <= part * want;
        let ok = within(f64::from(seen.srtt_median_us), f64::from(srtt), 0.1)
            && within(seen.cwnd_mean, cwnd, 0.1)
            && within(seen.goodput_mbps, 95.6, 0.03)
            && seen.retransmissions <= 2 * retransmissions
            && 2 * seen.retransmissions >= retransmissions;
        assert!(ok, "{cc}, {flows} flows, {bottleneck:?}: {seen:?}, the kernel {srtt} us, {cwnd} packets");
    }
}
