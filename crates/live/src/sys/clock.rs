//! The clock: the only place in this crate that reads it.

/// Time of `CLOCK_MONOTONIC` in ns.
#[expect(clippy::disallowed_methods, reason = "whoever drives a world owns time, and this is who does")]
pub fn now() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the address is that of a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// CPU time of this thread in ns, in user space and in the kernel. It includes the kernel's work for others
/// during this thread's system calls, such as the reception by a host of a packet that is written to TUN.
pub fn cpu() -> [u64; 2] {
    // SAFETY: all zeros are a rusage, and the address is that of one.
    let usage = unsafe {
        let mut usage: libc::rusage = core::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    [usage.ru_utime, usage.ru_stime].map(|t| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1_000)
}
