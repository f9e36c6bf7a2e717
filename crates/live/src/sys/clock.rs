//! The clock: the only place in this crate that reads it.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};

/// Time of `CLOCK_MONOTONIC` in ns.
#[expect(clippy::disallowed_methods, reason = "whoever drives a world owns time, and this is who does")]
pub fn now() -> u64 {
    let t = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has this clock");
    t.num_nanoseconds() as u64
}

/// CPU time of this thread in ns, in user space and in the kernel. It includes work that the kernel does
/// for others during this thread's system calls, such as a host's receive processing of a packet written to
/// TUN.
pub fn cpu() -> [u64; 2] {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("Linux counts it");
    [usage.user_time(), usage.system_time()].map(|t| t.num_nanoseconds() as u64)
}
