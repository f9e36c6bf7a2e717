//! Time that data spends in a TCP socket before its packet is handed to IP, by cause.

use std::collections::VecDeque;

use stillair_model::types::SocketWait;

use super::cells::{Cause, Few, Layer};
use super::track::Track;

/// Kinds of a socket's [`Track`]. Kind 0 means that no data is waiting.
const CAUSES: [(usize, Cause); 5] = [
    (1, Cause::Pacing),
    (2, Cause::Window),
    (3, Cause::PeerWindow),
    (4, Cause::SmallQueues),
    (5, Cause::Deferral),
];

const fn kind(waits: Option<SocketWait>) -> u8 {
    match waits {
        None => 0,
        Some(SocketWait::Pacing) => 1,
        Some(SocketWait::Window) => 2,
        Some(SocketWait::PeerWindow) => 3,
        Some(SocketWait::SmallQueues) => 4,
        Some(SocketWait::Deferral) => 5,
    }
}

/// Returns true if sequence number `b` is before `a`.
const fn behind(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) < 0
}

/// Time in a socket by cause, in the order of [`CAUSES`].
pub(super) type InSocket = [u64; CAUSES.len()];

/// Adds these times to a packet's cells.
pub(super) fn add(times: &InSocket, cells: &mut Few) {
    for ((_, cause), ns) in CAUSES.into_iter().zip(times) {
        cells.add(Layer::Socket, cause, *ns);
    }
}

/// Data of a socket that was written and not yet sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Writer {
    track: Track,
    /// Kind of the wait since the end of the track.
    waits: u8,
    /// Writes not completely sent yet: sequence number after the last byte, and time.
    writes: VecDeque<(u32, u64)>,
    written: Option<u32>,
    /// Sequence number after the last byte sent for the first time.
    sent: Option<u32>,
}

impl Writer {
    /// Updates the state after the socket has acted.
    pub(super) fn acted(&mut self, now: u64, written: u32, waits: Option<SocketWait>) {
        self.track.push(now, self.waits);
        self.waits = kind(waits);
        if self.written.is_some_and(|before| behind(before, written)) {
            // The slot has been reused by another connection.
            self.writes.clear();
            self.sent = None;
        }
        if self.written != Some(written) {
            self.writes.push_back((written, now));
            self.written = Some(written);
        }
    }

    /// Records that a packet with data up to `end` was handed to IP. Returns its time in the socket by cause,
    /// zero for retransmissions.
    pub(super) fn sends(&mut self, now: u64, end: u32) -> InSocket {
        let mut times = InSocket::default();
        if !self.skips(end) {
            return times;
        }
        // Data not known yet is being written right now.
        let Some(&(_, since)) = self.writes.front() else { return times };
        self.track.push(now, self.waits);
        let (before, after) = (self.track.at(since, 0, 0), self.track.at(now, 0, 1));
        for ((kind, _), ns) in CAUSES.into_iter().zip(&mut times) {
            *ns = after[kind] - before[kind];
        }
        times
    }

    /// Returns true if a packet with data up to `end` is a first transmission, and records it.
    pub(super) fn skips(&mut self, end: u32) -> bool {
        if self.sent.is_some_and(|sent| !behind(end, sent)) {
            return false;
        }
        self.sent = Some(end);
        while let Some(&(written, _)) = self.writes.front()
            && behind(end, written)
        {
            self.writes.pop_front();
        }
        true
    }

    /// Discards records that no waiting data can need.
    pub(super) fn forget(&mut self, before: u64) {
        let oldest = self.writes.front().map_or(before, |&(_, at)| at.min(before));
        self.track.forget(oldest);
    }
}
