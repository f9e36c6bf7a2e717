//! What the world needs of a QUIC stack, real or modelled.

use crate::vocabulary::{Datagram, Duration, Instant};

/// A stream of a connection; what the number means is the stack's own affair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StreamId(pub u64);

/// What was read from a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Read {
    /// Bytes, in order.
    pub bytes: u64,
    /// The stream is over: all that was sent on it has been read.
    pub finished: bool,
}

/// How far a connection is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connection {
    /// The handshake is under way, or has not begun.
    Handshake,
    /// Data can be sent.
    Established,
    /// Over.
    Closed,
}

/// State of a stack, as a reader of results wants it. What a stack cannot tell is none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Snapshot {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; none before the first, and where the stack does not tell.
    pub ssthresh: Option<u64>,
    /// Slow start has not been left; none where the stack does not tell.
    pub slow_start: Option<bool>,
    /// Bytes sent and neither acknowledged nor given up.
    pub in_flight: Option<u64>,
    /// Smoothed round-trip time; none before the first measurement.
    pub srtt: Option<Duration>,
    /// Least round-trip time; none before the first measurement.
    pub min_rtt: Option<Duration>,
    /// Newest round-trip time; none before the first measurement.
    pub latest_rtt: Option<Duration>,
    /// Rate of the pacer in bytes a second; none if it does not pace, or does not tell.
    pub pacing: Option<u64>,
    /// Datagrams sent.
    pub sent: u64,
    /// Packets that were declared lost.
    pub lost: u64,
    /// Of these, how many were acknowledged after all; none where the stack does not tell.
    pub spurious: Option<u64>,
    /// Acknowledgement frames sent; none where the stack does not tell.
    pub acks_sent: Option<u64>,
    /// Acknowledgement frames received; none where the stack does not tell.
    pub acks_received: Option<u64>,
    /// Retransmission (or probe) timeouts that have fired; none where the stack does not tell.
    pub timeouts: Option<u64>,
}

/// One thing that happened in a stack, for logs and traces; packet numbers are the stack's.
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
/// The world calls it so: a datagram comes in ([`Stack::on_datagram`]), a timer fires ([`Stack::on_timer`]) or the
/// application acts; then the application reads what has become readable, [`Stack::poll_transmit`] is called until it has
/// nothing more, and [`Stack::next_timer`] is asked again. A deadline that has passed fires at once. All instants that a
/// stack is given are ordered.
///
/// Streams carry numbers of bytes and not bytes: no application here looks at content.
pub trait Stack: Send + core::fmt::Debug {
    /// A client begins its handshake.
    fn connect(&mut self, now: Instant);

    /// A datagram has come in, with the ECN bits that it bears now. The stack may take the record's memory, but leaves it
    /// in a state in which it can be used again.
    fn on_datagram(&mut self, now: Instant, datagram: &mut Datagram);

    /// The deadline that [`Stack::next_timer`] gave has come, or more have. Called too early, it does nothing.
    fn on_timer(&mut self, now: Instant);

    /// Writes the next datagram into an empty record: length, ECN bits and content. False if there is none to be sent now.
    fn poll_transmit(&mut self, now: Instant, out: &mut Datagram) -> bool;

    /// When [`Stack::on_timer`] is to be called next.
    fn next_timer(&self) -> Option<Instant>;

    /// How far the connection is.
    fn connection(&self) -> Connection;

    /// Opens a stream for both directions; none as long as the peer's limit forbids it or the handshake is under way.
    fn open(&mut self) -> Option<StreamId>;

    /// Writes so many bytes to a stream; says how many were taken. Those not taken may be offered again after anything has
    /// happened.
    fn write(&mut self, now: Instant, stream: StreamId, bytes: u64) -> u64;

    /// Nothing more will be written to a stream.
    fn finish(&mut self, now: Instant, stream: StreamId);

    /// A stream that has something to be read, or whose end has not been read; each is named once for each time that
    /// something has come. Streams that the peer has opened appear here first.
    fn next_readable(&mut self) -> Option<StreamId>;

    /// Reads all that is there of a stream, in order.
    fn read(&mut self, now: Instant, stream: StreamId) -> Read;

    /// Ends the connection.
    fn close(&mut self, now: Instant);

    /// The stack's state.
    fn snapshot(&self, now: Instant) -> Snapshot;

    /// The next thing that has happened since the last time, if the stack tells.
    fn poll_event(&mut self) -> Option<StackEvent> {
        None
    }

    /// Number of the packet that [`Stack::poll_transmit`] wrote last, if the stack tells.
    fn last_sent(&self) -> Option<u64> {
        None
    }

    /// The newest packet that was acknowledged since the last time, if the stack tells.
    fn take_acked(&mut self) -> Option<u64> {
        None
    }
}
