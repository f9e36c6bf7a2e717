//! Each scheduler in isolation. The test acts as driver and hardware, and determines the number of PPDUs that
//! fit in a scheduling pass.

use super::*;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) struct Alone {
    rig: Rig,
    flows: FlowQueues,
    pub(super) scheduler: Box<dyn StationScheduler>,
    pub(super) sent: Vec<TidIndex>,
}

/// A call of the scheduler; times in us.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Frames arrive for a station.
    Comes(u16, u32),
    /// Frames arrive for the station's other best-effort TID.
    Comes3(u16, u32),
    /// A scheduling pass in which this many PPDUs find room.
    Look(usize),
    /// A PPDU to the station took this long.
    Tx(u16, u64),
    /// A PPDU from the station took this long.
    Rx(u16, u64),
}
use Step::{Comes, Comes3, Look, Rx, Tx};

fn view<'a>(rig: &'a Rig, flows: &'a FlowQueues) -> DeviceView<'a> {
    DeviceView { queues: flows, tx: &rig.tx, radio: &rig.radio, aql: None, below: None }
}

impl Alone {
    /// `stations` stations in session with one frame per PPDU.
    pub(super) fn new(config: Scheduler, stations: usize) -> Self {
        let scheduler = scheduler_of(&config, stations);
        let params = FlowQueuesParams {
            flows: 64,
            tins: (stations * TIDS) as u32,
            quantum: 300,
            limit: 8192,
            memory_limit: 1 << 30,
            empty_new: EmptyNew::ToOldUnlessAlone,
            mtu_scope: MtuScope::Queue,
        };
        Self {
            rig: Rig::in_session((0..stations).map(|_| peer(&["ht20-mcs15-sgi"], 1))),
            flows: FlowQueues::new(params, HERE, 1),
            scheduler,
            sent: Vec::new(),
        }
    }

    pub(super) fn comes(&mut self, tid: TidIndex, frames: u32) {
        for _ in 0..frames {
            let p = self.rig.packet(tid, 1500);
            self.flows.enqueue(ms(0), TinId(tid.0), p, &mut self.rig.ctx());
            self.scheduler.schedule(ms(0), tid);
        }
    }

    pub(super) fn has_frames(&self, tid: TidIndex) -> bool {
        view(&self.rig, &self.flows).has_frames(tid)
    }

    /// Sends a PPDU immediately. Without room, dequeues a frame, which waits.
    fn attempt(&mut self, tid: TidIndex, room: bool) -> Attempt {
        let codel = MacFqParams::default().codel;
        let (tx, mut hw, mut ctx) = self.rig.parts();
        let mut pull = |ctx: &mut Ctx<'_, _>| self.flows.dequeue(ms(0), TinId(tid.0), &codel, ctx);
        if !room {
            tx.hold_one(ms(0), tid, &mut ctx, pull);
            return Attempt::Full;
        }
        let attempt = tx.attempt(ms(0), tid, &mut hw, &mut ctx, &mut pull);
        assert_eq!(attempt, Attempt::Sent, "{tid:?} was named without frames");
        let mut ppdu = self.rig.pop(ms(0), BE);
        for m in ppdu.mpdus.drain(..) {
            self.rig.packets.free(m.pkt.expect("not handed over"), Fate::Delivered);
            self.rig.tx.tids[tid.index()].complete(m.seq);
        }
        self.rig.radio.recycle(ppdu);
        attempt
    }

    /// Runs a pass. Stores the TIDs of the PPDUs sent in `sent`, in order; returns the TIDs that found no
    /// room.
    pub(super) fn look(&mut self, room: usize) -> Vec<TidIndex> {
        let mut full = Vec::new();
        self.sent.clear();
        self.scheduler.start(BE);
        while let Some(tid) = self.scheduler.next(ms(0), BE, &view(&self.rig, &self.flows)) {
            assert!(tid.ac() == BE && self.has_frames(tid), "{tid:?} may not be named");
            let attempt = self.attempt(tid, self.sent.len() < room);
            if attempt == Attempt::Sent { &mut self.sent } else { &mut full }.push(tid);
            if !self.scheduler.done(ms(0), tid, attempt, &view(&self.rig, &self.flows)) {
                break;
            }
        }
        full
    }

    /// Stations of the PPDUs sent in order, and in parentheses those that found no room.
    fn act(&mut self, step: Step) -> String {
        match step {
            Comes(station, frames) => self.comes(be(station), frames),
            Comes3(station, frames) => self.comes(TidIndex::new(PeerId(station), 3), frames),
            Tx(station, took) => self.scheduler.charge(ms(0), be(station), us(took), AirtimeUse::Tx),
            Rx(station, took) => self.scheduler.charge(ms(0), be(station), us(took), AirtimeUse::Rx),
            Look(room) => {
                let full = self.look(room);
                let name =
                    |tid: &TidIndex| format!("{}{}", tid.peer().0, if tid.tid() == 3 { "'" } else { "" });
                let sent = self.sent.iter().map(name);
                let all: Vec<String> = sent.chain(full.iter().map(|t| format!("({})", name(t)))).collect();
                return all.join(" ");
            }
        }
        String::new()
    }
}

/// Runs the steps with three stations, and checks the PPDUs sent in each pass.
fn order(config: Scheduler, table: &[(Step, &str)]) {
    let mut alone = Alone::new(config.clone(), 3);
    for (row, &(step, sent)) in table.iter().enumerate() {
        assert_eq!(alone.act(step), sent, "{config:?}, row {row}: {step:?}");
    }
}

pub(super) const KEEPS: Scheduler = Scheduler::RoundRobin(WhenFull::KeepsTurn);
const LOSES: Scheduler = Scheduler::RoundRobin(WhenFull::LosesTurn);

/// A station that finds no room is skipped. One that always comes last in a pass never sends, so these two
/// are not fair.
pub(super) const UNFAIR: [Scheduler; 2] =
    [LOSES, Scheduler::Mac80211(pieces(false, false, false), None, Mac80211Rules::Rounds)];

/// No limit on the PPDUs of a pass.
const ANY: usize = usize::MAX;
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11) - one aggregate each; a station that
// finds no room keeps its turn.
#[rustfmt::skip]
#[test]
fn round_robin() {
    order(KEEPS, &[
        (Comes(0, 3),  ""),
        (Comes(1, 9),  ""),
        (Comes(2, 1),  ""),
        (Look(2),      "0 1 (2)"),
        (Look(2),      "2 0 (1)"),
        // Airtime has no effect. 2 has no frames, and leaves at its turn.
        (Tx(1, 9_000), ""),
        (Rx(1, 9_000), ""),
        (Look(3),      "1 0 1 (1)"),
        (Comes(2, 1),  ""),
        (Look(3),      "1 2 1 (1)"),
        (Look(ANY),    "1 1 1 1"),
        (Look(ANY),    ""),
    ]);
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.10) - a station that finds no room loses
// its turn.
#[rustfmt::skip]
#[test]
fn round_robin_that_loses_turns() {
    order(LOSES, &[
        (Comes(0, 9),  ""),
        (Comes(1, 9),  ""),
        (Comes(2, 9),  ""),
        // Passes in step with the round: 2 finds no room each time.
        (Look(2),      "0 1 (2)"),
        (Look(2),      "0 1 (2)"),
        // A pass without any room moves the round on.
        (Look(0),      "(0)"),
        (Look(2),      "1 2 (0)"),
        (Tx(1, 9_000), ""),
        (Look(1),      "1 (2)"),
        (Look(3),      "0 1 2 (0)"),
    ]);
}

// paper: ending-the-anomaly alg3.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11).
#[rustfmt::skip]
#[test]
fn deficit() {
    order(Scheduler::Airtime(ALL), &[
        (Comes(0, 20), ""),
        (Comes(1, 20), ""),
        (Comes(2, 1),  ""),
        // The head stays until its 300 us are used up, which is charged later.
        (Look(2),      "0 0 (0)"),
        (Tx(0, 700),   ""), // deficit of 0: -400
        (Look(2),      "1 1 (1)"), // 0 gets a quantum: -100
        (Tx(1, 200),   ""),
        (Look(1),      "1 (1)"), // 1 has 100 left
        (Tx(1, 100),   ""),
        // 1 gets a quantum and moves behind 0. 2 is new, sends its frame and moves behind both. 0 gets a
        // quantum: 200.
        (Look(2),      "2 1 (1)"),
        // Frames from 1 count: -100, and a quantum. 2 is empty and leaves.
        (Rx(1, 400),   ""),
        (Look(2),      "0 0 (0)"),
    ]);
}

// paper: ending-the-anomaly alg3 - lists stations.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11) - lists TIDs, and the second one uses
// the quantum given to the first.
#[rustfmt::skip]
#[test]
fn as_printed() {
    for (config, second) in [(Scheduler::AirtimeAsPrinted(ALL), "1 (1)"), (Scheduler::Airtime(ALL), "0' (0')")] {
        order(config, &[
            (Comes(0, 9),  ""),
            (Comes3(0, 9), ""),
            (Comes(1, 9),  ""),
            (Look(1),      "0 (0)"),
            (Tx(0, 300),   ""),
            (Look(1),      second),
        ]);
    }
    order(Scheduler::AirtimeAsPrinted(ALL), &[
        (Comes(0, 2),  ""),
        (Comes3(0, 2), ""),
        (Comes(1, 1),  ""),
        // In its turn a station sends the frames of all its TIDs.
        (Look(ANY),    "0 0 0' 0' 1"),
        // New in spite of a deficit of -600, which the same pass pays.
        (Tx(0, 900),   ""),
        (Comes(1, 1),  ""),
        (Comes(0, 1),  ""),
        (Look(ANY),    "1 0"),
    ]);
}

// linux: net/mac80211/tx.c ieee80211_next_txq, __ieee80211_schedule_txq (5.1).
#[rustfmt::skip]
#[test]
fn weighted_deficit() {
    let mac80211 = Scheduler::Mac80211(ALL, None, Mac80211Rules::Rounds);
    order(mac80211.clone(), &[
        (Comes(0, 9),  ""),
        (Comes(1, 9),  ""),
        (Comes(2, 1),  ""),
        // The last to arrive is first. The head stays, but is served once per pass.
        (Look(ANY),    "2 1"), // 2 is empty and leaves
        (Tx(1, 300),   ""),
        (Look(ANY),    "0"), // 1 gets a quantum and moves to the end
        (Rx(0, 400),   ""),
        (Look(ANY),    "1"), // 0 had -100 and has 200
        (Look(1),      "1"),
        (Look(0),      "(1)"),
        (Tx(1, 600),   ""),
        (Look(1),      "0"), // 1 had -300, and has 0
    ]);
    // Twice the weight gets twice the quantum.
    let mut alone = Alone::new(mac80211, 2);
    alone.scheduler.weigh(PeerId(1), 512);
    alone.act(Comes(0, 20));
    alone.act(Comes(1, 20));
    let mut sent = String::new();
    for _ in 0..10 {
        sent += &alone.act(Look(1));
        alone.act(Tx(alone.sent[0].peer().0, 300));
    }
    assert_eq!(sent, "1011011011");
}

// linux: net/mac80211/tx.c ieee80211_next_txq (5.4) - plain round robin without airtime flags. A pass tries
// all stations.
#[rustfmt::skip]
#[test]
fn weighted_deficit_without_charges() {
    let [_, config] = UNFAIR;
    order(config, &[
        (Comes(0, 9),  ""),
        (Comes(1, 9),  ""),
        (Comes(2, 9),  ""),
        (Tx(0, 9_000), ""),
        (Rx(0, 9_000), ""),
        (Look(ANY),    "0 1 2"),
        // Stations without room also move to the end: 2 is last again, as all were tried.
        (Look(2),      "0 1 (2)"),
        (Look(2),      "0 1 (2)"),
    ]);
}

// linux: net/mac80211/sta_info.c ieee80211_sta_register_airtime (6.0) - does not charge inactive stations.
#[rustfmt::skip]
#[test]
fn weighted_deficit_with_pending() {
    for (rules, first) in [(Mac80211Rules::Rounds, "0"), (Mac80211Rules::RoundsWithPending, "1")] {
        order(Scheduler::Mac80211(ALL, None, rules), &[
            (Rx(1, 900),  ""),
            (Comes(0, 9), ""),
            (Comes(1, 9), ""),
            (Look(1),     first),
            (Rx(1, 900),  ""),
            (Look(1),     "0"),
        ]);
    }
}

// linux: net/mac80211/tx.c ieee80211_next_txq, net/mac80211/sta_info.c ieee80211_register_airtime (5.15).
#[rustfmt::skip]
#[test]
fn virtual_time() {
    order(Scheduler::Mac80211(ALL, None, Mac80211Rules::VirtualTime), &[
        (Comes(0, 9), ""),
        (Comes(1, 9), ""),
        (Look(ANY),   "1 0"), // each once, the last to arrive first
        (Tx(0, 300),  ""), // 1 at 0, 0 at 300, global 150
        (Look(ANY),   "1"), // 0 is ahead
        (Tx(1, 200),  ""), // 1 at 200, 0 at 300, global 250
        (Look(ANY),   "1"),
        (Tx(1, 200),  ""), // 0 at 300, 1 at 400, global 350
        (Look(ANY),   "0"),
        (Comes(2, 1), ""), // starts at the global clock
        (Look(ANY),   "0 2"), // and leaves
        (Rx(0, 150),  ""), // frames from a station count: 0 at 450
        (Look(ANY),   "1"),
    ]);
}
