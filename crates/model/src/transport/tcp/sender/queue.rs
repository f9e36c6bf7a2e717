//! The sender's two queues: sent but unacknowledged packets, and written but unsent data.
//!
//! Sent packets are in sequence order in a ring of slot numbers. Slots never move, so that a linked list
//! through them can keep the order of the last transmission, which RACK walks. Unsent packets have no state
//! but their length, and are stored as runs of equal packets.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::transport::seq::after;
use crate::types::Fifo;

/// Slot number of a sent packet.
pub(super) type Id = u32;
/// Null slot.
pub(super) const NIL: Id = Id::MAX;

/// The packet is SACKed.
pub(super) const SACKED: u16 = 1;
/// A retransmission is assumed to be in the network.
pub(super) const RETRANS: u16 = 1 << 1;
/// The packet is marked lost.
pub(super) const LOST: u16 = 1 << 2;
/// The packet was retransmitted at some time.
pub(super) const EVER_RETRANS: u16 = 1 << 3;
/// The packet was sent while the application limited the sender.
pub(super) const APP_LIMITED: u16 = 1 << 4;
/// The packet has provided its delivery rate sample.
pub(super) const SAMPLED: u16 = 1 << 5;
/// The packet has PSH.
pub(super) const PUSH: u16 = 1 << 6;
/// The packet has FIN.
pub(super) const FIN: u16 = 1 << 7;
/// The packet's data was merged with the previous packet, and its sk_buff overhead freed.
pub(super) const JOINED: u16 = 1 << 8;
/// The packet is in the list by transmission time.
const LINKED: u16 = 1 << 9;

/// A sent packet: one segment, or several with TSO.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Skb {
    /// First sequence number.
    pub seq: u32,
    /// Sequence number after the packet, including a FIN.
    pub end: u32,
    /// Truesize in bytes.
    pub truesize: u32,
    pub segs: u16,
    pub flags: u16,
    /// Time of the last transmission in us.
    pub sent_us: u64,
    /// Time of the most recent delivery at that transmission, in us.
    pub delivered_mstamp: u64,
    /// Transmission time of the packet most recently delivered by then, in us.
    pub first_tx_mstamp: u64,
    /// Segments delivered by then.
    pub delivered: u32,
    /// Segments delivered by then with a CE mark.
    pub delivered_ce: u32,
    /// Charge counter that locates the last transmission in lower layers ([`super::Sender::in_host_queue`]).
    pub charged: u32,
    /// Links of the list by transmission time, owned by the queue.
    pub prev: Id,
    pub next: Id,
}

impl Skb {
    /// Bytes of data.
    #[inline]
    pub fn len(&self) -> u32 {
        self.end.wrapping_sub(self.seq) - u32::from(self.flags & FIN != 0)
    }
    /// Returns true if any of the flags is set.
    #[inline]
    pub fn is(&self, flags: u16) -> bool {
        self.flags & flags != 0
    }
}

/// Sent but unacknowledged packets.
#[derive(Clone, Debug)]
pub(super) struct RtxQueue {
    slots: Vec<Skb>,
    free: Vec<Id>,
    order: Fifo<Id>,
    oldest: Id,
    newest: Id,
}

impl RtxQueue {
    pub fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), order: Fifo::default(), oldest: NIL, newest: NIL }
    }
    #[inline]
    pub fn len(&self) -> usize {
        self.order.len()
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
    /// Returns the slot of the `i`th packet in sequence.
    #[inline]
    pub fn id(&self, i: usize) -> Id {
        self.order.nth(i).expect("a packet of the queue")
    }
    /// Returns the slot of the first packet.
    #[inline]
    pub fn first(&self) -> Option<Id> {
        self.order.first()
    }
    #[inline]
    pub fn at(&self, id: Id) -> &Skb {
        &self.slots[id as usize]
    }
    #[inline]
    pub fn at_mut(&mut self, id: Id) -> &mut Skb {
        &mut self.slots[id as usize]
    }
    #[inline]
    pub fn head(&self) -> Option<&Skb> {
        self.first().map(|id| self.at(id))
    }
    pub fn iter(&self) -> impl Iterator<Item = &Skb> {
        self.order.iter().map(|id| self.at(id))
    }

    fn slot(&mut self, skb: Skb) -> Id {
        match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = skb;
                id
            }
            None => {
                self.slots.push(skb);
                (self.slots.len() - 1) as Id
            }
        }
    }

    /// Appends a packet that was just sent. Returns its slot.
    #[inline]
    pub fn push(&mut self, mut skb: Skb) -> Id {
        skb.flags &= !LINKED;
        let id = self.slot(skb);
        self.order.push(id);
        self.link_last(id);
        id
    }

    #[inline]
    pub fn pop(&mut self) {
        if let Some(id) = self.order.pop() {
            self.unlink(id);
            self.free.push(id);
        }
    }

    /// Returns the index of the first packet that ends after `seq`.
    pub fn find(&self, seq: u32) -> usize {
        self.order.partition_point(|id| !after(self.at(id).end, seq))
    }

    /// Splits the `i`th packet after `bytes` of data, at a memory cost of `cost`. With `pages` the memory of
    /// the data moves to the second packet. Both keep the same history.
    // linux: net/ipv4/tcp_output.c tcp_fragment (6.1).
    pub fn split(&mut self, i: usize, bytes: u32, mss: u32, cost: u32, pages: bool) {
        let id = self.id(i);
        let whole = *self.at(id);
        let rest_len = whole.len() - bytes;
        let moved = if pages { rest_len } else { 0 };
        let rest = Skb {
            seq: whole.seq.wrapping_add(bytes),
            truesize: cost + moved,
            segs: rest_len.div_ceil(mss).max(1) as u16,
            flags: whole.flags & !(LINKED | JOINED),
            ..whole
        };
        let front = self.at_mut(id);
        front.end = front.seq.wrapping_add(bytes);
        front.segs = bytes.div_ceil(mss) as u16;
        front.truesize -= moved;
        front.flags &= !(PUSH | FIN);
        let new = self.slot(rest);
        self.order.insert(i + 1, new);
        if whole.is(LINKED) {
            self.link_after(id, new);
        }
    }

    /// Returns the packet with the oldest last transmission.
    #[inline]
    pub fn oldest(&self) -> Id {
        self.oldest
    }
    /// Returns the packet sent after `id`.
    #[inline]
    pub fn sent_after(&self, id: Id) -> Id {
        self.at(id).next
    }
    /// Moves a packet to the end of the list after a transmission.
    #[inline]
    pub fn sent(&mut self, id: Id) {
        self.unlink(id);
        self.link_last(id);
    }
    /// Removes a packet that is SACKed or lost from the list.
    #[inline]
    pub fn unlink(&mut self, id: Id) {
        let Skb { prev, next, .. } = *self.at(id);
        if !self.at(id).is(LINKED) {
            return;
        }
        self.at_mut(id).flags &= !LINKED;
        match prev {
            NIL => self.oldest = next,
            _ => self.at_mut(prev).next = next,
        }
        match next {
            NIL => self.newest = prev,
            _ => self.at_mut(next).prev = prev,
        }
    }
    fn link_last(&mut self, id: Id) {
        match self.newest {
            NIL => {
                let skb = self.at_mut(id);
                (skb.prev, skb.next) = (NIL, NIL);
                skb.flags |= LINKED;
                (self.oldest, self.newest) = (id, id);
            }
            newest => self.link_after(newest, id),
        }
    }
    fn link_after(&mut self, before: Id, id: Id) {
        let next = core::mem::replace(&mut self.at_mut(before).next, id);
        let skb = self.at_mut(id);
        (skb.prev, skb.next) = (before, next);
        skb.flags |= LINKED;
        match next {
            NIL => self.newest = id,
            _ => self.at_mut(next).prev = id,
        }
    }
}

/// Consecutive unsent packets of equal length.
#[derive(Clone, Copy, Debug)]
struct Run {
    len: u32,
    count: u32,
    push: bool,
}

/// The first unsent packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    /// Bytes of data.
    pub len: u32,
    /// The packet has PSH.
    pub push: bool,
    /// No packet follows.
    pub last: bool,
}

/// Written but unsent data.
#[derive(Clone, Debug, Default)]
pub(super) struct UnsentQueue {
    runs: VecDeque<Run>,
    /// The last packet has FIN.
    pub fin: bool,
}

impl UnsentQueue {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
    #[inline]
    pub fn head(&self) -> Option<Head> {
        let run = self.runs.front()?;
        let last = run.count == 1 && self.runs.len() == 1;
        Some(Head { len: run.len, push: run.push, last })
    }
    /// Returns the length of the last packet in bytes.
    #[inline]
    pub fn tail_len(&self) -> Option<u32> {
        self.runs.back().map(|run| run.len)
    }
    pub fn append(&mut self, len: u32) {
        match self.runs.back_mut() {
            Some(run) if run.len == len && !run.push => run.count += 1,
            _ => self.runs.push_back(Run { len, count: 1, push: false }),
        }
    }
    /// Appends data to the last packet, keeping or clearing its PSH.
    pub fn grow(&mut self, bytes: u32, keeps_push: bool) {
        match self.take_last() {
            Some((len, true)) if keeps_push => self.append_pushed(len + bytes),
            Some((len, _)) => self.append(len + bytes),
            None => {}
        }
    }
    pub fn mark_push(&mut self) {
        if let Some((len, _)) = self.take_last() {
            self.append_pushed(len);
        }
    }
    fn append_pushed(&mut self, len: u32) {
        self.runs.push_back(Run { len, count: 1, push: true });
    }
    /// Removes the last packet. Returns its length and whether it has PSH.
    fn take_last(&mut self) -> Option<(u32, bool)> {
        let run = self.runs.back_mut()?;
        let last = (run.len, run.push);
        run.count -= 1;
        if run.count == 0 {
            self.runs.pop_back();
        }
        Some(last)
    }
    #[inline]
    pub fn pop(&mut self) {
        if let Some(run) = self.runs.front_mut() {
            run.count -= 1;
            if run.count == 0 {
                self.runs.pop_front();
            }
        }
    }
    /// Splits the first packet after `bytes`.
    // linux: net/ipv4/tcp_output.c tso_fragment (6.1) - keeps PSH on the second part.
    pub fn split(&mut self, bytes: u32) {
        if let Some(Head { len, push, .. }) = self.head() {
            self.pop();
            self.runs.push_front(Run { len: len - bytes, count: 1, push });
            self.runs.push_front(Run { len: bytes, count: 1, push: false });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn skb(seq: u32, end: u32, segs: u16) -> Skb {
        Skb { seq, end, segs, ..Skb::default() }
    }
    fn by_time(q: &RtxQueue) -> Vec<u32> {
        let mut ids = vec![];
        let mut id = q.oldest();
        while id != NIL {
            ids.push(q.at(id).seq);
            id = q.sent_after(id);
        }
        ids
    }

    #[test]
    fn two_orders_through_the_same_packets() {
        let mut q = RtxQueue::new();
        for seq in [0, 10, 20, 30] {
            q.push(skb(seq, seq + 10, 1));
        }
        q.sent(q.id(1));
        assert_eq!(by_time(&q), [0, 20, 30, 10]);
        q.unlink(q.id(2));
        q.unlink(q.id(2));
        assert_eq!(by_time(&q), [0, 30, 10]);
        q.pop();
        assert_eq!(by_time(&q), [30, 10]);
        assert_eq!((q.find(9), q.find(10), q.find(19), q.find(20), q.find(40)), (0, 0, 0, 1, 3));
        q.push(skb(40, 50, 1));
        assert_eq!(by_time(&q), [30, 10, 40]);
    }

    #[test]
    fn split_packets_keep_their_place_in_both_orders() {
        let mut q = RtxQueue::new();
        q.push(skb(u32::MAX - 99, 201, 3));
        q.at_mut(q.id(0)).flags |= FIN | PUSH;
        q.at_mut(q.id(0)).truesize = 350;
        q.push(skb(201, 301, 1));
        q.split(0, 100, 100, 50, true);
        let all: Vec<_> = q.iter().map(|s| (s.seq, s.end, s.len(), s.segs, s.truesize)).collect();
        assert_eq!(all, [(u32::MAX - 99, 0, 100, 1, 150), (0, 201, 200, 2, 250), (201, 301, 100, 1, 0)]);
        assert!(!q.at(q.id(0)).is(FIN | PUSH) && q.at(q.id(1)).is(FIN));
        assert_eq!(by_time(&q), [u32::MAX - 99, 0, 201]);
        assert_eq!(q.find(u32::MAX), 0);
    }

    #[test]
    fn unsent_packets_keep_their_boundaries() {
        let mut u = UnsentQueue::default();
        u.append(100);
        u.append(100);
        u.append(40);
        assert_eq!(u.head(), Some(Head { len: 100, push: false, last: false }));
        u.grow(60, false);
        u.mark_push();
        u.split(30);
        let mut seen = vec![];
        while let Some(head) = u.head() {
            seen.push((head.len, head.push, head.last));
            u.pop();
        }
        assert_eq!(seen, [(30, false, false), (70, false, false), (100, false, false), (100, true, true)]);
        // Appended data keeps or clears the PSH.
        for keeps in [true, false] {
            u.append(40);
            u.mark_push();
            u.grow(60, keeps);
            assert_eq!(u.head(), Some(Head { len: 100, push: keeps, last: true }));
            u.pop();
        }
    }
}
