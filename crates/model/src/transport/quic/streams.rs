//! Streams: round-robin scheduling, and reassembly without head-of-line blocking between streams.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::types::{Duration, Instant};

use super::flow_control::{Credit, FlowParams};
use super::stack::Read;

/// ID of the first data stream, and distance between stream IDs.
// spec: gQUIC 39 - stream 1 is the handshake, 3 the headers; client streams are odd.
const FIRST: u32 = 5;
const STEP: u32 = 2;
/// Bytes that a stream may send before the next stream of its priority.
// spec: quic_write_blocked_list.h (Chromium 62) kBatchWriteSize.
const BATCH: u64 = 16_000;

/// A part of a stream (STREAM frame).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamChunk {
    /// Stream ID.
    pub id: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
    /// FIN bit: the stream ends with this part.
    pub fin: bool,
}

#[derive(Clone, Debug)]
struct Stream {
    /// Bytes written by the application.
    written: u64,
    /// True once the application has ended the stream.
    finished: bool,
    /// Bytes sent for the first time.
    sent: u64,
    fin_sent: bool,
    /// Flow-control limit set by the peer.
    limit: u64,
    queued: bool,
    /// Bytes received in order.
    ready: u64,
    /// Bytes read by the application.
    read: u64,
    /// Ranges [from, end) received out of order.
    ahead: Vec<(u64, u64)>,
    /// Final size of the stream, if known.
    end: Option<u64>,
    end_read: bool,
    told: bool,
    credit: Credit,
}

/// All streams of a connection.
#[derive(Clone, Debug)]
pub struct Streams {
    params: FlowParams,
    /// Initial flow-control limit set by the peer for each stream.
    peer_stream: u64,
    all: Vec<Stream>,
    /// Streams with data to send, in round-robin order.
    turn: VecDeque<u32>,
    batch: u64,
    /// Streams with data or an end to read.
    readable: VecDeque<u32>,
    /// Bytes sent for the first time on all streams, and the connection limit set by the peer.
    sent: u64,
    limit: u64,
    credit: Credit,
}

/// New flow-control limits to announce to the peer, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// New limit of the stream (MAX_STREAM_DATA).
    pub stream: Option<u64>,
    /// New limit of the connection (MAX_DATA).
    pub connection: Option<u64>,
}

impl Streams {
    /// Creates the state without streams. `own` are the windows of this endpoint, `peer` those of the peer.
    pub fn new(own: FlowParams, peer: FlowParams) -> Self {
        Self {
            params: own,
            peer_stream: peer.stream,
            all: Vec::new(),
            turn: VecDeque::new(),
            batch: 0,
            readable: VecDeque::new(),
            sent: 0,
            limit: peer.connection,
            credit: Credit::new(own.connection, own.connection_most),
        }
    }

    fn index(id: u32) -> usize {
        ((id - FIRST) / STEP) as usize
    }

    fn stream(&mut self, id: u32) -> &mut Stream {
        let index = Self::index(id);
        while self.all.len() <= index {
            self.all.push(Stream {
                written: 0,
                finished: false,
                sent: 0,
                fin_sent: false,
                limit: self.peer_stream,
                queued: false,
                ready: 0,
                read: 0,
                ahead: Vec::new(),
                end: None,
                end_read: false,
                told: false,
                credit: Credit::new(self.params.stream, self.params.stream_most),
            });
        }
        &mut self.all[index]
    }

    /// Opens a stream.
    pub fn open(&mut self) -> u32 {
        let id = FIRST + STEP * self.all.len() as u32;
        self.stream(id);
        id
    }

    /// Writes `bytes` bytes to a stream.
    pub fn write(&mut self, id: u32, bytes: u64) {
        let s = self.stream(id);
        s.written = s.written.saturating_add(bytes);
        self.queue(id);
    }

    /// Ends the sending side of a stream.
    pub fn finish(&mut self, id: u32) {
        self.stream(id).finished = true;
        self.queue(id);
    }

    fn queue(&mut self, id: u32) {
        let s = self.stream(id);
        let wants = s.sent < s.written.min(s.limit) || (s.finished && !s.fin_sent && s.sent == s.written);
        if wants && !core::mem::replace(&mut s.queued, true) {
            self.turn.push_back(id);
        }
    }

    /// Raises the flow-control limit set by the peer for a stream, or for the connection (`None`).
    pub fn allow(&mut self, id: Option<u32>, limit: u64) {
        match id {
            None => self.limit = self.limit.max(limit),
            Some(id) => {
                let s = self.stream(id);
                s.limit = s.limit.max(limit);
                self.queue(id);
            }
        }
    }

    /// Returns true if new data may be sent.
    pub fn has_data(&self) -> bool {
        self.turn.front().is_some_and(|&id| {
            let s = &self.all[Self::index(id)];
            self.sent < self.limit || s.sent == s.written
        })
    }

    /// Returns the bytes written but not sent on all streams.
    pub fn unsent(&self) -> u64 {
        self.all.iter().map(|s| s.written - s.sent).sum()
    }

    /// Returns the next part to send, or `None` if nothing may be sent or nothing fits. `room(id, offset)` is
    /// the number of stream bytes that fit into the packet for a part of stream `id` at `offset`.
    pub fn next_part(&mut self, room: impl Fn(u32, u64) -> u32) -> Option<StreamChunk> {
        if !self.has_data() {
            return None;
        }
        let id = *self.turn.front()?;
        let allowed = self.limit - self.sent;
        let s = &mut self.all[Self::index(id)];
        let fits = u64::from(room(id, s.sent));
        let waits = s.written.min(s.limit) - s.sent;
        let len = waits.min(allowed).min(fits);
        if len == 0 && waits > 0 {
            return None;
        }
        if len == 0 && fits == 0 {
            return None;
        }
        let offset = s.sent;
        s.sent += len;
        let fin = s.finished && s.sent == s.written;
        s.fin_sent |= fin;
        let more = s.sent < s.written.min(s.limit);
        self.sent += len;
        self.batch += len;
        if !more {
            s.queued = false;
            self.turn.pop_front();
            self.batch = 0;
        } else if self.batch >= BATCH {
            self.turn.rotate_left(1);
            self.batch = 0;
        }
        Some(StreamChunk { id, offset, len: len as u32, fin })
    }

    /// Processes a received part of a stream.
    pub fn on_part(&mut self, part: StreamChunk) {
        let s = self.stream(part.id);
        let end = part.offset + u64::from(part.len);
        if part.fin {
            s.end = Some(end);
        }
        let before = s.ready;
        if part.offset <= s.ready {
            s.ready = s.ready.max(end);
            while let Some(&(from, end)) = s.ahead.first()
                && from <= s.ready
            {
                s.ready = s.ready.max(end);
                s.ahead.remove(0);
            }
        } else {
            insert(&mut s.ahead, part.offset, end);
        }
        let complete = s.end == Some(s.ready) && !s.end_read;
        if (s.ready > before || complete) && !core::mem::replace(&mut s.told, true) {
            self.readable.push_back(part.id);
        }
    }

    /// Returns a stream with data or an end to read.
    pub fn next_readable(&mut self) -> Option<u32> {
        let id = self.readable.pop_front()?;
        self.stream(id).told = false;
        Some(id)
    }

    /// Reads all available data of a stream. Also returns the new limits for the peer.
    pub fn read(&mut self, id: u32, now: Instant, srtt: Duration) -> (Read, Limits) {
        let s = self.stream(id);
        let bytes = s.ready - s.read;
        s.read = s.ready;
        let finished = s.end == Some(s.read);
        s.end_read |= finished;
        let mut limits = Limits { stream: s.credit.consume(bytes, now, srtt), connection: None };
        if finished {
            // A finished stream needs no more credit.
            limits.stream = None;
        }
        let size = s.credit.size();
        let consumed = self.credit.consume(bytes, now, srtt);
        // spec: quic_session.cc / quic_flow_controller.cc (Chromium 62) - keeps the connection window at 1.5
        // times the stream window.
        limits.connection = self.credit.ensure(size + size / 2).or(consumed);
        (Read { bytes, finished }, limits)
    }

    /// Returns the connection's flow-control limit: the total bytes that the peer may send.
    pub fn connection_limit(&self) -> u64 {
        self.credit.limit()
    }
}

/// Inserts a range into a sorted list of disjoint ranges.
fn insert(ranges: &mut Vec<(u64, u64)>, from: u64, end: u64) {
    let first = ranges.partition_point(|r| r.1 < from);
    let last = ranges.partition_point(|r| r.0 <= end);
    if first == last {
        ranges.insert(first, (from, end));
    } else {
        ranges[first] = (ranges[first].0.min(from), ranges[last - 1].1.max(end));
        ranges.drain(first + 1..last);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FLOW: FlowParams =
        FlowParams { stream: 50_000, connection: 80_000, stream_most: 100_000, connection_most: 150_000 };

    fn streams() -> Streams {
        Streams::new(FLOW, FLOW)
    }

    fn parts(s: &mut Streams, n: usize) -> Vec<(u32, u64, u32, bool)> {
        (0..n).map_while(|_| s.next_part(|_, _| 1_000)).map(|p| (p.id, p.offset, p.len, p.fin)).collect()
    }

    #[test]
    fn streams_take_turns_of_16_kb() {
        let mut s = streams();
        let ids = [s.open(), s.open()];
        assert_eq!(ids, [5, 7]);
        s.write(5, 30_000);
        s.write(7, 500);
        s.finish(7);
        let all = parts(&mut s, 100);
        let turns: Vec<u32> = all.iter().map(|p| p.0).collect();
        assert_eq!((turns.iter().position(|&id| id == 7), all.len()), (Some(16), 31));
        assert_eq!(all[16], (7, 0, 500, true));
        // A FIN without data is a part as well.
        s.finish(5);
        assert_eq!(parts(&mut s, 9), [(5, 30_000, 0, true)]);
        assert!(!s.has_data());
    }

    #[test]
    fn flow_control_of_stream_and_connection() {
        let mut s = streams();
        s.open();
        s.open();
        s.write(5, 100_000);
        s.write(7, 100_000);
        let sent = |parts: &[(u32, u64, u32, bool)], id| -> u32 {
            parts.iter().filter(|p| p.0 == id).map(|p| p.2).sum()
        };
        let all = parts(&mut s, 1_000);
        assert_eq!((sent(&all, 5) + sent(&all, 7), s.has_data()), (80_000, false));
        s.allow(None, 200_000);
        let all = parts(&mut s, 1_000);
        assert_eq!((sent(&all, 5) + sent(&all, 7), s.has_data()), (20_000, false));
        s.allow(Some(7), 60_000);
        assert_eq!(parts(&mut s, 1_000).len(), 10);
        assert_eq!(s.unsent(), 90_000);
    }

    #[test]
    fn a_hole_in_one_stream_holds_up_no_other() {
        let mut s = streams();
        let part = |id, offset, len, fin| StreamChunk { id, offset, len, fin };
        s.on_part(part(5, 1_000, 500, true));
        s.on_part(part(7, 0, 700, true));
        let now = Instant::ZERO;
        assert_eq!((s.next_readable(), s.next_readable()), (Some(7), None));
        assert_eq!(s.read(7, now, Duration::ZERO).0, Read { bytes: 700, finished: true });
        s.on_part(part(5, 0, 1_000, false));
        assert_eq!(s.next_readable(), Some(5));
        assert_eq!(s.read(5, now, Duration::ZERO).0, Read { bytes: 1_500, finished: true });
        // Duplicates have no effect.
        s.on_part(part(5, 1_000, 500, true));
        assert_eq!(s.next_readable(), None);
    }

    proptest! {
        /// All data is read exactly once, whatever the order and duplication of parts.
        #[test]
        fn in_any_order(order in prop::collection::vec((0_u64..40, 1_u64..6), 0..120)) {
            let mut s = streams();
            let (mut read, mut over) = (0, false);
            let all = (0..40).map(|n| (n, 1));
            for (at, n) in order.into_iter().chain(all) {
                let end = (at + n).min(40);
                s.on_part(StreamChunk { id: 5, offset: at * 100, len: ((end - at) * 100) as u32, fin: end == 40 });
                while let Some(id) = s.next_readable() {
                    let (r, _) = s.read(id, Instant::ZERO, Duration::ZERO);
                    prop_assert!(!over);
                    read += r.bytes;
                    over |= r.finished;
                }
            }
            prop_assert_eq!((read, over), (4_000, true));
        }
    }
}
