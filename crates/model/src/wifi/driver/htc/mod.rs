//! ath9k_htc: a USB device. The host counts the frames that were not reported and, at the limit, stops all
//! queues above together. The target's firmware builds the aggregates; its buffers hold few frames, and the
//! others wait on the host.

mod usb;

use super::Woken;
use super::tid_fifos::TidFifos;
use crate::types::{Ac, Ctx, Instant, Pkt, PktList, Sink, SockId};
use crate::wifi::config::{HtcParams, WhenFull};
use crate::wifi::phy::frame::data_mpdu;
use crate::wifi::tx::transmitter::{Hardware, TidIndex, Transmitter};
use alloc::boxed::Box;
use usb::Usb;

/// Transmit path of a USB device (ath9k_htc).
// deviation: management frames and beacons do not pass the bus, and what is given up is known at once.
#[derive(Debug)]
pub struct HtcDriver {
    params: HtcParams,
    /// Frames on the host that have no buffer in the target yet, of all stations and categories, in their
    /// order.
    // linux: drivers/net/wireless/ath/ath9k/hif_usb.c hif_usb_send_tx, __hif_usb_tx (4.14) - one queue for
    // all endpoints.
    waiting: PktList,
    /// Frames in the target that are in no PPDU.
    round: TidFifos,
    /// Frames taken from the qdisc and not reported yet.
    outstanding: u32,
    /// Those of them that have a buffer in the target.
    in_target: u32,
    stopped: bool,
    /// The bus; without it frames wait for room in the target alone.
    usb: Option<Box<Usb>>,
}

impl HtcDriver {
    /// A driver for a device with `tids` TIDs.
    pub fn new(params: HtcParams, tids: usize) -> Self {
        // ath9k_htc-firmware: wlan/if_owl.c ath_tgt_txq_schedule (e888634) - whose turn it is, is asked after
        // a completion.
        let round = TidFifos::new(tids, WhenFull::KeepsTurn);
        let usb = params.usb.map(|usb| Box::new(Usb::new(usb)));
        Self { params, waiting: PktList::default(), round, outstanding: 0, in_target: 0, stopped: false, usb }
    }

    /// Takes a frame from the qdisc. The frame is always accepted. At the limit, all queues above are
    /// stopped.
    // linux: drivers/net/wireless/ath/ath9k/htc_drv_txrx.c ath9k_htc_check_stop_queues (4.14) - one count for
    // all; it is raised first, then compared.
    pub fn push<S: Sink>(&mut self, p: Pkt, ctx: &mut Ctx<'_, S>) {
        self.outstanding += 1;
        self.stopped |= self.outstanding >= self.params.limit;
        self.waiting.push(ctx.packets, p);
    }

    /// A frame is reported, sent or dropped. Returns the queues above that are woken.
    // linux: drivers/net/wireless/ath/ath9k/htc_drv_txrx.c ath9k_htc_check_wake_queues (4.14) - no
    // hysteresis.
    pub fn completed(&mut self) -> Woken {
        self.in_target -= 1;
        self.reported()
    }

    /// The target has finished a frame that is charged to a socket. Returns true if the host learns this
    /// later, and ends the charge then.
    pub fn reports_later(&mut self, now: Instant, charge: SockId, truesize: u32) -> bool {
        let Some(usb) = &mut self.usb else { return false };
        usb.report(now, charge, truesize);
        self.in_target -= 1;
        true
    }

    /// The host has heard of a frame.
    fn reported(&mut self) -> Woken {
        self.outstanding -= 1;
        if self.stopped && self.outstanding < self.params.limit {
            self.stopped = false;
            return Woken::ALL;
        }
        Woken::default()
    }

    /// Number of packets of a TID.
    pub fn backlog(&self, tid: TidIndex) -> u32 {
        self.round.backlog(tid)
    }

    /// Takes the next packet of a TID.
    pub fn pull<S: Sink>(&mut self, tid: TidIndex, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        self.round.pull(tid, ctx)
    }

    /// Whether the queues above are stopped.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// The TID has frames in the target: schedules the TID.
    pub fn schedule(&mut self, tid: TidIndex) {
        self.round.schedule(tid);
    }

    /// Builds PPDUs from the frames in the target, then moves frames that wait on the host into the freed
    /// buffers. The firmware continues at once, and the host only after a report. If the hardware still has
    /// nothing, the moved frames are next.
    // ath9k_htc-firmware: wlan/if_owl.c owltgt_tx_processq, ath_tgt_handle_aggr (e888634) - after each
    // completion an aggregate of what is there; a frame that comes while the hardware has nothing goes out
    // alone.
    pub fn fill<S: Sink>(
        &mut self,
        now: Instant,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        loop {
            for ac in Ac::ALL {
                self.round.fill(now, ac, false, tx, hw, ctx);
            }
            if !self.admit(now, ctx) {
                break;
            }
        }
    }

    /// Handles USB transfers that have completed: reports end charges, and may wake the queues above.
    pub fn on_timer<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Woken {
        let mut woken = Woken::default();
        while let Some((charge, truesize)) = self.usb.as_mut().and_then(|usb| usb.reported(now)) {
            ctx.packets.uncharge(charge, truesize);
            woken.add(self.reported());
        }
        woken
    }

    /// When the next USB transfer completes. Then call [`HtcDriver::on_timer`] and [`HtcDriver::fill`].
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        self.usb.as_ref()?.next_timer()
    }

    /// Charges of frames that the target has finished and not reported.
    pub fn charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        self.usb.iter().flat_map(|usb| usb.charges())
    }

    /// Moves frames over the bus as far as time and the target's buffers allow; false if none has arrived. A
    /// buffer is taken when the frame sets out.
    fn transfer<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> bool {
        let Some(usb) = &mut self.usb else { return false };
        let mut arrived = false;
        while let Some(step) = usb.step(now, self.waiting.packets()) {
            match step {
                usb::Step::Arrived => {
                    let p = self.waiting.pop(ctx.packets).expect("a frame on the bus waits on the host");
                    let hot = ctx.packets.get(p);
                    self.round.push(p, TidIndex::new(hot.peer, hot.tid), ctx);
                    arrived = true;
                }
                usb::Step::Asks if self.in_target < self.params.target_buffers => {
                    self.in_target += 1;
                    let next = self.waiting.head().expect("frames of a transfer wait on the host");
                    usb.moves(now, self.waiting.packets(), data_mpdu(ctx.packets.get(next).len));
                }
                usb::Step::Asks => break,
            }
        }
        arrived
    }

    /// Moves frames into the target as long as it has buffers; false if none was moved.
    fn admit<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> bool {
        if self.usb.is_some() {
            return self.transfer(now, ctx);
        }
        let before = self.in_target;
        while self.in_target < self.params.target_buffers
            && let Some(p) = self.waiting.pop(ctx.packets)
        {
            let hot = ctx.packets.get(p);
            let tid = TidIndex::new(hot.peer, hot.tid);
            self.round.push(p, tid, ctx);
            self.in_target += 1;
        }
        self.in_target > before
    }

    /// Number of packets on the host, on the bus and in the target, except those in PPDUs.
    pub fn queued(&self) -> u64 {
        u64::from(self.waiting.packets()) + self.round.queued()
    }

    /// Bytes of these packets, with Ethernet headers.
    pub fn queued_bytes(&self) -> u64 {
        self.waiting.bytes() + self.round.queued_bytes()
    }
}

#[cfg(test)]
mod tests;
