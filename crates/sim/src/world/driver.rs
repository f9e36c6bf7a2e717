//! Driver interface of the world: time, and packets of external hosts.
//!
//! The driver controls the time. It advances the world to an instant, enters the packets that have arrived by
//! then, and processes them. Then it reads the packets that have left and the charges that have ended, and
//! waits until the next event or the next external packet:
//!
//! ```text
//! advance(now); enter(...) for each packet; put_through(); left() and ended() until both are empty;
//! wait until next_event()
//! ```

use stillair_model::qdisc::Enqueue;
use stillair_model::types::{Addr, Duration, Instant, Sink};

use super::World;
use super::external_io::{Entering, Left, Refused};
use super::hosts::LowerLayers;

impl<S: Sink> World<S> {
    /// Returns the current time. All events before it have been handled.
    pub fn now(&self) -> Instant {
        self.core.now
    }

    /// Returns the time of the next event, if no packet enters earlier. May be called at any time after
    /// [`World::put_through`]; does not change the world.
    pub fn next_event(&mut self) -> Option<Instant> {
        self.core.timers.earliest()
    }

    /// Handles all events up to and at `at` ([`World::run_until`] excludes those at `at`). `at` must be
    /// before the horizon and not before the current time.
    pub fn advance(&mut self, at: Instant) {
        assert!(at >= self.core.now, "time would run backwards");
        assert!(at < self.horizon(), "timers that late do not fire");
        self.run_before(at + Duration::from_nanos(1));
        (self.core.now, self.core.passed) = (at, u32::MAX);
    }

    /// Enters a packet from an external host at the current time and queues it at the host's interface.
    /// Returns the result of the queue. Call [`World::put_through`] after entering all packets of this
    /// instant.
    pub fn enter(&mut self, packet: &Entering<'_>) -> Result<Enqueue, Refused> {
        self.enter_segments(packet, packet.bytes.len())
    }

    /// Enters a packet that is to be split on its path (GSO, TSO). Its bytes are consecutive segments, each
    /// with its own headers. All but the last have `full` bytes, from 20 to
    /// [`LONGEST_PACKET`](stillair_model::types::LONGEST_PACKET); the last may be shorter. All segments
    /// together have at most 262,144 bytes.
    pub fn enter_segments(&mut self, packet: &Entering<'_>, full: usize) -> Result<Enqueue, Refused> {
        let Self { core, hosts, network, air, .. } = self;
        hosts.enter(&mut LowerLayers { core, network, air }, packet, full)
    }

    /// Processes the packets that have entered: runs delayed queues and devices with new frames.
    pub fn put_through(&mut self) {
        self.settle();
    }

    /// Returns the next packet that has left the model, in order. Replaces the content of `bytes` with the
    /// packet, with updated TOS byte, hop limit and header checksum.
    pub fn left(&mut self, bytes: &mut Vec<u8>) -> Option<Left> {
        self.hosts.left(&mut self.core, bytes)
    }

    /// Returns the next token whose charge has ended, in order. A charge ends with the transmit completion, a
    /// drop, or the arrival at the other end. Host limits such as TCP small queues use this.
    pub fn ended(&mut self) -> Option<u32> {
        self.hosts.ended(&mut self.core)
    }

    /// Reports whether packets that left or charges that ended are waiting to be read.
    pub fn has_news(&self) -> bool {
        self.hosts.external().waiting() > 0 || self.core.packets.has_ended()
    }

    /// Returns the address that represents all addresses outside the scenario.
    pub fn elsewhere(&self) -> Addr {
        self.hosts.external().elsewhere()
    }
}
