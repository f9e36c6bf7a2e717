//! Transfers between two endpoints over a path.

mod by_tcp;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::types::{Datagram, Duration, Instant, QuicFrame, RandomStream, Seed};

/// One direction of a path: a rate, a delay, a drop-tail queue and random loss.
#[derive(Debug)]
struct Path {
    rate: u64,
    delay: Duration,
    queue: u64,
    loss: f64,
    free: Instant,
    travels: VecDeque<(Instant, Datagram)>,
    drops: u64,
}

impl Path {
    fn new(rate: u64, delay_ms: u64, queue: u64, loss: f64) -> Self {
        let (free, travels) = (Instant::ZERO, VecDeque::new());
        Self { rate, delay: Duration::from_millis(delay_ms), queue, loss, free, travels, drops: 0 }
    }

    fn send(&mut self, now: Instant, datagram: Datagram, random: &mut RandomStream) {
        let waits = self.free.saturating_since(now).nanos();
        if waits * self.rate / 8 / 1_000_000_000 > self.queue || random.chance(self.loss) {
            self.drops += 1;
            return;
        }
        // IP and UDP headers.
        let bits = u64::from(datagram.len + 28) * 8;
        self.free = self.free.max(now) + Duration::from_nanos(bits * 1_000_000_000 / self.rate);
        self.travels.push_back((self.free + self.delay, datagram));
    }
}

/// Observations of a transfer.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    /// Transmission times of the server's data packets.
    data: Vec<Instant>,
    /// Datagrams from the client that are not ack-eliciting.
    acks: u64,
    established: Option<Instant>,
    done: Option<Instant>,
    drops: u64,
    /// Time and window in bytes when delay ended slow start.
    exit: Option<(Instant, u64)>,
    read: u64,
    /// The server's final smoothed RTT.
    srtt: Option<Duration>,
}

impl Seen {
    fn mbps(&self) -> f64 {
        let time = self.done.expect("done") - self.established.expect("established");
        self.read as f64 * 8e3 / time.nanos() as f64
    }
    /// Percentage of gaps between data packets below `us`.
    fn below(&self, us: u64) -> u64 {
        let gaps = self.data.windows(2).map(|w| (w[1] - w[0]).nanos() / 1_000);
        100 * gaps.filter(|&gap| gap < us).count() as u64 / (self.data.len() as u64 - 1)
    }
}

/// A client downloads `bytes` on each of `streams` streams. Each packet takes the server `cost` us.
fn download(config: QuicConfig, bytes: u64, streams: u64, paths: [Path; 2], cost: u64) -> Seen {
    download_by(1, config, bytes, streams, paths, cost)
}

/// Like `download`, with random losses drawn from `seed`.
fn download_by(seed: u64, config: QuicConfig, bytes: u64, streams: u64, paths: [Path; 2], cost: u64) -> Seen {
    let ends = [QuicRole::Client, QuicRole::Server].map(|role| Quic::new(config, role, true));
    download_between(ends, seed, config.packet, bytes, streams, paths, cost)
}

/// Like `download`, between these endpoints, with packets of up to `packet` bytes.
fn download_between(
    mut ends: [Quic; 2],
    seed: u64,
    packet: u32,
    bytes: u64,
    streams: u64,
    mut paths: [Path; 2],
    cost: u64,
) -> Seen {
    let mut random = Seed { seed, run: 0 }.stream("path");
    let (mut seen, mut now, mut left) = (Seen::default(), Instant::ZERO, streams);
    let mut busy = Instant::ZERO;
    ends[0].connect(now);
    for _ in 0..4_000_000 {
        // Client application.
        if seen.established.is_none() && ends[0].connection() == Connection::Established {
            seen.established = Some(now);
            for _ in 0..streams {
                let id = ends[0].open().expect("established");
                ends[0].write(now, id, 100);
                ends[0].finish(now, id);
            }
        }
        while let Some(id) = ends[1].next_readable() {
            if ends[1].read(now, id).finished {
                ends[1].write(now, id, bytes);
                ends[1].finish(now, id);
            }
        }
        while let Some(id) = ends[0].next_readable() {
            let read = ends[0].read(now, id);
            seen.read += read.bytes;
            left -= u64::from(read.finished);
        }
        if left == 0 && seen.done.is_none() {
            seen.done = Some(now);
            ends[0].close(now);
        }
        for (i, end) in ends.iter_mut().enumerate() {
            let mut out = Datagram::default();
            while (i == 0 || busy <= now) && end.poll_transmit(now, &mut out) {
                let data = out.packet.frames.iter().any(|f| matches!(f, QuicFrame::Stream { .. }));
                if i == 1 && data {
                    seen.data.push(now);
                }
                if i == 1 {
                    busy = now + Duration::from_micros(cost);
                }
                assert!(out.len <= packet);
                seen.acks += u64::from(i == 0 && !out.packet.is_ack_eliciting());
                paths[i].send(now, core::mem::take(&mut out), &mut random);
            }
        }
        while let Some(event) = ends[1].poll_event() {
            if event == StackEvent::SlowStartExit {
                seen.exit = Some((now, ends[1].snapshot(now).cwnd));
            }
        }
        if seen.done.is_some() {
            break;
        }
        let timers = ends.iter().filter_map(Stack::next_timer).map(|at| at.max(now));
        let arrivals = paths.iter().filter_map(|p| p.travels.front().map(|(at, _)| *at));
        let free = (busy > now).then_some(busy);
        let Some(next) = timers.chain(arrivals).chain(free).min() else { break };
        now = next;
        for (i, path) in paths.iter_mut().enumerate() {
            while path.travels.front().is_some_and(|(at, _)| *at <= now) {
                let (_, mut datagram) = path.travels.pop_front().expect("there is one");
                ends[1 - i].on_datagram(now, &mut datagram);
            }
        }
        for end in &mut ends {
            if end.next_timer().is_some_and(|at| at <= now) {
                end.on_timer(now);
            }
        }
    }
    seen.srtt = ends[1].snapshot(now).srtt;
    seen.drops = paths.iter().map(|p| p.drops).sum();
    seen
}

/// 10 MB over 50 Mbit/s and 8 ms with a queue of 300 kB.
fn on_a_fifo(preset: Preset) -> Seen {
    let paths = [Path::new(50_000_000, 4, 300_000, 0.0), Path::new(50_000_000, 4, 300_000, 0.0)];
    download(preset.config(), 10_000_000, 1, paths, 0)
}

#[test]
fn ten_megabytes_over_a_fifo() {
    for (name, preset) in Preset::ALL {
        let seen = on_a_fifo(preset);
        assert_eq!(seen.read, 10_000_000, "{name}");
        // 1350 of 1378 bytes on the wire, less headers: at most 48.1 Mbit/s.
        assert!((44.0..48.2).contains(&seen.mbps()), "{name}: {}", seen.mbps());
    }
}

/// gQUIC takes two RTTs. TLS takes one, and another since 4 kB exceed three times the first datagram.
#[test]
fn establishment() {
    let ms = |preset| on_a_fifo(preset).established.expect("established").nanos() / 1_000_000;
    assert_eq!(ms(Preset::Chromium39), 17);
    assert_eq!(ms(Preset::Rfc9002), 16);
}

/// One ACK per two packets against one per ten, which take 2.2 ms at 50 Mbit/s; the timer fires after 2 ms.
#[test]
fn acknowledgements_by_preset() {
    let per_ack = |preset| {
        let seen = on_a_fifo(preset);
        seen.data.len() as u64 * 10 / seen.acks
    };
    assert_eq!(per_ack(Preset::Chromium39) / 2, 10);
    let decimated = per_ack(Preset::Bquic39);
    assert!((75..=105).contains(&decimated), "{decimated}");
}

/// Slow start ends by delay, before any loss.
#[test]
fn hybrid_slow_start_leaves_before_the_queue_is_full() {
    for preset in [Preset::Chromium39, Preset::Bquic39] {
        let seen = on_a_fifo(preset);
        let (_, cwnd) = seen.exit.expect("left by delay");
        assert!((60_000..330_000).contains(&cwnd), "{preset:?}: {cwnd}");
    }
    let off = QuicConfig {
        window: window::WindowParams { hystart: false, ..Preset::Chromium39.config().window },
        ..Preset::Chromium39.config()
    };
    let paths = [Path::new(50_000_000, 4, 300_000, 0.0), Path::new(50_000_000, 4, 300_000, 0.0)];
    let seen = download(off, 10_000_000, 1, paths, 0);
    assert!(seen.exit.is_none() && seen.drops > 0);
}

/// With 30 us of CPU time per packet at 20 Mbit/s, the strict preset sends packets singly, Chromium's horizon
/// of 1 ms groups several, and without a pacer there are bursts.
#[test]
fn gaps_between_packets() {
    let below = |preset: Preset| {
        let paths = [Path::new(20_000_000, 4, 300_000, 0.0), Path::new(20_000_000, 4, 300_000, 0.0)];
        download(preset.config(), 2_000_000, 1, paths, 30).below(100)
    };
    let strict = below(Preset::Chromium39Strict);
    let source = below(Preset::Chromium39);
    let burst = below(Preset::Bquic39);
    assert!(strict < 30 && source > strict + 15 && burst > 70, "{strict} {source} {burst}");
}

#[test]
fn the_same_twice() {
    let [a, b] = [0, 1].map(|_| on_a_fifo(Preset::Chromium39));
    assert_eq!((a.data, a.done), (b.data, b.done));
}

/// After two probes a timeout retransmits up to two packets. Here only one was left, the end of the last
/// stream. The second stayed forced, which kept the timer off, and the transfer stalled when the
/// retransmission was lost too.
#[test]
fn a_timeout_with_a_single_packet_rearms_the_timer() {
    let (up, down) = (0.24260540752421425, 0.19926949524194895);
    let paths = [Path::new(5_000_000, 10, 50_000, up), Path::new(5_000_000, 10, 14_030, down)];
    let seen = download(Preset::Chromium39.config(), 25_806, 4, paths, 0);
    assert_eq!(seen.read, 4 * 25_806);
    assert!(seen.done.is_some());
}

/// Everything an endpoint sends now.
fn sends(end: &mut Quic, now: Instant) -> Vec<Datagram> {
    core::iter::from_fn(|| {
        let mut out = Datagram::default();
        end.poll_transmit(now, &mut out).then_some(out)
    })
    .collect()
}

/// Only the first packet of the server's message arrives: with the RFC presets the client acknowledges it
/// immediately, in gQUIC after 25 ms.
#[test]
fn the_handshake_is_acknowledged_without_delay() {
    let waits = |preset: Preset| {
        let [mut client, mut server] =
            [QuicRole::Client, QuicRole::Server].map(|role| Quic::new(preset.config(), role, true));
        let mut now = Instant::ZERO;
        client.connect(now);
        sends(&mut client, now).iter_mut().for_each(|hello| server.on_datagram(now, hello));
        now += Duration::from_millis(10);
        client.on_datagram(now, &mut sends(&mut server, now)[0]);
        let from = now;
        while !sends(&mut client, now).iter().any(|datagram| datagram.packet.ack.is_some()) {
            now = client.next_timer().expect("a timer");
            client.on_timer(now);
        }
        (now - from).nanos() / 1_000_000
    };
    assert_eq!([Preset::Rfc9002, Preset::ChromiumNow, Preset::Chromium39].map(waits), [0, 0, 25]);
}

/// The server is silent: intervals between the client's packets in ms.
// spec: rfc9002 6.2.1, 6.2.2 - three times 333 ms, doubled each time. quiche: three times 100 ms.
#[test]
fn an_unanswered_hello_is_retransmitted() {
    let gaps = |preset: Preset| {
        let mut client = Quic::new(preset.config(), QuicRole::Client, true);
        let (mut now, mut last) = (Instant::ZERO, Instant::ZERO);
        client.connect(now);
        assert_eq!(sends(&mut client, now).len(), 1);
        [0; 4].map(|_| {
            now = client.next_timer().expect("a timer");
            client.on_timer(now);
            let again = sends(&mut client, now);
            assert!(again.len() == 1 && again[0].len == preset.config().packet, "{again:?}");
            assert!(matches!(again[0].packet.frames[..], [QuicFrame::Crypto { step: 0, .. }]));
            let gap = now - core::mem::replace(&mut last, now);
            gap.nanos() / 1_000_000
        })
    };
    assert_eq!(gaps(Preset::Rfc9002), [999, 1_998, 3_996, 7_992]);
    assert_eq!(gaps(Preset::ChromiumNow), [300, 600, 1_200, 2_400]);
    assert_eq!(gaps(Preset::Chromium39), [150, 300, 600, 1_200]);
}

/// The server has reached its amplification limit, and the client's answer is lost. The client has nothing in
/// flight, but only a full datagram from it unblocks the server.
#[test]
fn client_probes_while_the_server_is_blocked() {
    // 20 ms, then 20 ms plus 2 or 4 times 10 ms.
    for (preset, probe_at) in [(Preset::ChromiumNow, 60), (Preset::Rfc9002, 80)] {
        let config = preset.config();
        let [mut client, mut server] =
            [QuicRole::Client, QuicRole::Server].map(|role| Quic::new(config, role, true));
        assert_eq!(client.next_timer(), None);
        let mut now = Instant::ZERO;
        client.connect(now);
        let mut hello = sends(&mut client, now);
        now += Duration::from_millis(10);
        server.on_datagram(now, &mut hello[0]);
        let mut first = sends(&mut server, now);
        assert_eq!(first.len(), 3);
        now += Duration::from_millis(10);
        first.iter_mut().for_each(|datagram| client.on_datagram(now, datagram));
        let mut probe = loop {
            if let Some(probe) = sends(&mut client, now).into_iter().find(|d| d.packet.is_ack_eliciting()) {
                break probe;
            }
            now = client.next_timer().expect("a timer");
            client.on_timer(now);
        };
        assert!(probe.packet.frames.contains(&QuicFrame::Ping) && probe.len == config.packet);
        assert_eq!(now.nanos(), probe_at * 1_000_000);
        while let Some(at) = server.next_timer() {
            now = now.max(at);
            server.on_timer(now);
            assert!(sends(&mut server, now).is_empty());
        }
        server.on_datagram(now, &mut probe);
        assert!(!sends(&mut server, now).is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// All streams end with all their bytes, whatever is lost.
    #[test]
    fn everything_arrives(
        preset in 0_usize..7,
        loss in prop::array::uniform2(0.0..0.3_f64),
        streams in 1_u64..6,
        bytes in 1_u64..60_000,
        queue in 3_000_u64..100_000,
        seed in any::<u64>(),
    ) {
        let paths = [Path::new(5_000_000, 10, 50_000, loss[0]), Path::new(5_000_000, 10, queue, loss[1])];
        let seen = download_by(seed, Preset::ALL[preset].1.config(), bytes, streams, paths, 0);
        prop_assert_eq!(seen.read, bytes * streams);
        prop_assert!(seen.done.is_some());
    }
}
