//! What the hardware tries, what the driver does with the rest, and what Block Ack requests follow: step by step.

use super::*;
use crate::wifi::config::{DriverConfig, LegacyParams};
use crate::wifi::testing::{Rig, ms, peer};

const BE: TidIndex = TidIndex::new(PeerId(0), 0);

/// A device in a session, whose chain is MCS 15, 7 and 0, two tries each, and whose limit is 10 tries.
struct Bench {
    rig: Rig,
    dev: WifiDev,
}

impl Bench {
    fn new() -> Self {
        let mut rig = Rig::in_session([peer(&["ht20-mcs15-sgi", "ht20-mcs7-sgi", "ht20-mcs0-sgi"], 4)]);
        let tx = core::mem::replace(&mut rig.tx, Transmitter::new(crate::vocabulary::DevId(0)));
        let driver = Driver::new(DriverConfig::Legacy(LegacyParams { qlen: 123 }), 1, PlaceId(0), 1);
        Self { rig, dev: WifiDev::new(RadioId(0), tx, driver, 10, PlaceId(0)) }
    }

    fn push(&mut self, packets: u32) {
        for _ in 0..packets {
            let p = self.rig.packet(BE, 1500);
            let (_, mut hw, mut ctx) = self.rig.parts();
            self.dev.push(ms(0), p, &mut hw, &mut ctx);
        }
    }

    /// The hardware tries its first PPDU: so many times in vain, and then, if it may, with these frames acknowledged. The row says
    /// what it was, its frames, the rate of each try, and the packets whose memory is free afterwards.
    fn try_it(&mut self, in_vain: usize, acked: u64) -> String {
        let mut ppdu = self.rig.pop(ms(0), Ac::Be);
        let what = match ppdu.header.content {
            Content::Data { aggregate } => if aggregate { "aggregate" } else { "single" }.to_owned(),
            Content::Bar { start } => format!("request from {}", start.get()),
            _ => "other".to_owned(),
        };
        let frames: Vec<u16> = ppdu.mpdus.iter().map(|m| m.seq.get()).collect();
        let mut rates = Vec::new();
        loop {
            rates.push(ppdu.rate().to_string());
            ppdu.tried(Duration::from_micros(100));
            if rates.len() > in_vain {
                (ppdu.received, ppdu.acked, ppdu.acknowledged) = (acked, acked, true);
                break;
            }
            if !ppdu.next_try() {
                break;
            }
        }
        if ppdu.acknowledged {
            for (_, m) in ppdu.mpdus.iter_mut().enumerate().filter(|(n, _)| acked >> n & 1 == 1) {
                let pkt = m.pkt.take().expect("not received before");
                (m.charge, m.truesize) = self.rig.packets.take_charge(pkt);
                self.rig.packets.free(pkt, crate::vocabulary::Fate::Delivered);
            }
        }
        let (_, mut hw, mut ctx) = self.rig.parts();
        let _ = self.dev.tx_status(ms(0), ppdu, &mut hw, &mut ctx);
        let mut short = Vec::new();
        for rate in &rates {
            short.push(rate.trim_start_matches("ht20-mcs").trim_end_matches("-sgi"));
        }
        format!("{what} {frames:?} | {} | {:?}", short.join(" "), self.rig.uncharged())
    }
}

#[test]
fn a_frame_on_its_way_to_being_given_up() {
    let mut bench = Bench::new();
    bench.push(5);
    for (in_vain, acked, row) in [
        // The first two went to the hardware as they came. Six tries along the chain, then the driver has it back.
        (6, 0, "single [0] | 15 15 7 7 0 0 | []"),
        (0, 1, "single [1] | 15 | [1]"),
        // It goes before new frames; with two tries in vain and one that leaves it out it has had nine.
        (2, 0b1110, "aggregate [0, 2, 3, 4] | 15 15 7 | [2, 3, 4]"),
        // Nine are fewer than ten; fifteen are not, whatever comes of the next PPDU.
        (6, 0, "single [0] | 15 15 7 7 0 0 | []"),
        (6, 0, "single [0] | 15 15 7 7 0 0 | [0]"),
        // The receiver is told to wait no longer, ten times at the lowest rate.
        (
            10,
            0,
            "request from 1 [] | ofdm-6 ofdm-6 ofdm-6 ofdm-6 ofdm-6 ofdm-6 ofdm-6 ofdm-6 ofdm-6 ofdm-6 | []",
        ),
    ] {
        assert_eq!(bench.try_it(in_vain, acked), row);
    }
    // A request that was lost is repeated once the receiver has answered something, not before.
    bench.push(2);
    for (in_vain, acked, row) in [
        (6, 0, "single [5] | 15 15 7 7 0 0 | []"),
        (0, 1, "single [6] | 15 | [6]"),
        (0, 1, "single [5] | 15 | [5]"),
        (0, 0, "request from 1 [] | ofdm-6 | []"),
    ] {
        assert_eq!(bench.try_it(in_vain, acked), row);
    }
}
