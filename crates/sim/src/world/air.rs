//! What happens on a channel: one event at the end of each exchange, from the first preamble to the acknowledgement,
//! whatever the number of stations that listen.

use stillair_model::vocabulary::{
    Ac, AnswerView, ChannelId, Ctx, DevId, Duration, FrameView, GuardView, Instant, PeerId, PpduTry,
    PpduView, Sink, Trace,
};
use stillair_model::wifi::air::account::AirUse;
use stillair_model::wifi::air::medium::{FunctionId, Outcome};
use stillair_model::wifi::air::ppdu::{Content, Header, Ppdu};
use stillair_model::wifi::air::protection::Protection;
use stillair_model::wifi::air::radio::{BEACON_QUEUE, QUEUES, Radio};
use stillair_model::wifi::air::reception::Got;
use stillair_model::wifi::phy::frame;
use stillair_model::wifi::phy::ppdu_duration;
use stillair_model::wifi::phy::timing::{Timing, control_rate};
use stillair_model::wifi::tx::transmitter::management_chain;

use super::{Channel, World};
use crate::engine::Slot;

/// How long a PPDU's next try takes.
fn airtime(timing: Timing, ppdu: &Ppdu) -> Duration {
    ppdu_duration(ppdu.rate(), ppdu.bytes, timing.band)
}

/// Whether a PPDU is answered by a Block Ack, not by an ACK.
fn asks_for_block_ack(ppdu: &Ppdu) -> bool {
    matches!(ppdu.header.content, Content::Data { aggregate: true } | Content::Bar { .. })
}

/// What the air is used for while a PPDU is sent.
const fn use_of(content: Content) -> AirUse {
    match content {
        Content::Data { .. } => AirUse::Data,
        Content::Beacon => AirUse::Beacon,
        Content::Bar { .. } | Content::AddbaRequest { .. } | Content::AddbaResponse => AirUse::Management,
    }
}

/// SIFS and the acknowledgement that a PPDU asks for.
fn response(timing: Timing, ppdu: &Ppdu) -> Duration {
    let rate = control_rate(ppdu.rate());
    match ppdu.header.content {
        Content::Beacon => Duration::ZERO,
        _ if asks_for_block_ack(ppdu) => timing.sifs + timing.block_ack_duration(rate),
        _ => timing.sifs + timing.ack_duration(rate),
    }
}

impl Channel {
    /// The radio of a function, and its place among the functions of that radio: beacons come before all categories.
    fn rank(&self, FunctionId(f): FunctionId) -> (usize, usize) {
        let (radio, queue) = self.functions[usize::from(f)];
        (radio, if queue == BEACON_QUEUE { 0 } else { queue + 1 })
    }

    /// Whether a winner is the first of its radio, and so the one that sends.
    fn sends(&self, winner: FunctionId) -> bool {
        let (radio, place) = self.rank(winner);
        self.winners.iter().map(|&f| self.rank(f)).all(|(r, p)| r != radio || p >= place)
    }

    fn book_wait(&mut self, start: Instant) {
        self.account.book(AirUse::Contention, self.quiet_until.min(start));
        self.account.book(AirUse::Idle, self.medium.wanted_from());
        self.account.book(AirUse::Contention, start);
    }

    /// Books what has passed at the end of a run, an exchange that is under way included.
    pub(super) fn close(&mut self, end: Instant, radios: &[Radio]) {
        self.account.book(AirUse::Contention, self.quiet_until.min(end));
        let start = self.medium.start().unwrap_or(Instant::NEVER);
        let wanted = if start == Instant::NEVER { end } else { self.medium.wanted_from().min(end) };
        self.account.book(AirUse::Idle, wanted);
        self.account.book(AirUse::Contention, start.min(end));
        let sent = self.winners.iter().filter(|&&f| self.sends(f));
        let ppdus: Vec<&Ppdu> = sent.filter_map(|&f| self.ppdu(f, radios)).collect();
        let longest = ppdus.iter().map(|p| self.collided(p)).max();
        let (Some(longest), false) = (longest, start >= end) else { return };
        let (on_air, after, longest) = match ppdus[..] {
            [alone] => {
                let protection = Protection::of(alone, self.protection).duration(self.timing);
                self.account.book(AirUse::Protection, (start + protection).min(end));
                (use_of(alone.header.content), AirUse::Ack, protection + airtime(self.timing, alone))
            }
            _ => (AirUse::Collision, AirUse::Contention, longest),
        };
        self.account.book(on_air, (start + longest).min(end));
        self.account.book(after, end);
    }

    /// How long a PPDU that collides is on the air, with what goes before it.
    fn collided(&self, ppdu: &Ppdu) -> Duration {
        Protection::of(ppdu, self.protection).collided(self.timing, airtime(self.timing, ppdu))
    }

    /// How long everybody waits after a collision of so many radios: those that listened as after a frame that they did not
    /// understand, and if there are none, the senders for the answer.
    fn after_collision(&self, sent: usize) -> Duration {
        let listened = sent * QUEUES < self.functions.len();
        if listened { self.timing.eifs_extra() } else { self.timing.unanswered() }
    }

    /// The PPDU that a function contends for.
    fn ppdu<'a>(&self, FunctionId(f): FunctionId, radios: &'a [Radio]) -> Option<&'a Ppdu> {
        let (radio, queue) = self.functions[usize::from(f)];
        radios[radio].first(queue)
    }
}

impl<S: Sink> World<S> {
    /// Finds out who transmits next on a channel and arms the timer for the end of that exchange.
    pub(super) fn plan(&mut self, index: usize) {
        let channel = &mut self.channels[index];
        channel.dirty = false;
        if !channel.medium.has_changed() || channel.medium.has_begun(self.now) {
            return;
        }
        channel.medium.winners(&mut channel.winners);
        let at = channel.medium.start().map(|start| start + self.exchange_duration(index));
        self.timers.set(Slot(super::Slots::CHANNELS + index as u32), at);
    }

    /// From the start of the winners' PPDUs until everybody knows how they ended.
    fn exchange_duration(&mut self, index: usize) -> Duration {
        let channel = &self.channels[index];
        let timing = channel.timing;
        let (mut sent, mut longest, mut alone) = (0, Duration::ZERO, Duration::ZERO);
        for &winner in channel.winners.iter().filter(|&&f| channel.sends(f)) {
            let (radio, queue) = channel.functions[usize::from(winner.0)];
            let ppdu = self.radios[radio].head(queue).expect("a function that contends has a PPDU");
            sent += 1;
            let (took, protection) = (airtime(timing, ppdu), Protection::of(ppdu, channel.protection));
            longest = longest.max(protection.collided(timing, took));
            alone = protection.duration(timing) + took + response(timing, ppdu);
        }
        if sent > 1 { longest + channel.after_collision(sent) } else { alone }
    }

    pub(super) fn exchange_ended(&mut self, index: usize) {
        let channel = &mut self.channels[index];
        self.dirty.channel(channel, ChannelId::from_index(index));
        let start = channel.medium.start().expect("an exchange has a start");
        channel.book_wait(start);
        let mut winners = core::mem::take(&mut channel.winners);
        if winners.len() > 1 {
            self.resolve_internal(index, &mut winners);
        }
        match winners[..] {
            [winner] => self.exchange(index, winner, start),
            _ => self.collision(index, &winners, start),
        }
        self.channels[index].winners = winners;
    }

    /// Of several functions of one radio that would start at once, the one of the highest category does; the others
    /// back off as after a collision, without having sent.
    // spec: ieee80211 10.22.2.4 - internal collisions.
    fn resolve_internal(&mut self, index: usize, winners: &mut Vec<FunctionId>) {
        let now = self.now;
        let channel = &mut self.channels[index];
        winners.sort_unstable_by_key(|&f| channel.rank(f));
        let mut last = usize::MAX;
        winners.retain(|f| {
            let (radio, _) = channel.functions[usize::from(f.0)];
            let first = core::mem::replace(&mut last, radio) != radio;
            if !first {
                channel.medium.done(now, *f, Outcome::Failed, true);
            }
            first
        });
    }

    /// One PPDU was alone on the air.
    fn exchange(&mut self, index: usize, winner: FunctionId, start: Instant) {
        let now = self.now;
        let channel = &mut self.channels[index];
        let timing = channel.timing;
        let txop_until = channel.txop_until.take();
        let (radio, queue) = channel.functions[usize::from(winner.0)];
        let mut ppdu = self.radios[radio].pop(queue).expect("a winner has a PPDU");
        let took = airtime(timing, &ppdu);
        let protection = Protection::of(&ppdu, channel.protection);
        let begun = start;
        let start = start + protection.duration(timing);
        channel.account.book(AirUse::Protection, start);
        if ppdu.header.content == Content::Beacon {
            channel.account.book(AirUse::Beacon, start + took);
            channel.medium.done(now, winner, Outcome::Finished, self.radios[radio].queued(queue) > 0);
            channel.medium.idle(now, now);
            let fate = Fate { to: None, whole: 1, collided: false, acknowledged: false, protection };
            self.report(index, &ppdu, start, took, fate);
            return self.radios[radio].recycle(ppdu);
        }

        let sender = ppdu.header.dev.index();
        let wlan = &mut self.wlans[sender];
        let peer = &mut wlan.dev.tx.peers[ppdu.header.peer.index()];
        let remote = peer.remote;
        let got = peer.errors.receive(start, &ppdu, &mut wlan.errors);
        let Got { whole, .. } = got;
        let answer = control_rate(ppdu.rate());
        let bytes = if asks_for_block_ack(&ppdu) { frame::BLOCK_ACK } else { frame::ACK };
        let acknowledged = whole != 0 && peer.errors.answer(start, answer, bytes, &mut wlan.errors);
        if !acknowledged && matches!(ppdu.header.content, Content::Data { .. }) {
            peer.unheard += u64::from(got == Got::NOTHING);
            peer.answers_lost += u64::from(whole != 0);
        }

        channel.account.book(use_of(ppdu.header.content), start + took);
        // Without any whole frame there is no answer: everybody waits as after a frame that nobody understood.
        let idle_from = if whole == 0 { now.max(start + took + timing.eifs_extra()) } else { now };
        // That wait may outlast the run, so it is booked when it is over.
        channel.quiet_until = idle_from;
        channel.account.book(if whole == 0 { AirUse::Contention } else { AirUse::Ack }, now);
        let fate = Fate { to: Some(remote.0), whole, collided: false, acknowledged, protection };
        self.report(index, &ppdu, start, took, fate);

        ppdu.tried(took);
        let again = !acknowledged && ppdu.next_try();
        if again {
            // The receiver may have got frames although their sender does not know.
            self.hand_over(&mut ppdu, remote, got, took);
            self.radios[radio].put_back(queue, ppdu);
            let medium = &mut self.channels[index].medium;
            medium.done(now, winner, Outcome::Failed, true);
            return medium.idle(now, idle_from);
        }
        let more = self.radios[radio].queued(queue) > 0;
        let medium = &mut self.channels[index].medium;
        medium.done(now, winner, Outcome::Finished, more);
        medium.idle(now, idle_from);
        self.hand_over(&mut ppdu, remote, got, took);
        if acknowledged {
            ppdu.acknowledged = true;
            ppdu.acked = ppdu.received;
        }
        let limit = self.radios[radio].txop(ppdu.header.ac);
        self.tx_status(ppdu);
        if acknowledged && more && limit > Duration::ZERO {
            self.go_on(index, winner, txop_until.unwrap_or(begun + limit));
        }
    }

    /// Within a transmit opportunity that ends at `until` the next PPDU of the queue follows after SIFS, if it ends in
    /// time. It was in the hardware before the last one was acknowledged: software does not make one within SIFS.
    // spec: ieee80211 10.22.2.8 - multiple frame transmission in an EDCA TXOP.
    fn go_on(&mut self, index: usize, winner: FunctionId, until: Instant) {
        let now = self.now;
        let channel = &mut self.channels[index];
        let (radio, queue) = channel.functions[usize::from(winner.0)];
        let begins = now + channel.timing.sifs;
        let Some(next) = self.radios[radio].head(queue) else { return };
        let before = Protection::of(next, channel.protection).duration(channel.timing);
        let ends = begins + before + airtime(channel.timing, next) + response(channel.timing, next);
        if ends <= until {
            // The winner stays the one of the exchange that has just ended.
            channel.medium.hold(now, begins);
            channel.txop_until = Some(until);
            self.timers.set(Slot(super::Slots::CHANNELS + index as u32), Some(ends));
        }
    }

    /// Several PPDUs overlapped: none is understood.
    // deviation: where others listen, everybody waits EIFS after a collision; its senders would wait for their own timeout,
    // which is 31 us less (274 us where 1 Mbit/s is the lowest basic rate), but then not all would count the same slots.
    fn collision(&mut self, index: usize, winners: &[FunctionId], start: Instant) {
        let now = self.now;
        let timing = self.channels[index].timing;
        let after = self.channels[index].after_collision(winners.len());
        self.channels[index].account.book(AirUse::Collision, now - after);
        self.channels[index].account.book(AirUse::Contention, now);
        let mut failed = Vec::new();
        for &winner in winners {
            let (radio, queue) = self.channels[index].functions[usize::from(winner.0)];
            let mut ppdu = self.radios[radio].pop(queue).expect("a winner has a PPDU");
            let took = airtime(timing, &ppdu);
            let peer = &self.wlans[ppdu.header.dev.index()].dev.tx.peers.get(ppdu.header.peer.index());
            let to = peer.filter(|_| ppdu.header.content != Content::Beacon).map(|p| p.remote.0);
            let protection = Protection::of(&ppdu, self.channels[index].protection);
            // deviation: an RTS that collides is a try of the chain - ath9k's radio counts such tries apart.
            let fate = Fate { to, whole: 0, collided: true, acknowledged: false, protection };
            let begins = start + protection.duration(timing);
            if let Protection::RtsCts(_) = protection {
                // The PPDU itself was not sent: only a capture sees anything of it.
                if S::FRAMES {
                    let tried = tried(index, &ppdu, begins, took, fate);
                    self.show(&ppdu, tried, fate);
                }
                ppdu.tried(Duration::ZERO);
            } else {
                self.report(index, &ppdu, begins, took, fate);
                ppdu.tried(took);
            }
            let beacon = ppdu.header.content == Content::Beacon;
            if !beacon && ppdu.next_try() {
                self.radios[radio].put_back(queue, ppdu);
                self.channels[index].medium.done(now, winner, Outcome::Failed, true);
                continue;
            }
            let more = self.radios[radio].queued(queue) > 0;
            self.channels[index].medium.done(now, winner, Outcome::Finished, more);
            match beacon {
                true => self.radios[radio].recycle(ppdu),
                false => failed.push(ppdu),
            }
        }
        self.channels[index].medium.idle(now, now);
        for ppdu in failed {
            self.tx_status(ppdu);
        }
    }

    /// The receiver's hardware hands over what it got of one try.
    fn hand_over(&mut self, ppdu: &mut Ppdu, (dev, peer): (DevId, PeerId), got: Got, took: Duration) {
        if got == Got::NOTHING || (got.whole == 0 && ppdu.mpdus.is_empty()) {
            return;
        }
        let mut up = self.batches.pop().unwrap_or_default();
        let (wlan, mut hw) = self.dirty.open(&mut self.wlans, &mut self.radios, &mut self.channels, dev);
        let interface = wlan.interface;
        let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.trace };
        wlan.dev.receive(self.now, peer, ppdu, got, took, &mut up, &mut hw, ctx);
        self.ingress(interface, &mut up);
        self.batches.push(up);
    }

    /// The sender's driver gets a PPDU back; queues above it that were woken are run afterwards.
    fn tx_status(&mut self, ppdu: Box<Ppdu>) {
        let dev = ppdu.header.dev;
        let (wlan, mut hw) = self.dirty.open(&mut self.wlans, &mut self.radios, &mut self.channels, dev);
        let interface = wlan.interface;
        let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.trace };
        let radio = wlan.dev.radio.index();
        let woken = if self.sharing[radio].len() == 1 {
            wlan.dev.tx_status(self.now, ppdu, &mut hw, ctx)
        } else {
            let header = ppdu.header;
            let woken = wlan.dev.complete(self.now, ppdu, &mut hw, ctx);
            self.refill(radio, header);
            woken
        };
        if woken.any() {
            self.run_woken(interface, woken);
        }
    }

    /// Devices that share a radio fill the place that a PPDU has left, the one that it was of last.
    // deviation: ath9k has one round of all stations and identifiers of its interfaces; here each device has its own, and
    // places in the hardware go round the devices. With one of them mostly silent there is no difference.
    fn refill(&mut self, radio: usize, header: Header) {
        let devs = &self.sharing[radio];
        let own = devs.iter().position(|&d| d == header.dev).expect("a radio knows its devices");
        for &dev in devs[own + 1..].iter().chain(&devs[..=own]) {
            let (wlan, mut hw) = self.dirty.open(&mut self.wlans, &mut self.radios, &mut self.channels, dev);
            let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.trace };
            wlan.dev.refill(self.now, header, &mut hw, ctx);
        }
    }

    /// Tells the readers of the trace how a try ended, before the receiver takes packets out of it.
    fn report(&mut self, index: usize, ppdu: &Ppdu, start: Instant, airtime: Duration, fate: Fate) {
        let what = tried(index, ppdu, start, airtime, fate);
        self.trace.event(self.now, &Trace::Ppdu(what));
        if S::FRAMES {
            self.show(ppdu, what, fate);
        }
    }

    /// Puts together what a capture needs of a try.
    fn show(&mut self, ppdu: &Ppdu, tried: PpduTry, fate: Fate) {
        let timing = self.channels[tried.channel.index()].timing;
        let rate = control_rate(ppdu.rate());
        let answer = AnswerView {
            start: tried.start + tried.airtime + timing.sifs,
            airtime: response(timing, ppdu).saturating_sub(timing.sifs),
            rate: rate.code(),
            block: asks_for_block_ack(ppdu),
            frames: ppdu.held(fate.whole),
            heard: fate.acknowledged,
        };
        ppdu.view(fate.whole, &self.packets, &mut self.mpdus);
        let view = PpduView {
            tried,
            to: fate.to,
            rate: ppdu.rate().code(),
            bytes: ppdu.bytes,
            tid: ppdu.header.tid,
            content: ppdu.header.content.view(),
            mpdus: &self.mpdus,
            whole: fate.whole != 0,
            answer: (fate.whole != 0 && fate.to.is_some()).then_some(answer),
            guard: guard(timing, tried.start, fate.protection, fate.collided),
        };
        self.trace.frame(self.now, &FrameView::Air(&view));
    }

    /// A reorder buffer or a session that is being set up has waited long enough.
    pub(super) fn dev_timer(&mut self, dev: usize) {
        let mut up = self.batches.pop().unwrap_or_default();
        let dev = DevId::from_index(dev);
        let (wlan, mut hw) = self.dirty.open(&mut self.wlans, &mut self.radios, &mut self.channels, dev);
        let interface = wlan.interface;
        let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.trace };
        wlan.dev.on_timer(self.now, &mut up, &mut hw, ctx);
        self.ingress(interface, &mut up);
        self.batches.push(up);
    }

    /// A beacon is due: it waits for the air like any frame, unless the last one still does.
    pub(super) fn beacon(&mut self, dev: usize) {
        let now = self.now;
        let id = DevId::from_index(dev);
        let (wlan, hw) = self.dirty.open(&mut self.wlans, &mut self.radios, &mut self.channels, id);
        if hw.radio.queued(BEACON_QUEUE) == 0 {
            let header = Header {
                dev: id,
                peer: PeerId(0),
                ac: Ac::Vo,
                tid: 0,
                content: Content::Beacon,
                in_session: false,
            };
            let ppdu = hw.radio.blank(header, management_chain(wlan.dev.tx.lowest));
            hw.radio.send(now, BEACON_QUEUE, ppdu, hw.medium);
        }
        let next = wlan.beacons.map(|b| now + b.interval);
        self.timers.set(Slot(self.slots.beacons + dev as u32), next);
    }
}

/// How a try ended, for the trace.
#[derive(Clone, Copy)]
struct Fate {
    /// The device it was for, if for one alone.
    to: Option<DevId>,
    /// Bit n: frame n came whole; bit 0 for a PPDU without data frames.
    whole: u64,
    collided: bool,
    acknowledged: bool,
    protection: Protection,
}

/// The frames before a PPDU that starts at `start`, as a capture sees them.
fn guard(timing: Timing, start: Instant, protection: Protection, collided: bool) -> Option<GuardView> {
    let (rate, rts) = match protection {
        Protection::None => return None,
        Protection::CtsToSelf(rate) => (rate, false),
        Protection::RtsCts(rate) => (rate, true),
    };
    let cts = start - timing.sifs - ppdu_duration(rate, frame::CTS, timing.band);
    let first = start - protection.duration(timing);
    Some(GuardView { rate: rate.code(), cts, rts: rts.then_some(first), answered: !(rts && collided) })
}

/// A try as every reader of the trace sees it.
fn tried(index: usize, ppdu: &Ppdu, start: Instant, airtime: Duration, fate: Fate) -> PpduTry {
    let Header { dev, peer, ac, content, .. } = ppdu.header;
    let beacon = content == Content::Beacon;
    PpduTry {
        channel: ChannelId::from_index(index),
        dev,
        peer,
        ac,
        kind: content.kind(),
        start,
        airtime,
        rate: ppdu.rate().rate(),
        mpdus: ppdu.mpdus.len() as u16,
        // A beacon has no receiver.
        received: if beacon { 0 } else { fate.whole.count_ones() as u16 },
        attempt: ppdu.tries,
        collided: fate.collided,
        acknowledged: fate.acknowledged,
    }
}
