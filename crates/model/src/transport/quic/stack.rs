//! The interface of a QUIC stack, real or modelled.

use crate::types::{Datagram, Duration, Instant};

/// A stream of a connection. Numbering is up to the stack.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StreamId(pub u64);

/// Result of reading a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Read {
    /// Number of bytes read, in order.
    pub bytes: u64,
    /// True if the stream has ended and all data has been read.
    pub finished: bool,
}

/// State of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connection {
    /// The handshake has not finished.
    Handshake,
    /// Data can be sent.
    Established,
    /// The connection is closed.
    Closed,
}

/// Stack state for results. Values are `None` if the stack does not report them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Snapshot {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes. `None` before the first reduction, or if not reported.
    pub ssthresh: Option<u64>,
    /// True during the connection's first slow start. `None` if not reported.
    pub slow_start: Option<bool>,
    /// Bytes in flight: sent and neither acknowledged nor declared lost. `None` if not reported.
    pub in_flight: Option<u64>,
    /// Smoothed RTT. `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Minimum RTT. `None` before the first sample.
    pub min_rtt: Option<Duration>,
    /// Latest RTT sample. `None` before the first sample.
    pub latest_rtt: Option<Duration>,
    /// Pacing rate in bytes per second. `None` without pacing, or if not reported.
    pub pacing: Option<u64>,
    /// Datagrams sent.
    pub sent: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// Packets declared lost but acknowledged later. `None` if not reported.
    pub spurious: Option<u64>,
    /// ACK frames sent. `None` if not reported.
    pub acks_sent: Option<u64>,
    /// ACK frames received. `None` if not reported.
    pub acks_received: Option<u64>,
    /// Retransmission or probe timeouts. `None` if not reported.
    pub timeouts: Option<u64>,
}

/// A stack event for logs and traces. Packet numbers are the stack's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackEvent {
    /// A packet was declared lost.
    Lost {
        /// Packet number.
        number: u64,
    },
    /// Slow start ended without a loss.
    SlowStartExit,
}

/// One endpoint of a QUIC connection, without I/O and without a clock.
///
/// Call order: a datagram arrives ([`Stack::on_datagram`]), a timer fires ([`Stack::on_timer`]) or the
/// application acts. Then the application reads readable streams, the caller invokes [`Stack::poll_transmit`]
/// until it returns false, and finally queries [`Stack::next_timer`]. A deadline in the past fires
/// immediately. Time never decreases.
///
/// Streams carry byte counts instead of data, since no application here uses the content.
pub trait Stack: Send + core::fmt::Debug {
    /// Starts the handshake of a client.
    fn connect(&mut self, now: Instant);

    /// Processes a datagram, with the ECN bits on arrival. The stack may take the record's memory, but must
    /// leave the record usable.
    fn on_datagram(&mut self, now: Instant, datagram: &mut Datagram);

    /// Called when the deadline of [`Stack::next_timer`] has passed. An early call has no effect.
    fn on_timer(&mut self, now: Instant);

    /// Writes the next datagram (length, ECN bits and content) into an empty record. Returns false if there
    /// is nothing to send now.
    fn poll_transmit(&mut self, now: Instant, out: &mut Datagram) -> bool;

    /// Returns the time of the next call to [`Stack::on_timer`].
    fn next_timer(&self) -> Option<Instant>;

    /// Returns the connection state.
    fn connection(&self) -> Connection;

    /// Opens a bidirectional stream. Returns `None` during the handshake or at the peer's stream limit.
    fn open(&mut self) -> Option<StreamId>;

    /// Writes `bytes` to a stream. Returns the number accepted; offer the rest again after the next event.
    fn write(&mut self, now: Instant, stream: StreamId, bytes: u64) -> u64;

    /// Ends the sending side of a stream.
    fn finish(&mut self, now: Instant, stream: StreamId);

    /// Returns a stream with unread data or an unread end, once per arrival of data. Streams opened by the
    /// peer first appear here.
    fn next_readable(&mut self) -> Option<StreamId>;

    /// Reads all available data of a stream, in order.
    fn read(&mut self, now: Instant, stream: StreamId) -> Read;

    /// Closes the connection.
    fn close(&mut self, now: Instant);

    /// Returns the stack's state.
    fn snapshot(&self, now: Instant) -> Snapshot;

    /// Returns the next event, if the stack reports events.
    fn poll_event(&mut self) -> Option<StackEvent> {
        None
    }

    /// Returns the number of the last packet from [`Stack::poll_transmit`], if the stack reports it.
    fn last_sent(&self) -> Option<u64> {
        None
    }

    /// Returns the newest packet acknowledged since the last call, if the stack reports it.
    fn take_acked(&mut self) -> Option<u64> {
        None
    }
}
