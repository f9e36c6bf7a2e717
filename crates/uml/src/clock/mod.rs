//! A guest's clock. The guest requests turns and is granted them. A turn starts at a given time, and the
//! guest runs until its next request.
//!
//! Since 6.12, times are in a shared page ([`page`]), and only turns need messages. Earlier kernels use a
//! message for everything.

pub mod page;

use std::os::fd::{AsFd, BorrowedFd};

use thiserror::Error;

use crate::sys::{Ready, Socket, SysError, nothing, ready};
use page::{GUEST, Page};

/// A protocol error of a guest's clock, or a failure of its connection.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ClockError {
    /// The message is unknown.
    #[error("found unknown clock message {op}")]
    Unknown {
        /// Number of the message.
        op: u32,
    },
    /// Another message arrived instead of an acknowledgement.
    #[error("found clock message {op}, expected an acknowledgement")]
    NotAcknowledged {
        /// Number of the message.
        op: u32,
    },
    /// The guest hangs.
    #[error(transparent)]
    Silent(#[from] crate::Silent),
    /// The connection failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// Messages of a clock.
// linux: include/uapi/linux/um_timetravel.h um_timetravel_ops (6.1, 6.12).
mod op {
    pub const ACK: u32 = 0;
    pub const START: u32 = 1;
    pub const REQUEST: u32 = 2;
    pub const WAIT: u32 = 3;
    pub const GET: u32 = 4;
    pub const UPDATE: u32 = 5;
    pub const RUN: u32 = 6;
    pub const FREE_UNTIL: u32 = 7;
    pub const GET_TOD: u32 = 8;
}

/// Time of day at which all guests start, in ns: 14 November 2023, 22:13:20 UTC.
const EPOCH: u64 = 1_700_000_000_000_000_000;

/// A message from a guest to its clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// A message that [`Clock::hear`] has handled.
    Something,
    /// The guest waits for a turn.
    Waits,
    /// The guest closed the connection.
    Gone,
}

/// The clock of one guest.
#[derive(Debug)]
pub struct Clock {
    socket: Socket,
    page: Option<Page>,
    sequence: u32,
    /// Without a page: the requested time, the current time, and the time until which the guest may run
    /// freely.
    request: Option<u64>,
    now: u64,
    free_until: u64,
    /// True during a turn.
    runs: bool,
    /// Longest wait for an expected message, in ms.
    patience_ms: i32,
}

impl Clock {
    /// Creates the clock of a guest that has connected and runs until `free_until`. With `shares`, the
    /// guest is offered a shared page. `patience_ms` is the longest wait for a message from the guest, in
    /// ms of real time.
    pub fn new(socket: Socket, free_until: u64, shares: bool, patience_ms: i32) -> Result<Self, ClockError> {
        let page = shares.then(|| Page::new(free_until)).transpose()?;
        Ok(Self { socket, page, sequence: 0, request: None, now: 0, free_until, runs: true, patience_ms })
    }

    /// The file descriptor of the guest's messages.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Returns true if the guest has a turn.
    pub fn runs(&self) -> bool {
        self.runs
    }

    /// Time of the guest's last notification, or of its turn.
    pub fn now(&self) -> u64 {
        self.page.as_ref().map_or(self.now, Page::now)
    }

    /// Time at which the guest wants to run next.
    pub fn request(&self) -> Option<u64> {
        match &self.page {
            Some(page) => page.request(),
            None => self.request,
        }
    }

    /// Receives the next message, and answers if the guest expects an answer.
    pub fn hear(&mut self) -> Result<Said, ClockError> {
        let Some((op, sequence, time)) = self.message()? else { return Ok(Said::Gone) };
        let answer = match op {
            op::START => return self.start(sequence),
            op::WAIT => {
                self.runs = false;
                if self.page.is_some() {
                    return Ok(Said::Waits);
                }
                0
            }
            op::REQUEST => {
                self.request = Some(time);
                0
            }
            op::GET => self.now,
            op::UPDATE => {
                self.now = time;
                0
            }
            op::GET_TOD => EPOCH,
            op => return Err(ClockError::Unknown { op }),
        };
        if !self.send(op::ACK, sequence, answer)? {
            return Ok(Said::Gone);
        }
        if op == op::WAIT {
            return Ok(Said::Waits);
        }
        Ok(Said::Something)
    }

    fn start(&mut self, sequence: u32) -> Result<Said, ClockError> {
        let Some(page) = &self.page else {
            let is_there = self.send(op::ACK, sequence, 0)?;
            return Ok(if is_there { Said::Something } else { Said::Gone });
        };
        let log = nothing()?;
        let is_there =
            self.socket.send_with(&bytes(op::ACK, sequence, GUEST.into()), &[page.file(), &log])?;
        Ok(if is_there { Said::Something } else { Said::Gone })
    }

    /// Returns true if the guest uses the shared page.
    pub fn is_shared(&self) -> bool {
        self.page.as_ref().is_none_or(Page::is_shared)
    }

    /// Stops the guest's time. Later interrupts arrive at `now`.
    pub fn stop_at(&mut self, now: u64) {
        match &self.page {
            Some(page) => page.stop_at(now),
            None => self.now = now,
        }
    }

    /// Gives the guest a turn from `now` on. It may continue without asking until `free_until`.
    pub fn run(&mut self, now: u64, free_until: u64) -> Result<bool, ClockError> {
        (self.runs, self.request, self.now, self.free_until) = (true, None, now, free_until);
        if let Some(page) = &self.page {
            page.run_at(now, free_until);
            self.sequence += 1;
            return self.send(op::RUN, self.sequence, now);
        }
        if !self.told(op::FREE_UNTIL, free_until)? {
            return Ok(false);
        }
        self.told(op::RUN, now)
    }

    /// Sets the time until which the guest may continue without asking. Valid while the guest waits for an
    /// answer to its notification.
    pub fn free_until(&mut self, at: u64) -> Result<bool, ClockError> {
        if at == self.free_until {
            return Ok(true);
        }
        self.free_until = at;
        match &self.page {
            Some(page) => {
                page.free_until(at);
                Ok(true)
            }
            None => self.told(op::FREE_UNTIL, at),
        }
    }

    /// Sends a message and waits for its acknowledgement. Handles messages that the guest sends before
    /// that.
    fn told(&mut self, what: u32, time: u64) -> Result<bool, ClockError> {
        self.sequence += 1;
        let sequence = self.sequence;
        if !self.send(what, sequence, time)? {
            return Ok(false);
        }
        loop {
            let Some((op, of, time)) = self.message()? else { return Ok(false) };
            match op {
                op::ACK if of == sequence => return Ok(true),
                op::REQUEST => {
                    self.request = Some(time);
                    self.send(op::ACK, of, 0)?;
                }
                op::GET => {
                    self.send(op::ACK, of, self.now)?;
                }
                op => return Err(ClockError::NotAcknowledged { op }),
            }
        }
    }

    /// Returns the next message, or an error if none arrives within the patience.
    fn message(&self) -> Result<Option<(u32, u32, u64)>, ClockError> {
        if ready([self.fd()], self.patience_ms)? == Ready::Nothing {
            return Err(crate::Silent { ms: self.patience_ms }.into());
        }
        let mut bytes = [0; 16];
        if !self.socket.receive(&mut bytes, &mut Vec::new())? {
            return Ok(None);
        }
        let [a, b, c, d, e, f, g, h, time @ ..] = bytes;
        let (op, sequence) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        Ok(Some((op, sequence, u64::from_le_bytes(time))))
    }

    fn send(&self, op: u32, sequence: u32, time: u64) -> Result<bool, ClockError> {
        Ok(self.socket.send(&bytes(op, sequence, time))?)
    }
}

fn bytes(op: u32, sequence: u32, time: u64) -> [u8; 16] {
    let mut all = [0; 16];
    all[..4].copy_from_slice(&op.to_le_bytes());
    all[4..8].copy_from_slice(&sequence.to_le_bytes());
    all[8..].copy_from_slice(&time.to_le_bytes());
    all
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn pair(shares: bool) -> (Clock, Socket) {
        let (a, b) = UnixStream::pair().expect("a pair");
        let [a, b] = [a, b].map(|end| Socket::from(OwnedFd::from(end)));
        (Clock::new(a, 2_000, shares, 1_000).expect("a clock"), b)
    }

    /// Sends a message as the guest.
    fn says(guest: &Socket, what: u32, sequence: u32, time: u64) {
        assert_eq!(guest.send(&bytes(what, sequence, time)), Ok(true));
    }

    fn is_told(guest: &Socket) -> (u32, u32, u64) {
        let (mut told, mut files) = ([0; 16], Vec::new());
        assert_eq!(guest.receive(&mut told, &mut files), Ok(true));
        let [a, b, c, d, e, f, g, h, time @ ..] = told;
        (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]), u64::from_le_bytes(time))
    }

    #[test]
    fn an_old_kernel_uses_messages_for_its_whole_clock() {
        let (mut clock, guest) = pair(false);
        says(&guest, op::START, 1, 0);
        assert_eq!((clock.hear(), is_told(&guest)), (Ok(Said::Something), (op::ACK, 1, 0)));
        says(&guest, op::GET_TOD, 2, u64::MAX);
        assert_eq!((clock.hear(), is_told(&guest)), (Ok(Said::Something), (op::ACK, 2, EPOCH)));
        says(&guest, op::REQUEST, 3, 700);
        assert_eq!((clock.hear(), is_told(&guest)), (Ok(Said::Something), (op::ACK, 3, 0)));
        says(&guest, op::WAIT, 4, u64::MAX);
        assert_eq!((clock.hear(), is_told(&guest)), (Ok(Said::Waits), (op::ACK, 4, 0)));
        assert!(!clock.runs() && clock.request() == Some(700));
        // An interrupt at 600: before acknowledging, the guest asks for the time and requests a turn then.
        clock.stop_at(600);
        says(&guest, op::GET, 5, u64::MAX);
        assert_eq!((clock.hear(), is_told(&guest)), (Ok(Said::Something), (op::ACK, 5, 600)));
        says(&guest, op::REQUEST, 6, 600);
        assert_eq!((clock.hear(), is_told(&guest)), (Ok(Said::Something), (op::ACK, 6, 0)));
        assert_eq!(clock.request(), Some(600));
        // Its turn: it acknowledges both messages, and requests another time in between.
        says(&guest, op::ACK, 1, 0);
        says(&guest, op::REQUEST, 7, 650);
        says(&guest, op::ACK, 2, 0);
        assert_eq!(clock.run(600, 900), Ok(true));
        assert_eq!(is_told(&guest), (op::FREE_UNTIL, 1, 900));
        let told = [is_told(&guest), is_told(&guest)];
        assert!(told.contains(&(op::RUN, 2, 600)) && told.contains(&(op::ACK, 7, 0)), "{told:?}");
        says(&guest, op::UPDATE, 8, 640);
        assert_eq!((clock.hear(), is_told(&guest)), (Ok(Said::Something), (op::ACK, 8, 0)));
        assert!(clock.runs() && clock.now() == 640);
        drop(guest);
        assert_eq!(clock.hear(), Ok(Said::Gone));
    }

    #[test]
    fn a_new_kernel_gets_a_page_and_only_turns_are_messages() {
        let (mut clock, guest) = pair(true);
        says(&guest, op::START, 1, 0);
        assert_eq!(clock.hear(), Ok(Said::Something));
        let (mut told, mut files) = ([0; 16], Vec::new());
        assert_eq!(guest.receive(&mut told, &mut files), Ok(true));
        assert_eq!((told, files.len()), (bytes(op::ACK, 1, u64::from(GUEST)), 2));
        assert!(!clock.is_shared());
        says(&guest, op::WAIT, 2, 0);
        assert_eq!(clock.hear(), Ok(Said::Waits));
        assert_eq!(clock.run(300, 500), Ok(true));
        // With the page, neither message needs an acknowledgement.
        assert_eq!(is_told(&guest), (op::RUN, 1, 300));
        assert_eq!(clock.free_until(400), Ok(true));
        assert_eq!(ready([guest.as_fd()], 0), Ok(Ready::Nothing));
    }

    #[test]
    fn a_silent_or_wrong_guest_is_an_error() {
        let (mut clock, guest) = pair(false);
        assert!(clock.hear().is_err_and(|why| why.to_string().contains("no message for 1 s")));
        says(&guest, 77, 1, 0);
        assert_eq!(clock.hear(), Err(ClockError::Unknown { op: 77 }));
    }
}
