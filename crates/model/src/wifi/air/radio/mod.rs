//! A radio: short queues of PPDUs in front of its EDCA functions.
//!
//! Hardware does not drop packets; PPDUs fail. PPDU buffers are reused, so that nothing is allocated during a
//! run.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::types::{Ac, ChannelId, DevId, Duration, Instant, PeerId};
use crate::wifi::air::edca::EdcaSet;
use crate::wifi::air::filter::Filter;
use crate::wifi::air::medium::{EdcafId, Medium};
use crate::wifi::air::ppdu::{Header, Ppdu};
use crate::wifi::phy::RetryChain;
use crate::wifi::seq_window::SeqWindow;

/// Number of the beacon queue. Queues 0 to 3 belong to the access categories.
pub const BEACON_QUEUE: usize = 4;
/// Number of queues per radio.
pub const QUEUES: usize = 5;

#[derive(Debug, Default)]
struct HwQueue {
    ppdus: VecDeque<Box<Ppdu>>,
    aggregates: u32,
    /// PPDUs that have left the queue and are not yet reported to the driver.
    unreported: u32,
}

/// Hardware queues of one radio.
#[derive(Debug)]
pub struct Radio {
    /// The radio's channel.
    pub channel: ChannelId,
    /// Number of the radio on its channel.
    pub number: usize,
    /// EDCA functions, one per queue.
    pub edcafs: [EdcafId; QUEUES],
    depth: HardwareDepth,
    txop: [Duration; 4],
    queues: [HwQueue; QUEUES],
    #[expect(
        clippy::vec_box,
        reason = "a PPDU stays where it is on its way through queues and driver; its box moves"
    )]
    spare: Vec<Box<Ppdu>>,
    /// Blocked destinations and the PPDUs returned because of them.
    filter: Filter,
}

impl Radio {
    /// Creates an idle radio.
    pub fn new(
        channel: ChannelId,
        functions: [EdcafId; QUEUES],
        depth: HardwareDepth,
        edca: &EdcaSet,
    ) -> Self {
        let txop = Ac::ALL.map(|ac| edca.get(ac).txop);
        Self {
            channel,
            number: 0,
            edcafs: functions,
            depth,
            txop,
            queues: Default::default(),
            spare: Vec::new(),
            filter: Filter::default(),
        }
    }

    /// Returns true if the driver may add a PPDU. PPDUs of a Block Ack session and single frames have
    /// separate limits.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_sched_aggr, ath_tx_txqaddbuf (4.4) -
    // axq_ampdu_depth counts session PPDUs, including single frames but not probes; axq_depth counts all
    // PPDUs.
    #[inline]
    pub fn room(&self, ac: Ac, in_session: bool) -> bool {
        let q = &self.queues[ac.index()];
        if in_session {
            q.aggregates < self.depth.aggregates
        } else {
            q.ppdus.len() as u32 + q.unreported < self.depth.singles
        }
    }

    /// Number that a PPDU adds to the limited aggregates.
    #[inline]
    fn counts(&self, ppdu: &Ppdu) -> u32 {
        let probes = ppdu.mpdus.first().is_some_and(|m| m.probe.is_some());
        u32::from(ppdu.header.in_session && (self.depth.probes_count || !probes))
    }

    /// Returns an empty PPDU to be filled and sent.
    pub fn blank(&mut self, header: Header, chain: RetryChain) -> Box<Ppdu> {
        match self.spare.pop() {
            Some(mut used) => {
                let mut mpdus = core::mem::take(&mut used.mpdus);
                mpdus.clear();
                *used = Ppdu::new(header, chain, mpdus);
                used
            }
            None => Box::new(Ppdu::new(header, chain, Vec::with_capacity(usize::from(SeqWindow::SIZE)))),
        }
    }

    /// Queues a PPDU. If the queue was empty, its EDCA function starts to contend.
    pub fn send(&mut self, now: Instant, queue: usize, ppdu: Box<Ppdu>, medium: &mut Medium) {
        let counts = self.counts(&ppdu);
        let q = &mut self.queues[queue];
        q.aggregates += counts;
        q.ppdus.push_back(ppdu);
        if q.ppdus.len() == 1 {
            if self.filter.is_set() {
                self.look(queue);
                if self.queues[queue].ppdus.is_empty() {
                    return;
                }
            }
            medium.request(now, self.edcafs[queue]);
        }
    }

    /// Sets the destination filter: `ppdu`, no longer in its queue, has failed in all its tries, so queued
    /// PPDUs to the same station are returned unsent.
    #[cold]
    pub fn failed(&mut self, ppdu: &Ppdu) {
        self.filter.set(&ppdu.header);
    }

    /// Returns PPDUs that the destination filter stops at the head of a queue.
    #[inline]
    pub fn look(&mut self, queue: usize) {
        if self.filter.is_set() {
            self.sift(queue);
        }
    }

    #[cold]
    fn sift(&mut self, queue: usize) {
        while let Some(ppdu) = self.queues[queue].ppdus.front()
            && self.filter.stops(ppdu)
            && let Some(ppdu) = self.pop(queue)
        {
            self.return_unsent(ppdu);
        }
    }

    /// Hands a PPDU that has left its queue back to the driver, which gets it by [`Radio::take_returned`].
    pub fn return_unsent(&mut self, ppdu: Box<Ppdu>) {
        self.unreported(ppdu.header.ac.index(), &ppdu, 1);
        self.filter.returned.push_back(ppdu);
    }

    /// Returns true if returned PPDUs wait for the driver.
    #[inline]
    pub fn has_returned(&self) -> bool {
        !self.filter.returned.is_empty()
    }

    /// Removes the next returned PPDU, whose place in the queue becomes free.
    pub fn take_returned(&mut self) -> Option<Box<Ppdu>> {
        let ppdu = self.filter.returned.pop_front()?;
        self.unreported(ppdu.header.ac.index(), &ppdu, -1);
        Some(ppdu)
    }

    /// Returns true if the aggregate queued last takes more frames until its transmission starts.
    #[inline]
    pub fn stays_open(&self) -> bool {
        self.depth.open
    }

    /// Returns the PPDU queued last if it may take more frames: it has not been tried and is not on the air.
    // deviation: never adds frames within a TXOP of several exchanges.
    pub fn open(&mut self, now: Instant, ac: Ac, medium: &mut Medium) -> Option<&mut Ppdu> {
        let queue = ac.index();
        let q = &mut self.queues[queue];
        if self.txop[queue] > Duration::ZERO || q.ppdus.len() == 1 && medium.sends(now, self.edcafs[queue]) {
            return None;
        }
        q.ppdus.back_mut().map(|p| &mut **p).filter(|p| p.tries == 0)
    }

    /// Returns the header of the PPDU queued last.
    #[inline]
    pub fn last(&self, ac: Ac) -> Option<Header> {
        self.queues[ac.index()].ppdus.back().map(|p| p.header)
    }

    /// Withdraws a device's queued data PPDUs to a peer that has fallen asleep, except for a PPDU on the air.
    #[cold]
    pub fn withdraw(
        &mut self,
        now: Instant,
        whose: (DevId, PeerId),
        medium: &mut Medium,
        back: &mut Vec<Box<Ppdu>>,
    ) {
        for queue in 0..BEACON_QUEUE {
            let held = self.queues[queue].ppdus.len();
            if held == 0 {
                continue;
            }
            let first_stays = medium.sends(now, self.edcafs[queue]);
            let mut first_goes = false;
            for n in 0..held {
                let Some(ppdu) = self.queues[queue].ppdus.pop_front() else { break };
                if (ppdu.header.dev, ppdu.header.peer) == whose && !(n == 0 && first_stays) {
                    self.queues[queue].aggregates -= self.counts(&ppdu);
                    first_goes |= n == 0;
                    back.push(ppdu);
                } else {
                    self.queues[queue].ppdus.push_back(ppdu);
                }
            }
            if first_goes {
                medium.withdraw(now, self.edcafs[queue], self.queues[queue].ppdus.len());
            }
        }
    }

    /// Returns the PPDU for which the queue's EDCA function contends.
    #[inline]
    pub fn head(&mut self, queue: usize) -> Option<&mut Ppdu> {
        self.queues[queue].ppdus.front_mut().map(|p| &mut **p)
    }

    /// Returns the head of a queue by shared reference.
    #[inline]
    pub fn first(&self, queue: usize) -> Option<&Ppdu> {
        self.queues[queue].ppdus.front().map(|p| &**p)
    }

    /// Removes the head of a queue after its last try.
    #[inline]
    pub fn pop(&mut self, queue: usize) -> Option<Box<Ppdu>> {
        let ppdu = self.queues[queue].ppdus.pop_front()?;
        self.queues[queue].aggregates -= self.counts(&ppdu);
        Some(ppdu)
    }

    /// Lets a PPDU that has left its queue still occupy a place (`places` = 1), or frees that place once the
    /// driver has processed the PPDU (-1).
    pub fn unreported(&mut self, queue: usize, ppdu: &Ppdu, places: i32) {
        let counts = self.counts(ppdu);
        let q = &mut self.queues[queue];
        q.unreported = q.unreported.wrapping_add_signed(places);
        q.aggregates = q.aggregates.wrapping_add_signed(places * counts as i32);
    }

    /// Puts a PPDU back at the head of its queue for another try.
    #[inline]
    pub fn put_back(&mut self, queue: usize, ppdu: Box<Ppdu>) {
        let counts = self.counts(&ppdu);
        let q = &mut self.queues[queue];
        q.aggregates += counts;
        q.ppdus.push_front(ppdu);
    }

    /// Returns the TXOP limit of an access category. Zero allows one exchange.
    #[inline]
    pub fn txop(&self, ac: Ac) -> Duration {
        self.txop[ac.index()]
    }

    /// Keeps a PPDU's buffer for the next [`Radio::blank`].
    #[inline]
    pub fn recycle(&mut self, ppdu: Box<Ppdu>) {
        self.spare.push(ppdu);
    }

    /// Returns the number of PPDUs in a queue.
    pub fn queued(&self, queue: usize) -> usize {
        self.queues[queue].ppdus.len()
    }

    /// Returns all PPDUs in all queues.
    pub fn ppdus(&self) -> impl Iterator<Item = &Ppdu> {
        self.queues.iter().flat_map(|q| &q.ppdus).chain(&self.filter.returned).map(|p| &**p)
    }
}

/// Number of PPDUs that the driver keeps queued in the hardware, per access category.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HardwareDepth {
    /// Queue aggregates while fewer than this many are queued.
    pub aggregates: u32,
    /// Queue single frames while fewer than this many PPDUs are queued.
    pub singles: u32,
    /// Count a session frame that probes a rate, which is sent alone, as an aggregate.
    pub probes_count: bool,
    /// Add frames to the aggregate queued last until its transmission starts.
    pub open: bool,
}

impl Default for HardwareDepth {
    // linux: drivers/net/wireless/ath/ath9k/ath9k.h ATH_AGGR_MIN_QDEPTH, ATH_NON_AGGR_MIN_QDEPTH, xmit.c
    // bf_is_ampdu_not_probing (4.4).
    fn default() -> Self {
        Self { aggregates: 2, singles: 8, probes_count: false, open: false }
    }
}

impl HardwareDepth {
    /// Depth of the ath9k_htc firmware: one aggregate, and as many single frames as the firmware has buffers.
    // ath9k_htc-firmware: wlan/if_owl.c ath_tgt_tx_sched_aggr, ath_tgt_handle_normal (e888634) - passes
    // frames outside a session to the hardware immediately.
    pub const HTC: Self = Self { aggregates: 1, singles: 33, probes_count: true, open: false };

    /// Depth of firmware that builds each aggregate at transmission time from the packets in its ring.
    // deviation: assumed for ath10k, iwlwifi and Broadcom, whose firmware is not public - the ring has no
    // limit of its own, and a new frame is in it immediately.
    pub const RING: Self = Self { aggregates: 1, singles: 8, probes_count: false, open: true };
}

#[cfg(test)]
mod tests;
