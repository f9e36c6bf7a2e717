//! pfifo and bfifo: one tail-drop queue, limited in packets or in bytes.

use super::{Enqueue, QdiscStats};
use crate::types::{Ctx, Instant, Packet, Pkt, PktList, PlaceId, Reason, Sink, skb_len};

/// Bytes per packet of `txqueuelen` in bfifo's default limit: the MTU and an Ethernet header.
// linux: net/sched/sch_fifo.c fifo_init (4.6) - the device's psched_mtu.
const PER_PACKET: u32 = 1500 + 14;

/// Parameters: the limit, in the unit of the qdisc.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FifoParams {
    /// `pfifo`: maximum number of packets.
    Packets(u32),
    /// `bfifo`: maximum number of bytes, including Ethernet headers.
    Bytes(u32),
}

impl FifoParams {
    /// Parameters of `pfifo` on a device with this `txqueuelen`.
    // linux: net/sched/sch_fifo.c fifo_init (4.6).
    pub const fn pfifo(txqueuelen: u32) -> Self {
        Self::Packets(txqueuelen)
    }

    /// Parameters of `bfifo` on a device with this `txqueuelen` and an MTU of 1500 bytes.
    pub const fn bfifo(txqueuelen: u32) -> Self {
        Self::Bytes(txqueuelen.saturating_mul(PER_PACKET))
    }

    /// Name in tc.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Packets(_) => "pfifo",
            Self::Bytes(_) => "bfifo",
        }
    }
}

/// The pfifo or bfifo qdisc.
#[derive(Debug)]
pub struct Fifo {
    params: FifoParams,
    place: PlaceId,
    list: PktList,
    stats: QdiscStats,
}

impl Fifo {
    /// Creates an empty queue. Drops are recorded at `place`.
    pub fn new(params: FifoParams, place: PlaceId) -> Self {
        Self { params, place, list: PktList::default(), stats: QdiscStats::default() }
    }

    /// Changes the limit. Packets beyond a lower limit stay queued.
    // linux: net/sched/sch_fifo.c fifo_init (4.6) - changes only the limit.
    pub(super) fn change(&mut self, params: FifoParams) {
        self.params = params;
    }

    /// Appends the packet. Refuses it if the queue is full.
    // linux: net/sched/sch_fifo.c pfifo_enqueue, bfifo_enqueue (4.6) - compares packets without the new
    // packet and bytes with it, so that neither limit is exceeded.
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        let fits = match self.params {
            FifoParams::Packets(limit) => self.list.packets() < limit,
            FifoParams::Bytes(limit) => {
                self.list.bytes() + u64::from(skb_len(ctx.packets.get(p))) <= u64::from(limit)
            }
        };
        if !fits {
            self.stats.drops += 1;
            ctx.drop(now, p, Reason::Overlimit, self.place);
            return Enqueue::Dropped;
        }
        self.list.push(ctx.packets, p);
        Enqueue::Queued
    }

    /// See [`super::Qdisc::pass`].
    #[inline]
    pub fn pass(&mut self, p: &Packet) -> bool {
        let fits = match self.params {
            FifoParams::Packets(limit) => limit > 0,
            FifoParams::Bytes(limit) => skb_len(p) <= limit,
        };
        let passes = fits && self.list.is_empty();
        if passes {
            self.stats.sent(p);
        }
        passes
    }

    /// Removes and returns the first packet.
    #[inline]
    pub fn dequeue<S: Sink>(&mut self, _now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        let p = self.list.pop(ctx.packets)?;
        self.stats.sent(ctx.packets.get(p));
        Some(p)
    }

    /// The first packet, still queued.
    #[inline]
    pub fn head(&self) -> Option<Pkt> {
        self.list.head()
    }

    /// The parameters.
    pub fn params(&self) -> FifoParams {
        self.params
    }

    /// Number of packets and bytes queued.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        (self.list.packets(), self.list.bytes())
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
    fn limits_in_packets_and_in_bytes() {
        use Enqueue::{Dropped, Queued};
        // Three packets of 100, 1000 and 100 bytes with their headers; priority has no effect.
        for (params, want) in [
            (FifoParams::Packets(2), [Queued, Queued, Dropped]),
            (FifoParams::Packets(3), [Queued, Queued, Queued]),
            (FifoParams::Bytes(1200), [Queued, Queued, Queued]),
            (FifoParams::Bytes(1199), [Queued, Queued, Dropped]),
            // A small packet fits where a large one did not.
            (FifoParams::Bytes(1099), [Queued, Dropped, Queued]),
            (FifoParams::Bytes(99), [Dropped, Dropped, Dropped]),
        ] {
            let mut b = Bench::new();
            let mut q = Fifo::new(params, PlaceId(2));
            let got = [(0, 86), (1, 986), (2, 86)].map(|(seq, len)| {
                let p = b.packet(seq, len);
                b.packets.get_mut(p).prio = [2, 0, 6][seq as usize];
                q.enqueue(Instant::ZERO, p, &mut b.ctx())
            });
            assert_eq!(got, want, "{params:?}");
            let queued = |n: &usize| want[*n] == Queued;
            let bytes = (0..3).filter(queued).map(|n| [100, 1000, 100][n]).sum();
            assert_eq!(q.backlog(), ((0..3).filter(queued).count() as u32, bytes));
            let out: Vec<_> = core::iter::from_fn(|| {
                let p = q.dequeue(Instant::ZERO, &mut b.ctx())?;
                Some(b.finish(p) as usize)
            })
            .collect();
            assert_eq!(out, (0..3).filter(queued).collect::<Vec<_>>(), "first in, first out");
            let drops = 3 - out.len() as u64;
            assert_eq!(b.packets.account().dropped_total(), drops);
            assert_eq!(
                q.stats(),
                QdiscStats { bytes, packets: out.len() as u64, drops, ..Default::default() }
            );
        }
    }

    #[test]
    fn defaults_follow_the_device() {
        assert_eq!(FifoParams::pfifo(1000), FifoParams::Packets(1000));
        assert_eq!(FifoParams::bfifo(1000), FifoParams::Bytes(1_514_000));
        assert_eq!(FifoParams::bfifo(u32::MAX), FifoParams::Bytes(u32::MAX));
    }
}
