use super::*;
use crate::vocabulary::{Fate, PeerId};
use crate::wifi::config::{AirtimeParams, AqlParams, HardwareDepth, Mac80211Rules};
use crate::wifi::testing::{Rig, peer};

/// Microseconds after the start.
fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(n)
}

/// A full packet at this rate counts for 84 us, and 42 of them are an aggregate of 65,535 bytes.
const RATE: &[&str] = &["ht40-mcs7-sgi"];
const UNIT_US: u64 = 84;

const PARAMS: FirmwareParams = FirmwareParams {
    frames: 4096,
    full: WhenFirmwareFull::Waits,
    report_frames: 1023,
    report_delay: Duration::from_micros(500),
    airtime: AirtimeReport::Counters,
};

fn be(peer: u16) -> TidIndex {
    TidIndex::new(PeerId(peer), 0)
}

fn by_airtime(rules: Mac80211Rules) -> Scheduler {
    Scheduler::Mac80211(AirtimeParams::default(), Some(AqlParams::default()), rules)
}

struct Bench {
    rig: Rig,
    driver: FirmwareDriver,
}

impl Bench {
    fn new(stations: usize, scheduler: Scheduler, params: FirmwareParams) -> Self {
        let mut rig = Rig::in_session((0..stations).map(|_| peer(RATE, 64)));
        rig.set_depth(HardwareDepth::RING);
        rig.tx.looks_before_it_takes();
        let driver = FirmwareDriver::new(MacFqParams::default(), scheduler, params, stations, PlaceId(0), 1);
        Self { rig, driver }
    }

    /// Frames come from above.
    fn push(&mut self, now: Instant, to: u16, frames: u32) {
        for _ in 0..frames {
            let p = self.rig.packet(be(to), 1500);
            self.driver.push(now, p, be(to), &mut self.rig.ctx());
        }
        self.fill(now);
    }

    fn fill(&mut self, now: Instant) {
        let (tx, mut hw, mut ctx) = self.rig.parts();
        self.driver.fill(now, tx, &mut hw, &mut ctx);
    }

    /// The PPDU at the head is through, all of it acknowledged after so long on the air: whose it was, and its frames.
    fn done(&mut self, now: Instant, airtime: Duration) -> (u16, usize) {
        let mut ppdu = self.rig.pop(now, Ac::Be);
        let tid = TidIndex::new(ppdu.header.peer, ppdu.header.tid);
        let frames = ppdu.mpdus.len();
        for mut m in ppdu.mpdus.drain(..) {
            let pkt = m.pkt.take().expect("not handed over");
            (m.charge, m.truesize) = self.rig.packets.take_charge(pkt);
            self.rig.packets.free(pkt, Fate::Delivered);
            self.rig.tx.tids[tid.index()].complete(m.seq);
            self.driver.done(now, tid, &m, m.charge);
        }
        self.driver.count(tid, airtime, AirtimeUse::Tx);
        self.fill(now);
        (tid.peer().0, frames)
    }

    /// The host hears of what is due; so many sockets have their memory back.
    fn hears(&mut self, now: Instant) -> usize {
        let (tx, _, mut ctx) = self.rig.parts();
        self.driver.on_timer(now, tx, &mut ctx);
        self.fill(now);
        self.rig.uncharged().len()
    }

    /// What a station has below the host's queues, in us.
    fn below(&self, station: u16) -> u64 {
        self.driver.below().of(be(station)).nanos() / 1_000
    }
}

#[test]
fn airtime_queue_limits_count_frame_by_frame() {
    // The check is before a frame: 143 are the first to reach 12 ms. With two such stations all have 24 ms, and a third stops at 5 ms.
    let mut bench = Bench::new(3, by_airtime(Mac80211Rules::Rounds), PARAMS);
    for (station, frames) in [(0, 143), (1, 143), (2, 60)] {
        bench.push(us(0), station, 400);
        assert_eq!(bench.below(station), frames * UNIT_US, "station {station}");
    }
    assert_eq!(bench.driver.host.queued(), 1200 - 143 - 143 - 60);
}

#[test]
fn a_category_has_a_limit_of_its_own_since_6_0() {
    // Two listed: 12 ms and half of 5. The first alone stops at its own 12 ms; the second gets less than it could have.
    let mut bench = Bench::new(2, by_airtime(Mac80211Rules::RoundsWithPending), PARAMS);
    bench.push(us(0), 0, 400);
    assert_eq!(bench.below(0), 143 * UNIT_US);
    // A look begins below the limit, and lets the station have its 12 ms.
    bench.push(us(0), 1, 400);
    assert_eq!(bench.below(1), 143 * UNIT_US);
    // Both have 24 ms then: 42 frames less are still above 14.5 ms, and nobody gets any.
    bench.done(us(1_000), Duration::from_micros(5_000));
    assert_eq!(bench.hears(us(1_500)), 42);
    assert_eq!([bench.below(0), bench.below(1)], [(143 - 42) * UNIT_US, 143 * UNIT_US]);
}

#[test]
fn the_host_hears_of_frames_together_and_later() {
    let mut bench = Bench::new(1, by_airtime(Mac80211Rules::Rounds), PARAMS);
    bench.push(us(0), 0, 400);
    assert_eq!(bench.done(us(1_000), Duration::from_micros(5_000)), (0, 42));
    assert_eq!((bench.driver.next_timer(), bench.hears(us(1_400))), (Some(us(1_500)), 0));
    // A second PPDU ends before the report: both are in it, and the host hands over as many.
    assert_eq!(bench.done(us(1_450), Duration::from_micros(5_000)), (0, 42));
    assert_eq!((bench.below(0), bench.hears(us(1_500))), (143 * UNIT_US, 84));
    assert_eq!((bench.below(0), bench.driver.next_timer()), (143 * UNIT_US, None));
    // With enough frames the report waits for nothing.
    let mut bench =
        Bench::new(1, by_airtime(Mac80211Rules::Rounds), FirmwareParams { report_frames: 42, ..PARAMS });
    bench.push(us(0), 0, 100);
    bench.done(us(1_000), Duration::from_micros(5_000));
    assert_eq!(bench.driver.next_timer(), Some(us(1_000)));
}

#[test]
fn a_ppdu_takes_frames_until_it_is_on_the_air_and_stations_take_turns() {
    let mut bench = Bench::new(2, by_airtime(Mac80211Rules::Rounds), PARAMS);
    bench.push(us(0), 0, 3);
    bench.push(us(1), 1, 10);
    bench.push(us(2), 0, 4);
    assert_eq!(bench.done(us(100), Duration::ZERO), (0, 7));
    bench.push(us(101), 0, 1);
    assert_eq!(bench.done(us(200), Duration::ZERO), (1, 10));
    assert_eq!(bench.done(us(300), Duration::ZERO), (0, 1));
}

#[test]
fn ath11k_drops_what_its_firmware_has_no_room_for() {
    let params = FirmwareParams { frames: 100, full: WhenFirmwareFull::Drops, ..PARAMS };
    let mut bench = Bench::new(1, Scheduler::RoundRobin(WhenFull::KeepsTurn), params);
    bench.push(us(0), 0, 300);
    // Another frame has found the aggregate full.
    assert_eq!((bench.driver.queued(), bench.driver.host.queued()), (100 - 43, 0));
    assert_eq!(bench.rig.packets.account().dropped_total(), 200);
    // Others wait in their queues.
    let mut bench = Bench::new(
        1,
        Scheduler::RoundRobin(WhenFull::KeepsTurn),
        FirmwareParams { full: WhenFirmwareFull::Waits, ..params },
    );
    bench.push(us(0), 0, 300);
    assert_eq!((bench.driver.queued(), bench.driver.host.queued()), (300 - 43, 200));
    assert_eq!(bench.rig.packets.account().dropped_total(), 0);
}

#[test]
fn counters_are_read_with_a_report() {
    let mut bench = Bench::new(2, by_airtime(Mac80211Rules::Rounds), PARAMS);
    bench.push(us(0), 0, 400);
    let before = bench.driver.host.deficit(be(0));
    bench.done(us(1_000), Duration::from_micros(700));
    bench.driver.count(be(0), Duration::from_micros(40), AirtimeUse::Rx);
    // Not named by the report: it stays in its counter.
    bench.driver.count(be(1), Duration::from_micros(900), AirtimeUse::Rx);
    assert_eq!(bench.driver.host.deficit(be(0)), before);
    let others = bench.driver.host.deficit(be(1));
    bench.hears(us(1_500));
    // The turn that the report brings adds a quantum of 300 us as often as the deficit is below zero.
    let quantum = 300_000;
    assert_eq!((before - 740_000 - bench.driver.host.deficit(be(0))).rem_euclid(quantum), 0);
    assert_eq!(bench.driver.host.deficit(be(1)), others);
}
