//! What a link takes of memory: nothing per packet once it is warm, and nothing that stays when it is dropped.

#![expect(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use stillair_link::{Link, Mark, Path, Poll};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicU64 = AtomicU64::new(0);
/// Tests of this file one after the other: they share the counters.
static TURN: Mutex<()> = Mutex::new(());

// SAFETY: all is done by the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        LIVE.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as of the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as of the caller.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Paths that carry 20 Mbit/s beside what others send. On the rest queues go on growing, and what is longer than ever before takes memory.
const STEADY: [&str; 10] = [
    "cable-500-50",
    "fibre-1000-220",
    "home-80211ac-far",
    "home-80211ac-near",
    "home-ax-6ghz",
    "home-cable-bloat",
    "home-cable-cake",
    "microwave-oven",
    "office-calls",
    "vdsl-40-10",
];

/// 20 Mbit/s down and an answer to every second packet, from one time to another.
fn traffic(link: &mut Link, from: u64, to: u64) -> u64 {
    let (client, server) = (link.endpoint("client").expect("one"), link.endpoint("server").expect("one"));
    let mut came = 0;
    for now in (from..to).step_by(500).map(Duration::from_micros) {
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

#[test]
fn a_packet_takes_no_memory_once_the_link_is_warm() {
    let _turn = TURN.lock();
    for name in STEADY {
        let mut link = Link::preset(name, 1).expect("a link");
        traffic(&mut link, 0, 10_000_000);
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let came = traffic(&mut link, 10_000_000, 15_000_000);
        let took = ALLOCATIONS.load(Ordering::Relaxed) - before;
        assert!(came > 9_000 && took == 0, "{name}: {took} allocations for {came} packets");
    }
}

#[test]
fn links_that_are_dropped_leave_nothing() {
    let _turn = TURN.lock();
    let path = Path::preset("home-80211ac-far").expect("a path");
    let once = |seed| {
        let mut link = path.link(seed).expect("a link");
        traffic(&mut link, 0, 2_000);
    };
    (0..10).for_each(once);
    let before = LIVE.load(Ordering::Relaxed);
    (0..10_000).for_each(once);
    // Less than a byte a link: the harness of the tests takes memory of its own meanwhile.
    let grown = LIVE.load(Ordering::Relaxed).saturating_sub(before);
    assert!(grown < 10_000, "{grown} bytes after 10,000 links");
}
