//! Files, pipes, and signals read from files.

use std::fs::File;
use std::io::{IoSlice, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::fcntl::{self, FcntlArg, FdFlag, OFlag, fcntl};
use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::sys::stat::{FileStat, Mode, fstat};
use nix::sys::uio::writev;
use nix::unistd;

use super::SysError;

/// Creates a pipe: the read end and the write end. Both have `O_CLOEXEC`.
pub fn pipe() -> Result<(File, File), SysError> {
    let (read, write) = unistd::pipe2(OFlag::O_CLOEXEC).map_err(SysError::call("pipe"))?;
    Ok((read.into(), write.into()))
}

/// Creates a pair of connected sockets that keep message boundaries.
pub fn pair() -> Result<(OwnedFd, OwnedFd), SysError> {
    socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
        .map_err(SysError::call("socketpair"))
}

/// Opens a file with flags of `open(2)`.
pub fn open(path: &str, flags: OFlag) -> Result<OwnedFd, SysError> {
    let mode = Mode::S_IRUSR | Mode::S_IWUSR;
    fcntl::open(path, flags | OFlag::O_CLOEXEC, mode).map_err(SysError::call(path))
}

/// Reads the available bytes into the buffer. Returns `None` if nothing is available, or on an error.
pub fn read(fd: impl AsFd, into: &mut [u8]) -> Option<usize> {
    unistd::read(fd, into).ok()
}

/// Writes a packet. Returns false if the packet is not accepted.
pub fn write(fd: impl AsFd, bytes: &[u8]) -> bool {
    unistd::write(fd, bytes).is_ok()
}

/// Writes a packet preceded by a separate header.
pub fn write_two(fd: impl AsFd, header: &[u8], bytes: &[u8]) -> bool {
    writev(fd, &[IoSlice::new(header), IoSlice::new(bytes)]).is_ok()
}

/// Keeps a file open across `exec`.
pub fn keep(fd: impl AsFd) {
    let _ = fcntl(fd, FcntlArg::F_SETFD(FdFlag::empty()));
}

/// Identity of an open file: device and inode number.
pub fn identity(fd: impl AsFd) -> Result<(u64, u64), SysError> {
    stat(fd).map(|of| (of.st_dev, of.st_ino))
}

/// User ID of the owner of an open file.
pub fn owner(fd: impl AsFd) -> Result<u32, SysError> {
    stat(fd).map(|of| of.st_uid)
}

fn stat(fd: impl AsFd) -> Result<FileStat, SysError> {
    fstat(fd).map_err(SysError::call("fstat"))
}

/// Signals that are read from a file descriptor, until this value is dropped.
#[derive(Debug)]
pub struct Signals {
    file: SignalFd,
    _blocked: Blocked,
}

/// Restores the earlier signal mask when dropped.
#[derive(Debug)]
struct Blocked(SigSet);

impl Drop for Blocked {
    fn drop(&mut self) {
        let _ = self.0.thread_set_mask();
    }
}

impl Signals {
    /// Blocks these signals and reads them here. The process must have one thread.
    pub fn take(signals: &[Signal]) -> Result<Self, SysError> {
        let set: SigSet = signals.iter().copied().collect();
        let before = set.thread_swap_mask(SigmaskHow::SIG_BLOCK).map_err(SysError::call("sigprocmask"))?;
        let blocked = Blocked(before);
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let file = SignalFd::with_flags(&set, flags).map_err(SysError::call("signalfd"))?;
        Ok(Self { file, _blocked: blocked })
    }

    /// The file descriptor to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The next signal received.
    pub fn take_one(&mut self) -> Option<Signal> {
        let info = self.file.read_signal().ok()??;
        Signal::try_from(info.ssi_signo as i32).ok()
    }
}

/// Unblocks all signals, and restores the default handlers of those used here.
pub fn signals_as_at_first() {
    let _ = SigSet::empty().thread_set_mask();
    for one in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGPIPE, Signal::SIGCHLD] {
        // SAFETY: no handler is installed that other code could rely on, and the default runs no code of
        // this process.
        let _ = unsafe { signal(one, SigHandler::SigDfl) };
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

    fn waits(signal: Signal) -> bool {
        SigSet::thread_get_mask().expect("a mask").contains(signal)
    }

    #[test]
    fn dropping_signals_restores_the_mask() {
        let all = [Signal::SIGUSR1, Signal::SIGUSR2, Signal::SIGWINCH];
        let outer = Signals::take(&[Signal::SIGUSR1]).expect("signals");
        let inner = Signals::take(&[Signal::SIGUSR1, Signal::SIGUSR2]).expect("signals");
        assert_eq!(all.map(waits), [true, true, false]);
        drop(inner);
        assert_eq!(all.map(waits), [true, false, false]);
        drop(outer);
        assert_eq!(all.map(waits), [false, false, false]);
    }
}
