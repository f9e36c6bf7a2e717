//! Device events: passing received packets up, transmit status, timers and beacons.

use stillair_model::types::{Ac, DevId, IfId, PeerId, Pkt, Sink};
use stillair_model::wifi::air::ppdu::{Content, Header, Ppdu};
use stillair_model::wifi::air::radio::BEACON_QUEUE;
use stillair_model::wifi::air::reception::RxOutcome;
use stillair_model::wifi::dev::WifiDev;
use stillair_model::wifi::phy::{PhyRate, frame};

use super::parts::airtime;
use super::{Air, UpperLayer};
use crate::engine::Slot;
use crate::world::state::SimState;

impl Air {
    /// Passes up the frames that a receiver got from one try.
    pub(super) fn hand_over<A: UpperLayer>(
        &mut self,
        above: &mut A,
        ppdu: &mut Ppdu,
        rate: PhyRate,
        (dev, peer): (DevId, PeerId),
        got: &RxOutcome,
    ) {
        if got.is_nothing() || (ppdu.mpdus.is_empty() && !got.whole.any()) {
            return;
        }
        ppdu.pm = self.wlans[ppdu.header.dev.index()].dev.pm;
        let mut up = self.batches.pop().unwrap_or_default();
        let (wlan, mut hw) = self.open(dev);
        let interface = wlan.interface;
        let core = above.core();
        wlan.dev.receive(core.now, peer, ppdu, rate, got, &mut up, &mut hw, &mut core.ctx());
        let radio = wlan.dev.radio.index();
        self.up(above, interface, up);
        if self.radios[radio].has_returned() {
            self.take_back(above, radio);
        }
        if self.sharing[radio].len() > 1 {
            self.heard_beside(above, radio, dev, got.broken(ppdu));
        }
    }

    /// Notifies the other devices of a radio. They share its interrupt, so a reception by one device delays
    /// or triggers the delivery of packets held by the others.
    fn heard_beside<A: UpperLayer>(&mut self, above: &mut A, radio: usize, own: DevId, broken: bool) {
        for n in 0..self.sharing[radio].len() {
            let dev = self.sharing[radio][n];
            if dev != own && self.wlans[dev.index()].dev.holds_back() {
                let now = above.core().now;
                self.hand_up(above, dev, |wlan, up| wlan.hold_back(now, broken, up));
            }
        }
    }

    /// Passes up packets that a device has been holding.
    fn hand_up<A: UpperLayer>(
        &mut self,
        above: &mut A,
        dev: DevId,
        give: impl FnOnce(&mut WifiDev, &mut Vec<Pkt>),
    ) {
        let mut up = self.batches.pop().unwrap_or_default();
        let (wlan, _) = self.open(dev);
        give(&mut wlan.dev, &mut up);
        let interface = wlan.interface;
        self.up(above, interface, up);
    }

    /// Passes packets up, subframes of an A-MSDU one by one.
    // linux: net/wireless/util.c ieee80211_amsdu_to_8023s (6.12) - in order, and all in one call.
    #[inline(always)]
    fn up<A: UpperLayer>(&mut self, above: &mut A, interface: IfId, mut up: Vec<Pkt>) {
        above.core().packets.split_amsdus(&mut up);
        above.up(self, interface, &mut up);
        self.batches.push(up);
    }

    /// Handles a PPDU that the hardware has finished and removed from its queue. If the PPDU failed, the
    /// hardware filters later PPDUs to the same station.
    #[inline]
    pub(super) fn leaves(&mut self, radio: usize, queue: usize, ppdu: &Ppdu, succeeded: bool) {
        if !succeeded && self.wlans[ppdu.header.dev.index()].dev.tx.filter.is_some() {
            self.radios[radio].failed(ppdu);
        }
        self.radios[radio].look(queue);
    }

    /// Returns a PPDU to the sender's driver, together with those that the hardware has returned unsent.
    pub(super) fn tx_status<A: UpperLayer>(&mut self, above: &mut A, ppdu: Box<Ppdu>) {
        let radio = self.wlans[ppdu.header.dev.index()].dev.radio.index();
        self.one_status(above, ppdu);
        if self.radios[radio].has_returned() {
            self.take_back(above, radio);
        }
    }

    /// Returns unsent PPDUs from the hardware to their drivers.
    #[cold]
    fn take_back<A: UpperLayer>(&mut self, above: &mut A, radio: usize) {
        while let Some(mut ppdu) = self.radios[radio].take_returned() {
            let timing = self.channels[self.radios[radio].channel.index()].timing;
            let core = above.core();
            ppdu.is_given_back(core.now, &mut core.ctx());
            ppdu.return_unsent(airtime(timing, &ppdu));
            self.one_status(above, ppdu);
        }
    }

    /// Reports the transmit status of a PPDU to its driver, and runs the upper queues that this wakes.
    fn one_status<A: UpperLayer>(&mut self, above: &mut A, ppdu: Box<Ppdu>) {
        let dev = ppdu.header.dev;
        self.interrupt(above, &ppdu);
        let (wlan, mut hw) = self.dirty.open(&mut self.wlans, &mut self.radios, &mut self.channels, dev);
        let interface = wlan.interface;
        let radio = wlan.dev.radio.index();
        let core = above.core();
        let woken = if self.sharing[radio].len() == 1 {
            wlan.dev.tx_status(core.now, ppdu, &mut hw, &mut core.ctx())
        } else {
            let header = ppdu.header;
            let woken = wlan.dev.complete(core.now, ppdu, &mut hw, &mut core.ctx());
            self.refill(core, radio, header);
            woken
        };
        if woken.any() {
            above.woken(self, interface, woken);
        }
    }

    /// Raises the interrupt of a radio for a transmitted PPDU. The host first finds received frames that were
    /// not reported yet, while the PPDU still holds its hardware slot.
    // linux: drivers/net/wireless/ath/ath9k/main.c ath9k_tasklet (4.4) - handles received frames before
    // transmit completions; ar9003_mac.c ar9003_hw_get_isr - checks reception whatever the reason, and
    // (freebsd: ar5416_interrupts.c) reports it even if masked.
    fn interrupt<A: UpperLayer>(&mut self, above: &mut A, ppdu: &Ppdu) {
        let radio = self.wlans[ppdu.header.dev.index()].dev.radio.index();
        let queue = ppdu.header.ac.index();
        for n in 0..self.sharing[radio].len() {
            let dev = self.sharing[radio][n];
            if self.wlans[dev.index()].dev.holds_back() {
                self.radios[radio].unreported(queue, ppdu, 1);
                let now = above.core().now;
                self.hand_up(above, dev, |wlan, up| wlan.interrupt(now, up));
                self.radios[radio].unreported(queue, ppdu, -1);
            }
        }
    }

    /// Lets the devices of a radio refill the hardware slot of a PPDU, the PPDU's own device last.
    // deviation: ath9k has one round-robin over all stations and TIDs of its interfaces. Here each device has
    // its own, and hardware slots rotate over the devices. With only one busy device, the result is the same.
    fn refill<S: Sink>(&mut self, core: &mut SimState<S>, radio: usize, header: Header) {
        let devs = &self.sharing[radio];
        let own = devs.iter().position(|&d| d == header.dev).expect("a radio knows its devices");
        for &dev in devs[own + 1..].iter().chain(&devs[..=own]) {
            let (wlan, mut hw) = self.dirty.open(&mut self.wlans, &mut self.radios, &mut self.channels, dev);
            wlan.dev.refill(core.now, header, &mut hw, &mut core.ctx());
        }
    }

    /// Handles the timer of a device: reorder buffer, Block Ack session setup, or delayed interrupt.
    pub(in crate::world) fn dev_timer<A: UpperLayer>(&mut self, above: &mut A, dev: usize) {
        let mut up = self.batches.pop().unwrap_or_default();
        let dev = DevId::from_index(dev);
        let (wlan, mut hw) = self.open(dev);
        let interface = wlan.interface;
        let core = above.core();
        let radio = wlan.dev.radio.index();
        let woken = wlan.dev.on_timer(core.now, &mut up, &mut hw, &mut core.ctx());
        self.up(above, interface, up);
        if woken.any() {
            above.woken(self, interface, woken);
        }
        if self.radios[radio].has_returned() {
            self.take_back(above, radio);
        }
    }

    /// Handles a transmitted beacon. Stations in power save that receive it read their TIM bit.
    // deviation: with hidden stations, overlapping frames do not prevent beacon reception.
    pub(super) fn beacon_heard<S: Sink>(&mut self, core: &mut SimState<S>, beacon: &Ppdu) {
        let dev = beacon.header.dev;
        let Some(tim) = self.wlans[dev.index()].dev.take_tim() else { return };
        let tx = &self.wlans[dev.index()].dev.tx;
        for n in 0..tx.peers.len() - usize::from(tx.group.is_some()) {
            let peer = PeerId::from_index(n);
            let (remote, _) = self.wlans[dev.index()].dev.tx.peers[n].remote;
            if self.wlans[remote.index()].dev.hears(&tim)
                && self.short_comes(core.now, dev, peer, beacon.rate(), beacon.bytes)
            {
                let (wlan, mut hw) = self.open(remote);
                wlan.dev.on_beacon(core.now, peer, &tim, &mut hw, &mut core.ctx());
            }
        }
        let (wlan, mut hw) = self.open(dev);
        wlan.dev.put_tim(tim);
        wlan.dev.next_group(core.now, &mut hw, &mut core.ctx());
    }

    /// Queues a beacon, which contends like any other frame. Skipped if the previous beacon is still waiting.
    pub(in crate::world) fn beacon<S: Sink>(&mut self, core: &mut SimState<S>, dev: usize) {
        let now = core.now;
        let id = DevId::from_index(dev);
        let band = self.channels[self.radios[self.wlans[dev].dev.radio.index()].channel.index()].timing.band;
        let (wlan, hw) = self.open(id);
        if hw.radio.queued(BEACON_QUEUE) == 0 && !wlan.dev.is_off() {
            let header = Header {
                dev: id,
                peer: PeerId(0),
                ac: Ac::Vo,
                tid: 0,
                content: Content::Beacon,
                in_session: false,
            };
            let mut ppdu = hw.radio.blank(header, wlan.dev.tx.management_chain());
            ppdu.bytes = frame::beacon(band);
            if let Some(tim) = wlan.dev.make_beacon() {
                ppdu.bytes += tim.extra_bytes();
            }
            hw.radio.send(now, BEACON_QUEUE, ppdu, hw.medium);
        }
        let next = wlan.beacons.map(|b| now + b.interval);
        core.timers.set(Slot(self.slots.beacons + dev as u32), next);
    }
}
