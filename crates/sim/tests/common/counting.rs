//! An allocator that counts, and that knows where what it counted came from.

#![allow(dead_code, reason = "each test that includes this file uses a part of it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, counted by thread: what the harness of the tests takes meanwhile is not in it.
pub struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Whether places are noted.
    static LOOKS: Cell<bool> = const { Cell::new(false) };
    /// Whether one is being noted, which takes memory too.
    static NOTES: Cell<bool> = const { Cell::new(false) };
}
static LIVE: AtomicU64 = AtomicU64::new(0);
/// Places of the first allocations that were noted.
static PLACES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Places that a message shows.
const SHOWN: usize = 3;

/// Counts one, and notes where it came from. A thread that ends has no counters any more.
fn count() {
    if NOTES.try_with(Cell::get) != Ok(false) {
        return;
    }
    let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
    if LOOKS.try_with(Cell::get) == Ok(true) {
        NOTES.set(true);
        note();
        NOTES.set(false);
    }
}

/// Notes where an allocation comes from, unless enough are known.
fn note() {
    let mut places = PLACES.lock().expect("nobody panics with it");
    let trace = Backtrace::force_capture().to_string();
    let ours = trace.lines().filter(|line| line.contains("crates/") && !line.contains("counting.rs"));
    places.push(ours.take(6).map(str::trim).collect::<Vec<_>>().join("\n    "));
    LOOKS.set(places.len() < SHOWN);
}

// SAFETY: all is done by the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        LIVE.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as of the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as of the caller.
        unsafe { System.dealloc(ptr, layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new: usize) -> *mut u8 {
        count();
        LIVE.fetch_add((new as u64).wrapping_sub(layout.size() as u64), Ordering::Relaxed);
        // SAFETY: as of the caller.
        unsafe { System.realloc(ptr, layout, new) }
    }
}

/// Bytes that are allocated now, by all threads.
pub fn live() -> u64 {
    LIVE.load(Ordering::Relaxed)
}

/// What `act` gives, the allocations of this thread meanwhile, and where the first of them came from.
pub fn counted<T>(act: impl FnOnce() -> T) -> (T, u64, String) {
    PLACES.lock().expect("nobody panics with it").clear();
    let before = ALLOCATIONS.get();
    LOOKS.set(true);
    let result = act();
    LOOKS.set(false);
    let took = ALLOCATIONS.get() - before;
    (result, took, PLACES.lock().expect("nobody panics with it").join("\n\n    "))
}
