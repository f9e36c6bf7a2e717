use super::*;
use crate::types::{Duration, Rate};
use crate::wifi::config::{AirtimeParams, DriverConfig, LegacyParams, MacFqParams, Scheduler, WhenFull};
use crate::wifi::marks::Marks;
use crate::wifi::testing::{Rig, ms, peer};
use alloc::vec;
use alloc::vec::Vec;

const VOICE: TidIndex = TidIndex::new(PeerId(0), 6);

fn device(rig: &mut Rig, config: DriverConfig) -> WifiDev {
    let tx = core::mem::replace(&mut rig.tx, Transmitter::new(crate::types::DevId(0)));
    let driver = Driver::new(config, tx.peers.len(), PlaceId(0), 1);
    WifiDev::new(RadioId(0), tx, driver, 10, PlaceId(0))
}

fn push(dev: &mut WifiDev, rig: &mut Rig, tid: TidIndex) {
    let p = rig.packet(tid, 1500);
    let (_, mut hw, mut ctx) = rig.parts();
    dev.push(ms(0), p, &mut hw, &mut ctx);
}

#[test]
fn both_directions_are_charged_for_all_tries() {
    let mut rig = Rig::new([peer(&["ht20-mcs15-sgi"], 32)]);
    let mut dev = device(
        &mut rig,
        DriverConfig::Fq(MacFqParams::default(), Scheduler::Airtime(AirtimeParams::default())),
    );
    let deficit = |dev: &WifiDev| {
        let Driver::Fq(fq) = &dev.driver else { panic!("queues in the MAC") };
        fq.deficit(VOICE) / 1000
    };
    push(&mut dev, &mut rig, VOICE);
    let mut ppdu = rig.pop(ms(0), Ac::Vo);
    assert!([500, 200].map(|us| ppdu.tried(Duration::from_micros(us), true, false))[0]);
    let (_, mut hw, mut ctx) = rig.parts();
    assert!(!dev.complete(ms(1), ppdu, &mut hw, &mut ctx).any());
    assert_eq!(deficit(&dev), 300 - 700);
    // Each frame is charged as if sent alone, at MCS 7: 36 us and 48 symbols of 260 bits. Frames with errors
    // and management frames are not charged.
    let mut data = crate::wifi::testing::ppdu(&mut rig.packets, [0, 1, 2]);
    data.header.tid = 6;
    let mut bar = crate::wifi::testing::ppdu(&mut rig.packets, []);
    (bar.header.tid, bar.header.content) = (6, Content::Bar { start: crate::wifi::seq_window::Seq::new(0) });
    for (is_data, whole) in [(true, 0), (true, 0b101), (false, 1)] {
        let ppdu = if is_data { &mut data } else { &mut bar };
        let (_, mut hw, mut ctx) = rig.parts();
        let rate = ppdu.rate();
        dev.receive(
            ms(1),
            PeerId(0),
            ppdu,
            rate,
            &RxOutcome { whole: Marks::of(whole), readable: Marks::first(3) },
            &mut Vec::new(),
            &mut hw,
            &mut ctx,
        );
    }
    assert_eq!(deficit(&dev), -400 - 2 * (36 + 48 * 4));
}

#[test]
fn frames_are_freed_individually_and_one_wakes_the_queue() {
    let mut rig = Rig::in_session([peer(&["ht20-mcs15-sgi"], 4)]);
    let be = TidIndex::new(PeerId(0), 0);
    let mut dev = device(&mut rig, DriverConfig::Legacy(LegacyParams { qlen: 9 }));
    (0..10).for_each(|_| push(&mut dev, &mut rig, be));
    assert!(dev.is_stopped(Ac::Be) && !dev.is_stopped(Ac::Vi));
    // Two single frames are sent first, then aggregates of four. Columns: frames, acknowledged bits, woken,
    // sockets with ended charges.
    for (frames, acked, woken, uncharged) in [
        (1, 0b1, false, vec![0]), // 9 is not below 9
        (1, 0b0, false, vec![]),  // retried: still counted and charged
        (4, 0b1011, true, vec![2, 3, 5]),
        (4, 0b1111, false, vec![1, 6, 7, 8]), // 1 first, then new frames
    ] {
        let mut ppdu = rig.pop(ms(0), Ac::Be);
        ppdu.tried(Duration::from_micros(100), true, true);
        assert_eq!(ppdu.mpdus.len(), frames);
        ppdu.acknowledged = true;
        for (_, m) in ppdu.mpdus.iter_mut().enumerate().filter(|(n, _)| acked >> n & 1 == 1) {
            let pkt = m.pkt.take().unwrap();
            (m.charge, m.truesize) = rig.packets.take_charge(pkt);
            rig.packets.free(pkt, crate::types::Fate::Delivered);
        }
        let (_, mut hw, mut ctx) = rig.parts();
        let woke = dev.tx_status(ms(0), ppdu, &mut hw, &mut ctx);
        assert_eq!((woke.has(Ac::Be), woke.any(), rig.uncharged()), (woken, woken, uncharged));
    }
}

#[test]
fn a_slow_peer_is_known_from_the_start() {
    // The driver sets the CoDel parameters of a station; the device passes it the expected throughput.
    let mut slow = peer(&["ht20-mcs0-sgi"], 2);
    slow.expected = Rate::from_mbps(6);
    let mut rig = Rig::new([slow, peer(&["ht20-mcs15-sgi"], 32)]);
    let dev = device(
        &mut rig,
        DriverConfig::Fq(MacFqParams::default(), Scheduler::RoundRobin(WhenFull::LosesTurn)),
    );
    let Driver::Fq(fq) = &dev.driver else { panic!("queues in the MAC") };
    assert_eq!([0, 1].map(|p| fq.is_slow(PeerId(p))), [true, false]);
}
