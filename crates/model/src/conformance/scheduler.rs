//! Requirements for station schedulers.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use std::sync::{Arc, Mutex};

use super::{STEPS, stream, try_all};
use crate::aqm::algorithm::AqmFactory;
use crate::types::{
    Ac, ChannelId, Ctx, DevId, Duration, Fate, FlowId, Instant, NewPacket, NoSink, Packets, PartFactory,
    PeerId, PlaceId, RadioId, RandomStream, Rate,
};
use crate::wifi::air::edca::EdcaSet;
use crate::wifi::air::medium::{Medium, TxOutcome};
use crate::wifi::air::ppdu::Content;
use crate::wifi::air::radio::{BEACON_QUEUE, Radio};
use crate::wifi::config::{DriverConfig, HardwareDepth, MacFqParams, Scheduler, WhenFull};
use crate::wifi::dev::WifiDev;
use crate::wifi::driver::{AirtimeUse, DeviceView, Driver, StationScheduler, scheduler_of};
use crate::wifi::marks::Marks;
use crate::wifi::phy::timing::Timing;
use crate::wifi::phy::{Band, PhyRate, RateTry, RetryChain, ppdu_duration};
use crate::wifi::rate::RateControl;
use crate::wifi::seq_window::SeqWindow;
use crate::wifi::tx::tid::BlockAckSession;
use crate::wifi::tx::transmitter::{Attempt, Hardware, Peer, TIDS, TidIndex, Transmitter};

/// Checks the requirements of a scheduler ([`StationScheduler`]) in a device with up to six peers and frame
/// losses: it selects only TIDs with frames of the given category, each scheduling round ends, no TID with
/// frames is forgotten, all frames are eventually sent, and the same calls give the same results. Fairness is
/// not checked.
pub fn scheduler(config: &Scheduler) -> Result<(), String> {
    run(&MacFqParams { flows: 64, limit: 400, ..MacFqParams::default() }, config)
}

/// Checks that no packet is lost in a device with this AQM in its flow queues.
pub(super) fn in_the_mac(aqm: &AqmFactory) -> Result<(), String> {
    let queues = MacFqParams { flows: 64, limit: 400, aqm: Some(aqm.clone()), ..MacFqParams::default() };
    run(&queues, &Scheduler::RoundRobin(WhenFull::KeepsTurn))
}

fn run(queues: &MacFqParams, config: &Scheduler) -> Result<(), String> {
    try_all(|script, step| {
        let mut bench = Bench::new(queues, config, script);
        for n in 1..=STEPS {
            *step = n;
            bench.step();
            bench.fault()?;
        }
        bench.drain()?;
        Ok(bench.named())
    })
}

/// Runs a script. Returns the TIDs selected and the outcome of each attempt.
#[cfg(test)]
pub(super) fn log_of(queues: &MacFqParams, config: &Scheduler, script: u64) -> Vec<(u32, Option<u8>)> {
    let mut bench = Bench::new(queues, config, script);
    (0..STEPS).for_each(|_| bench.step());
    assert_eq!(bench.drain(), Ok(()));
    bench.named()
}

#[derive(Debug, Default)]
struct Seen {
    fault: Option<String>,
    /// Selections of TIDs (with `None`) and outcomes of attempts, in order.
    named: Vec<(TidIndex, Option<Attempt>)>,
}

/// A scheduler whose calls are checked and recorded.
#[derive(Debug)]
struct Watched {
    scheduler: Box<dyn StationScheduler + Send>,
    identifiers: u32,
    seen: Arc<Mutex<Seen>>,
    stream: RandomStream,
    /// Attempts in this round since a frame was sent.
    fruitless: u32,
}

impl Watched {
    fn blame(&self, what: String) {
        self.seen.lock().expect("nobody panics with it").fault.get_or_insert(what);
    }

    /// Checks the end of a scheduling round: if TIDs of the category have frames, the hardware queue must not
    /// be empty, because only a completion starts the next round.
    fn over(&self, ac: Ac, view: &DeviceView<'_>) {
        let of_category = |tid: &TidIndex| tid.ac() == ac && view.has_frames(*tid);
        if view.radio.queued(ac.index()) == 0
            && let Some(tid) = (0..self.identifiers).map(TidIndex).find(of_category)
        {
            self.blame(format!(
                "a look ended with nothing in the hardware, while {} has frames: nobody would look again",
                words(tid)
            ));
        }
    }
}

fn words(tid: TidIndex) -> String {
    format!("identifier {} of peer {}", tid.tid(), tid.peer().0)
}

impl StationScheduler for Watched {
    fn weigh(&mut self, peer: PeerId, weight: u32) {
        self.scheduler.weigh(peer, weight);
    }

    fn schedule(&mut self, now: Instant, tid: TidIndex) {
        // Received airtime is charged at any time.
        if self.stream.below(8) == 0 {
            let who = TidIndex(self.stream.below(self.identifiers));
            let used = Duration::from_micros(u64::from(20 + self.stream.below(3_000)));
            self.scheduler.charge(now, who, used, AirtimeUse::Rx);
        }
        self.scheduler.schedule(now, tid);
    }

    fn charge(&mut self, now: Instant, tid: TidIndex, used: Duration, kind: AirtimeUse) {
        self.scheduler.charge(now, tid, used, kind);
    }

    fn start(&mut self, ac: Ac) {
        self.fruitless = 0;
        self.scheduler.start(ac);
    }

    fn next(&mut self, now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex> {
        if self.seen.lock().expect("nobody panics with it").fault.is_some() {
            return None;
        }
        let Some(tid) = self.scheduler.next(now, ac, view) else {
            self.over(ac, view);
            return None;
        };
        let fault = if tid.0 >= self.identifiers {
            format!("it named identifier number {}, and there are {}", tid.0, self.identifiers)
        } else if tid.ac() != ac {
            format!("in a look at {} it named {}, which is {}", ac.name(), words(tid), tid.ac().name())
        } else if !view.has_frames(tid) {
            format!("it named {}, which has no frames to send", words(tid))
        } else if self.fruitless > 2 * self.identifiers {
            format!("a look does not end: nothing was sent in {} turns", self.fruitless)
        } else {
            self.seen.lock().expect("nobody panics with it").named.push((tid, None));
            return Some(tid);
        };
        self.blame(fault);
        None
    }

    fn done(&mut self, now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool {
        self.fruitless = if attempt == Attempt::Sent { 0 } else { self.fruitless + 1 };
        self.seen.lock().expect("nobody panics with it").named.push((tid, Some(attempt)));
        let goes_on = self.scheduler.done(now, tid, attempt, view);
        if !goes_on {
            self.over(tid.ac(), view);
        }
        goes_on
    }
}

const HERE: PlaceId = PlaceId(0);
/// Hardware tries until a frame is given up.
const RETRY_LIMIT: u8 = 12;
/// Maximum number of exchanges until all frames must be sent.
const EXCHANGES: u32 = 200_000;

/// A device and its radio on an idle channel.
struct Bench {
    dev: WifiDev,
    radio: Radio,
    medium: Medium,
    packets: Packets,
    sink: NoSink,
    stream: RandomStream,
    now: Instant,
    peers: u16,
    made: u32,
    loss: u32,
    seen: Arc<Mutex<Seen>>,
}

impl Bench {
    fn new(queues: &MacFqParams, config: &Scheduler, script: u64) -> Self {
        let mut draw = stream(script, "script");
        let peers = 1 + draw.below(6) as u16;
        let timing = Timing::of(Band::Ghz5);
        let mut medium = Medium::new(timing.sifs, timing.slot);
        let edca = EdcaSet::STATION;
        let edcafs =
            [Ac::Vo, Ac::Vi, Ac::Be, Ac::Bk, Ac::Vo].map(|ac| medium.add(edca.get(ac), draw.split()));
        let radio = Radio::new(ChannelId(0), edcafs, HardwareDepth::default(), &edca);
        let mut tx = Transmitter::new(DevId(0));
        for _ in 0..peers {
            let names = [&["ht20-mcs15-sgi", "ht20-mcs4-sgi"][..], &["ht20-mcs0-lgi"], &["ofdm-6"]];
            let rates = names[draw.below(if script.is_multiple_of(3) { 3 } else { 2 }) as usize];
            let tries: Vec<RateTry> =
                rates.iter().map(|n| RateTry::new(PhyRate::parse(n).expect("a rate"), 2)).collect();
            let chain = RetryChain::new(&tries).expect("a chain");
            let mut peer = Peer::new((DevId(1), PeerId(0)), RateControl::Fixed(chain));
            peer.weight = [256, 256, 64, 1024][draw.below(4) as usize];
            peer.expected = Rate::from_mbps(u64::from(1 + draw.below(100)));
            tx.add_peer(peer);
        }
        tx.tids
            .iter_mut()
            .filter(|t| t.session == BlockAckSession::Closed)
            .for_each(|t| t.open(SeqWindow::SIZE));
        let seen = Arc::new(Mutex::new(Seen::default()));
        let watched = {
            let (config, seen) = (config.clone(), Arc::clone(&seen));
            PartFactory::new("watched", "", move |peers| {
                let (scheduler, identifiers) = (scheduler_of(&config, peers), (peers * TIDS) as u32);
                let (seen, stream) = (Arc::clone(&seen), stream(script, "received"));
                Box::new(Watched { scheduler, identifiers, seen, stream, fruitless: 0 })
                    as Box<dyn StationScheduler + Send>
            })
        };
        let driver = DriverConfig::Fq(queues.clone(), Scheduler::Custom(watched));
        let driver = Driver::new(driver, usize::from(peers), HERE, script);
        Self {
            dev: WifiDev::new(RadioId(0), tx, driver, RETRY_LIMIT, HERE),
            radio,
            medium,
            packets: Packets::new(),
            sink: NoSink,
            stream: draw,
            now: Instant::ZERO,
            peers,
            made: 0,
            loss: 0,
            seen,
        }
    }

    fn fault(&self) -> Result<(), String> {
        let fault = self.seen.lock().expect("nobody panics with it").fault.clone();
        fault.map_or(Ok(()), Err)
    }

    fn named(&self) -> Vec<(u32, Option<u8>)> {
        let seen = self.seen.lock().expect("nobody panics with it");
        seen.named.iter().map(|(tid, attempt)| (tid.0, attempt.map(|a| a as u8))).collect()
    }

    fn step(&mut self) {
        match self.stream.below(8) {
            0 => {
                self.loss = [0, 0, 1, 4, 8][self.stream.below(5) as usize];
                self.now += Duration::from_millis(u64::from(self.stream.below(120)));
            }
            1..4 => self.comes(),
            _ => {
                self.exchange();
            }
        }
    }

    fn comes(&mut self) {
        let peer = PeerId(self.stream.below(u32::from(self.peers)) as u16);
        let tid = [0, 0, 0, 3, 1, 5, 6][self.stream.below(7) as usize];
        let most = if self.stream.below(4) == 0 { 60 } else { 4 };
        for _ in 0..1 + self.stream.below(most) {
            let flow = self.stream.below(5);
            let p = self.packets.create(NewPacket {
                now: self.now,
                flow: FlowId(flow),
                flow_hash: flow.wrapping_mul(0x9e37_79b9),
                len: 60 + self.stream.below(1441),
                seq: self.made,
                tos: (flow & 1) as u8,
                ..NewPacket::PLAIN
            });
            self.made += 1;
            let hot = self.packets.get_mut(p);
            (hot.peer, hot.tid) = (peer, tid);
            let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.sink };
            let hw = &mut Hardware { radio: &mut self.radio, medium: &mut self.medium };
            self.dev.push(self.now, p, hw, ctx);
        }
    }

    /// Simulates the exchange of a PPDU in the hardware, with all its tries. Returns false if the hardware is
    /// idle.
    fn exchange(&mut self) -> bool {
        let queued: Vec<usize> = (0..BEACON_QUEUE).filter(|&q| self.radio.queued(q) > 0).collect();
        if queued.is_empty() {
            return false;
        }
        let queue = queued[self.stream.below(queued.len() as u32) as usize];
        let mut ppdu = self.radio.pop(queue).expect("a PPDU in the queue");
        loop {
            let took = ppdu_duration(ppdu.rate(), ppdu.bytes, Band::Ghz5);
            self.now += took;
            let got = Marks::each(Marks::WORD, |_| self.stream.below(8) >= self.loss);
            let got = got & Marks::first(ppdu.mpdus.len().max(1));
            let acknowledged = got.any() && self.stream.below(8) >= self.loss / 2;
            for (_, m) in ppdu.mpdus.iter_mut().enumerate().filter(|&(n, _)| got.has(n)) {
                if let Some(pkt) = m.pkt.take() {
                    (m.charge, m.truesize) = self.packets.take_charge(pkt);
                    self.packets.free(pkt, Fate::Delivered);
                }
            }
            ppdu.acknowledged |= acknowledged;
            if !ppdu.tried(took, true, acknowledged) {
                break;
            }
        }
        let more = self.radio.queued(queue) > 0;
        self.medium.done(self.now, self.radio.edcafs[queue], TxOutcome::Finished, more);
        self.medium.idle(self.now, self.now);
        debug_assert!(!matches!(ppdu.header.content, Content::Beacon));
        let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.sink };
        let hw = &mut Hardware { radio: &mut self.radio, medium: &mut self.medium };
        // With queues in the MAC, no qdisc above needs to be woken.
        let _ = self.dev.tx_status(self.now, ppdu, hw, ctx);
        true
    }

    /// Checks that all frames are sent once no packets arrive and no frames are lost.
    fn drain(&mut self) -> Result<(), String> {
        self.loss = 0;
        for _ in 0..EXCHANGES {
            let sent = self.exchange();
            self.fault()?;
            if sent {
                continue;
            }
            return match (self.dev.held(&self.packets), self.packets.live()) {
                (0, 0) => Ok(()),
                (held, live) => Err(format!(
                    "nothing is in the hardware, but {held} frames wait in the device and {live} packets are not done with"
                )),
            };
        }
        Err(format!("what waited was not sent in {EXCHANGES} exchanges"))
    }
}
