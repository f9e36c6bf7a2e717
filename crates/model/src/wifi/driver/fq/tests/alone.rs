//! Each scheduler alone, by its contract: the test is the driver and the hardware, and says how many PPDUs
//! find room in a look.

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

/// What a scheduler is told or asked; times in us.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Frames come for a station.
    Comes(u16, u32),
    /// The same for its other best-effort TID.
    Comes3(u16, u32),
    /// A look, in which so many PPDUs find room.
    Look(usize),
    /// A PPDU to the station took so long.
    Tx(u16, u64),
    /// One from it did.
    Rx(u16, u64),
}
use Step::{Comes, Comes3, Look, Rx, Tx};

fn view<'a>(rig: &'a Rig, flows: &'a FlowQueues) -> DeviceView<'a> {
    DeviceView { queues: flows, tx: &rig.tx, radio: &rig.radio, aql: None, below: None }
}

impl Alone {
    /// So many stations in session; a PPDU has one frame.
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

    /// A PPDU leaves at once, or finds no room: then a frame leaves its queue and waits.
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

    /// Whose PPDUs left, in their order, into `sent`; says who found no room.
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

    /// Whose PPDUs left in their order, and in brackets who found no room.
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

/// Three stations; the steps, and what a look sends.
fn order(config: Scheduler, table: &[(Step, &str)]) {
    let mut alone = Alone::new(config.clone(), 3);
    for (row, &(step, sent)) in table.iter().enumerate() {
        assert_eq!(alone.act(step), sent, "{config:?}, row {row}: {step:?}");
    }
}

pub(super) const KEEPS: Scheduler = Scheduler::RoundRobin(WhenFull::KeepsTurn);
const LOSES: Scheduler = Scheduler::RoundRobin(WhenFull::LosesTurn);

/// Whoever finds no room is passed over: whoever always comes last in a look never sends, so that these two
/// are not fair.
pub(super) const UNFAIR: [Scheduler; 2] =
    [LOSES, Scheduler::Mac80211(pieces(false, false, false), None, Mac80211Rules::Rounds)];

/// As many as a look may send of whatever is named.
const ANY: usize = usize::MAX;
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11) - one aggregate each; who finds no
// room keeps its turn.
#[rustfmt::skip]
#[test]
fn round_robin() {
    order(KEEPS, &[
        (Comes(0, 3),  ""),
        (Comes(1, 9),  ""),
        (Comes(2, 1),  ""),
        (Look(2),      "0 1 (2)"),
        (Look(2),      "2 0 (1)"),
        // Airtime is nothing to it. 2 has no frames, and leaves when its turn comes.
        (Tx(1, 9_000), ""),
        (Rx(1, 9_000), ""),
        (Look(3),      "1 0 1 (1)"),
        (Comes(2, 1),  ""),
        (Look(3),      "1 2 1 (1)"),
        (Look(ANY),    "1 1 1 1"),
        (Look(ANY),    ""),
    ]);
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.10) - who finds no room has had its turn.
#[rustfmt::skip]
#[test]
fn round_robin_that_loses_turns() {
    order(LOSES, &[
        (Comes(0, 9),  ""),
        (Comes(1, 9),  ""),
        (Comes(2, 9),  ""),
        // Looks in step with the round: 2 finds no room each time.
        (Look(2),      "0 1 (2)"),
        (Look(2),      "0 1 (2)"),
        // A look that finds no room at all moves the round on.
        (Look(0),      "(0)"),
        (Look(2),      "1 2 (0)"),
        (Tx(1, 9_000), ""),
        (Look(1),      "1 (2)"),
        (Look(3),      "0 1 2 (0)"),
    ]);
}

// paper: ending-the-anomaly alg3; linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11).
#[rustfmt::skip]
#[test]
fn deficit() {
    order(Scheduler::Airtime(ALL), &[
        (Comes(0, 20), ""),
        (Comes(1, 20), ""),
        (Comes(2, 1),  ""),
        // The head stays until its 300 us are used up, which is told later.
        (Look(2),      "0 0 (0)"),
        (Tx(0, 700),   ""),          // 0 owes 400
        (Look(2),      "1 1 (1)"),   // 0 gets a quantum: owes 100
        (Tx(1, 200),   ""),
        (Look(1),      "1 (1)"),     // 1 has 100 left
        (Tx(1, 100),   ""),
        // 1 gets a quantum and goes behind 0. 2 is new, sends its frame and goes behind both. 0 gets a
        // quantum: 200.
        (Look(2),      "2 1 (1)"),
        // What 1 sends counts: it owes 100, and gets a quantum. 2 is empty and leaves.
        (Rx(1, 400),   ""),
        (Look(2),      "0 0 (0)"),
    ]);
}

// paper: ending-the-anomaly alg3 - stations are listed; linux: drivers/net/wireless/ath/ath9k/xmit.c
// ath_txq_schedule (4.11) - TIDs are, and the second finds the quantum that the first was given.
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
        // In its turn a station sends what its TIDs have.
        (Look(ANY),    "0 0 0' 0' 1"),
        // New whatever it owes: 600, which is paid in the same look.
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
        // The last to come stands first. The head stays, but is served once a look.
        (Look(ANY),    "2 1"),       // 2 is empty and leaves
        (Tx(1, 300),   ""),
        (Look(ANY),    "0"),         // 1 gets a quantum and goes to the end
        (Rx(0, 400),   ""),
        (Look(ANY),    "1"),         // 0 owed 100 and has 200
        (Look(1),      "1"),
        (Look(0),      "(1)"),
        (Tx(1, 600),   ""),
        (Look(1),      "0"),         // 1 owed 300, and has nothing
    ]);
    // Of twice the weight it gets twice the quantum.
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

// linux: net/mac80211/tx.c ieee80211_next_txq (5.4) - without flags of airtime a plain round. A look tries
// everybody.
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
        // Whoever finds no room goes to the end, too: 2 again, as all were tried.
        (Look(2),      "0 1 (2)"),
        (Look(2),      "0 1 (2)"),
    ]);
}

// linux: net/mac80211/sta_info.c ieee80211_sta_register_airtime (6.0) - who was not active is not charged.
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
        (Look(ANY),   "1 0"),       // each once, the last to come first
        (Tx(0, 300),  ""),          // 1 at 0, 0 at 300, all at 150
        (Look(ANY),   "1"),         // 0 is ahead
        (Tx(1, 200),  ""),          // 1 at 200, 0 at 300, all at 250
        (Look(ANY),   "1"),
        (Tx(1, 200),  ""),          // 0 at 300, 1 at 400, all at 350
        (Look(ANY),   "0"),
        (Comes(2, 1), ""),          // begins where all are
        (Look(ANY),   "0 2"),       // and leaves
        (Rx(0, 150),  ""),          // what a station sends counts: 0 at 450
        (Look(ANY),   "1"),
    ]);
}
