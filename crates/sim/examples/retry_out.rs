//! Runs a receiver with pseudo retry-out alone, for the paper's worked examples, which give events without
//! stations. Each line of standard input has the A-MPDUs of one example as JSON; a line of standard output
//! has the outcome of each A-MPDU's frames.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use stillair_model::types::{
    Ac, Ctx, DevId, Fate, Instant, NewPacket, NoSink, PacketKind, Packets, PeerId, Pkt, PlaceId, Rate, SockId,
};
use stillair_model::wifi::air::ppdu::{Content, Header, Mpdu, Ppdu, Returned};
use stillair_model::wifi::air::reception::RxOutcome;
use stillair_model::wifi::marks::Marks;
use stillair_model::wifi::phy::{PhyRate, RateTry, RetryChain};
use stillair_model::wifi::rx::retry_out::{RetryOutParams, SmoothedRate};
use stillair_model::wifi::rx::{Judge, RxTid};
use stillair_model::wifi::seq_window::{Seq, SeqWindow};

/// Maximum frames per A-MPDU, and size of the sequence number space.
const MOST: (usize, u16) = (64, 4096);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Events {
    /// Index at all rates; `None` selects it by the smoothed rate.
    index: Option<u8>,
    /// First sequence number of the session.
    first: u16,
    ampdus: Vec<Ampdu>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ampdu {
    /// Sequence numbers in order of reception.
    received: Vec<u16>,
    /// Sequence numbers received with errors.
    crc_error: BTreeSet<u16>,
    /// Data rate in bit/s.
    #[serde(default = "slowest")]
    rate_bps: u64,
}

/// MCS 0 at 20 MHz.
const fn slowest() -> u64 {
    6_500_000
}

/// Outcome of one A-MPDU's frames.
#[derive(Serialize)]
struct After {
    /// Sequence numbers passed up, in order.
    up: Vec<u32>,
    /// Sequence numbers waiting in the reorder buffer, including those of earlier A-MPDUs.
    kept: BTreeSet<u32>,
    /// Sequence numbers marked as lost that may still arrive.
    lost: Vec<u16>,
    /// Frames received without errors but discarded.
    ignored: Vec<u16>,
    /// Estimated retransmission count of each frame received with errors.
    counts: BTreeMap<u16, Option<u8>>,
    /// Smoothed data rate in bit/s.
    smoothed_bps: u64,
    /// Index at that rate; `None` if the method has no effect.
    index: Option<u8>,
}

fn main() -> ExitCode {
    for line in io::stdin().lines() {
        match line.map_err(|e| e.to_string()).and_then(|events| replay(&events)) {
            Ok(after) => println!("{after}"),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}

/// Passes the A-MPDUs of `events` (JSON) to the receiver of one session. Returns the outcome as JSON.
fn replay(events: &str) -> Result<String, String> {
    let events: Events = serde_json::from_str(events).map_err(|e| format!("events: {e}"))?;
    let params = events.index.map_or(RetryOutParams::ByRate, RetryOutParams::Index);
    let (mut session, mut after) = (ReceiverSession::new(events.first, params)?, Vec::new());
    for (n, ampdu) in events.ampdus.iter().enumerate() {
        let wrong = |what: &str| Err(format!("events: A-MPDU {}: {what}", n + 1));
        if ampdu.received.len() > MOST.0 || ampdu.received.iter().any(|&seq| seq >= MOST.1) {
            return wrong("more than 64 frames, or a number above 4095");
        }
        if !ampdu.crc_error.iter().all(|seq| ampdu.received.contains(seq)) {
            return wrong("a frame that came broken did not come");
        }
        after.push(session.receive(ampdu));
    }
    serde_json::to_string(&after).map_err(|e| format!("cannot write the result: {e}"))
}

struct ReceiverSession {
    rx: RxTid,
    packets: Packets,
    params: RetryOutParams,
    smoothed: SmoothedRate,
    chain: RetryChain,
    /// Packets of the sender by sequence number, until they are passed up.
    sent: BTreeMap<u16, Option<Pkt>>,
}

impl ReceiverSession {
    fn new(first: u16, params: RetryOutParams) -> Result<Self, String> {
        if first >= MOST.1 {
            return Err("events: first: a number above 4095".to_owned());
        }
        let slowest = PhyRate::parse("ht20-mcs0-lgi").expect("a rate");
        let chain = RetryChain::new(&[RateTry::new(slowest, 1)]).expect("one entry");
        let (mut rx, packets) = (RxTid::default(), Packets::new());
        rx.open(Seq::new(first), SeqWindow::SIZE, PlaceId(0), &mut Vec::new());
        rx.count_broken();
        Ok(Self { rx, packets, params, smoothed: SmoothedRate::default(), chain, sent: BTreeMap::new() })
    }

    fn receive(&mut self, ampdu: &Ampdu) -> After {
        let Self { rx, packets, params, smoothed, chain, sent } = self;
        let header = Header {
            dev: DevId(0),
            peer: PeerId(0),
            ac: Ac::Be,
            tid: 0,
            content: Content::Data { aggregate: true },
            in_session: true,
        };
        let mut mpdu = |&seq: &u16| {
            let new = NewPacket { kind: PacketKind::Tcp, seq: u32::from(seq), ..NewPacket::PLAIN };
            let pkt = *sent.entry(seq).or_insert_with(|| Some(packets.create(new)));
            let seq = Seq::new(seq);
            Mpdu {
                airtime: 0,
                pkt,
                seq,
                len: 1538,
                tries: 0,
                returned: Returned::No,
                probe: None,
                charge: SockId::NONE,
                truesize: 0,
                msdus: 1,
            }
        };
        let mut ppdu = Ppdu::new(header, *chain, ampdu.received.iter().map(&mut mpdu).collect());
        let came: Vec<u16> = ppdu.mpdus.iter().filter(|m| m.pkt.is_some()).map(|m| m.seq.get()).collect();
        let broken = |seq: &u16| ampdu.crc_error.contains(seq);
        let whole = Marks::each(ampdu.received.len(), |n| !broken(&ampdu.received[n]));
        let got = RxOutcome { whole, readable: ppdu.all() };
        let judge = Judge { params: *params, smoothed, rate: Rate::from_bps(ampdu.rate_bps) };
        let (mut gone, ctx) = (Vec::new(), &mut Ctx { packets, trace: &mut NoSink });
        rx.receive(Instant::ZERO, &mut ppdu, &got, Some(judge), &mut gone, ctx);
        sent.extend(ppdu.mpdus.iter().map(|m| (m.seq.get(), m.pkt)));
        let up: Vec<u32> = gone.iter().map(|&p| packets.get(p).seq).collect();
        gone.into_iter().for_each(|p| packets.free(p, Fate::Delivered));
        let kept: BTreeSet<u32> = rx.held().map(|p| packets.get(p).seq).collect();
        let nowhere = |seq: &u16| !up.contains(&u32::from(*seq)) && !kept.contains(&u32::from(*seq));
        let ignored = came.into_iter().filter(|seq| !broken(seq) && nowhere(seq)).collect();
        let counted = rx.session().and_then(|s| s.retry_out());
        let counts = ampdu.crc_error.iter().map(|&seq| (seq, counted.and_then(|c| c.count(Seq::new(seq)))));
        let is_lost = |seq: &u16| counted.is_some_and(|c| c.is_lost(Seq::new(*seq)));
        let lost =
            sent.iter().filter(|(_, pkt)| pkt.is_some()).map(|(&seq, _)| seq).filter(is_lost).collect();
        let index = params.index(*smoothed);
        After {
            counts: counts.collect(),
            up,
            kept,
            lost,
            ignored,
            smoothed_bps: smoothed.rate().bps(),
            index,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn told(events: Value) -> Vec<Value> {
        let text = replay(&events.to_string()).expect("good events");
        serde_json::from_str(&text).expect("a list")
    }

    // paper: retry-out figure 3 (b).
    #[test]
    fn idea_of_figure_3() {
        let one = |seq: u16, errors: &[u16]| json!({ "received": [seq], "crc_error": errors });
        let events = json!({ "index": 1, "first": 3, "ampdus": [one(3, &[3]), one(4, &[]), one(3, &[3]), one(3, &[])] });
        let rows = told(events);
        let up: Vec<_> = rows.iter().map(|r| r["up"].clone()).collect();
        assert_eq!(up, [json!([]), json!([]), json!([4]), json!([])]);
        assert_eq!(
            (&rows[1]["kept"], &rows[2]["lost"], &rows[2]["counts"]),
            (&json!([4]), &json!([3]), &json!({"3": 1}))
        );
        assert_eq!((&rows[3]["ignored"], &rows[3]["lost"]), (&json!([3]), &json!([])));
    }

    #[test]
    fn without_an_index_the_smoothed_rate_decides() {
        let at = |rate: u64| json!({ "received": [1, 2], "crc_error": [1], "rate_bps": rate });
        let rows = told(
            json!({ "first": 1, "ampdus": [at(26_000_000), at(26_000_000), at(6_500_000), at(300_000_000)] }),
        );
        let shown: Vec<_> = rows.iter().map(|r| (r["smoothed_bps"].as_u64(), r["index"].as_u64())).collect();
        // Two frames per rate: 26, then three quarters of the previous value and a quarter of 6.5, twice,
        // then towards 300.
        let expected =
            [(26_000_000, Some(5)), (26_000_000, Some(5)), (17_468_750, Some(2)), (141_076_171, None)];
        assert_eq!(shown, expected.map(|(bps, index)| (Some(bps), index)));
        assert_eq!(rows[2]["lost"], json!([1]), "its third error, at an index of 2");
        let index = |rate: u64| told(json!({ "first": 1, "ampdus": [at(rate)] }))[0]["index"].as_u64();
        assert_eq!(
            [24_999_999, 25_000_000, 50_000_000, 100_000_000].map(index),
            [Some(2), Some(5), Some(8), None]
        );
    }

    #[test]
    fn wrong_events_are_named() {
        let says = |ampdu: Value| match replay(&json!({ "first": 1, "ampdus": [ampdu] }).to_string()) {
            Err(says) => says,
            Ok(after) => panic!("{after}"),
        };
        assert_eq!(
            says(json!({ "received": [1], "crc_error": [2] })),
            "events: A-MPDU 1: a frame that came broken did not come"
        );
        assert!(says(json!({ "received": [4096], "crc_error": [] })).ends_with("a number above 4095"));
        assert!(says(json!({ "received": [1] })).contains("crc_error"));
    }
}
