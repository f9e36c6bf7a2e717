//! A queueing discipline: short packets overtake long ones, but only a limited number in a row while a long
//! one waits.

use stillair_cli::model::qdisc::custom::{Discipline, Room};
use stillair_cli::model::qdisc::{Enqueue, NextSend, QdiscStats};
use stillair_cli::model::types::{Instant, Pkt, PktList, Reason, skb_len};

/// The discipline.
#[derive(Debug)]
pub struct ShortFirst {
    limit: u32,
    /// Maximum size in bytes of a short packet.
    short: u32,
    row: u32,
    /// Short packets, and other packets.
    lists: [PktList; 2],
    /// Short packets sent since the last long one.
    in_row: u32,
    stats: QdiscStats,
}

impl ShortFirst {
    pub fn new(limit: i64, short: u32, row: i64) -> Self {
        let lists = [PktList::default(), PktList::default()];
        let (limit, row) = (limit as u32, row as u32);
        Self { limit, short, row, lists, in_row: 0, stats: QdiscStats::default() }
    }
}

impl Discipline for ShortFirst {
    fn enqueue(&mut self, _now: Instant, p: Pkt, room: &mut dyn Room) -> Enqueue {
        let list = &mut self.lists[usize::from(skb_len(room.packet(p)) > self.short)];
        if list.packets() >= self.limit {
            self.stats.drops += 1;
            room.drop(p, Reason::Overlimit);
            return Enqueue::Dropped;
        }
        room.push(list, p);
        Enqueue::Queued
    }

    fn dequeue(&mut self, _now: Instant, room: &mut dyn Room) -> Option<Pkt> {
        let [short, long] = &self.lists;
        let takes_short = !short.is_empty() && (long.is_empty() || self.in_row < self.row);
        self.in_row = if takes_short { (self.in_row + 1).min(self.row) } else { 0 };
        let p = room.pop(&mut self.lists[usize::from(!takes_short)])?;
        self.stats.sent(room.packet(p));
        Some(p)
    }

    fn next(&self, _now: Instant) -> NextSend {
        if self.lists.iter().all(PktList::is_empty) { NextSend::Never } else { NextSend::Now }
    }

    fn backlog(&self) -> (u32, u64) {
        let [short, long] = &self.lists;
        (short.packets() + long.packets(), short.bytes() + long.bytes())
    }

    fn stats(&self) -> QdiscStats {
        self.stats
    }
}
