//! A queueing discipline of somebody's own: what it must do, and what it may do to packets.
//!
//! A part of its own is called by dynamic dispatch; the disciplines that are built in are not, and do not pass here.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use super::{Enqueue, NextSend, QdiscStats};
use crate::vocabulary::{
    Ctx, Instant, Packet, PartFactory, Pkt, PktList, PlaceId, RandomStream, Reason, Sink,
};

/// What a discipline may do to packets, for the time of one call.
pub trait Room {
    /// What can be seen of a packet.
    fn packet(&self, p: Pkt) -> &Packet;

    /// Appends a packet to a list.
    fn push(&mut self, list: &mut PktList, p: Pkt);

    /// Puts a packet before the first of a list.
    fn push_front(&mut self, list: &mut PktList, p: Pkt);

    /// Takes the first packet of a list.
    fn pop(&mut self, list: &mut PktList) -> Option<Pkt>;

    /// Writes a time into the packet ([`Packet::t_enqueue`]), such as that of its arrival, from which the time that it waits is counted.
    fn stamp(&mut self, p: Pkt, at: Instant);

    /// Sets the congestion mark, and says whether the packet has it now: one whose sender takes no part in ECN is left alone.
    // spec: rfc3168 5.
    fn mark(&mut self, p: Pkt) -> bool;

    /// Ends a packet's life: it is dropped for this reason, and its charge ends. The handle is of no use any more.
    fn drop(&mut self, p: Pkt, reason: Reason);

    /// Ends a packet's charge while it lives on, as an emulated network does: its sender's socket does not wait for it.
    fn orphan(&mut self, p: Pkt);
}

/// A queueing discipline.
///
/// A packet is the discipline's from [`enqueue`](Self::enqueue) on, until it is given to the caller of [`dequeue`](Self::dequeue) or
/// dropped through [`Room::drop`]. `now` never goes back. A [`PktList`] holds packets without allocation.
///
/// A packet may stand for several segments ([`Packet::segs`]), of up to 64 KiB together: it comes and leaves as one, is one in the backlog,
/// and has an Ethernet header for each segment in [`crate::vocabulary::skb_len`].
///
/// # What must hold
///
/// - Each packet ends once: it leaves, or it is dropped, or it is inside. [`backlog`](Self::backlog) and [`stats`](Self::stats) say so.
/// - The answer of `enqueue` fits what was dropped: see [`Enqueue`].
/// - No wake is lost. Once `dequeue` gives nothing, [`next`](Self::next) is [`NextSend::Never`] if nothing is inside, and a time that is still to
///   come if something is.
/// - No clock is read, and nothing is allocated but when it is built; chance comes from the [`RandomStream`] that it was built with: same calls,
///   same answers.
///
/// [`crate::check::discipline`] tries all of it.
pub trait Discipline: Debug {
    /// Takes a packet over; what is dropped for it, itself or another, is dropped before it returns.
    fn enqueue(&mut self, now: Instant, p: Pkt, room: &mut dyn Room) -> Enqueue;

    /// Hands the next packet to the caller, if one may leave now.
    fn dequeue(&mut self, now: Instant, room: &mut dyn Room) -> Option<Pkt>;

    /// When to dequeue next. One that never holds packets back leaves it as it is.
    fn next(&self, _now: Instant) -> NextSend {
        if self.backlog().0 > 0 { NextSend::Now } else { NextSend::Never }
    }

    /// Packets and bytes in it, as [`crate::vocabulary::skb_len`] counts them.
    fn backlog(&self) -> (u32, u64);

    /// Counters that every discipline has; [`QdiscStats::sent`] counts what leaves.
    fn stats(&self) -> QdiscStats;

    /// Counters of its own, by their names.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// A discipline, as a configuration names it: one is made for each place, with a random stream of its own.
pub type DisciplineFactory = PartFactory<dyn Discipline + Send, RandomStream>;

/// The world as one discipline may act on it now.
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

/// A discipline of somebody's own in its place.
#[derive(Debug)]
pub struct CustomQdisc {
    name: String,
    place: PlaceId,
    discipline: Box<dyn Discipline + Send>,
}

impl CustomQdisc {
    /// Makes the discipline; drops are booked at `place`, and `stream` is what it may leave to chance by.
    pub fn new(config: &DisciplineFactory, place: PlaceId, stream: RandomStream) -> Self {
        Self { name: config.name().to_owned(), place, discipline: config.make(stream) }
    }

    /// Its name.
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

    /// See [`Discipline::next`].
    /// Panics if it asks to be woken at a time that is not to come: the run would not go on.
    pub fn next(&self, now: Instant) -> NextSend {
        let wake = self.discipline.next(now);
        assert!(
            !matches!(wake, NextSend::At(at) if at <= now),
            "discipline {:?}: asks for {wake:?} at {now:?}, which is not to come; it is NextSend::Now, if dequeue gives a packet",
            self.name
        );
        wake
    }

    /// Packets and bytes in it.
    pub fn backlog(&self) -> (u32, u64) {
        self.discipline.backlog()
    }

    /// Counters that every discipline has.
    pub fn stats(&self) -> QdiscStats {
        self.discipline.stats()
    }

    /// Counters of its own.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        self.discipline.counters()
    }
}
