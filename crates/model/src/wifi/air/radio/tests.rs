use super::*;
use crate::types::Packets;
use crate::wifi::air::medium::TxOutcome;
use crate::wifi::rate::Probe;
use crate::wifi::testing::{ms, ppdu, radio};
use alloc::boxed::Box;
use alloc::vec::Vec;

const BE: usize = Ac::Be.index();

#[test]
fn two_session_ppdus_or_eight_of_any_kind() {
    let (mut medium, mut radio) = radio("radio");
    let mut packets = Packets::new();
    let room = |r: &Radio| (r.room(Ac::Be, true), r.room(Ac::Be, false));
    let mut send = |radio: &mut Radio, in_session| {
        let mut p = Box::new(ppdu(&mut packets, [0]));
        p.header.in_session = in_session;
        radio.send(ms(0), BE, p, &mut medium);
    };
    // linux: drivers/net/wireless/ath/ath9k/ath9k.h ATH_AGGR_MIN_QDEPTH, ATH_NON_AGGR_MIN_QDEPTH (4.4).
    #[rustfmt::skip]
    let table = [
        // in session, room afterwards for a session PPDU, for a single frame
        (true,  (true, true)),
        (true,  (false, true)),
        (false, (false, true)),
        (false, (false, true)),
        (false, (false, true)),
        (false, (false, true)),
        (false, (false, true)),  // seven
        (false, (false, false)), // eight
    ];
    for (row, (in_session, want)) in table.into_iter().enumerate() {
        send(&mut radio, in_session);
        assert_eq!(room(&radio), want, "row {row}");
    }
    assert!(radio.room(Ac::Vo, true) && radio.room(Ac::Vo, false), "each category has its own queue");
    // The head returns for another try and counts as before.
    let head = radio.pop(BE).unwrap();
    assert_eq!(room(&radio), (true, true));
    radio.put_back(BE, head);
    assert_eq!(room(&radio), (false, false));
    let in_session: Vec<_> = core::iter::from_fn(|| radio.pop(BE)).map(|p| p.header.in_session).collect();
    assert_eq!(in_session, [true, true, false, false, false, false, false, false], "first in, first out");
    assert_eq!(room(&radio), (true, true));
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c bf_is_ampdu_not_probing (4.4). No such rule is known for the
// ath9k_htc firmware.
#[test]
fn a_probe_is_not_counted_as_an_aggregate_in_ath9k() {
    for (depth, room) in [(HardwareDepth::default(), true), (HardwareDepth::HTC, false)] {
        let (mut medium, mut radio) = radio("radio");
        radio.depth = depth;
        let mut packets = Packets::new();
        let mut probe = Box::new(ppdu(&mut packets, [0]));
        let rate = probe.rate();
        probe.mpdus[0].probe = Some(Probe { rate, tries: 1, second: false });
        radio.send(ms(0), BE, probe, &mut medium);
        assert_eq!(radio.room(Ac::Be, true), room);
        // The probe returns for another try and then leaves.
        let head = radio.pop(BE).unwrap();
        radio.put_back(BE, head);
        assert_eq!(radio.room(Ac::Be, true), room);
        radio.pop(BE);
        assert!(radio.room(Ac::Be, true));
    }
}

#[test]
fn a_queue_requests_the_medium_once() {
    let (mut medium, mut radio) = radio("radio");
    let mut packets = Packets::new();
    let mut winners = Vec::new();
    assert_eq!(medium.start(), None);
    for n in 0..3 {
        radio.send(ms(0), BE, Box::new(ppdu(&mut packets, [n])), &mut medium);
        medium.winners(&mut winners);
        assert_eq!(winners, [radio.edcafs[BE]]);
    }
    let start = medium.start().unwrap();
    radio.pop(BE);
    medium.done(start, radio.edcafs[BE], TxOutcome::Finished, radio.queued(BE) > 0);
    medium.idle(start, start);
    assert!(medium.start().unwrap() > start, "the next PPDU is already in contention");
}

#[test]
fn recycled_ppdus_are_reset() {
    let (_, mut radio) = radio("radio");
    let mut packets = Packets::new();
    let mut used = Box::new(ppdu(&mut packets, 0..5));
    let (header, chain, at) = (used.header, used.chain, &raw const *used);
    used.tried(Duration::from_micros(100), true, true);
    (used.taken, used.wide, used.acknowledged) = (true, true, true);
    radio.recycle(used);
    let again = radio.blank(header, chain);
    assert_eq!(&raw const *again, at, "the same memory");
    assert_eq!((again.mpdus.len(), again.taken, again.wide, again.acknowledged), (0, false, false, false));
    assert_eq!((again.tries, again.airtime), (0, Duration::ZERO));
    assert!(again.mpdus.capacity() >= 5);
}
