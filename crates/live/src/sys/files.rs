//! Files, pipes, and signals read from files.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::{SysError, c, check};

/// Creates a pipe: the read end and the write end. Both have `O_CLOEXEC`.
pub fn pipe() -> Result<(File, File), SysError> {
    let mut ends = [0; 2];
    // SAFETY: there is room for two files, which are owned from here on.
    unsafe {
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), "pipe")?;
        Ok((File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])))
    }
}

/// Creates a pair of connected sockets that keep message boundaries.
pub fn pair() -> Result<(OwnedFd, OwnedFd), SysError> {
    let mut ends = [0; 2];
    // SAFETY: there is room for two files, which are owned from here on.
    unsafe {
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        check(libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()), "socketpair")?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Opens a file with flags of `open(2)`.
pub fn open(path: &str, flags: i32) -> Result<OwnedFd, SysError> {
    // SAFETY: the path ends with a zero, and the file is owned from here on.
    unsafe {
        let fd = libc::open(c(path).as_ptr(), flags | libc::O_CLOEXEC, 0o600);
        Ok(OwnedFd::from_raw_fd(check(fd, path)?))
    }
}

/// Reads the available bytes into the buffer; `None` if there are none, or on an error.
pub fn read(fd: RawFd, into: &mut [u8]) -> Option<usize> {
    // SAFETY: the buffer is of that length.
    let n = unsafe { libc::read(fd, into.as_mut_ptr().cast(), into.len()) };
    usize::try_from(n).ok()
}

/// Writes a packet; false if the packet was not accepted.
pub fn write(fd: RawFd, bytes: &[u8]) -> bool {
    // SAFETY: the bytes are of that length.
    unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) >= 0 }
}

/// Writes a packet with a separate header before it.
pub fn write_two(fd: RawFd, header: &[u8], bytes: &[u8]) -> bool {
    let part = |of: &[u8]| libc::iovec { iov_base: of.as_ptr().cast_mut().cast(), iov_len: of.len() };
    let parts = [part(header), part(bytes)];
    // SAFETY: writing does not change what the parts point to, and they outlive the call.
    unsafe { libc::writev(fd, parts.as_ptr(), 2) >= 0 }
}

/// Sets whether a file stays open when its process executes another program.
pub fn keep(fd: RawFd, open: bool) {
    // SAFETY: flags of a file.
    unsafe { libc::fcntl(fd, libc::F_SETFD, if open { 0 } else { libc::FD_CLOEXEC }) };
}

/// Identity of an open file: device and inode number.
pub fn identity(fd: RawFd) -> Result<(u64, u64), SysError> {
    stat(fd).map(|of| (of.st_dev, of.st_ino))
}

/// User ID of the owner of an open file.
pub fn owner(fd: RawFd) -> Result<u32, SysError> {
    stat(fd).map(|of| of.st_uid)
}

fn stat(fd: RawFd) -> Result<libc::stat, SysError> {
    // SAFETY: all zeros are a stat, and the address is that of one.
    unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        check(libc::fstat(fd, &raw mut stat), "fstat")?;
        Ok(stat)
    }
}

/// Makes a file non-blocking.
pub fn nonblocking(fd: RawFd) {
    // SAFETY: flags of a file.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK);
    }
}

/// Signals that are read from a file descriptor instead of being handled, until this value is dropped.
#[derive(Debug)]
pub struct Signals {
    file: File,
    _blocked: Blocked,
}

/// Signals that wait; when it is dropped those wait that did before.
struct Blocked(libc::sigset_t);

impl core::fmt::Debug for Blocked {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Blocked").finish_non_exhaustive()
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the set is what this thread had.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const self.0, core::ptr::null_mut()) };
    }
}

impl Signals {
    /// Blocks these signals and reads them here. The process must have one thread.
    pub fn take(signals: &[i32]) -> Result<Self, SysError> {
        // SAFETY: the set is initialised before use, and the file is owned from here on.
        unsafe {
            let mut set: libc::sigset_t = core::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            signals.iter().for_each(|&s| {
                libc::sigaddset(&raw mut set, s);
            });
            let mut before: libc::sigset_t = core::mem::zeroed();
            check(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, &raw mut before), "sigprocmask")?;
            let blocked = Blocked(before);
            let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            Ok(Self { file: File::from_raw_fd(check(fd, "signalfd")?), _blocked: blocked })
        }
    }

    /// The file descriptor to poll.
    pub fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// The next signal received.
    pub fn take_one(&mut self) -> Option<i32> {
        let mut one = [0; size_of::<libc::signalfd_siginfo>()];
        self.file.read_exact(&mut one).ok()?;
        Some(i32::from_ne_bytes([one[0], one[1], one[2], one[3]]))
    }
}

/// Unblocks all signals, and restores the default handling of those used here.
pub fn signals_as_at_first() {
    // SAFETY: the set is initialised before use; no handler is installed.
    unsafe {
        let mut set: libc::sigset_t = core::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, core::ptr::null_mut());
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE, libc::SIGCHLD] {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

/// Writes to a small file of the kernel, such as a sysctl.
pub fn set(path: &str, value: &str) -> Result<(), SysError> {
    let mut file = File::options().write(true).open(path).map_err(|e| SysError::io(path, &e))?;
    file.write_all(value.as_bytes()).map_err(|e| SysError::io(format!("{path}: {value}"), &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(signal: i32) -> bool {
        // SAFETY: a set of this thread's is read into one that is initialised.
        unsafe {
            let mut set: libc::sigset_t = core::mem::zeroed();
            libc::sigprocmask(libc::SIG_BLOCK, core::ptr::null(), &raw mut set);
            libc::sigismember(&raw const set, signal) == 1
        }
    }

    #[test]
    fn signals_wait_as_they_did_before_when_they_are_no_longer_taken() {
        let all = [libc::SIGUSR1, libc::SIGUSR2, libc::SIGWINCH];
        let outer = Signals::take(&[libc::SIGUSR1]).expect("signals");
        let inner = Signals::take(&[libc::SIGUSR1, libc::SIGUSR2]).expect("signals");
        assert_eq!(all.map(waits), [true, true, false]);
        drop(inner);
        assert_eq!(all.map(waits), [true, false, false]);
        drop(outer);
        assert_eq!(all.map(waits), [false, false, false]);
    }
}
