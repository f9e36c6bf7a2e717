//! What a driver sees of the world: time, and the packets of outside hosts as they come in and leave.
//!
//! Who drives owns time. It advances the world to an instant, lets in what came until then, puts it through, takes what has left and which
//! charges have ended, and waits until the next event or the next packet from outside:
//!
//! ```text
//! advance(now); enter(...) for each packet; put_through(); left() and ended() until there are none; wait until next_event()
//! ```

use stillair_model::qdisc::Enqueue;
use stillair_model::vocabulary::{Addr, Duration, Instant, Sink};

use super::World;
use super::doors::{Entering, Left, Refused};
use super::hosts::Below;

impl<S: Sink> World<S> {
    /// The time: all events before it have been handled.
    pub fn now(&self) -> Instant {
        self.core.now
    }

    /// When something happens next by itself, if nothing comes in before. Nothing is taken, so it may be asked at any time after
    /// [`World::put_through`].
    pub fn next_event(&mut self) -> Option<Instant> {
        self.core.timers.earliest()
    }

    /// Handles all that is due until `at` and at that very instant ([`World::run_until`] leaves what is due then). `at` is before the horizon,
    /// and not before the time.
    pub fn advance(&mut self, at: Instant) {
        assert!(at >= self.core.now, "time would run backwards");
        assert!(at < self.horizon(), "timers that late do not fire");
        self.run_before(at + Duration::from_nanos(1));
        self.core.now = at;
    }

    /// A packet comes in from outside, now: it is queued at the interface of its host, and the answer is that of the queue. When all that has
    /// come at this instant is in, [`World::put_through`] is due.
    pub fn enter(&mut self, packet: &Entering<'_>) -> Result<Enqueue, Refused> {
        let Self { core, hosts, network, air, .. } = self;
        hosts.enter(&mut Below { core, network, air }, packet)
    }

    /// Lets what has come in take its effect: queues whose turn is put off, devices that got frames.
    pub fn put_through(&mut self) {
        self.settle();
    }

    /// The next packet that has left the model, in the order in which they did. Its bytes take the place of what is in `bytes`, with mark, hops
    /// and header checksum as they are by now.
    pub fn left(&mut self, bytes: &mut Vec<u8>) -> Option<Left> {
        self.hosts.left(&mut self.core, bytes)
    }

    /// The next token whose charge has ended, wherever it did, in the order in which they did: with the report of a transmission, with a drop,
    /// at the other end. A host's own limits, such as TCP small queues, hang on it.
    pub fn ended(&mut self) -> Option<u32> {
        self.hosts.ended(&mut self.core)
    }

    /// Whether a packet has left or a charge has ended that nobody has asked for.
    pub fn has_news(&self) -> bool {
        self.hosts.outside().waiting() > 0 || self.core.packets.has_ended()
    }

    /// The address that stands for all that no interface of the scenario has.
    pub fn elsewhere(&self) -> Addr {
        self.hosts.outside().elsewhere()
    }
}
