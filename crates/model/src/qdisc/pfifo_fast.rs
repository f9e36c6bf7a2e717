//! pfifo_fast: three strict-priority FIFO bands.

use super::{Enqueue, QdiscStats};
use crate::types::{Ctx, Instant, Packet, Pkt, PktList, PlaceId, Reason, Sink};

/// Parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PfifoFastParams {
    /// Maximum number of packets: the device's `txqueuelen`.
    pub limit: u32,
    /// Apply the limit to each band, which is then a ring (since kernel 4.16). If false, the limit applies to
    /// all bands together.
    pub limit_per_band: bool,
}

impl Default for PfifoFastParams {
    // linux: net/ethernet/eth.c ether_setup (4.6) - txqueuelen 1000.
    fn default() -> Self {
        Self { limit: 1000, limit_per_band: false }
    }
}

const BANDS: usize = 3;

/// Band by kernel priority; band 0 is served first.
// linux: net/sched/sch_generic.c prio2band (4.6).
const PRIO_TO_BAND: [u8; 16] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];

/// Slots that a ring returns in a batch: two 64-byte cache lines of pointers.
// linux: include/linux/ptr_ring.h __ptr_ring_discard_one, ring set-up (4.12 to 6.18) - returns slots one by
// one if a batch exceeds half the ring.
const BATCH: u32 = 16;

/// Slots of a band's ring that the consumer has emptied but not yet returned to the producer.
#[derive(Debug, Default)]
struct Ring {
    head: u32,
    /// Emptied slots before `head` that still count as used.
    kept: u32,
}

impl Ring {
    /// Consumes an entry in a ring of `size` slots. Slots are returned in batches, and at the end of the
    /// ring.
    fn take(&mut self, size: u32) {
        self.head += 1;
        self.kept += 1;
        let batch = if BATCH > size / 2 { 1 } else { BATCH };
        if self.kept >= batch || self.head >= size {
            self.kept = 0;
        }
        if self.head >= size {
            self.head = 0;
        }
    }
}

/// The pfifo_fast qdisc.
#[derive(Debug)]
pub struct PfifoFast {
    params: PfifoFastParams,
    place: PlaceId,
    bands: [PktList; BANDS],
    rings: [Ring; BANDS],
    stats: QdiscStats,
}

impl PfifoFast {
    /// Creates empty bands. Drops are recorded at `place`.
    pub fn new(params: PfifoFastParams, place: PlaceId) -> Self {
        Self {
            params,
            place,
            bands: Default::default(),
            rings: Default::default(),
            stats: QdiscStats::default(),
        }
    }

    /// Appends the packet to the band of its priority. Refuses it if the limit is reached.
    // linux: net/sched/sch_generic.c pfifo_fast_enqueue (4.6: all bands together; 4.16: each band).
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        let prio = ctx.packets.get(p).prio;
        let band = usize::from(PRIO_TO_BAND[usize::from(prio & 15)]);
        let held = if self.params.limit_per_band {
            self.bands[band].packets() + self.rings[band].kept
        } else {
            self.backlog().0
        };
        if held >= self.params.limit {
            self.stats.drops += 1;
            ctx.drop(now, p, Reason::Overlimit, self.place);
            return Enqueue::Dropped;
        }
        self.bands[band].push(ctx.packets, p);
        Enqueue::Queued
    }

    /// See [`super::Qdisc::pass`].
    #[inline]
    pub fn pass(&mut self, p: &Packet) -> bool {
        let passes = self.params.limit > 0 && self.bands.iter().all(PktList::is_empty);
        if passes {
            self.stats.sent(p);
        }
        passes
    }

    /// Removes and returns the first packet of the first non-empty band.
    #[inline]
    pub fn dequeue<S: Sink>(&mut self, _now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        let band = self.bands.iter().position(|b| !b.is_empty())?;
        let p = self.bands[band].pop(ctx.packets)?;
        self.rings[band].take(self.params.limit);
        self.stats.sent(ctx.packets.get(p));
        Some(p)
    }

    /// Number of packets and bytes in all bands.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        self.bands.iter().fold((0, 0), |(n, bytes), b| (n + b.packets(), bytes + b.bytes()))
    }

    /// Counters.
    pub fn stats(&self) -> QdiscStats {
        self.stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::Bench;
    use alloc::vec::Vec;

    #[test]
    fn bands_in_order() {
        let mut b = Bench::new();
        let mut q = PfifoFast::new(PfifoFastParams::default(), PlaceId(0));
        for prio in 0..17 {
            // 16 wraps to 0: only the lower four bits count.
            let p = b.packet(u32::from(prio), 100);
            b.packets.get_mut(p).prio = prio;
            assert_eq!(q.enqueue(Instant::ZERO, p, &mut b.ctx()), Enqueue::Queued);
        }
        let order: Vec<_> = core::iter::from_fn(|| {
            let p = q.dequeue(Instant::ZERO, &mut b.ctx())?;
            Some(b.finish(p))
        })
        .collect();
        assert_eq!(order, [6, 7, 0, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16, 1, 2, 3, 5]);
    }

    #[test]
    fn the_limit_by_version() {
        use Enqueue::{Dropped, Queued};
        // Three packets to band 2, then three to band 0, with room for two.
        for (limit_per_band, want) in [
            (false, [Queued, Queued, Dropped, Dropped, Dropped, Dropped]),
            (true, [Queued, Queued, Dropped, Queued, Queued, Dropped]),
        ] {
            let mut b = Bench::new();
            let mut q = PfifoFast::new(PfifoFastParams { limit: 2, limit_per_band }, PlaceId(3));
            let got = [1, 1, 1, 6, 6, 6].map(|prio| {
                let p = b.packet(0, 1500);
                let hot = b.packets.get_mut(p);
                (hot.prio, hot.segs) = (prio, 2);
                q.enqueue(Instant::ZERO, p, &mut b.ctx())
            });
            assert_eq!(got, want);
            let drops = want.iter().filter(|&&w| w == Dropped).count() as u64;
            assert_eq!(b.packets.account().dropped[3][Reason::Overlimit as usize], drops);
            assert_eq!(q.backlog(), (6 - drops as u32, (6 - drops) * 1528));
            assert!(q.dequeue(Instant::ZERO, &mut b.ctx()).is_some());
            // Both segments have an Ethernet header.
            assert_eq!(q.stats(), QdiscStats { bytes: 1528, packets: 2, drops, ..Default::default() });
        }
    }
    #[test]
    fn a_ring_returns_its_slots_in_batches() {
        // Packets admitted after each packet dequeued from a full band. With 40 slots the consumer returns
        // slots after 16, 32 and 40 packets.
        let let_in = |limit: u32, limit_per_band: bool| -> Vec<u32> {
            let mut b = Bench::new();
            let mut q = PfifoFast::new(PfifoFastParams { limit, limit_per_band }, PlaceId(0));
            let fill = |b: &mut Bench, q: &mut PfifoFast| {
                (0..)
                    .take_while(|_| {
                        let p = b.packet(0, 1500);
                        q.enqueue(Instant::ZERO, p, &mut b.ctx()) == Enqueue::Queued
                    })
                    .count() as u32
            };
            assert_eq!(fill(&mut b, &mut q), limit);
            (0..limit + 2)
                .map(|_| {
                    let p = q.dequeue(Instant::ZERO, &mut b.ctx()).expect("full before");
                    b.finish(p);
                    fill(&mut b, &mut q)
                })
                .collect()
        };
        let batches = let_in(40, true);
        let when: Vec<_> =
            batches.iter().enumerate().filter(|(_, n)| **n > 0).map(|(n, many)| (n + 1, *many)).collect();
        assert_eq!(when, [(16, 16), (32, 16), (40, 8)]);
        // One by one if a batch exceeds half the ring, and before 4.16, when bands were lists.
        assert_eq!(let_in(31, true), [1; 33]);
        assert_eq!(let_in(40, false), [1; 42]);
    }
}
