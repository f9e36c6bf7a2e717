use super::*;
use crate::types::Packets;
use crate::wifi::phy::RateTry;
use crate::wifi::testing::ppdu;
use alloc::vec;
use alloc::vec::Vec;

#[test]
fn tries_follow_the_chain() {
    let tries = [("ht20-mcs15-sgi", 2), ("ht20-mcs7-lgi", 1), ("ht20-mcs0-lgi", 3)];
    let chain = tries.map(|(name, tries)| RateTry::new(PhyRate::parse(name).unwrap(), tries));
    let header = ppdu(&mut Packets::new(), []).header;
    let mut p = Ppdu::new(header, RetryChain::new(&chain).unwrap(), Vec::new());
    let (mut mcs, mut more) = (Vec::new(), true);
    while more {
        let PhyRate::Ht(rate) = p.rate() else { panic!("an HT chain") };
        mcs.push(rate.mcs);
        more = p.tried(Duration::from_micros(100), true, false);
    }
    assert_eq!(mcs, [15, 15, 7, 0, 0, 0]);
    assert_eq!((p.tries, p.airtime), (6, Duration::from_micros(600)));
}

#[test]
fn the_retry_bit_marks_frames_that_were_on_the_air() {
    let mut packets = Packets::new();
    let mut p = ppdu(&mut packets, 0..2);
    let mut views = Vec::new();
    let mut retry = |p: &Ppdu| {
        p.view(&Marks::NONE, &mut views);
        views.iter().map(|view| view.retry).collect::<Vec<_>>()
    };
    assert_eq!(retry(&p), [false, false]);
    // Its RTS collided: a try of the chain, but the frames were not sent.
    p.tried(Duration::from_micros(100), false, false);
    assert_eq!((p.tries, retry(&p)), (1, vec![false, false]));
    p.tried(Duration::from_micros(100), true, false);
    assert_eq!(retry(&p), [true, true]);
    // A frame of an earlier PPDU.
    let mut next = ppdu(&mut packets, 0..2);
    next.mpdus[1].tries = 3;
    let mut views = Vec::new();
    next.view(&Marks::NONE, &mut views);
    assert_eq!(views.iter().map(|view| view.retry).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn unanswered_rts_tries_are_charged_as_in_ath9k() {
    // Two tries at the first entry, three at the second. s: on the air, r: unanswered RTS, a: acknowledged.
    for (tries, charged) in
        [("a", 1), ("sa", 2), ("ra", 1), ("rra", 3), ("rsra", 3), ("rrrra", 3), ("ssrrr", 3), ("rrrrr", 3)]
    {
        let chain = ["ht20-mcs7-lgi", "ht20-mcs0-lgi"].map(|name| PhyRate::parse(name).unwrap());
        let chain = RetryChain::new(&[RateTry::new(chain[0], 2), RateTry::new(chain[1], 3)]).unwrap();
        let mut p = Ppdu::new(ppdu(&mut Packets::new(), []).header, chain, Vec::new());
        let more: Vec<bool> =
            tries.chars().map(|t| p.tried(Duration::from_micros(1), t != 'r', t == 'a')).collect();
        assert!(!more[more.len() - 1] && more[..more.len() - 1].iter().all(|&m| m), "{tries}");
        assert_eq!(p.airtime, Duration::from_micros(charged), "{tries}");
    }
}

#[test]
fn a_mark_for_each_frame() {
    let mut packets = Packets::new();
    for frames in [0, 1, 2, 32, 63, 64, 65, 255, 256] {
        let all = ppdu(&mut packets, 0..frames).all();
        assert_eq!((all.count(), all.has(usize::from(frames.max(1)) - 1)), (u32::from(frames), frames > 0));
    }
}

#[test]
fn lengths_and_kinds_of_frames_without_data() {
    let start = Seq::new(0);
    let table = [
        (Content::Data { aggregate: true }, 0, PpduKind::Aggregate),
        (Content::Data { aggregate: false }, 0, PpduKind::Single),
        (Content::Bar { start }, 24, PpduKind::Bar),
        (Content::AddbaRequest { start, frames: 256 }, 37, PpduKind::Management),
        (Content::AddbaResponse { frames: 64 }, 37, PpduKind::Management),
        (Content::Beacon, 157, PpduKind::Beacon),
    ];
    for (content, bytes, kind) in table {
        assert_eq!((content.fixed_bytes(), content.kind()), (bytes, kind));
    }
}
