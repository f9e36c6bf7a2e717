//! The interface of the world for a driver: time, and packets of external hosts.
//!
//! The driver owns time. It advances the world to an instant, enters the packets that have arrived by then,
//! and processes them. Then it takes the packets that have left and the charges that have ended, and waits
//! until the next event or the next packet from outside:
//!
//! ```text
//! advance(now); enter(...) for each packet; put_through(); left() and ended() until there are none; wait until next_event()
//! ```

use stillair_model::qdisc::Enqueue;
use stillair_model::types::{Addr, Duration, Instant, Sink};

use super::World;
use super::external_io::{Entering, Left, Refused};
use super::hosts::LowerLayers;

impl<S: Sink> World<S> {
    /// The current time: all events before it have been handled.
    pub fn now(&self) -> Instant {
        self.core.now
    }

    /// The time of the next event, if no packet enters earlier. This changes nothing. It may be called at any
    /// time after [`World::put_through`].
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

    /// Enters a packet from an external host at the current time. The packet is queued at the interface of
    /// its host, and the result of the queue is returned. Call [`World::put_through`] after all packets of
    /// this instant.
    pub fn enter(&mut self, packet: &Entering<'_>) -> Result<Enqueue, Refused> {
        self.enter_segments(packet, packet.bytes.len())
    }

    /// The same of a packet that is to be split on its way (GSO, TSO): its bytes are segments one behind the
    /// other, each with its own headers. Each has `full` bytes, 20 to
    /// [`LONGEST_PACKET`](stillair_model::types::LONGEST_PACKET), only the last may have fewer; all
    /// together have 262,144 at most.
    pub fn enter_segments(&mut self, packet: &Entering<'_>, full: usize) -> Result<Enqueue, Refused> {
        let Self { core, hosts, network, air, .. } = self;
        hosts.enter(&mut LowerLayers { core, network, air }, packet, full)
    }

    /// Processes the packets that have entered: runs delayed queues, and devices that got frames.
    pub fn put_through(&mut self) {
        self.settle();
    }

    /// The next packet that has left the model, in order. Its bytes replace the content of `bytes`; TOS byte,
    /// hop limit and header checksum are up to date.
    pub fn left(&mut self, bytes: &mut Vec<u8>) -> Option<Left> {
        self.hosts.left(&mut self.core, bytes)
    }

    /// The next token whose charge has ended, in order. A charge ends with a transmission report, a drop, or
    /// the arrival at the other end. Limits of a host, such as TCP small queues, use this.
    pub fn ended(&mut self) -> Option<u32> {
        self.hosts.ended(&mut self.core)
    }

    /// Whether packets that left, or ended charges, have not been read yet.
    pub fn has_news(&self) -> bool {
        self.hosts.external().waiting() > 0 || self.core.packets.has_ended()
    }

    /// The address that stands for all addresses outside the scenario.
    pub fn elsewhere(&self) -> Addr {
        self.hosts.external().elsewhere()
    }
}
