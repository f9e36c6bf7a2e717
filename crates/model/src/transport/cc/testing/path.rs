//! A path for one greedy connection: 1 Gbit/s wire, bottleneck with a FIFO, receiver with delayed ACKs,
//! return delay.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::super::{Cc, CcSock};
use super::sender::Sender;

/// Bytes on the wire per full segment at the bottleneck.
const WIRE: u64 = 1_514;
/// Number of quick ACKs at the start of a connection.
const QUICK: u32 = 16;
/// Delayed ACK timeout in ns.
const DELACK: u64 = 40_000_000;

pub(crate) struct Path {
    /// Bottleneck rate in bit/s.
    pub(crate) rate: u64,
    /// RTT without queueing, in us.
    pub(crate) rtt_us: u64,
    /// Queue limit of the bottleneck in packets.
    pub(crate) limit: usize,
    /// Acknowledge every second segment.
    pub(crate) delayed: bool,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A segment arrives at the bottleneck.
    Queue(u64),
    /// A segment arrives at the receiver.
    Arrive(u64),
    /// The delayed ACK timer with this serial number fires.
    Delack(u64),
    /// An ACK arrives at the sender: next expected segment, and segments received since the previous ACK.
    Ack(u64, Vec<u64>),
    /// Pacing releases the next segment.
    Pace,
}

#[derive(Debug, Default)]
pub(crate) struct Run {
    /// Segments delivered in order after the warm-up.
    pub(crate) delivered: u64,
    /// Retransmitted segments.
    pub(crate) retransmissions: u64,
    /// Windows, sampled every 100 ms after the warm-up.
    pub(crate) cwnd: Vec<u32>,
    /// Smoothed RTTs in us, sampled at the same times.
    pub(crate) srtt_us: Vec<u32>,
}

pub(crate) fn mean(samples: &[u32]) -> f64 {
    samples.iter().map(|&s| f64::from(s)).sum::<f64>() / samples.len() as f64
}

impl Run {
    pub(crate) fn mean_cwnd(&self) -> f64 {
        mean(&self.cwnd)
    }
    pub(crate) fn mean_srtt_ms(&self) -> f64 {
        mean(&self.srtt_us) / 1_000.0
    }
}

impl Path {
    /// Runs a connection for `seconds`, sampling after `from` seconds. Calls `each` after every ACK.
    pub(crate) fn run(&self, cc: Cc, from: u64, seconds: u64, mut each: impl FnMut(&Cc, &CcSock)) -> Run {
        let mut run = Run::default();
        let mut sender = Sender::new(cc, self.rtt_us);
        let mut events = BinaryHeap::new();
        let mut serial = 0;
        let mut push = |at: u64, event: Event, events: &mut BinaryHeap<_>| {
            serial += 1;
            events.push(Reverse((at, serial, event)));
        };
        let service = WIRE * 8 * 1_000_000_000 / self.rate;
        let wire = WIRE * 8;
        let (mut wire_free, mut busy_until) = (0_u64, 0_u64);
        let (mut expected, mut quick, mut delack) = (0_u64, QUICK, 0_u64);
        let mut early = alloc::collections::BTreeSet::new();
        let mut pending: Vec<u64> = Vec::new();
        let mut next_sample = from * 1_000_000_000;
        let mut before = 0;
        let mut paced = false;
        push(0, Event::Pace, &mut events);
        while let Some(Reverse((now, _, event))) = events.pop() {
            if run.cwnd.is_empty() {
                before = expected;
            }
            while next_sample <= now {
                run.cwnd.push(sender.sk.snd_cwnd);
                run.srtt_us.push(sender.sk.srtt_us >> 3);
                next_sample += 100_000_000;
            }
            if now >= seconds * 1_000_000_000 {
                break;
            }
            let mut send = false;
            match event {
                Event::Queue(segment) => {
                    let waiting = busy_until.saturating_sub(now).div_ceil(service) as usize;
                    // One packet is in service, the others wait.
                    if waiting <= self.limit {
                        busy_until = busy_until.max(now) + service;
                        push(busy_until, Event::Arrive(segment), &mut events);
                    }
                }
                Event::Arrive(segment) => {
                    let in_order = segment == expected;
                    let filled = !early.is_empty();
                    early.insert(segment);
                    while early.remove(&expected) {
                        expected += 1;
                    }
                    pending.push(segment);
                    let at_once = !self.delayed || !in_order || filled || quick > 0 || pending.len() >= 2;
                    quick = quick.saturating_sub(1);
                    delack += 1;
                    if at_once {
                        let fresh = core::mem::take(&mut pending);
                        push(now + self.rtt_us * 1_000, Event::Ack(expected, fresh), &mut events);
                    } else {
                        push(now + DELACK, Event::Delack(delack), &mut events);
                    }
                }
                Event::Delack(of) => {
                    if of == delack {
                        let fresh = core::mem::take(&mut pending);
                        push(now + self.rtt_us * 1_000, Event::Ack(expected, fresh), &mut events);
                    }
                }
                Event::Ack(cumulative, fresh) => {
                    sender.on_ack(now, cumulative, &fresh);
                    each(&sender.cc, &sender.sk);
                    send = true;
                }
                Event::Pace => {
                    paced = false;
                    send = true;
                }
            }
            if send {
                while let Some(segment) = sender.next(now) {
                    wire_free = wire_free.max(now) + wire;
                    push(wire_free, Event::Queue(segment), &mut events);
                }
                if let Some(at) = sender.paced_until(now).filter(|_| !paced) {
                    paced = true;
                    push(at, Event::Pace, &mut events);
                }
            }
        }
        assert!(next_sample > (seconds - 1) * 1_000_000_000, "the connection has come to a standstill");
        run.delivered = expected - before;
        run.retransmissions = sender.retransmissions;
        run
    }
}
