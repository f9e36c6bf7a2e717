//! Waiting for files and times.

use std::os::fd::{AsFd, AsRawFd};

/// The files to wait for. A file that is closed counts as ready.
#[derive(Debug, Default)]
pub struct Watched {
    all: Vec<libc::pollfd>,
}

impl Watched {
    /// Adds a file to wait for. Returns its index.
    pub fn add(&mut self, file: impl AsFd) -> usize {
        let fd = file.as_fd().as_raw_fd();
        self.all.push(libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        self.all.len() - 1
    }

    /// Stops waiting for the file at this index.
    pub fn ignore(&mut self, at: usize) {
        self.all[at] = libc::pollfd { fd: -1, events: 0, revents: 0 };
    }

    /// Waits until a file can be read, a signal arrives, or `nanos` ns have passed. Returns false if no
    /// file can be read.
    pub fn wait(&mut self, nanos: u64) -> bool {
        let wait = libc::timespec {
            tv_sec: (nanos / 1_000_000_000) as libc::time_t,
            tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
        };
        let n = self.all.len() as libc::nfds_t;
        // SAFETY: `all` has `n` initialised elements that nothing else borrows, `wait` outlives the call, and
        // a null mask leaves the signal mask as it is. The kernel checks the file descriptors itself.
        let ready = unsafe { libc::ppoll(self.all.as_mut_ptr(), n, &raw const wait, core::ptr::null()) };
        if ready < 0 {
            self.all.iter_mut().for_each(|one| one.revents = 0);
        }
        ready > 0
    }

    /// Returns true if the file at this index can be read, or the other end has closed it.
    pub fn is_ready(&self, at: usize) -> bool {
        self.all[at].revents != 0
    }
}
