//! Buffering, expiry and announcement of frames by an access point.

use super::*;
use crate::types::{Fate, NewPacket, NoSink, Packets};
use crate::wifi::power::group::GROUP_LIMIT;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn sleepers(stations: usize, uapsd: u8) -> Sleepers {
    let habits = Habits { uapsd, max_sp: 2, listen: 1 };
    let mut all =
        Sleepers::new(alloc::vec![habits; stations], 2, Duration::from_micros(102_400), true, PlaceId(0));
    for n in 0..stations {
        assert!(all.set_asleep(PeerId::from_index(n), true));
    }
    all
}

struct Rig {
    packets: Packets,
    trace: NoSink,
}

impl Rig {
    fn new() -> Self {
        Self { packets: Packets::new(), trace: NoSink }
    }

    fn ctx(&mut self) -> Ctx<'_, NoSink> {
        Ctx { packets: &mut self.packets, trace: &mut self.trace }
    }

    fn keep(&mut self, all: &mut Sleepers, now: Instant, to: (u16, Ac), n: u32) {
        for seq in 0..n {
            let p = self.packets.create(NewPacket { seq, ..NewPacket::PLAIN });
            all.keep(now, p, (PeerId(to.0), to.1), &mut self.ctx());
        }
    }

    fn dropped(&self, reason: Reason) -> u64 {
        self.packets.account().dropped.iter().map(|by| by[reason as usize]).sum()
    }

    fn next(&mut self, all: &mut Sleepers, to: (u16, Ac)) -> Option<u32> {
        let p = all.take(PeerId(to.0), to.1, &mut self.ctx())?;
        let seq = self.packets.get(p).seq;
        self.packets.free(p, Fate::Delivered);
        Some(seq)
    }
}

#[test]
fn the_oldest_frame_of_a_category_is_dropped() {
    let (mut rig, mut all) = (Rig::new(), sleepers(1, 0));
    rig.keep(&mut all, at(0), (0, Ac::Be), STATION_LIMIT + 3);
    rig.keep(&mut all, at(0), (0, Ac::Vo), 5);
    assert_eq!((rig.dropped(Reason::Overlimit), all.packets()), (3, 69));
    assert_eq!([rig.next(&mut all, (0, Ac::Be)), rig.next(&mut all, (0, Ac::Vo))], [Some(3), Some(0)]);
}

#[test]
fn total_limit_of_512() {
    let (mut rig, mut all) = (Rig::new(), sleepers(9, 0));
    (0..8).for_each(|n| rig.keep(&mut all, at(0), (n, Ac::Be), 63));
    rig.keep(&mut all, at(0), (8, Ac::Bk), 8);
    assert_eq!((all.packets(), rig.dropped(Reason::Overlimit)), (512, 0));
    // One frame of each station's lowest category is dropped, which leaves room for eight more.
    rig.keep(&mut all, at(0), (8, Ac::Vo), 1);
    assert_eq!((all.packets(), rig.dropped(Reason::Overlimit)), (504, 9));
    assert_eq!([rig.next(&mut all, (0, Ac::Be)), rig.next(&mut all, (8, Ac::Bk))], [Some(1); 2]);
}

#[test]
fn old_frames_expire() {
    let (mut rig, mut all) = (Rig::new(), sleepers(1, 0));
    assert_eq!(all.next_timer(), None);
    rig.keep(&mut all, at(0), (0, Ac::Be), 2);
    rig.keep(&mut all, at(5), (0, Ac::Be), 1);
    // At the first check, ten seconds after the first frame, no frame is too old. Ten seconds later all are.
    for (ms, left, gone, next) in [(10_000, true, 0, Some(at(20_000))), (20_000, false, 3, None)] {
        assert_eq!(all.next_timer(), Some(at(ms)));
        assert_eq!(all.give_up_old(at(ms), &mut rig.ctx()), left);
        all.looked(at(ms), left);
        all.beacon(0, |_, _| false);
        assert_eq!(
            (rig.dropped(Reason::Expired), all.tim.has(PeerId(0)), all.next_timer()),
            (gone, left, next)
        );
    }
    // In whole seconds: twice 60 beacons of 102.4 ms are 12.288 s.
    all.stations[0].habits.listen = 60;
    assert_eq!(all.expiry(PeerId(0)), Duration::from_secs(12));
}

#[test]
fn beacons_announce_frames_that_no_trigger_delivers() {
    let (mut rig, vo) = (Rig::new(), 1 << Ac::Vo.index());
    let mut told = |uapsd, ac| {
        let mut all = sleepers(1, uapsd);
        rig.keep(&mut all, at(0), (0, ac), 1);
        all.beacon(0, |_, _| false);
        let told = all.tim.has(PeerId(0));
        let _ = rig.next(&mut all, (0, ac));
        told
    };
    assert_eq!(
        [told(0, Ac::Vo), told(vo, Ac::Vo), told(vo, Ac::Be), told(0b1111, Ac::Vo)],
        [true, false, true, true]
    );
}

#[test]
fn group_addressed_frames_wait_for_the_dtim() {
    let (mut rig, mut all) = (Rig::new(), sleepers(1, 0));
    for _ in 0..GROUP_LIMIT + 2 {
        let p = rig.packets.create(NewPacket::PLAIN);
        all.group.keep(at(0), p, PlaceId(0), &mut rig.ctx());
    }
    assert_eq!((all.packets(), rig.dropped(Reason::Overlimit)), (u64::from(GROUP_LIMIT), 2));
    // The first and third beacons are DTIMs, the second is not.
    let mut told = Vec::new();
    for _ in 0..3 {
        all.beacon(0, |_, _| false);
        told.push((all.tim.count, all.tim.group));
    }
    assert_eq!(told, [(0, true), (1, false), (0, true)]);
    let mut n = 0;
    while let Some(p) = all.group.next(&mut rig.ctx()) {
        n += 1;
        assert_eq!(all.group.is_due(), n < GROUP_LIMIT);
        rig.packets.free(p, Fate::Consumed);
    }
    assert_eq!(n, GROUP_LIMIT);
}
