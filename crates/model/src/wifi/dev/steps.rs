//! Step-by-step exchange between two devices: hardware tries, driver retries, reordering and Block Ack
//! requests. A table determines the outcome of each try.

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

/// Tries in earlier PPDUs at which a frame is given up, instead of ath9k's 30, to keep tables short.
const LIMIT: u8 = 10;

fn device(tx: Transmitter) -> WifiDev {
    let driver = Driver::new(DriverConfig::Legacy(LegacyParams { qlen: 123 }), 1, PlaceId(0), 1);
    WifiDev::new(RadioId(0), tx, driver, LIMIT, PlaceId(0))
}

/// A sender with a chain of MCS 15, 7 and 4, two tries each, and a session to a receiver.
struct Bench {
    rig: Rig,
    sender: WifiDev,
    receiver: WifiDev,
    /// The receiver's hardware, which only sends responses here.
    its: (crate::wifi::air::medium::Medium, Radio),
}

impl Bench {
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

    /// Performs one try of a PPDU. `.`: the preamble is lost. Otherwise one character per frame: `1`
    /// received, `0` received with errors, `_` not found. A trailing `?` loses the response. Appends the
    /// numbers of delivered packets to `up`. Returns true if there is another try.
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

    /// Sends the PPDU at the head of the hardware queue with the given outcome of each try. Returns its kind
    /// and the numbers of its frames; the MCS of each try (`b` is the lowest basic rate); `up`, the packets
    /// that leave the receiver's buffer; `free`, the packets whose charge to their socket has ended; `drop`,
    /// the total number of drops; and `again`, the total number of duplicates received.
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

    /// Returns true if the hardware and the driver are empty and no memory is charged.
    fn is_done(&mut self) -> bool {
        self.rig.hardware(Ac::Be).is_empty()
            && self.sender.held(&self.rig.packets) == 0
            && self.rig.packets.live_charges().count() == 0
    }
}

#[test]
fn tries_follow_the_chain() {
    // The hardware has room for the first two packets, which are sent singly.
    let mut bench = Bench::new(6);
    bench.walk(&[
        // Lost in all tries of the chain: the driver gets the frame back, and its memory stays charged.
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        // The first answered try is the last. Packet 1 waits for packet 0.
        (". . 1", "single 1 | 15 15 7 | up | free 1 | drop 0 | again 0"),
        // Retries precede new frames. Lost, with errors, or without a readable delimiter: without an intact
        // frame there is no response.
        (
            ". 0000 ____ 0_0_ 1111",
            "aggregate 0 2 3 4 | 15 15 7 7 4 | up 0 1 2 3 4 | free 0 2 3 4 | drop 0 | again 0",
        ),
        ("1", "single 5 | 15 | up 5 | free 5 | drop 0 | again 0"),
    ]);
    assert!(bench.is_done());
}

#[test]
fn a_block_ack_selects_the_frames_to_retry() {
    let mut bench = Bench::new(10);
    bench.walk(&[
        ("1", "single 0 | 15 | up 0 | free 0 | drop 0 | again 0"),
        ("1", "single 1 | 15 | up 1 | free 1 | drop 0 | again 0"),
        // One frame is lost. It is retried in the next PPDU built, while another is already in the hardware.
        ("1011", "aggregate 2 3 4 5 | 15 | up 2 | free 2 4 5 | drop 0 | again 0"),
        ("0111", "aggregate 6 7 8 9 | 15 | up | free 7 8 9 | drop 0 | again 0"),
        // Frames in the reorder buffer are delivered with the one that they waited for.
        (". 1", "single 3 | 15 15 | up 3 4 5 | free 3 | drop 0 | again 0"),
        ("1", "single 6 | 15 | up 6 7 8 9 | free 6 | drop 0 | again 0"),
    ]);
    assert!(bench.is_done());
}

#[test]
fn a_lost_block_ack_makes_duplicates() {
    let mut bench = Bench::new(6);
    bench.walk(&[
        // A lost ACK: the duplicate is not delivered.
        ("1? 1", "single 0 | 15 15 | up 0 | free 0 | drop 0 | again 1"),
        ("1", "single 1 | 15 | up 1 | free 1 | drop 0 | again 1"),
        // The second Block Ack also covers the first one's frames: frame 4 is not sent a third time.
        ("1010? 0100", "aggregate 2 3 4 5 | 15 15 | up 2 3 4 | free 2 3 4 | drop 0 | again 1"),
        // No response arrives: two of the six tries delivered the frame, but none was acknowledged.
        ("0 1? . 1? 0 .", "single 5 | 15 15 7 7 4 4 | up 5 | free | drop 0 | again 2"),
        // The sender is unaware and sends it again.
        ("1", "single 5 | 15 | up | free 5 | drop 0 | again 3"),
    ]);
    assert!(bench.is_done());
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr, ath_tx_set_retry (4.4) - a failed frame
// counts all hardware tries of its PPDU, even if that was answered; the limit is compared with the count of
// earlier PPDUs.
#[test]
fn a_frame_is_given_up_with_a_block_ack_request() {
    let mut bench = Bench::new(5);
    bench.walk(&[
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        ("1", "single 1 | 15 | up | free 1 | drop 0 | again 0"),
        // The frame had six tries before. This PPDU raises the count to nine, below ten.
        (". . 0111", "aggregate 0 2 3 4 | 15 15 7 | up | free 2 3 4 | drop 0 | again 0"),
        // Still nine when it fails once more: it is retried, with a count of fifteen.
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        // Fifteen exceed the limit, regardless of the tries of this PPDU.
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free 0 | drop 1 | again 0"),
        // The receiver stops waiting and delivers the frames that it holds.
        (". . 1", "request from 1 | b b b | up 1 2 3 4 | free | drop 1 | again 0"),
    ]);
    assert!(bench.is_done());
}

#[test]
fn received_frames_that_are_given_up_are_not_dropped() {
    let mut bench = Bench::new(1);
    bench.walk(&[
        ("1? . . . . .", "single 0 | 15 15 7 7 4 4 | up 0 | free | drop 0 | again 0"),
        (". . . . . 1?", "single 0 | 15 15 7 7 4 4 | up | free | drop 0 | again 1"),
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free 0 | drop 0 | again 1"),
        ("1", "request from 1 | b | up | free | drop 0 | again 1"),
    ]);
    assert!(bench.is_done());
}

// linux: net/mac80211/status.c ieee80211_tx_status, ieee80211_check_pending_bar (4.4) - repeats an unanswered
// request when a frame of its TID is acknowledged.
#[test]
fn a_lost_request_is_repeated() {
    let mut bench = Bench::new(2);
    bench.walk(&[
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        ("1", "single 1 | 15 | up | free 1 | drop 0 | again 0"),
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        (". . . . . .", "single 0 | 15 15 7 7 4 4 | up | free 0 | drop 1 | again 0"),
        // Ten tries at the lowest basic rate, and no more until the receiver acknowledges a frame.
        (". . . . . . . . . .", "request from 1 | b b b b b b b b b b | up | free | drop 1 | again 0"),
    ]);
    assert!(bench.is_done());
    bench.push(3);
    bench.walk(&[
        (". . . . . .", "single 2 | 15 15 7 7 4 4 | up | free | drop 1 | again 0"),
        // This acknowledgement triggers the request, which is queued behind the PPDU in the hardware.
        ("1", "single 3 | 15 | up | free 3 | drop 1 | again 0"),
        ("11", "aggregate 2 4 | 15 | up | free 2 4 | drop 1 | again 0"),
        // Its response is lost: the receiver has moved its window without the sender knowing.
        (
            "1? . . . . . . . . .",
            "request from 1 | b b b b b b b b b b | up 1 2 3 4 | free | drop 1 | again 0",
        ),
    ]);
    // The sender repeats the request, which has no effect.
    bench.push(1);
    bench.walk(&[
        ("1", "single 5 | 15 | up 5 | free 5 | drop 1 | again 0"),
        ("1", "request from 1 | b | up | free | drop 1 | again 0"),
    ]);
    assert!(bench.is_done());
}

#[test]
fn older_frames_are_given_up_together() {
    let mut bench = Bench::new(10);
    bench.walk(&[
        ("1", "single 0 | 15 | up 0 | free 0 | drop 0 | again 0"),
        ("1", "single 1 | 15 | up 1 | free 1 | drop 0 | again 0"),
        (". . . . . .", "aggregate 2 3 4 5 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        ("0111", "aggregate 6 7 8 9 | 15 | up | free 7 8 9 | drop 0 | again 0"),
        (". . . . . .", "aggregate 2 3 4 5 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        (". . . . . .", "single 6 | 15 15 7 7 4 4 | up | free | drop 0 | again 0"),
        // Twelve tries: the frames that fail now are given up together, with a single request.
        ("0010", "aggregate 2 3 4 5 | 15 | up | free 2 3 4 5 | drop 3 | again 0"),
        ("1", "single 6 | 15 | up | free 6 | drop 3 | again 0"),
        ("1", "request from 6 | b | up 4 6 7 8 9 | free | drop 3 | again 0"),
    ]);
    assert!(bench.is_done());
}
