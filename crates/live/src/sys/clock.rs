//! The clock: the one place of the workspace that reads it.

/// Nanoseconds of `CLOCK_MONOTONIC`.
#[expect(clippy::disallowed_methods, reason = "whoever drives a world owns time, and this is who does")]
pub fn now() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the address is that of a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// CPU time of this thread in nanoseconds: in user space, and in the kernel. What the kernel does for others while it is in a call of this
/// thread is in it, as a packet that is written to TUN and received by its host.
pub fn cpu() -> [u64; 2] {
    // SAFETY: all zeros are a rusage, and the address is that of one.
    let usage = unsafe {
        let mut usage: libc::rusage = core::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    [usage.ru_utime, usage.ru_stime].map(|t| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1_000)
}
