//! Traffic that shares the air with data: other categories, beacons, acknowledgements.

mod common;

use common::{air_permille, cell, flow, of, parse, run, run_to, station, watched};
use stillair_model::types::Duration;
use stillair_model::wifi::air::account::AirUse;

const CHANNEL: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"";
const QUIET: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";

/// Median round-trip times in ms of pings in each category to separate stations, while background traffic to
/// a slow station fills its queue.
fn pings_beside_background(kind: &str, qdisc: &str) -> [f64; 4] {
    let marks = [("vo", "CS6"), ("vi", "CS5"), ("be", "CS0"), ("bk", "CS1")];
    let ap = format!("scheme = \"fifo\", qdisc = {{ kind = \"{kind}\", {qdisc} }}");
    // Over a wire, because no send buffer holds enough packets to stop the driver's queue.
    let mut text = cell("4 s", CHANNEL, &ap)
        + "interface.eth0 = { link = \"lan\", address = \"10.0.0.1\" }\n"
        + "[node.server]\nprofile = \"linux-4.4\"\n"
        + "interface.eth0 = { link = \"lan\", address = \"10.0.0.2\" }\n"
        + "[link.lan]\nrate = \"1 Gbit/s\"\ndelay = \"0.25 ms\"\n";
    text += &station("slow", 9, "rate = \"ht20-mcs0-lgi\"");
    text += &flow("udp", "server", "slow", "rate = \"40 Mbit/s\"\nburst = 8\ndscp = \"CS1\"");
    for (n, (name, mark)) in marks.iter().enumerate() {
        text += &station(name, n, "rate = \"ht20-mcs15-sgi\"");
        text += &flow(
            "ping",
            "server",
            name,
            &format!("interval = \"20 ms\"\ndscp = \"{mark}\"\nstart = \"1 s\""),
        );
    }
    let summary = run(&parse(&text, &[]), 0);
    marks.map(|(name, _)| of(&summary, name).ping_median_ms.expect("some pings came back"))
}

#[test]
fn a_root_qdisc_lets_background_block_voice() {
    // linux: net/sched/sch_generic.c dequeue_skb (4.4) - a packet whose queue is stopped waits in front of
    // all others.
    for kind in ["pfifo_fast", "pfifo", "bfifo", "fq_codel"] {
        let mq = pings_beside_background(kind, "mq = true");
        let root = pings_beside_background(kind, "mq = false");
        // With one qdisc per category, only background waits behind background.
        assert!(mq[..3].iter().all(|&ms| ms < 15.0) && mq[3] > 500.0, "{kind} mq {mq:?}");
        if kind == "fq_codel" {
            // With one qdisc for all categories that serves sparse flows first, pings only wait for the one
            // requeued packet, about as long as its category's frame occupies the air anyway.
            assert!(root[..3].iter().all(|&ms| ms < 15.0) && root[3] > 500.0, "{kind} root {root:?}");
        } else {
            // With one qdisc for all categories, all packets wait in the same queue.
            assert!(root.iter().all(|&ms| ms > 500.0), "{kind} root {root:?}");
        }
    }
}

#[test]
fn beacons_are_sent_and_accounted() {
    let text = cell("10 s", CHANNEL, "scheme = \"fifo\"") + &station("s", 0, "rate = \"ofdm-54\"");
    let mut world = watched(&parse(&text, &[]), 0).world;
    run_to(&mut world, Duration::from_secs(10)).expect("accounts close");
    // The first after 102.4 ms, the 97th after 9932.8 ms.
    assert_eq!(world.trace().beacons, 97);
    let accounts = world.books().air_accounts();
    let air = accounts[0].1;
    // 157 bytes at 6 Mbit/s: 20 us and 54 symbols of 4 us.
    assert_eq!(air.used(AirUse::Beacon), Duration::from_micros(236) * 97);
    // Each waits SIFS and a slot, or slightly longer to align with the slot grid.
    let waited = air.used(AirUse::Contention);
    assert!(waited <= Duration::from_micros(34) * 97 && waited > Duration::ZERO, "{waited:?}");
    assert_eq!(air.used(AirUse::Idle) + air.used(AirUse::Beacon) + waited, Duration::from_secs(10));
}

#[test]
fn beacons_of_two_access_points_do_not_collide() {
    let second = "[node.other]\nprofile = \"linux-4.6\"\nforward = true\n".to_owned()
        + "interface.wlan0 = { channel = \"wifi\", role = \"ap\", scheme = \"fifo\", address = \"10.0.9.1\" }\n";
    let text = cell("10 s", CHANNEL, "scheme = \"fifo\"") + &second;
    let mut world = watched(&parse(&text, &[]), 0).world;
    run_to(&mut world, Duration::from_secs(10)).expect("accounts close");
    // The clocks are not synchronised: 97 or 98 beacons each, depending on their start.
    assert!((194..=196).contains(&world.trace().beacons), "{}", world.trace().beacons);
    assert_eq!(world.books().air_accounts()[0].1.used(AirUse::Collision), Duration::ZERO);
}

#[test]
fn beacons_continue_under_load() {
    let text = cell("10 s", CHANNEL, "scheme = \"fq_mac\"")
        + &station("s", 0, "rate = \"ht20-mcs3-lgi\"")
        + &flow("udp", "ap", "s", "rate = \"60 Mbit/s\"")
        + &flow("udp", "s", "ap", "rate = \"60 Mbit/s\"");
    let mut world = watched(&parse(&text, &[]), 0).world;
    run_to(&mut world, Duration::from_secs(10)).expect("accounts close");
    // Few collide: a beacon starts a slot after SIFS, before any data.
    assert!((90..=97).contains(&world.trace().beacons), "{}", world.trace().beacons);
}

#[test]
fn airtime_account_of_aggregates() {
    let text = cell("4 s", QUIET, "scheme = \"fifo\"")
        + &station("s", 0, "rate = \"ht20-mcs15-sgi\"")
        // Four sockets, because one send buffer holds fewer datagrams than three aggregates.
        + &flow("udp", "ap", "s", "rate = \"50 Mbit/s\"\npayload = 1472\nburst = 32").repeat(4);
    let mut world = watched(&parse(&text, &[]), 0).world;
    run_to(&mut world, Duration::from_secs(4)).expect("accounts close");
    let accounts = world.books().air_accounts();
    let [idle, contention, data, ack, collision, beacon, management, ..] = air_permille(accounts[0].1);
    // 32 frames: 31 * 1544 + 1542 = 49,406 bytes, or 395,270 bits with SERVICE, tail and padding; at 520 bits
    // per symbol 761 symbols of 3.6 us, 2740 us on the legacy grid; 2780 us with a preamble of 40 us. Plus
    // SIFS and Block Ack 48 us, AIFS and 7.5 slots 110.5 us: 2938.5 us in total.
    let parts = [contention, data, ack];
    let expected = [110.5, 2780.0, 48.0].map(|part| part * 1000.0 / 2938.5);
    for (got, want) in parts.into_iter().zip(expected) {
        assert!((got as f64 - want).abs() < 5.0, "{parts:?} {expected:?}");
    }
    // The source's first gap, and one exchange for the session setup.
    assert!(idle <= 2 && management <= 1, "{idle} {management}");
    assert_eq!([collision, beacon], [0; 2]);
}
