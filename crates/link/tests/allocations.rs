//! Memory use of a link: none per packet once it is warm, and none left after drop.

#![expect(unsafe_code, reason = "an allocator that counts")]

#[path = "../../sim/tests/common/counting.rs"]
mod counting;

use std::sync::Mutex;
use std::time::Duration;

use counting::{Counting, counted, live};
use stillair_link::{Link, Mark, Path, Poll, presets};

/// Serialises the tests of this file, which share a counter.
static TURN: Mutex<()> = Mutex::new(());

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Interval between datagrams of 1,250 bytes, in us: 20 Mbit/s. The flood's 500 Mbit/s exceeds any queue's
/// rate.
const STEADY: usize = 500;
const FLOOD: usize = 20;

/// Sends datagrams down and an answer to every second one, between two times.
fn traffic(link: &mut Link, apart: usize, from: u64, to: u64) -> u64 {
    let (client, server) = (link.endpoint("client").expect("one"), link.endpoint("server").expect("one"));
    let mut came = 0;
    for now in (from..to).step_by(apart).map(Duration::from_micros) {
        loop {
            match link.poll(now).expect("time goes on") {
                Poll::Packet(packet) if packet.to == client => {
                    came += 1;
                    if came % 2 == 0 {
                        link.send(packet.at.max(link.now()), packet.way().back(), 40_usize, Mark::NONE)
                            .expect("an answer");
                    }
                }
                Poll::Packet(_) | Poll::Writable(_) => {}
                Poll::Wait(_) => break,
            }
        }
        link.send(now, server.to(client), 1_250_usize, Mark::ECT_0).expect("a datagram");
    }
    came
}

/// End of the warm-up in us. Queues have then been full once, and normal traffic has followed, so that
/// neither queue lengths nor delays reach new maxima. Allocations of the next five seconds are counted.
fn warm(path: &str) -> u64 {
    match path {
        // The client is far away from 10 s to 20 s.
        "home-walk-away" => 25_000_000,
        // Frames wait at two hops while Block Ack sessions are negotiated.
        "mesh-two-hops" => 40_000_000,
        _ => 10_000_000,
    }
}

#[test]
fn a_packet_takes_no_memory_once_the_link_is_warm() {
    let _turn = TURN.lock();
    let mut wrong = Vec::new();
    for preset in presets() {
        let mut link = Link::preset(preset.name, 1).expect("a link");
        let warm = warm(preset.name);
        traffic(&mut link, FLOOD, 0, 1_000_000);
        traffic(&mut link, STEADY, 1_000_000, warm);
        let (came, took, places) = counted(|| traffic(&mut link, STEADY, warm, warm + 5_000_000));
        // A pool, heap or histogram that grows once more allocates a few times, independent of the number
        // of packets.
        if came < 1_000 || took * 1_000 > came {
            wrong.push(format!("{}: {took} allocations for {came} packets\n    {places}", preset.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn dropped_links_free_their_memory() {
    let _turn = TURN.lock();
    let path = Path::preset("home-80211ac-far").expect("a path");
    let once = |seed| {
        let mut link = path.link(seed).expect("a link");
        traffic(&mut link, STEADY, 0, 2_000);
    };
    (0..10).for_each(once);
    let before = live();
    (0..10_000).for_each(once);
    // Less than a byte per link; the test harness allocates memory meanwhile.
    let grown = live().saturating_sub(before);
    assert!(grown < 10_000, "{grown} bytes after 10,000 links");
}
