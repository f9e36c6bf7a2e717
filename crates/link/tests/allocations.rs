//! What a link takes of memory: nothing per packet once it is warm, and nothing that stays when it is
//! dropped.

#![expect(unsafe_code, reason = "an allocator that counts")]

#[path = "../../sim/tests/common/counting.rs"]
mod counting;

use std::sync::Mutex;
use std::time::Duration;

use counting::{Counting, counted, live};
use stillair_link::{Link, Mark, Path, Poll, presets};

/// Tests of this file one after the other: they share a counter.
static TURN: Mutex<()> = Mutex::new(());

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Between two datagrams of 1,250 bytes, in us: 20 Mbit/s, and 500, which is more than any queue lets
/// through.
const STEADY: usize = 500;
const FLOOD: usize = 20;

/// Datagrams down and an answer to every second one, from one time to another.
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

/// A link is warm when its queues have been full once and traffic has then gone over it up to this time, in
/// us: they were never longer, and what has waited in them has been seen. What five more seconds take is
/// counted.
fn warm(path: &str) -> u64 {
    match path {
        // Whose client is far away from the tenth second to the twentieth.
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
        // A pool, a heap or a histogram that grows once more takes a few, whatever the number of packets.
        if came < 1_000 || took * 1_000 > came {
            wrong.push(format!("{}: {took} allocations for {came} packets\n    {places}", preset.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn links_that_are_dropped_leave_nothing() {
    let _turn = TURN.lock();
    let path = Path::preset("home-80211ac-far").expect("a path");
    let once = |seed| {
        let mut link = path.link(seed).expect("a link");
        traffic(&mut link, STEADY, 0, 2_000);
    };
    (0..10).for_each(once);
    let before = live();
    (0..10_000).for_each(once);
    // Less than a byte a link: the harness of the tests takes memory of its own meanwhile.
    let grown = live().saturating_sub(before);
    assert!(grown < 10_000, "{grown} bytes after 10,000 links");
}
