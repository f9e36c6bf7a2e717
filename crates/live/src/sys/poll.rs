//! Waiting for packets and instants.

use std::os::fd::RawFd;

/// What is waited for.
#[derive(Debug, Default)]
pub struct Watched {
    all: Vec<libc::pollfd>,
}

impl Watched {
    /// Waits for something to read at one more; gives its position.
    pub fn add(&mut self, fd: RawFd) -> usize {
        self.all.push(libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        self.all.len() - 1
    }

    /// Another file at a position; -1 for none.
    pub fn replace(&mut self, at: usize, fd: RawFd) {
        self.all[at] = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    }

    /// Waits until something can be read, a signal comes, or so many nanoseconds have passed. False if nothing can be read.
    pub fn wait(&mut self, nanos: u64) -> bool {
        let wait = libc::timespec {
            tv_sec: (nanos / 1_000_000_000) as libc::time_t,
            tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
        };
        let n = self.all.len() as libc::nfds_t;
        // SAFETY: the list is of that length, and the time outlives the call.
        let ready = unsafe { libc::ppoll(self.all.as_mut_ptr(), n, &raw const wait, core::ptr::null()) };
        if ready < 0 {
            self.all.iter_mut().for_each(|one| one.revents = 0);
        }
        ready > 0
    }

    /// Whether something can be read there, or nothing will ever come any more.
    pub fn is_ready(&self, at: usize) -> bool {
        self.all[at].revents != 0
    }
}
