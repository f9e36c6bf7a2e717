//! Two ends and a path between them: in each direction a FIFO with a rate, a delay and a limit, and random
//! loss and duplication. No world.

use std::collections::{BTreeMap, VecDeque};

use stillair_model::transport::quic::{Connection, Snapshot, Stack, StreamId};
use stillair_model::types::{Datagram, Duration, Instant, RandomStream, Seed};

/// One direction of a path.
#[derive(Clone, Copy, Debug)]
pub struct Fifo {
    /// Rate in bit/s.
    pub rate: u64,
    pub delay: Duration,
    /// Maximum bytes of datagrams waiting or being transmitted.
    pub limit: u64,
    /// Header bytes per datagram below UDP payload.
    pub overhead: u64,
    pub loss: f64,
    pub duplication: f64,
}

impl Fifo {
    /// The path of the measurements: 50 Mbit/s, a round-trip time of 8 ms, 300 kB.
    pub const PLAIN: Self = Self {
        rate: 50_000_000,
        delay: Duration::from_millis(4),
        limit: 300_000,
        overhead: 28,
        loss: 0.0,
        duplication: 0.0,
    };
}

struct Link {
    fifo: Fifo,
    free: Instant,
    waiting: u64,
    /// Departure, arrival and content of each datagram.
    travels: VecDeque<(Instant, Instant, Datagram)>,
    sent: usize,
    drops: u64,
    /// Datagrams accepted, and the sum of their waiting times.
    taken: u64,
    queued: Duration,
    random: RandomStream,
}

impl Link {
    fn new(fifo: Fifo, random: RandomStream) -> Self {
        Self {
            fifo,
            free: Instant::ZERO,
            waiting: 0,
            travels: VecDeque::new(),
            sent: 0,
            drops: 0,
            taken: 0,
            queued: Duration::ZERO,
            random,
        }
    }

    fn send(&mut self, now: Instant, datagram: Datagram) {
        while let Some((done, _, gone)) = self.travels.get(self.sent)
            && *done <= now
        {
            self.waiting -= u64::from(gone.len) + self.fifo.overhead;
            self.sent += 1;
        }
        let size = u64::from(datagram.len) + self.fifo.overhead;
        if self.waiting + size > self.fifo.limit || self.random.chance(self.fifo.loss) {
            self.drops += 1;
            return;
        }
        self.waiting += size;
        self.taken += 1;
        self.queued += self.free.saturating_since(now);
        self.free = self.free.max(now) + Duration::from_nanos(size * 8 * 1_000_000_000 / self.fifo.rate);
        self.travels.push_back((self.free, self.free + self.fifo.delay, datagram));
    }

    fn next(&self) -> Option<Instant> {
        self.travels.front().map(|(_, at, _)| *at)
    }

    fn take(&mut self, now: Instant) -> Option<Datagram> {
        let (_, at, datagram) = self.travels.front()?;
        if *at > now {
            return None;
        }
        if self.sent == 0 {
            self.waiting -= u64::from(datagram.len) + self.fifo.overhead;
        }
        self.sent = self.sent.saturating_sub(1);
        self.travels.pop_front().map(|(.., datagram)| datagram)
    }
}

/// Observations of a transfer.
#[derive(Debug)]
pub struct Seen {
    /// Times at which datagrams with data left the server.
    pub data: Vec<Instant>,
    pub established: Instant,
    pub done: Instant,
    pub drops: u64,
    /// Numbers of the server's dropped packets, if the stack reports numbers.
    pub dropped: Vec<u64>,
    /// Mean queueing delay of the server's datagrams.
    pub queued: Duration,
    /// Bytes read from each stream.
    pub read: BTreeMap<StreamId, u64>,
    /// Number of stream ends read.
    pub ends: u64,
    /// Hash over time, sender, length and bytes of every datagram.
    pub hash: u64,
    /// Datagrams of each end until the client can send data.
    pub handshake: [Vec<Datagram>; 2],
    /// Hash over time, sender and length of every datagram.
    pub shape: u64,
    /// Final state of client and server.
    pub snapshots: [Snapshot; 2],
}

impl Seen {
    /// Goodput in kbit/s from the end of the handshake on.
    pub fn kbps(&self) -> u64 {
        self.read.values().sum::<u64>() * 8 * 1_000_000 / (self.done - self.established).nanos()
    }

    /// Share, in thousandths, of the gaps between datagrams with data that are shorter than `us`
    /// microseconds.
    pub fn gaps_below(&self, us: u64) -> u64 {
        let short = self.data.windows(2).filter(|w| (w[1] - w[0]).nanos() < us * 1_000).count();
        1_000 * short as u64 / (self.data.len() as u64 - 1)
    }

    /// Maximum number of datagrams that left at the same time.
    pub fn burst(&self) -> usize {
        self.data.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap_or(0)
    }
}

/// A client requests `bytes` on each of `streams` streams. Ends when everything is read, or when the ends
/// stall.
pub fn download<S: Stack>(ends: &mut [S; 2], bytes: u64, streams: u64, paths: [Fifo; 2], seed: u64) -> Seen {
    let mut links = [0, 1].map(|i| Link::new(paths[i], Seed { seed, run: i as u64 }.stream("path")));
    let (mut now, mut established, mut done) = (Instant::ZERO, None, None);
    let (mut data, mut read, mut finished, mut hash) =
        (Vec::new(), BTreeMap::new(), 0, 0xcbf2_9ce4_8422_2325);
    let (mut shape, mut dropped, mut handshake) = (hash, Vec::new(), [Vec::new(), Vec::new()]);
    let mut replies: BTreeMap<StreamId, u64> = BTreeMap::new();
    let mut spare: Vec<Datagram> = Vec::new();
    let mut opened = 0;
    ends[0].connect(now);
    for _ in 0..10_000_000_u64 {
        let [client, server] = &mut *ends;
        if client.connection() == Connection::Established && opened < streams {
            established.get_or_insert(now);
            while opened < streams
                && let Some(id) = client.open()
            {
                assert_eq!(client.write(now, id, 100), 100);
                client.finish(now, id);
                opened += 1;
            }
        }
        while let Some(id) = server.next_readable() {
            if server.read(now, id).finished {
                replies.insert(id, bytes);
            }
        }
        replies.retain(|id, left| {
            *left -= server.write(now, *id, *left);
            if *left == 0 {
                server.finish(now, *id);
            }
            *left > 0
        });
        while let Some(id) = client.next_readable() {
            let seen = client.read(now, id);
            *read.entry(id).or_insert(0) += seen.bytes;
            finished += u64::from(seen.finished);
        }
        if finished == streams && done.is_none() {
            done = Some(now);
            break;
        }
        for (i, end) in ends.iter_mut().enumerate() {
            let mut out = spare.pop().unwrap_or_default();
            while end.poll_transmit(now, &mut out) {
                for part in [now.nanos(), i as u64, u64::from(out.len)] {
                    hash = (hash ^ part).wrapping_mul(0x0000_0100_0000_01b3);
                    shape = (shape ^ part).wrapping_mul(0x0000_0100_0000_01b3);
                }
                for byte in &out.bytes {
                    hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
                }
                if established.is_none() {
                    handshake[i].push(out.clone());
                }
                if i == 1 && established.is_some() && out.len > 600 {
                    data.push(now);
                }
                if links[i].random.chance(links[i].fifo.duplication) {
                    links[i].send(now, out.clone());
                }
                let (before, number) = (links[i].drops, end.last_sent());
                links[i].send(now, out);
                dropped.extend(number.filter(|_| i == 1 && links[i].drops > before));
                out = spare.pop().unwrap_or_default();
            }
            spare.push(out);
        }
        let timers = ends.iter().filter_map(Stack::next_timer);
        let Some(next) = timers.chain(links.iter().filter_map(Link::next)).min() else { break };
        now = now.max(next);
        for (from, link) in links.iter_mut().enumerate() {
            while let Some(mut datagram) = link.take(now) {
                ends[1 - from].on_datagram(now, &mut datagram);
                datagram.clear();
                spare.push(datagram);
            }
        }
        for end in ends.iter_mut() {
            if end.next_timer().is_some_and(|at| at <= now) {
                end.on_timer(now);
            }
        }
    }
    Seen {
        data,
        established: established.expect("the handshake ends"),
        done: done.expect("all streams end"),
        dropped,
        queued: links[1].queued / links[1].taken.max(1),
        drops: links.iter().map(|link| link.drops).sum(),
        read,
        ends: finished,
        hash,
        handshake,
        shape,
        snapshots: [0, 1].map(|i| ends[i].snapshot(now)),
    }
}
