//! Events of a channel's devices: passing received packets up, reporting transmissions, timers and beacons.

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
    /// The receiver's hardware hands over what it got of one try.
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

    /// The interrupt is the radio's: what one of its devices receives delays or hurries what others hold
    /// back.
    fn heard_beside<A: UpperLayer>(&mut self, above: &mut A, radio: usize, own: DevId, broken: bool) {
        for n in 0..self.sharing[radio].len() {
            let dev = self.sharing[radio][n];
            if dev != own && self.wlans[dev.index()].dev.holds_back() {
                let now = above.core().now;
                self.hand_up(above, dev, |wlan, up| wlan.hold_back(now, broken, up));
            }
        }
    }

    /// Hands up what a device gives of what it holds back.
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

    /// Packets go up, those of an A-MSDU one by one.
    // linux: net/wireless/util.c ieee80211_amsdu_to_8023s (6.12) - in order, and all at once.
    #[inline(always)]
    fn up<A: UpperLayer>(&mut self, above: &mut A, interface: IfId, mut up: Vec<Pkt>) {
        above.core().packets.split_amsdus(&mut up);
        above.up(self, interface, &mut up);
        self.batches.push(up);
    }

    /// The hardware is through with a PPDU that is no longer in its queue. Where it has failed, what is
    /// queued behind it to the same station may not be sent.
    #[inline]
    pub(super) fn leaves(&mut self, radio: usize, queue: usize, ppdu: &Ppdu, succeeded: bool) {
        if !succeeded && self.wlans[ppdu.header.dev.index()].dev.tx.filter.is_some() {
            self.radios[radio].failed(ppdu);
        }
        self.radios[radio].look(queue);
    }

    /// The sender's driver gets a PPDU back, and with it those that the hardware has returned unsent.
    pub(super) fn tx_status<A: UpperLayer>(&mut self, above: &mut A, ppdu: Box<Ppdu>) {
        let radio = self.wlans[ppdu.header.dev.index()].dev.radio.index();
        self.one_status(above, ppdu);
        if self.radios[radio].has_returned() {
            self.take_back(above, radio);
        }
    }

    /// Drivers get back what their hardware has returned unsent.
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

    /// The sender's driver gets a PPDU back; queues above it that were woken are run afterwards.
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

    /// A radio reports a PPDU, and its host finds what has been received and not yet told of; that comes
    /// first, while the PPDU still has its place.
    // linux: drivers/net/wireless/ath/ath9k/main.c ath9k_tasklet (4.4) - received frames before
    // transmissions; ar9003_mac.c ar9003_hw_get_isr - reception is looked at whatever the reason, and
    // (freebsd: ar5416_interrupts.c) shown although masked.
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

    /// Devices that share a radio fill the place that a PPDU has left, the one that it was of last.
    // deviation: ath9k has one round of all stations and TIDs of its interfaces; here each device has its
    // own, and places in the hardware go round the devices. With one of them mostly silent there is no
    // difference.
    fn refill<S: Sink>(&mut self, core: &mut SimState<S>, radio: usize, header: Header) {
        let devs = &self.sharing[radio];
        let own = devs.iter().position(|&d| d == header.dev).expect("a radio knows its devices");
        for &dev in devs[own + 1..].iter().chain(&devs[..=own]) {
            let (wlan, mut hw) = self.dirty.open(&mut self.wlans, &mut self.radios, &mut self.channels, dev);
            wlan.dev.refill(core.now, header, &mut hw, &mut core.ctx());
        }
    }

    /// A reorder buffer, a session that is being set up or an interrupt has waited long enough.
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

    /// A beacon has been sent: stations with power save that hear it learn what waits for them.
    // deviation: where not everybody hears everybody, others' frames at the same time take it from none of
    // them.
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

    /// A beacon is due: it waits for the air like any frame, unless the last one still does.
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
