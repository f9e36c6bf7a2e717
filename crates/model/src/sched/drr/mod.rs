//! DRR++: deficit round-robin over members on a *new* and an *old* list, in any unit of charge.
//!
//! Flow queues charge bytes when a packet leaves; the airtime scheduler charges nanoseconds when a
//! transmission has ended. So nothing here charges on its own: [`Drr::next`] finds the member whose turn it
//! is, and the caller serves it, charges it, or reports with [`Drr::head_empty`] that it had nothing to send.
//!
//! Members belong to a pool ([`Drr`]) that serves many schedulers ([`DeficitRoundRobin`]); a member is on at
//! most one list. Only adding a member allocates. The pool also stores the caller's data for each member, so
//! that everything a packet changes is in one place.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// Number of a member of the pool.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Member(pub u32);

impl Member {
    /// Index in the caller's tables.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Rule for a member of the new list that has nothing to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmptyNew {
    /// Always move it to the old list once.
    // spec: rfc8290 4.2 and paper: ending-the-anomaly alg2, alg3.
    ToOld,
    /// Move it to the old list, or remove it if that list is empty.
    // linux: net/sched/sch_fq_codel.c fq_codel_dequeue (5.4), include/net/fq_impl.h fq_tin_dequeue (5.10),
    // drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11).
    ToOldUnlessAlone,
    /// Remove it.
    // linux: net/mac80211/tx.c ieee80211_return_txq (5.4) - does not list a queue without frames again.
    Leaves,
}

const UNLISTED: u32 = u32::MAX;
const END: u32 = u32::MAX - 1;

/// A member. Aligned to a cache line: with many members, one is rarely still in the cache when its next
/// packet arrives.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Node<T> {
    deficit: i64,
    next: u32,
    /// The member whose deficit counts: itself, or the one that represents its group.
    account: u32,
    of: T,
}

/// The pool of members, with their deficits and the caller's data for each.
#[derive(Clone, Debug)]
pub struct Drr<T = ()> {
    nodes: Vec<Node<T>>,
}

#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

impl List {
    const EMPTY: Self = Self { head: END, tail: END };
}

/// A new and an old list of members: the state of one scheduler.
#[derive(Clone, Debug)]
pub struct DeficitRoundRobin {
    new: List,
    old: List,
}

impl Default for DeficitRoundRobin {
    fn default() -> Self {
        Self { new: List::EMPTY, old: List::EMPTY }
    }
}

impl DeficitRoundRobin {
    /// Returns true if no member is listed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.new.head == END && self.old.head == END
    }

    /// Returns true if at most one member is listed.
    #[inline]
    fn has_one(&self) -> bool {
        match (self.new.head, self.old.head) {
            (END, head) => head == self.old.tail,
            (head, END) => head == self.new.tail,
            _ => false,
        }
    }

    /// The first member in line, and true if it is on the new list.
    #[inline]
    pub fn head(&self) -> Option<(Member, bool)> {
        match (self.new.head, self.old.head) {
            (END, END) => None,
            (END, old) => Some((Member(old), false)),
            (new, _) => Some((Member(new), true)),
        }
    }
}

impl<T> Index<Member> for Drr<T> {
    type Output = T;

    #[inline]
    fn index(&self, m: Member) -> &T {
        &self.nodes[m.index()].of
    }
}

impl<T> IndexMut<Member> for Drr<T> {
    #[inline]
    fn index_mut(&mut self, m: Member) -> &mut T {
        &mut self.nodes[m.index()].of
    }
}

impl<T: Default> Drr<T> {
    /// Creates a pool of `members` members, each with its own deficit and not listed.
    pub fn new(members: u32) -> Self {
        assert!(members < END, "too many members");
        let node = |account| Node { deficit: 0, next: UNLISTED, account, of: T::default() };
        Self { nodes: (0..members).map(node).collect() }
    }
}

impl<T> Drr<T> {
    /// Makes member `m` use the deficit of `account`, which several members may share. Panics if `account`
    /// does not exist.
    // linux: drivers/net/wireless/ath/ath9k (4.11) - lists TIDs, but has one deficit per station and access
    // category.
    pub fn share(&mut self, m: Member, account: Member) {
        assert!(account.index() < self.nodes.len(), "an account names no member");
        self.nodes[m.index()].account = account.0;
    }

    /// Creates an empty pool with room for `members` members.
    pub fn with_room(members: u32) -> Self {
        Self { nodes: Vec::with_capacity(members as usize) }
    }

    /// The caller's data for each member, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.nodes.iter().map(|node| &node.of)
    }

    /// Adds a member with its own deficit and the caller's data. Panics if the pool is full.
    pub fn add(&mut self, of: T) -> Member {
        let account = self.nodes.len() as u32;
        assert!(account < END - 1, "too many members");
        self.nodes.push(Node { deficit: 0, next: UNLISTED, account, of });
        Member(account)
    }

    /// Number of members in the pool.
    pub fn members(&self) -> u32 {
        self.nodes.len() as u32
    }

    #[inline]
    fn account(&mut self, m: Member) -> &mut i64 {
        let account = self.nodes[m.index()].account;
        &mut self.nodes[account as usize].deficit
    }

    /// The member's deficit: the amount it may still use before its turn ends.
    #[inline]
    pub fn deficit(&self, m: Member) -> i64 {
        self.nodes[self.nodes[m.index()].account as usize].deficit
    }
    /// Sets the member's deficit.
    #[inline]
    pub fn set_deficit(&mut self, m: Member, deficit: i64) {
        *self.account(m) = deficit;
    }
    /// Subtracts `amount` from the member's deficit.
    #[inline]
    pub fn charge(&mut self, m: Member, amount: i64) {
        *self.account(m) -= amount;
    }
    /// Returns true if the member is on a list.
    #[inline]
    pub fn is_listed(&self, m: Member) -> bool {
        self.nodes[m.index()].next != UNLISTED
    }

    #[inline]
    fn append(&mut self, list: &mut List, m: u32) {
        self.nodes[m as usize].next = END;
        match list.tail {
            END => list.head = m,
            tail => self.nodes[tail as usize].next = m,
        }
        list.tail = m;
    }

    #[inline]
    fn pop(&mut self, list: &mut List) -> u32 {
        let m = list.head;
        list.head = core::mem::replace(&mut self.nodes[m as usize].next, UNLISTED);
        if list.head == END {
            list.tail = END;
        }
        m
    }

    /// Appends the member to the new or old list. Returns false and changes nothing if it is already listed.
    #[inline]
    pub fn activate(&mut self, rounds: &mut DeficitRoundRobin, m: Member, to_new: bool) -> bool {
        if self.is_listed(m) {
            return false;
        }
        self.append(if to_new { &mut rounds.new } else { &mut rounds.old }, m.0);
        true
    }

    /// Puts the member at the head. Returns false and changes nothing if it is already listed.
    #[inline]
    pub fn activate_first(&mut self, rounds: &mut DeficitRoundRobin, m: Member) -> bool {
        if self.is_listed(m) {
            return false;
        }
        let list = &mut rounds.new;
        self.nodes[m.index()].next = list.head;
        if list.head == END {
            list.tail = m.0;
        }
        list.head = m.0;
        true
    }

    /// Removes the head from its list. Panics if no member is listed.
    #[inline]
    pub fn remove_head(&mut self, rounds: &mut DeficitRoundRobin) -> Member {
        let list = if rounds.new.head != END { &mut rounds.new } else { &mut rounds.old };
        assert!(list.head != END, "nobody is listed");
        Member(self.pop(list))
    }

    /// Moves the head to the end of the old list. Calling this after each service gives plain round-robin.
    /// Panics if no member is listed.
    #[inline]
    pub fn rotate_head(&mut self, rounds: &mut DeficitRoundRobin) -> Member {
        let m = self.remove_head(rounds);
        self.append(&mut rounds.old, m.0);
        m
    }

    /// Returns the member whose turn it is (the first in line with a positive deficit), and true if it is on
    /// the new list.
    ///
    /// Members before it, without a positive deficit, get a quantum and move to the end of the old list.
    /// Panics if `quantum` is not positive, because the search would not end.
    // spec: rfc8290 4.2, and paper: ending-the-anomaly alg2, alg3 - the same loop for bytes and for airtime.
    #[inline]
    pub fn next(&mut self, rounds: &mut DeficitRoundRobin, quantum: i64) -> Option<(Member, bool)> {
        self.next_by(rounds, |_| quantum, |_| 0)
    }

    /// Like [`Drr::next`], with a quantum per member, and with `pending` usage per member that is not charged
    /// yet.
    #[inline]
    pub fn next_by(
        &mut self,
        rounds: &mut DeficitRoundRobin,
        quantum: impl Fn(Member) -> i64,
        pending: impl Fn(Member) -> i64,
    ) -> Option<(Member, bool)> {
        loop {
            let (m, is_new) = rounds.head()?;
            let (deficit, pending) = (self.account(m), pending(m));
            if *deficit > pending {
                return Some((m, is_new));
            }
            let more = quantum(m);
            assert!(more > 0, "a quantum must be positive");
            // A lone member gets all its rounds at once.
            let times = if rounds.has_one() { (pending - *deficit) / more + 1 } else { 1 };
            *deficit += times * more;
            self.rotate_head(rounds);
        }
    }

    /// Reports that the head has nothing to send: it moves from the new to the old list, or leaves. Returns
    /// the member if it left. Panics if no member is listed.
    #[inline]
    pub fn head_empty(&mut self, rounds: &mut DeficitRoundRobin, rule: EmptyNew) -> Option<Member> {
        let is_new = rounds.new.head != END;
        let m = self.remove_head(rounds);
        let stays = match rule {
            EmptyNew::ToOld => true,
            EmptyNew::ToOldUnlessAlone => rounds.old.head != END,
            EmptyNew::Leaves => false,
        };
        if is_new && stays {
            self.append(&mut rounds.old, m.0);
            return None;
        }
        Some(m)
    }

    /// Number of members on the new and on the old list, counted by walking the lists. For reports only.
    pub fn lengths(&self, rounds: &DeficitRoundRobin) -> (u32, u32) {
        let walk = |list: &List| {
            let mut at = list.head;
            core::iter::from_fn(|| {
                let here = (at != END).then_some(at)?;
                at = self.nodes[here as usize].next;
                Some(here)
            })
            .count() as u32
        };
        (walk(&rounds.new), walk(&rounds.old))
    }
}

#[cfg(test)]
mod tests;
