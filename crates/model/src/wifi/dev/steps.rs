//! What the hardware tries, what its driver does with the rest, what the receiver makes of it, and which
//! Block Ack requests follow: step by step, between two devices whose air is a table.

use super::*;
use crate::types::{DevId, Duration, Fate, PeerId};
use crate::wifi::air::radio::Radio;
use crate::wifi::config::{DriverConfig, LegacyParams};
use crate::wifi::marks::Marks;
use crate::wifi::testing::{Rig, ms, peer, radio};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;

const BE: TidIndex = TidIndex::new(PeerId(0), 0);

/// So many tries a frame must have had in earlier PPDUs to be given up, instead of ath9k's 30: tables are
/// shorter.
const LIMIT: u8 = 10;

fn device(tx: Transmitter) -> WifiDev {
    let driver = Driver::new(DriverConfig::Legacy(LegacyParams { qlen: 123 }), 1, PlaceId(0), 1);
    WifiDev::new(RadioId(0), tx, driver, LIMIT, PlaceId(0))
}

/// A sender whose chain is MCS 15, 7 and 4, two tries each, with a session to a receiver.
struct Bench {
    rig: Rig,
    sender: WifiDev,
    receiver: WifiDev,
    /// The receiver's hardware, which has nothing to send here but answers.
    its: (crate::wifi::air::medium::Medium, Radio),
}

impl Bench {
    /// With so many packets to be sent.
    fn new(packets: u32) -> Self {
        let chain = ["ht20-mcs15-sgi", "ht20-mcs7-sgi", "ht20-mcs4-sgi"];
        let mut rig = Rig::in_session([peer(&chain, 4)]);
        let sender = device(core::mem::replace(&mut rig.tx, Transmitter::new(DevId(0))));
        let mut tx = Transmitter::new(DevId(1));
        tx.add_peer(peer(&chain, 4));
        let mut receiver = device(tx);
        receiver.rx[BE.index()].open(crate::wifi::seq_window::Seq::new(0), 64, PlaceId(0), &mut Vec::new());
        let mut bench = Self { rig, sender, receiver, its: radio("receiver") };
        bench.push(packets);
        bench
    }

    fn push(&mut self, packets: u32) {
        for _ in 0..packets {
            let p = self.rig.packet(BE, 1500);
            let (_, mut hw, mut ctx) = self.rig.parts();
            self.sender.push(ms(0), p, &mut hw, &mut ctx);
        }
    }

    /// One try of a PPDU. `.`: its preamble is not heard; otherwise a digit for each frame: `1` comes whole,
    /// `0` broken, `_` is not found. With `?` at the end the answer is lost. Packets that go up are told by
    /// number. Whether there is to be another try.
    fn air(&mut self, ppdu: &mut Ppdu, outcome: &str, up: &mut Vec<u32>) -> bool {
        let acknowledged = outcome.contains('1') && !outcome.ends_with('?');
        let rate = ppdu.rate();
        let again = ppdu.tried(Duration::from_micros(100), true, acknowledged);
        if outcome == "." {
            return again;
        }
        let told: Vec<char> = outcome.chars().collect();
        let bit = |is: &dyn Fn(char) -> bool| Marks::each(told.len(), |n| is(told[n]));
        let got = RxOutcome { whole: bit(&|c| c == '1'), readable: bit(&|c| "01".contains(c)) };
        let mut hw = Hardware { radio: &mut self.its.1, medium: &mut self.its.0 };
        let (mut now_up, ctx) = (Vec::new(), &mut self.rig.ctx());
        self.receiver.receive(ms(0), PeerId(0), ppdu, rate, &got, &mut now_up, &mut hw, ctx);
        for pkt in now_up {
            up.push(self.rig.packets.get(pkt).seq);
            self.rig.packets.free(pkt, Fate::Delivered);
        }
        ppdu.acknowledged |= acknowledged;
        again
    }

    /// What becomes of the PPDU at the head of the hardware's queue, if each of its tries comes out as told:
    /// what it is, with the numbers of its frames; the MCS of each try (`b` is the lowest basic rate); `up`,
    /// packets that leave the receiver's buffer; `free`, those whose memory is no longer charged to their
    /// socket afterwards; `drop`, how many were dropped so far, and `again`, how many came to the receiver a
    /// second time.
    fn step(&mut self, outcomes: &str) -> String {
        let mut ppdu = self.rig.pop(ms(0), Ac::Be);
        let what = match ppdu.header.content {
            Content::Data { aggregate: true } => "aggregate".to_owned(),
            Content::Data { aggregate: false } => "single".to_owned(),
            Content::Bar { start } => format!("request from {}", start.get()),
            other => panic!("{other:?}"),
        };
        let frames: String = ppdu.mpdus.iter().map(|m| format!(" {}", m.seq.get())).collect();
        let (mut rates, mut up) = (String::new(), Vec::new());
        let mut outcomes = outcomes.split(' ');
        loop {
            rates += match ppdu.rate().to_string().as_str() {
                "ht20-mcs15-sgi" => " 15",
                "ht20-mcs7-sgi" => " 7",
                "ht20-mcs4-sgi" => " 4",
                "ofdm-6" => " b",
                other => panic!("{other}"),
            };
            let outcome = outcomes.next().expect("an outcome for each try");
            if !self.air(&mut ppdu, outcome, &mut up) {
                break;
            }
        }
        assert_eq!(outcomes.next(), None, "no more tries than told");
        let (_, mut hw, mut ctx) = self.rig.parts();
        let _ = self.sender.tx_status(ms(0), ppdu, &mut hw, &mut ctx);
        let list = |numbers: &[u32]| numbers.iter().map(|n| format!(" {n}")).collect::<String>();
        format!(
            "{what}{frames} |{rates} | up{} | free{} | drop {} | again {}",
            list(&up),
            list(&self.rig.uncharged()),
            self.rig.packets.account().dropped_total(),
            self.receiver.duplicates(),
        )
    }

    fn walk(&mut self, table: &[(&str, &str)]) {
        for (n, &(outcomes, row)) in table.iter().enumerate() {
            assert_eq!(self.step(outcomes), row, "step {n}: {outcomes}");
        }
    }

    /// Nothing waits in the hardware or in the driver, and no memory is charged.
    fn is_done(&mut self) -> bool {
        self.rig.hardware(Ac::Be).is_empty()
            && self.sender.held(&self.rig.packets) == 0
            && self.rig.packets.live_charges().count() == 0
    }
}

#[test]
fn the_chain_is_walked_try_by_try() {
    // The first two packets find room in the hardware and go as they come.
    let mut bench = Bench::new(6);
    bench.walk(&[
        // Nobody hears it, and the chain is used up: the driver has the frame back, and its memory stays
        // charged.
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        // The first try that is answered is the last. Packet 1 waits for packet 0.
        (". . 1", "single 1 | 15 15 7 | up | free 1 | drop 0 | again 0"),
        // What failed goes before what is new. Unheard, broken, or with no delimiter that can be read:
        // without a whole frame there is no answer.
        (
            ". 0000 ____ 0_0_ 1111",
            "aggregate 0 2 3 4 | 15 15 7 7 4 | up 0 1 2 3 4 | free 0 2 3 4 | drop 0 | again 0",
        ),
        ("1", "single 5 | 15 | up 5 | free 5 | drop 0 | again 0"),
    ]);
    assert!(bench.is_done());
}

#[test]
fn a_block_ack_says_which_frames_go_again() {
    let mut bench = Bench::new(10);
    bench.walk(&[
        ("1", "single 0 | 15 | up 0 | free 0 | drop 0 | again 0"),
        ("1", "single 1 | 15 | up 1 | free 1 | drop 0 | again 0"),
        // One is lost: it goes again in the next PPDU that is made, while another is in the hardware already.
        ("1011", "aggregate 2 3 4 5 | 15 | up 2 | free 2 4 5 | drop 0 | again 0"),
        ("0111", "aggregate 6 7 8 9 | 15 | up | free 7 8 9 | drop 0 | again 0"),
        // What was held goes up with what it waited for.
        (". 1", "single 3 | 15 15 | up 3 4 5 | free 3 | drop 0 | again 0"),
        ("1", "single 6 | 15 | up 6 7 8 9 | free 6 | drop 0 | again 0"),
    ]);
    assert!(bench.is_done());
}

#[test]
fn a_lost_block_ack_makes_duplicates() {
    let mut bench = Bench::new(6);
    bench.walk(&[
        // A lost ACK: the frame comes again, and does not go up again.
        ("1? 1", "single 0 | 15 15 | up 0 | free 0 | drop 0 | again 1"),
        ("1", "single 1 | 15 | up 1 | free 1 | drop 0 | again 1"),
        // The second Block Ack speaks of what the first had spoken of too: frame 4, whole only then, needs
        // not come a third time.
        ("1010? 0100", "aggregate 2 3 4 5 | 15 15 | up 2 3 4 | free 2 3 4 | drop 0 | again 1"),
        // No answer comes through at all: two of the six tries had brought it, five were in vain.
        ("0 1? . 1? 0 .", "single 5 | 15 15 7 7 4 4 | up 5 | free | drop 0 | again 2"),
        // The sender does not know, and sends it again.
        ("1", "single 5 | 15 | up | free 5 | drop 0 | again 3"),
    ]);
    assert!(bench.is_done());
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr, ath_tx_set_retry (4.4) - a frame that
// failed counts the tries of the hardware, all of them in the PPDU that was answered too; what is compared
// with the limit is the count of earlier PPDUs.
#[test]
fn a_frame_is_given_up_and_the_receiver_told() {
    let mut bench = Bench::new(5);
    bench.walk(&[
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        ("1", "single 1 | 15 | up | free 1 | drop 0 | again 0"),
        // It had six tries before. The PPDU that leaves it out is the ninth: nine are fewer than ten.
        (". . 0111", "aggregate 0 2 3 4 | 15 15 7 | up | free 2 3 4 | drop 0 | again 0"),
        // Still nine when it fails once more: it is tried again, with fifteen.
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        // Fifteen are too many, whatever this PPDU adds.
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free 0 | drop 1 | again 0"),
        // The receiver is told to wait no longer, and passes on what it holds.
        (". . 1", "request from 1 | b b b | up 1 2 3 4 | free | drop 1 | again 0"),
    ]);
    assert!(bench.is_done());
}

#[test]
fn what_was_received_is_not_dropped_when_it_is_given_up() {
    let mut bench = Bench::new(1);
    bench.walk(&[
        ("1? . . . . .", "single 0 | 15 15 7 7 4 4 | up 0 | free | drop 0 | again 0"),
        (". . . . . 1?", "single 0 | 15 15 7 7 4 4 | up | free | drop 0 | again 1"),
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free 0 | drop 0 | again 1"),
        ("1", "request from 1 | b | up | free | drop 0 | again 1"),
    ]);
    assert!(bench.is_done());
}

// linux: net/mac80211/status.c ieee80211_tx_status, ieee80211_check_pending_bar (4.4) - a request that was
// not answered is made again when a frame of its TID is acknowledged.
#[test]
fn a_lost_request_is_repeated() {
    let mut bench = Bench::new(2);
    bench.walk(&[
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        ("1", "single 1 | 15 | up | free 1 | drop 0 | again 0"),
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free 0 | drop 1 | again 0"),
        // Ten tries at the lowest basic rate, and nothing more until the receiver answers something.
        (". . . . . . . . . .", "request from 1 | b b b b b b b b b b | up | free | drop 1 | again 0"),
    ]);
    assert!(bench.is_done());
    bench.push(3);
    bench.walk(&[
        (". . . . . .", "single 2 | 15 15 7 7 4 4 | up | free | drop 1 | again 0"),
        // The answer to this calls for the request, which goes behind what the hardware has already.
        ("1", "single 3 | 15 | up | free 3 | drop 1 | again 0"),
        ("11", "aggregate 2 4 | 15 | up | free 2 4 | drop 1 | again 0"),
        // Its own answer is lost: the receiver has moved its window, and the sender does not know.
        (
            "1? . . . . . . . . .",
            "request from 1 | b b b b b b b b b b | up 1 2 3 4 | free | drop 1 | again 0",
        ),
    ]);
    // So it repeats what moves nothing any more.
    bench.push(1);
    bench.walk(&[
        ("1", "single 5 | 15 | up 5 | free 5 | drop 1 | again 0"),
        ("1", "request from 1 | b | up | free | drop 1 | again 0"),
    ]);
    assert!(bench.is_done());
}

#[test]
fn older_frames_go_with_the_one_that_is_given_up() {
    let mut bench = Bench::new(10);
    bench.walk(&[
        ("1", "single 0 | 15 | up 0 | free 0 | drop 0 | again 0"),
        ("1", "single 1 | 15 | up 1 | free 1 | drop 0 | again 0"),
        (". . . . . .", "aggregate 2 3 4 5 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        ("0111", "aggregate 6 7 8 9 | 15 | up | free 7 8 9 | drop 0 | again 0"),
        (". . . . . .", "aggregate 2 3 4 5 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        (". . . . . .", "single 6 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        // Twelve tries: those that fail now are given up, all of them at once, and one request is for them
        // all.
        ("0010", "aggregate 2 3 4 5 | 15 | up | free 2 3 4 5 | drop 3 | again 0"),
        ("1", "single 6 | 15 | up | free 6 | drop 3 | again 0"),
        ("1", "request from 6 | b | up 4 6 7 8 9 | free | drop 3 | again 0"),
    ]);
    assert!(bench.is_done());
}
