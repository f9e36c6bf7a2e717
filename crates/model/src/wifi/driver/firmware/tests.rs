use super::*;
use crate::types::{Fate, Packet, PeerId};
use crate::wifi::air::ppdu::Ppdu;
use crate::wifi::config::{AirtimeParams, AqlParams, HardwareDepth, Mac80211Rules};
use crate::wifi::testing::{Rig, peer};
use crate::wifi::tx::aggregate::AmsduLimits;
use alloc::format;
use alloc::string::String;
use proptest::prelude::*;

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(n)
}

/// A full packet at this rate counts as 84 us, and 42 of them make an aggregate of 65,535 bytes.
const RATE: &[&str] = &["ht40-mcs7-sgi"];
const UNIT_US: u64 = 84;

const PARAMS: FirmwareParams = FirmwareParams {
    frames: 4096,
    full: WhenFirmwareFull::Waits,
    report_frames: 1023,
    report_delay: Duration::from_micros(500),
    airtime: AirtimeReport::Counters,
    amsdu_frames: 1,
    host_joins: false,
    amsdu_bytes: None,
    shares_airtime: false,
    host_sessions: true,
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

    /// Pushes frames to a station and fills the hardware.
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

    /// Completes the first PPDU after `airtime`, with all frames acknowledged. Returns its station and number
    /// of frames.
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

    /// Processes due reports. Returns the number of sockets whose charges have ended.
    fn hears(&mut self, now: Instant) -> usize {
        let (tx, _, mut ctx) = self.rig.parts();
        self.driver.on_timer(now, tx, &mut ctx);
        self.fill(now);
        self.rig.uncharged().len()
    }

    /// Airtime of a station below the host's queues, in us.
    fn below(&self, station: u16) -> u64 {
        self.driver.below().of(be(station)).nanos() / 1_000
    }
}

#[test]
fn airtime_queue_limits_count_frame_by_frame() {
    // The limit is checked before each frame: 143 frames are the first to reach 12 ms. With two such stations
    // the total is 24 ms, and a third station stops at 5 ms.
    let mut bench = Bench::new(3, by_airtime(Mac80211Rules::Rounds), PARAMS);
    for (station, frames) in [(0, 143), (1, 143), (2, 60)] {
        bench.push(us(0), station, 400);
        assert_eq!(bench.below(station), frames * UNIT_US, "station {station}");
    }
    assert_eq!(bench.driver.host.queued(), 1200 - 143 - 143 - 60);
}

#[test]
fn categories_have_their_own_limit_since_6_0() {
    // Two listed stations: 12 ms plus half of 5. Alone, the first station stops at its own 12 ms; the second
    // gets less than its limit.
    let mut bench = Bench::new(2, by_airtime(Mac80211Rules::RoundsWithPending), PARAMS);
    bench.push(us(0), 0, 400);
    assert_eq!(bench.below(0), 143 * UNIT_US);
    // A pass that starts below the limit lets the station have its 12 ms.
    bench.push(us(0), 1, 400);
    assert_eq!(bench.below(1), 143 * UNIT_US);
    // Together they have 24 ms: 42 frames less are still above 14.5 ms, so neither gets any.
    bench.done(us(1_000), Duration::from_micros(5_000));
    assert_eq!(bench.hears(us(1_500)), 42);
    assert_eq!([bench.below(0), bench.below(1)], [(143 - 42) * UNIT_US, 143 * UNIT_US]);
}

/// Order of stations by PPDU while both have frames. `airtimes` are the durations of their PPDUs in us.
fn served(shares_airtime: bool, airtimes: [u64; 2], ppdus: usize) -> Vec<usize> {
    let params = FirmwareParams { shares_airtime, report_delay: Duration::ZERO, ..PARAMS };
    let mut bench = Bench::new(2, Scheduler::RoundRobin(WhenFull::KeepsTurn), params);
    bench.push(us(0), 0, 400);
    bench.push(us(0), 1, 400);
    let order = (0..ppdus as u64).map(|n| {
        let head = bench.rig.radio.first(Ac::Be.index()).expect("a PPDU").header.peer.index();
        let (of, frames) = bench.done(us(n), Duration::from_micros(airtimes[head]));
        bench.hears(us(n));
        bench.push(us(n), of, frames as u32);
        usize::from(of)
    });
    order.collect()
}

#[test]
fn stations_take_turns_by_aggregate() {
    let order = served(false, [4_000, 800], 40);
    assert!(order[4..].windows(2).all(|two| two[0] != two[1]), "{order:?}");
}

#[test]
fn firmware_that_schedules_by_airtime_is_fair() {
    for airtimes in [[4_000, 800], [5_000, 200], [300, 301], [900, 5_400]] {
        let mut sums = [0, 0];
        for of in served(true, airtimes, 600) {
            sums[of] += airtimes[of];
            // Bound: a quantum of each, and two PPDUs of each, as the radio has one ready while another is on
            // the air.
            let bound = 2 * 2_560 + 2 * (airtimes[0] + airtimes[1]);
            assert!(sums[0].abs_diff(sums[1]) <= bound, "{airtimes:?}: {sums:?}");
        }
        assert!(sums[0].min(sums[1]) > 50_000, "{airtimes:?}: {sums:?}");
    }
}

#[test]
fn frames_are_reported_together_and_later() {
    let mut bench = Bench::new(1, by_airtime(Mac80211Rules::Rounds), PARAMS);
    bench.push(us(0), 0, 400);
    assert_eq!(bench.done(us(1_000), Duration::from_micros(5_000)), (0, 42));
    assert_eq!((bench.driver.next_timer(), bench.hears(us(1_400))), (Some(us(1_500)), 0));
    // A second PPDU ends before the report, which covers both. The host hands over as many frames.
    assert_eq!(bench.done(us(1_450), Duration::from_micros(5_000)), (0, 42));
    assert_eq!((bench.below(0), bench.hears(us(1_500))), (143 * UNIT_US, 84));
    assert_eq!((bench.below(0), bench.driver.next_timer()), (143 * UNIT_US, None));
    // With enough frames the report is immediate.
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
fn ath11k_drops_frames_beyond_the_firmware_limit() {
    let params = FirmwareParams { frames: 100, full: WhenFirmwareFull::Drops, ..PARAMS };
    let mut bench = Bench::new(1, Scheduler::RoundRobin(WhenFull::KeepsTurn), params);
    bench.push(us(0), 0, 300);
    // One more frame did not fit into the aggregate.
    assert_eq!((bench.driver.queued(), bench.driver.host.queued()), (100 - 43, 0));
    assert_eq!(bench.rig.packets.account().dropped_total(), 200);
    // Other drivers leave the frames in their queues.
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
    // Not named in the report: stays in its counter.
    bench.driver.count(be(1), Duration::from_micros(900), AirtimeUse::Rx);
    assert_eq!(bench.driver.host.deficit(be(0)), before);
    let others = bench.driver.host.deficit(be(1));
    bench.hears(us(1_500));
    // The pass after the report adds quanta of 300 us until the deficit is positive.
    let quantum = 300_000;
    assert_eq!((before - 740_000 - bench.driver.host.deficit(be(0))).rem_euclid(quantum), 0);
    assert_eq!(bench.driver.host.deficit(be(1)), others);
}

/// Packets and bytes of each MPDU in the first PPDU, for forwarded packets of these lengths that arrive one
/// by one or at once.
fn joined(rate: &str, limits: AmsduLimits, lens: &[u32], at_once: bool) -> Vec<(u8, u16)> {
    let mut bench = Bench::new(0, by_airtime(Mac80211Rules::Rounds), PARAMS);
    let mut to = peer(&[rate], 64);
    to.amsdu = limits;
    to.most.1 = 1 << 20;
    to.choose(|_| Duration::ZERO);
    bench.rig.tx.add_peer(to);
    bench.rig.tx.tids.iter_mut().for_each(|t| {
        t.open(64);
        t.looks_before_it_takes();
    });
    let scheduler = by_airtime(Mac80211Rules::Rounds);
    bench.driver = FirmwareDriver::new(MacFqParams::default(), scheduler, PARAMS, 1, PlaceId(0), 1);
    for &len in lens {
        let p = bench.rig.packet(be(0), len);
        bench.rig.packets.orphan(p);
        bench.driver.push(us(0), p, be(0), &mut bench.rig.ctx());
        if !at_once {
            bench.fill(us(0));
        }
    }
    bench.fill(us(0));
    let ppdu = bench.rig.radio.first(Ac::Be.index()).expect("a PPDU");
    let held = |m: &Mpdu| bench.rig.packets.amsdu(m.pkt.expect("not sent")).map(|p| bench.rig.packets.get(p));
    for m in &ppdu.mpdus {
        let of = |sum: fn(&Packet) -> u32| held(m).map(sum).sum::<u32>();
        assert_eq!(of(|p| p.airtime.into()), m.airtime.into());
        assert_eq!((of(|_| 1), of(|p| p.truesize)), (m.msdus.into(), m.truesize));
    }
    let seqs: Vec<u32> = ppdu.mpdus.iter().flat_map(held).map(|p| p.seq).collect();
    assert!(seqs.iter().copied().eq(0..seqs.len() as u32), "in order: {seqs:?}");
    ppdu.mpdus.iter().map(|m| (m.msdus, m.len)).collect()
}

type Row<'a> = (&'a str, u8, u16, &'a [u32], &'a [(u8, u16)]);

#[test]
fn packets_join_until_a_limit_is_reached() {
    const VHT: &str = "vht80-mcs9-nss2-sgi";
    #[rustfmt::skip]
    let table: &[Row<'_>] = &[
        // rate              packets bytes   lengths       MPDUs
        (VHT,                   1,  11_454, &[1500; 2], &[(1, 1_538), (1, 1_538)]),
        // 26 + 1,524 + 1,524 + 1,522 + 4.
        (VHT,                   3,  11_454, &[1500; 7], &[(3, 4_600), (3, 4_600), (1, 1_538)]),
        (VHT,                   8,   3_895, &[1500; 4], &[(2, 3_076), (2, 3_076)]),
        (VHT,                   8,   7_991, &[1500; 7], &[(5, 7_648), (2, 3_076)]),
        (VHT,                   8,  11_454, &[1500; 8], &[(7, 10_696), (1, 1_538)]),
        (VHT,                   8,   7_991, &[52; 9],   &[(8, 636), (1, 90)]),
        (VHT,                   8,   7_991, &[52, 1500, 53], &[(3, 1_705)]),
        // At most 4,095 bytes in an HT A-MPDU.
        ("ht40-mcs7-sgi",       8,   7_991, &[1500; 3], &[(2, 3_076), (1, 1_538)]),
        // 4 ms at the slowest rate hold 3,293 bytes; the fourth packet would make 3,324.
        ("ht20-mcs0-lgi",       8,   7_991, &[1000, 1000, 1000, 200], &[(3, 3_100)]),
    ];
    for &(rate, packets, bytes, lens, want) in table {
        for at_once in [false, true] {
            let limits = AmsduLimits { packets, bytes, by_host: false };
            assert_eq!(joined(rate, limits, lens, at_once), want, "{rate} {packets} {bytes} {lens:?}");
        }
    }
}

#[test]
fn packets_of_two_sockets_do_not_join() {
    // The bench charges each packet to a socket of its own.
    let mut bench = Bench::new(1, by_airtime(Mac80211Rules::Rounds), PARAMS);
    bench.rig.tx.peers[0].amsdu = AmsduLimits { packets: 8, bytes: 4095, by_host: false };
    bench.rig.tx.peers[0].choose(|_| Duration::ZERO);
    bench.push(us(0), 0, 3);
    assert_eq!(bench.done(us(100), Duration::ZERO), (0, 3));
}

/// Complete state: deficits, limits, queues, and the frames of each PPDU.
fn state(bench: &Bench, stations: u16) -> String {
    let of = |tid: TidIndex| {
        let driver = &bench.driver;
        (driver.below().of(tid), driver.host.deficit(tid), driver.host.backlog(tid), driver.backlog(tid))
    };
    let tids = (0..stations).flat_map(|s| [0, 5, 6].map(|n| of(TidIndex::new(PeerId(s), n))));
    let seqs = |p: &Ppdu| -> Vec<u32> {
        let first = p.mpdus.iter().filter_map(|m| m.pkt);
        first.flat_map(|p| bench.rig.packets.amsdu(p)).map(|p| bench.rig.packets.get(p).seq).collect()
    };
    let ppdus: Vec<_> = bench.rig.radio.ppdus().map(|p| (p.header.peer, p.header.tid, seqs(p))).collect();
    let (dropped, new) = (bench.rig.packets.account().dropped_total(), bench.driver.host.new_flows());
    format!("{:?} {ppdus:?} {} {dropped} {new}", tids.collect::<Vec<_>>(), bench.driver.outstanding)
}

proptest! {
    /// A packet that bypasses the host's queues leaves the same state as one that passes them.
    #[test]
    fn bypassing_the_host_queues_changes_nothing(
        ops in prop::collection::vec((0u8..8, 0u16..3, 0usize..3, 0u32..4, 1u32..20, 0u64..4_000), 1..120),
        rules in prop::sample::select(vec![Mac80211Rules::Rounds, Mac80211Rules::RoundsWithPending]),
        frames in prop::sample::select(vec![3, 40, 4096]),
        drops in any::<bool>(),
        host_joins in any::<bool>(),
        shares_airtime in any::<bool>(),
        airtime in prop::sample::select(vec![AirtimeReport::Counters, AirtimeReport::Frames]),
        aql in prop::sample::select(vec![None, Some(500), Some(5_000)]),
        charges in any::<bool>(),
    ) {
        let full = if drops { WhenFirmwareFull::Drops } else { WhenFirmwareFull::Waits };
        let params = FirmwareParams { frames, full, shares_airtime, airtime, ..PARAMS };
        let aql = aql.map(|low| AqlParams { low: Duration::from_micros(low), ..AqlParams::default() });
        let turns = AirtimeParams { charge_tx: charges, charge_rx: charges, ..AirtimeParams::default() };
        let mut sides = [false, true].map(|passes| {
            let mut bench = Bench::new(3, Scheduler::Mac80211(turns, aql, rules), params);
            for peer in &mut bench.rig.tx.peers {
                peer.amsdu = AmsduLimits { packets: 3, bytes: 4095, by_host: host_joins };
                peer.choose(|_| Duration::ZERO);
            }
            (bench, passes)
        });
        let mut now = us(0);
        for (op, station, tid, flow, count, wait) in ops {
            now += Duration::from_micros(wait);
            let tid = TidIndex::new(PeerId(station), [0, 5, 6][tid]);
            let seen = sides.each_mut().map(|(bench, passes)| {
                match op {
                    0 if bench.rig.radio.first(Ac::Be.index()).is_some() => {
                        bench.done(now, Duration::from_micros(wait));
                    }
                    1 => {
                        bench.hears(now);
                    }
                    _ => {
                        for n in 0..count {
                            let p = bench.rig.packet(tid, 60 + 480 * (n % 4));
                            bench.rig.packets.get_mut(p).flow_hash = flow.wrapping_mul(0x9e37_79b9);
                            let (tx, mut hw, mut ctx) = bench.rig.parts();
                            if *passes {
                                bench.driver.take(now, p, tid, tx, &mut hw, &mut ctx);
                            } else {
                                bench.driver.push(now, p, tid, &mut ctx);
                                bench.driver.fill(now, tx, &mut hw, &mut ctx);
                            }
                        }
                    }
                }
                state(bench, 3)
            });
            prop_assert_eq!(&seen[0], &seen[1]);
        }
    }
}
