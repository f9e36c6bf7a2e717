//! Requirements for an AQM algorithm.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::scheduler::in_the_mac;
use super::{SCRIPTS, STEPS, ServiceOrder, discipline, stream, try_all};
use crate::aqm::algorithm::{AqmAlgorithm, AqmFactory, Seen, Verdict};
use crate::qdisc::QdiscConfig;
use crate::qdisc::aqm::AqmParams;
use crate::qdisc::fq_aqm::FqAqmParams;
use crate::types::{Duration, Instant, RandomStream};

/// Checks the requirements of an AQM ([`AqmAlgorithm`]): the same calls give the same results, queues share
/// no state, packets pass an almost empty queue, and accounts close on one queue, on the flows of fair
/// queueing, and in the MAC. In every second script some packets have several segments, except in the MAC,
/// where each frame is one segment.
pub fn aqm(aqm: &AqmFactory) -> Result<(), String> {
    try_all(|script, step| {
        let mut fed = Fed::new(aqm, script);
        for n in 1..=STEPS {
            *step = n;
            fed.step();
        }
        Ok(fed.log)
    })?;
    for script in 0..SCRIPTS {
        let mut alone = Fed::new(aqm, script);
        (0..STEPS).for_each(|_| alone.step());
        let (mut beside, mut other) = (Fed::new(aqm, script), Fed::new(aqm, script + SCRIPTS));
        (0..STEPS).for_each(|_| {
            beside.step();
            other.step();
        });
        if alone.log != beside.log {
            return Err(format!("script {script}: it did otherwise beside an AQM of another queue"));
        }
    }
    lets_pass(aqm)?;
    let small = FqAqmParams { limit: 40, flows: 8, ..FqAqmParams::new(aqm.clone()) };
    for (place, config) in [
        ("one queue", QdiscConfig::Aqm(AqmParams { limit: 1000, aqm: aqm.clone() })),
        ("a short queue", QdiscConfig::Aqm(AqmParams { limit: 10, aqm: aqm.clone() })),
        ("flow queues", QdiscConfig::FqAqm(small)),
    ] {
        discipline(&config, ServiceOrder::Kept).map_err(|what| format!("on {place}: {what}"))?;
    }
    in_the_mac(aqm).map_err(|what| format!("in the MAC: {what}"))
}

/// Of packets that come alone and leave at once, most pass in the end.
fn lets_pass(aqm: &AqmFactory) -> Result<(), String> {
    const PACKETS: u32 = 2_000;
    let mut one = aqm.make(stream(0, "alone"));
    let (mut now, mut passed) = (Instant::ZERO, 0);
    for n in 0..PACKETS {
        now += Duration::from_millis(20);
        let seen = Seen {
            now,
            sojourn: Duration::ZERO,
            bytes: 1514,
            ecn: false,
            queued_packets: 0,
            queued_bytes: 0,
            slow: false,
        };
        let passes = one.arrives(&seen) == Verdict::Pass
            && match one.leaves(&Seen {
                now: now + Duration::from_micros(1),
                sojourn: Duration::from_micros(1),
                ..seen
            }) {
                Verdict::Pass => true,
                Verdict::Mark | Verdict::Drop => {
                    one.empty(now + Duration::from_micros(1));
                    false
                }
            };
        passed += u32::from(passes && n >= PACKETS / 2);
    }
    if passed < PACKETS / 4 {
        return Err(format!(
            "of {} packets that found the queue empty and left at once it let {passed} pass",
            PACKETS / 2
        ));
    }
    Ok(())
}

/// An AQM and the queue that it is on.
struct Fed {
    aqm: Box<dyn AqmAlgorithm + Send>,
    queue: VecDeque<(Instant, u32, bool)>,
    bytes: u64,
    stream: RandomStream,
    /// Some packets stand for several segments.
    gso: bool,
    now: Instant,
    load: u32,
    pause: u32,
    log: Vec<Verdict>,
}

impl Fed {
    fn new(aqm: &AqmFactory, script: u64) -> Self {
        Self {
            aqm: aqm.make(stream(script, "part")),
            queue: VecDeque::new(),
            bytes: 0,
            stream: stream(script, "script"),
            gso: script % 2 == 1,
            now: Instant::ZERO,
            load: 5,
            pause: 1_000,
            log: Vec::new(),
        }
    }

    fn seen(&self, came: Instant, bytes: u32, ecn: bool, slow: bool) -> Seen {
        Seen {
            now: self.now,
            sojourn: self.now - came,
            bytes,
            ecn,
            queued_packets: self.queue.len() as u32,
            queued_bytes: self.bytes,
            slow,
        }
    }

    fn step(&mut self) {
        if self.stream.below(60) == 0 {
            self.load = 1 + self.stream.below(8);
            // Now and then seconds.
            self.pause = [1, 300, 3_000, 50_000, 10_000_000][self.stream.below(5) as usize];
        }
        self.now += Duration::from_micros(u64::from(self.stream.below(self.pause)));
        let slow = self.stream.below(4) == 0;
        if self.stream.below(9) < self.load {
            let (mut bytes, ecn) = (34 + self.stream.below(1481), self.stream.below(2) == 0);
            if self.gso && self.stream.below(3) == 0 {
                bytes *= 2 + self.stream.below(43);
            }
            let verdict = self.aqm.arrives(&self.seen(self.now, bytes, ecn, slow));
            self.log.push(verdict);
            if verdict == Verdict::Pass || ecn && verdict == Verdict::Mark {
                self.queue.push_back((self.now, bytes, ecn));
                self.bytes += u64::from(bytes);
            }
            return;
        }
        while let Some((came, bytes, ecn)) = self.queue.pop_front() {
            self.bytes -= u64::from(bytes);
            let verdict = self.aqm.leaves(&self.seen(came, bytes, ecn, slow));
            self.log.push(verdict);
            if verdict == Verdict::Pass || ecn && verdict == Verdict::Mark {
                return;
            }
        }
        self.aqm.empty(self.now);
    }
}
