//! The interface of a QUIC stack, real or modelled.

use crate::types::{Datagram, Duration, Instant};

/// A stream of a connection; the number is defined by the stack.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StreamId(pub u64);

/// Result of reading a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Read {
    /// Bytes, in order.
    pub bytes: u64,
    /// The stream has ended, and all its data has been read.
    pub finished: bool,
}

/// State of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connection {
    /// The handshake is under way, or has not begun.
    Handshake,
    /// Data can be sent.
    Established,
    /// Closed.
    Closed,
}

/// State of a stack for results. `None` for values that the stack does not report.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Snapshot {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes. `None` before the first, or if the stack does not report it.
    pub ssthresh: Option<u64>,
    /// Whether the connection is still in its first slow start. `None` if the stack does not report it.
    pub slow_start: Option<bool>,
    /// Bytes in flight: sent and neither acknowledged nor declared lost. `None` if the stack does not report
    /// it.
    pub in_flight: Option<u64>,
    /// Smoothed round-trip time. `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Minimum round-trip time. `None` before the first sample.
    pub min_rtt: Option<Duration>,
    /// Newest round-trip time sample. `None` before the first sample.
    pub latest_rtt: Option<Duration>,
    /// Pacing rate in bytes per second. `None` if the stack does not pace, or does not report it.
    pub pacing: Option<u64>,
    /// Datagrams sent.
    pub sent: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// Number of these that were acknowledged later; none if the stack does not report it.
    pub spurious: Option<u64>,
    /// Acknowledgement frames sent. `None` if the stack does not report it.
    pub acks_sent: Option<u64>,
    /// Acknowledgement frames received. `None` if the stack does not report it.
    pub acks_received: Option<u64>,
    /// Number of retransmission or probe timeouts. `None` if the stack does not report it.
    pub timeouts: Option<u64>,
}

/// An event of a stack, for logs and traces; packet numbers are the stack's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackEvent {
    /// A packet was declared lost.
    Lost {
        /// The packet.
        number: u64,
    },
    /// Slow start was left before any loss.
    SlowStartExit,
}

/// One end of a QUIC connection, without I/O and without a clock.
///
/// Order of calls: a datagram arrives ([`Stack::on_datagram`]), a timer fires ([`Stack::on_timer`]) or the
/// application acts. Then the application reads readable streams, [`Stack::poll_transmit`] is called until it
/// returns false, and [`Stack::next_timer`] is called again. A deadline in the past fires at once. Instants
/// never decrease.
///
/// Streams carry byte counts, not bytes: no application here uses the content.
pub trait Stack: Send + core::fmt::Debug {
    /// A client begins its handshake.
    fn connect(&mut self, now: Instant);

    /// A datagram has arrived, with its current ECN bits. The stack may take the record's memory, but must
    /// leave the record usable.
    fn on_datagram(&mut self, now: Instant, datagram: &mut Datagram);

    /// The deadline of [`Stack::next_timer`] has passed. If called too early, it does nothing.
    fn on_timer(&mut self, now: Instant);

    /// Writes the next datagram into an empty record: length, ECN bits and content. False if there is nothing
    /// to send now.
    fn poll_transmit(&mut self, now: Instant, out: &mut Datagram) -> bool;

    /// When to call [`Stack::on_timer`] next.
    fn next_timer(&self) -> Option<Instant>;

    /// State of the connection.
    fn connection(&self) -> Connection;

    /// Opens a bidirectional stream; `None` while the peer's limit forbids it or the handshake is under way.
    fn open(&mut self) -> Option<StreamId>;

    /// Writes this many bytes to a stream and returns how many were accepted. The rest may be offered again
    /// after the next event.
    fn write(&mut self, now: Instant, stream: StreamId, bytes: u64) -> u64;

    /// Nothing more will be written to a stream.
    fn finish(&mut self, now: Instant, stream: StreamId);

    /// A stream with unread data or an unread end; each is returned once for each arrival of data. Streams
    /// opened by the peer appear here first.
    fn next_readable(&mut self) -> Option<StreamId>;

    /// Reads all available data of a stream, in order.
    fn read(&mut self, now: Instant, stream: StreamId) -> Read;

    /// Ends the connection.
    fn close(&mut self, now: Instant);

    /// The stack's state.
    fn snapshot(&self, now: Instant) -> Snapshot;

    /// The next event since the last call, if the stack reports events.
    fn poll_event(&mut self) -> Option<StackEvent> {
        None
    }

    /// Number of the last packet from [`Stack::poll_transmit`], if the stack reports it.
    fn last_sent(&self) -> Option<u64> {
        None
    }

    /// The newest packet acknowledged since the last call, if the stack reports it.
    fn take_acked(&mut self) -> Option<u64> {
        None
    }
}
