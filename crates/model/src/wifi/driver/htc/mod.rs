//! ath9k_htc: a USB device. The host counts unreported frames and, at the limit, stops all queues above
//! together. The target's firmware builds the aggregates; its buffers hold few frames, and the others wait on
//! the host.

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
// deviation: management frames and beacons bypass the bus, and the host learns of failed frames immediately.
#[derive(Debug)]
pub struct HtcDriver {
    params: HtcParams,
    /// Frames on the host without a buffer in the target, of all stations and categories, in order.
    // linux: drivers/net/wireless/ath/ath9k/hif_usb.c hif_usb_send_tx, __hif_usb_tx (4.14) - one queue for
    // all endpoints.
    waiting: PktList,
    /// Frames in the target that are not in a PPDU.
    round: TidFifos,
    /// Frames taken from the qdisc and not yet reported.
    outstanding: u32,
    /// Outstanding frames with a buffer in the target.
    in_target: u32,
    stopped: bool,
    /// The bus. Without it, frames only wait for room in the target.
    usb: Option<Box<Usb>>,
}

impl HtcDriver {
    /// Creates a driver for a device with `tids` TIDs.
    pub fn new(params: HtcParams, tids: usize) -> Self {
        // ath9k_htc-firmware: wlan/if_owl.c ath_tgt_txq_schedule (e888634) - runs after a completion.
        let round = TidFifos::new(tids, WhenFull::KeepsTurn);
        let usb = params.usb.map(|usb| Box::new(Usb::new(usb)));
        Self { params, waiting: PktList::default(), round, outstanding: 0, in_target: 0, stopped: false, usb }
    }

    /// Takes a frame from the qdisc. Always accepts the frame. At the limit, stops all queues above.
    // linux: drivers/net/wireless/ath/ath9k/htc_drv_txrx.c ath9k_htc_check_stop_queues (4.14) - a single
    // count, incremented before the comparison.
    pub fn push<S: Sink>(&mut self, p: Pkt, ctx: &mut Ctx<'_, S>) {
        self.outstanding += 1;
        self.stopped |= self.outstanding >= self.params.limit;
        self.waiting.push(ctx.packets, p);
    }

    /// Handles the report of a frame, sent or dropped. Returns the queues above that are woken.
    // linux: drivers/net/wireless/ath/ath9k/htc_drv_txrx.c ath9k_htc_check_wake_queues (4.14) - no
    // hysteresis.
    pub fn completed(&mut self) -> Woken {
        self.in_target -= 1;
        self.reported()
    }

    /// Handles a frame that the target has completed and that is charged to a socket. Returns true if a later
    /// report informs the host and ends the charge.
    pub fn reports_later(&mut self, now: Instant, charge: SockId, truesize: u32) -> bool {
        let Some(usb) = &mut self.usb else { return false };
        usb.report(now, charge, truesize);
        self.in_target -= 1;
        true
    }

    /// Counts a frame reported to the host.
    fn reported(&mut self) -> Woken {
        self.outstanding -= 1;
        if self.stopped && self.outstanding < self.params.limit {
            self.stopped = false;
            return Woken::ALL;
        }
        Woken::default()
    }

    /// Returns the number of packets of a TID.
    pub fn backlog(&self, tid: TidIndex) -> u32 {
        self.round.backlog(tid)
    }

    /// Takes the next packet of a TID.
    pub fn pull<S: Sink>(&mut self, tid: TidIndex, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        self.round.pull(tid, ctx)
    }

    /// Returns true if the queues above are stopped.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Schedules a TID with frames in the target.
    pub fn schedule(&mut self, tid: TidIndex) {
        self.round.schedule(tid);
    }

    /// Builds PPDUs from the frames in the target, then moves frames that wait on the host into the freed
    /// buffers. The firmware continues immediately, the host only after a report. If the hardware is still
    /// idle, the moved frames are next.
    // ath9k_htc-firmware: wlan/if_owl.c owltgt_tx_processq, ath_tgt_handle_aggr (e888634) - after each
    // completion, builds an aggregate of the frames present; a frame that arrives while the hardware is idle
    // is sent alone.
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

    /// Returns when the next USB transfer completes. Then call [`HtcDriver::on_timer`] and
    /// [`HtcDriver::fill`].
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        self.usb.as_ref()?.next_timer()
    }

    /// Returns the charges of frames that the target has completed and not reported.
    pub fn charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        self.usb.iter().flat_map(|usb| usb.charges())
    }

    /// Moves frames over the bus as time and the target's buffers allow. A frame takes its buffer when it
    /// starts. Returns false if no frame has arrived.
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

    /// Moves frames into the target while it has buffers. Returns false if none was moved.
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

    /// Returns the number of packets on the host, on the bus and in the target, except those in PPDUs.
    pub fn queued(&self) -> u64 {
        u64::from(self.waiting.packets()) + self.round.queued()
    }

    /// Returns the bytes of these packets, with Ethernet headers.
    pub fn queued_bytes(&self) -> u64 {
        self.waiting.bytes() + self.round.queued_bytes()
    }
}

#[cfg(test)]
mod tests;
