//! Two TCP ends over a link that loses, delays, reorders and duplicates packets: every byte is read once,
//! nothing stalls, charges end, and both ends close.

#[path = "common/tcp_rig.rs"]
mod tcp_rig;

use proptest::prelude::*;
use stillair_model::transport::tcp::config::{LossDetection, TcpConfig};
use stillair_model::transport::tcp::socket::{Tcp, TcpState};
use stillair_model::types::{Duration, Instant, RandomStream, Seed};
use tcp_rig::{Sent, Wire, end_charges, socket};

/// One direction of the link.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Packets per thousand that are lost, duplicated, delayed, or marked.
    lost: u32,
    twice: u32,
    held: u32,
    marked: u32,
    delay: Duration,
    /// Maximum extra delay.
    hold: Duration,
    /// Packets per thousand that the local queue refuses, or accepts with a congestion signal.
    refused: u32,
    congested: u32,
}

/// Behaviour of an end's application.
#[derive(Clone, Copy, Debug)]
struct App {
    writes: u64,
    /// Maximum bytes per read, and interval of reads. 0: reads everything immediately.
    reads: u64,
    every: Duration,
}

struct End {
    tcp: Tcp,
    wire: Wire,
    app: App,
    left: u64,
    read: u64,
    closed: bool,
    reads_at: Instant,
    /// End times of charges, with the number of charges.
    charges: Vec<(Instant, usize)>,
}

struct World {
    now: Instant,
    ends: [End; 2],
    links: [Link; 2],
    /// Arrival, order, receiving end, packet.
    flying: Vec<(Instant, u32, usize, Sent)>,
    order: u32,
    random: RandomStream,
    host: Duration,
}

impl World {
    fn new(
        configs: &[TcpConfig; 2],
        cc: &str,
        apps: [App; 2],
        links: [Link; 2],
        host: Duration,
        seed: u64,
    ) -> Self {
        let end = |i: usize| End {
            tcp: socket(&configs[i], cc, i == 1),
            wire: Wire::default(),
            app: apps[i],
            left: apps[i].writes,
            read: 0,
            closed: false,
            reads_at: Instant::ZERO,
            charges: Vec::new(),
        };
        let ends = [end(0), end(1)];
        let random = Seed { seed, run: 0 }.stream("link");
        Self { now: Instant::from_nanos(1_000_000), ends, links, flying: Vec::new(), order: 0, random, host }
    }

    fn luck(&mut self, of_thousand: u32) -> bool {
        self.random.below(1000) < of_thousand
    }

    /// Runs the application of an end, and puts the packets of its socket on the link.
    fn settle(&mut self, i: usize) {
        let link = self.links[i];
        let now = self.now;
        loop {
            if self.luck(link.refused) {
                self.ends[i].wire.refuse = 1;
            }
            if self.luck(link.congested) {
                self.ends[i].wire.congest = 1;
            }
            let end = &mut self.ends[i];
            let peer_fin = end.tcp.receiver.fin_received();
            if end.app.reads == 0 || peer_fin && end.tcp.readable() < end.app.reads {
                end.read += end.tcp.read(now, u64::MAX, &mut end.wire);
            }
            let mut moved = 0;
            if end.left > 0 && end.tcp.is_established() {
                moved = end.tcp.write(now, end.left, &mut end.wire);
                end.left -= moved;
            }
            if end.left == 0 && !end.closed && end.tcp.is_established() {
                end.closed = true;
                end.tcp.close(now, &mut end.wire);
            }
            end.wire.refuse = 0;
            end.wire.congest = 0;
            let refused = end_charges(now, &mut end.tcp, &mut end.wire, 0);
            let before: usize = end.charges.iter().map(|c| c.1).sum();
            let fresh = end.wire.charges.len() - before;
            if fresh > 0 {
                end.charges.push((now + self.host, fresh));
            }
            while let Some(sent) = self.ends[i].wire.sent.pop_front() {
                self.take_off(i, sent);
            }
            if moved == 0 && refused == 0 {
                return;
            }
        }
    }

    fn take_off(&mut self, i: usize, mut sent: Sent) {
        let link = self.links[i];
        if sent.packet.tos & 3 == 2 && self.luck(link.marked) {
            sent.packet.tos |= 3;
        }
        let copies = if self.luck(link.lost) { 0 } else { 1 + u32::from(self.luck(link.twice)) };
        for _ in 0..copies {
            let mut at = self.now + link.delay;
            if self.luck(link.held) {
                at += self.random.between(Duration::ZERO, link.hold);
            }
            self.order += 1;
            self.flying.push((at, self.order, 1 - i, sent.clone()));
        }
    }

    /// Handles the next event. Returns false if nothing is left.
    fn step(&mut self) -> bool {
        let next_packet =
            self.flying.iter().enumerate().min_by_key(|(_, f)| (f.0, f.1)).map(|(k, f)| (f.0, k));
        let mut next = next_packet.map_or(Instant::NEVER, |n| n.0);
        for end in &self.ends {
            let timer = end.tcp.next_timer().unwrap_or(Instant::NEVER);
            let charge = end.charges.first().map_or(Instant::NEVER, |c| c.0);
            let reads =
                if end.app.reads > 0 && end.tcp.readable() > 0 { end.reads_at } else { Instant::NEVER };
            next = next.min(timer).min(charge).min(reads);
        }
        if next == Instant::NEVER {
            return false;
        }
        let now = next.max(self.now);
        self.now = now;
        if let Some((_, k)) = next_packet.filter(|n| n.0 <= now) {
            let (_, _, i, s) = self.flying.swap_remove(k);
            let end = &mut self.ends[i];
            let (p, wire) = (&s.packet, &mut end.wire);
            end.tcp.on_segment(now, p.seq, s.ack, s.segs, p.tos, p.truesize, &s.header, wire);
            self.settle(i);
            return true;
        }
        for i in 0..2 {
            let end = &mut self.ends[i];
            if let Some(&(at, n)) = end.charges.first()
                && at <= now
            {
                end.charges.remove(0);
                end_charges(now, &mut end.tcp, &mut end.wire, n);
            }
            if end.app.reads > 0 && end.tcp.readable() > 0 && end.reads_at <= now {
                end.read += end.tcp.read(now, end.app.reads, &mut end.wire);
                end.reads_at = now + end.app.every;
            }
            if end.tcp.next_timer().is_some_and(|at| at <= now) {
                end.tcp.on_timer(now, &mut end.wire);
            }
            self.settle(i);
        }
        true
    }
}

fn link() -> impl Strategy<Value = Link> {
    let rate = |most: u32| prop_oneof![2 => Just(0), 1 => 0..most];
    (rate(150), rate(100), rate(300), rate(300), 0_u64..60_000, 0_u64..200_000, rate(50), rate(50)).prop_map(
        |(lost, twice, held, marked, delay, hold, refused, congested)| Link {
            lost,
            twice,
            held,
            marked,
            delay: Duration::from_micros(delay),
            hold: Duration::from_micros(hold),
            refused,
            congested,
        },
    )
}

fn config() -> impl Strategy<Value = TcpConfig> {
    let buffer = || prop_oneof![Just(131_072_u32), 10_000_u32..200_000];
    let losses =
        prop_oneof![Just(LossDetection::RackTlp), Just(LossDetection::DupAck), Just(LossDetection::Fack)];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), 0_u8..3);
    (flags, losses, buffer(), buffer(), prop_oneof![Just(250_u32), Just(100), Just(1000)], any::<bool>())
        .prop_map(|((timestamps, sack, dsack, tso, ecn), loss, rmem, wmem, hz, small)| TcpConfig {
            timestamps,
            sack,
            dsack,
            tso,
            ecn,
            loss,
            hz,
            advmss: if small { 536 } else { 1460 },
            rmem: [4096, rmem, rmem * 8],
            wmem: [4096, wmem, wmem * 8],
            ..TcpConfig::default()
        })
}

fn app() -> impl Strategy<Value = App> {
    let reads = prop_oneof![3 => Just(0_u64), 1 => 500_u64..20_000];
    (prop_oneof![Just(0_u64), 1_u64..300_000], reads, 0_u64..20_000).prop_map(|(writes, reads, every)| App {
        writes,
        reads,
        every: Duration::from_micros(every),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_is_read_once_and_both_ends_close(
        configs in [config(), config()],
        cc in prop_oneof![Just("reno"), Just("cubic"), Just("bbr")],
        apps in [app(), app()],
        links in [link(), link()],
        host in 0_u64..3_000,
        seed in any::<u64>(),
    ) {
        let mut world = World::new(&configs, cc, apps, links, Duration::from_micros(host), seed);
        let now = world.now;
        let first = &mut world.ends[0];
        first.tcp.connect(now, &mut first.wire);
        world.settle(0);
        let mut steps = 0;
        while world.step() {
            steps += 1;
            prop_assert!(steps < 300_000, "it goes on for ever");
            for end in &world.ends {
                let charged: u32 = end.wire.charges.iter().sum();
                prop_assert_eq!(end.tcp.sender.charged(), charged);
            }
            // The link becomes perfect in the end, so that only the sockets can prevent the close.
            if world.now > Instant::from_nanos(600_000_000_000) {
                for link in &mut world.links {
                    *link = Link { lost: 0, twice: 0, held: 0, refused: 0, congested: 0, ..*link };
                }
            }
        }
        // If all six SYNs or five SYN-ACKs are lost, no connection exists.
        let [a, b] = &world.ends;
        prop_assume!(b.tcp.state() != TcpState::Listen && b.closed && a.closed);
        prop_assert_eq!((a.read, b.read), (apps[1].writes, apps[0].writes));
        prop_assert!(a.tcp.is_closed() && b.tcp.is_closed(), "{:?} {:?}", a.tcp.state(), b.tcp.state());
        for end in &world.ends {
            let info = end.tcp.info(world.now);
            prop_assert_eq!((end.tcp.sender.charged(), info.rmem_alloc, info.unacked), (0, 0, 0));
        }
    }
}
