//! Trait of user-defined queueing disciplines, and their access to packets.
//!
//! User-defined disciplines are called by dynamic dispatch. Built-in ones do not use this trait.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use super::{Enqueue, NextSend, QdiscStats};
use crate::types::{Ctx, Instant, Packet, PartFactory, Pkt, PktList, PlaceId, RandomStream, Reason, Sink};

/// A qdisc's access to packets during one call.
pub trait Room {
    /// The fields of a packet.
    fn packet(&self, p: Pkt) -> &Packet;

    /// Appends a packet to a list.
    fn push(&mut self, list: &mut PktList, p: Pkt);

    /// Prepends a packet to a list.
    fn push_front(&mut self, list: &mut PktList, p: Pkt);

    /// Removes and returns the first packet of a list.
    fn pop(&mut self, list: &mut PktList) -> Option<Pkt>;

    /// Writes a time into the packet ([`Packet::t_enqueue`]), such as its arrival, to measure its sojourn
    /// time.
    fn stamp(&mut self, p: Pkt, at: Instant);

    /// Sets the CE mark, and returns true if the packet carries it now. Leaves a packet that is not
    /// ECN-capable unchanged.
    // spec: rfc3168 5.
    fn mark(&mut self, p: Pkt) -> bool;

    /// Drops a packet for this reason and ends its charge. The handle is invalid afterwards.
    fn drop(&mut self, p: Pkt, reason: Reason);

    /// Ends a packet's charge but keeps the packet, as netem does. The sender's socket no longer counts the
    /// packet.
    fn orphan(&mut self, p: Pkt);
}

/// A queueing discipline.
///
/// The discipline owns a packet from [`enqueue`](Self::enqueue) until [`dequeue`](Self::dequeue) returns it
/// or [`Room::drop`] drops it. `now` never decreases. A [`PktList`] holds packets without allocation.
///
/// A packet may have several segments ([`Packet::segs`]), up to 64 KiB in total. It is enqueued and dequeued
/// as one packet and counts as one in the backlog, but [`crate::types::skb_len`] counts an Ethernet header
/// for each segment.
///
/// # Requirements
///
/// - Every packet is queued, dequeued or dropped. [`backlog`](Self::backlog) and [`stats`](Self::stats) agree
///   with that.
/// - The result of `enqueue` agrees with the drops: see [`Enqueue`].
/// - No wake-up is lost. After `dequeue` returns `None`, [`next`](Self::next) returns [`NextSend::Never`] if
///   the discipline is empty, and a time in the future if it is not.
/// - It reads no clock, and allocates only on creation. Random numbers come from the [`RandomStream`] passed
///   at creation, so the same calls give the same results.
///
/// [`crate::conformance::discipline`] checks all of this.
pub trait Discipline: Debug {
    /// Accepts or drops a packet. All drops, of this packet or another, happen before `enqueue` returns.
    fn enqueue(&mut self, now: Instant, p: Pkt, room: &mut dyn Room) -> Enqueue;

    /// Returns the next packet, if one may leave now.
    fn dequeue(&mut self, now: Instant, room: &mut dyn Room) -> Option<Pkt>;

    /// Reports when to call `dequeue` next. The default suits a discipline that never holds packets back.
    fn next(&self, _now: Instant) -> NextSend {
        if self.backlog().0 > 0 { NextSend::Now } else { NextSend::Never }
    }

    /// Number of packets and bytes queued. Bytes are counted as by [`crate::types::skb_len`].
    fn backlog(&self) -> (u32, u64);

    /// The common counters. [`QdiscStats::sent`] counts a departing packet.
    fn stats(&self) -> QdiscStats;

    /// The discipline's own counters, by name.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// Factory of a user-defined discipline. Each place gets its own instance and random stream.
pub type DisciplineFactory = PartFactory<dyn Discipline + Send, RandomStream>;

/// Access to packets during one call of a discipline at `place`.
struct Here<'a, 'c, S> {
    now: Instant,
    place: PlaceId,
    ctx: &'a mut Ctx<'c, S>,
}

impl<S: Sink> Room for Here<'_, '_, S> {
    fn packet(&self, p: Pkt) -> &Packet {
        self.ctx.packets.get(p)
    }
    fn push(&mut self, list: &mut PktList, p: Pkt) {
        list.push(self.ctx.packets, p);
    }
    fn push_front(&mut self, list: &mut PktList, p: Pkt) {
        list.push_front(self.ctx.packets, p);
    }
    fn pop(&mut self, list: &mut PktList) -> Option<Pkt> {
        list.pop(self.ctx.packets)
    }
    fn stamp(&mut self, p: Pkt, at: Instant) {
        self.ctx.packets.get_mut(p).t_enqueue = at;
    }
    fn mark(&mut self, p: Pkt) -> bool {
        let hot = self.ctx.packets.get_mut(p);
        let capable = hot.tos & 3 != 0;
        if capable {
            hot.tos |= 3;
        }
        capable
    }
    fn drop(&mut self, p: Pkt, reason: Reason) {
        self.ctx.drop(self.now, p, reason, self.place);
    }
    fn orphan(&mut self, p: Pkt) {
        self.ctx.packets.orphan(p);
    }
}

/// An instance of a user-defined discipline.
#[derive(Debug)]
pub struct CustomQdisc {
    name: String,
    place: PlaceId,
    discipline: Box<dyn Discipline + Send>,
}

impl CustomQdisc {
    /// Creates the discipline. Drops are recorded at `place`. `stream` is the discipline's random stream.
    pub fn new(config: &DisciplineFactory, place: PlaceId, stream: RandomStream) -> Self {
        Self { name: config.name().to_owned(), place, discipline: config.make(stream) }
    }

    /// Name of the discipline.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// See [`Discipline::enqueue`].
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        self.discipline.enqueue(now, p, &mut Here { now, place: self.place, ctx })
    }

    /// See [`Discipline::dequeue`].
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        self.discipline.dequeue(now, &mut Here { now, place: self.place, ctx })
    }

    /// See [`Discipline::next`]. Panics if the discipline returns a time that is not in the future, because
    /// the run would not advance.
    pub fn next(&self, now: Instant) -> NextSend {
        let wake = self.discipline.next(now);
        assert!(
            !matches!(wake, NextSend::At(at) if at <= now),
            "discipline {:?}: asks for {wake:?} at {now:?}, which is not to come; it is NextSend::Now, if dequeue gives a packet",
            self.name
        );
        wake
    }

    /// Number of packets and bytes queued.
    pub fn backlog(&self) -> (u32, u64) {
        self.discipline.backlog()
    }

    /// The common qdisc counters.
    pub fn stats(&self) -> QdiscStats {
        self.discipline.stats()
    }

    /// The discipline's own counters.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        self.discipline.counters()
    }
}
