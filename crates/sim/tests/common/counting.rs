//! Allocator that counts allocations and records where they come from.

#![allow(dead_code, reason = "each test that includes this file uses a part of it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// System allocator with per-thread counters, which exclude the allocations of the test harness.
pub struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// True while call sites are recorded.
    static LOOKS: Cell<bool> = const { Cell::new(false) };
    /// True while a call site is being recorded, which allocates as well.
    static NOTES: Cell<bool> = const { Cell::new(false) };
}
static LIVE: AtomicU64 = AtomicU64::new(0);
/// Call sites of the first recorded allocations.
static PLACES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Maximum number of call sites in a message.
const SHOWN: usize = 3;

/// Counts an allocation and records its call site. A thread that is ending has no counters.
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

/// Records the call site of an allocation, unless enough are known.
fn note() {
    let mut places = PLACES.lock().expect("nobody panics with it");
    let trace = Backtrace::force_capture().to_string();
    let ours = trace.lines().filter(|line| line.contains("crates/") && !line.contains("counting.rs"));
    places.push(ours.take(6).map(str::trim).collect::<Vec<_>>().join("\n    "));
    LOOKS.set(places.len() < SHOWN);
}

// SAFETY: forwards to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        LIVE.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(ptr, layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new: usize) -> *mut u8 {
        count();
        LIVE.fetch_add((new as u64).wrapping_sub(layout.size() as u64), Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.realloc(ptr, layout, new) }
    }
}

/// Returns the bytes currently allocated by all threads.
pub fn live() -> u64 {
    LIVE.load(Ordering::Relaxed)
}

/// Returns the result of `act`, the number of allocations of this thread in it, and the call sites of the
/// first ones.
pub fn counted<T>(act: impl FnOnce() -> T) -> (T, u64, String) {
    PLACES.lock().expect("nobody panics with it").clear();
    let before = ALLOCATIONS.get();
    LOOKS.set(true);
    let result = act();
    LOOKS.set(false);
    let took = ALLOCATIONS.get() - before;
    (result, took, PLACES.lock().expect("nobody panics with it").join("\n\n    "))
}
