//! The air: channels, radios and their Wi-Fi devices. The network gives packets to a device. Received
//! packets, and notices that a device has room again, go to the implementation of [`UpperLayer`]. This module
//! knows interfaces by their numbers only.

mod account;
mod collision;
mod devices;
mod exchange;
mod follow;
mod foreign;
pub(in crate::world) mod group;
mod neighbour;
mod partly_connected;
mod parts;
mod phases;
mod tries;

use stillair_model::node::interface::Port;
use stillair_model::types::{
    Ac, ChannelId, Ctx, DevId, Duration, IfId, Instant, MpduView, PacketKind, Pkt, RandomStream, Sink, Step,
};
use stillair_model::wifi::air::account::AirAccount;
use stillair_model::wifi::air::medium::{EdcafId, Medium};
use stillair_model::wifi::air::ppdu::Ppdu;
use stillair_model::wifi::air::protection::Protection;
use stillair_model::wifi::air::radio::{QUEUES, Radio};
use stillair_model::wifi::air::views::Views;
use stillair_model::wifi::dev::{WifiDev, Woken};
use stillair_model::wifi::phy::PhyRate;
use stillair_model::wifi::phy::frame::Cipher;
use stillair_model::wifi::phy::timing::Timing;
use stillair_model::wifi::tx::transmitter::{Hardware, Peer};

use super::owned::{Islands, Owned};
use super::state::{SimState, show_quic};
use crate::engine::Slot;
pub(super) use foreign::Foreign;
pub(super) use neighbour::{Load, Neighbour};
use partly_connected::PartlyConnected;

/// The layer above the air: receives packets, and is notified when a device has room.
pub(super) trait UpperLayer {
    /// Reader of the trace.
    type Sink: Sink;

    /// Time, timers, packets and trace.
    fn core(&mut self) -> &mut SimState<Self::Sink>;

    /// Takes packets that an interface received together. Packets left in the batch are ignored.
    fn up(&mut self, air: &mut Air, interface: IfId, batch: &mut Vec<Pkt>);

    /// Reports that the device of an interface has room again for these access categories.
    fn woken(&mut self, air: &mut Air, interface: IfId, woken: Woken);
}

/// All channels, with who sends on them.
#[derive(Debug)]
pub(super) struct Air {
    wlans: Vec<Wlan>,
    radios: Vec<Radio>,
    /// By radio: the devices that send with it.
    sharing: Vec<Vec<DevId>>,
    channels: Vec<AirChannel>,
    dirty: Dirty,
    slots: AirSlots,
    /// Batches of packets on their way up, kept to be used again.
    batches: Vec<Vec<Pkt>>,
    /// PPDUs that a collision has ended, until their drivers get them back; kept to be used again.
    #[expect(clippy::vec_box, reason = "PPDUs are large, and go from place to place by their pointer")]
    failed: Vec<Box<Ppdu>>,
    /// Data frames of the PPDU that is being shown to a reader that wants frames.
    mpdus: Vec<MpduView>,
    /// Packets of the PPDU that is being told of to a reader that follows packets.
    carried: Vec<(Pkt, bool)>,
}

/// Where the timers of the air begin: of channels, of devices, of beacons.
#[derive(Clone, Copy, Debug)]
pub(super) struct AirSlots {
    pub(super) channels: u32,
    pub(super) devs: u32,
    pub(super) beacons: u32,
}

/// The parts of an exchange whose PPDU is alone on the air, worked out when it is planned.
#[derive(Clone, Copy, Debug)]
struct Alone {
    /// What goes before the PPDU, and how long that takes.
    protection: Protection,
    before: Duration,
    /// How long the PPDU takes.
    took: Duration,
}

/// A channel: its medium, whose functions contend on it, and the account of its air.
#[derive(Debug)]
pub(super) struct AirChannel {
    name: String,
    timing: Timing,
    cipher: Cipher,
    /// Rate of the CTS before what stations without OFDM do not understand, where such are.
    protection: Option<PhyRate>,
    medium: Medium,
    account: AirAccount,
    /// What each radio makes of it, with hidden stations. Then `medium` and what follows is not used.
    partly_connected: Option<Box<PartlyConnected>>,
    /// By function: the radio and its queue.
    functions: Vec<(usize, usize)>,
    /// Who transmits in the exchange whose end the timer is armed for.
    winners: Vec<EdcafId>,
    /// Somebody may have begun to contend since the exchange was planned: it is on the list to be looked at.
    dirty: bool,
    /// The exchange that the timer is armed for is no more than an RTS: noise takes it, or the CTS.
    rts_lost: bool,
    /// What that exchange is made of, if one PPDU is alone in it.
    alone: Alone,
    /// End of the transmit opportunity that the exchange under way continues, if it does.
    txop_until: Option<Instant>,
}

impl AirChannel {
    /// A channel that nobody is on yet.
    pub(super) fn new(
        name: String,
        (timing, cipher): (Timing, Cipher),
        protection: Option<PhyRate>,
        medium: Medium,
    ) -> Self {
        Self {
            name,
            timing,
            cipher,
            protection,
            medium,
            account: AirAccount::default(),
            partly_connected: None,
            functions: Vec::new(),
            winners: Vec::new(),
            dirty: false,
            rts_lost: false,
            alone: Alone { protection: Protection::None, before: Duration::ZERO, took: Duration::ZERO },
            txop_until: None,
        }
    }

    /// Times of the channel.
    pub(super) fn timing(&self) -> Timing {
        self.timing
    }

    /// Another radio is on the channel, on which everybody hears everybody: the medium that its functions
    /// contend on.
    pub(super) fn add_radio(&mut self, radio: usize) -> &mut Medium {
        self.functions.extend((0..QUEUES).map(|queue| (radio, queue)));
        &mut self.medium
    }

    /// Not everybody hears everybody, or others use it too: what each of these radios makes of the channel.
    pub(super) fn seen_by(&mut self, views: Views, radios: Vec<usize>, foreign: Foreign) {
        self.partly_connected = Some(Box::new(PartlyConnected::new(views, radios, foreign)));
    }
}

/// When an access point sends beacons.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beacons {
    pub(super) first: Instant,
    pub(super) interval: Duration,
}

/// The Wi-Fi device of an interface, access point's or station's, with what the simulation adds to it.
#[derive(Debug)]
pub(super) struct Wlan {
    dev: WifiDev,
    interface: IfId,
    /// Transmission errors of what it sends.
    errors: RandomStream,
    /// When it sends beacons, if it does.
    beacons: Option<Beacons>,
    /// Groups that its host is one of.
    groups: Vec<group::Member>,
    /// Its timer may have to be armed anew: it is on the list to be looked at.
    dirty: bool,
}

impl Wlan {
    /// The device of an interface; `errors` decides what of its frames is lost.
    pub(super) fn new(dev: WifiDev, interface: IfId, errors: RandomStream, beacons: Option<Beacons>) -> Self {
        Self { dev, interface, errors, beacons, groups: Vec::new(), dirty: false }
    }

    /// Its peers, without what stands for all of them together.
    fn stations(&self) -> impl Iterator<Item = &Peer> {
        let all = &self.dev.tx.peers;
        all[..all.len() - usize::from(self.dev.tx.group.is_some())].iter()
    }
}

/// What has to be looked at after the event: each thing once, so that an event costs what it touches.
#[derive(Debug, Default)]
struct Dirty {
    channels: Vec<usize>,
    devs: Vec<usize>,
}

impl Dirty {
    #[inline(always)]
    fn channel(&mut self, channel: &mut AirChannel, index: ChannelId) {
        if !core::mem::replace(&mut channel.dirty, true) {
            self.channels.push(index.index());
        }
    }

    /// A device is about to be acted upon: both it and its channel are to be looked at afterwards.
    #[inline(always)]
    fn open<'a>(
        &mut self,
        wlans: &'a mut [Wlan],
        radios: &'a mut [Radio],
        channels: &'a mut [AirChannel],
        dev: DevId,
    ) -> (&'a mut Wlan, Hardware<'a>) {
        let wlan = &mut wlans[dev.index()];
        let radio = &mut radios[wlan.dev.radio.index()];
        let channel = &mut channels[radio.channel.index()];
        self.channel(channel, radio.channel);
        if !core::mem::replace(&mut wlan.dirty, true) {
            self.devs.push(dev.index());
        }
        let medium = channel.medium(radio.number);
        (wlan, Hardware { radio, medium })
    }
}

/// A device as the transmit queues above it see it.
pub(super) struct WifiPort<'a>(&'a mut WifiDev, Hardware<'a>);

impl<S: Sink> Port<S> for WifiPort<'_> {
    fn is_stopped(&self, ac: Ac) -> bool {
        self.0.is_stopped(ac)
    }
    // linux: net/mac80211 (4.4) - ath9k's features have neither scatter-gather nor segmentation.
    fn takes_gso(&self) -> bool {
        false
    }
    fn push(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
        if ctx.packets.get(p).kind == PacketKind::Quic {
            show_quic(now, p, ctx);
        }
        ctx.step(now, &Step::Pushed { p, dev: self.0.tx.dev });
        self.0.push(now, p, &mut self.1, ctx);
    }
}

impl Air {
    /// Idle channels. `sharing` tells by radio which devices send with it.
    pub(super) fn new(
        channels: Vec<AirChannel>,
        radios: Vec<Radio>,
        wlans: Vec<Wlan>,
        sharing: Vec<Vec<DevId>>,
        slots: AirSlots,
    ) -> Self {
        Self {
            wlans,
            radios,
            sharing,
            channels,
            dirty: Dirty::default(),
            slots,
            batches: Vec::new(),
            failed: Vec::new(),
            mpdus: Vec::new(),
            carried: Vec::new(),
        }
    }

    /// Arms the timers of the first beacons of these devices, and has those of these channels looked at that
    /// others use.
    pub(super) fn start<S>(
        &mut self,
        core: &mut SimState<S>,
        devs: impl Fn(usize) -> bool,
        channels: impl Fn(usize) -> bool,
    ) {
        for (index, channel) in self.channels.iter_mut().enumerate().filter(|(n, _)| channels(*n)) {
            if channel.partly_connected.as_ref().is_some_and(|partly| partly.foreign.is_some()) {
                self.dirty.channel(channel, ChannelId::from_index(index));
            }
        }
        for (dev, wlan) in self.wlans.iter().enumerate().filter(|(n, _)| devs(*n)) {
            core.timers.set(Slot(self.slots.beacons + dev as u32), wlan.beacons.map(|b| b.first));
        }
    }

    /// Takes over the channels of some islands, and who is on them.
    pub(super) fn take_over(&mut self, other: Self, owned: &Owned<'_>) {
        let Islands { devs, radios, channels, .. } = owned.islands;
        owned.take(&mut self.wlans, other.wlans, devs);
        owned.take(&mut self.radios, other.radios, radios);
        owned.take(&mut self.channels, other.channels, channels);
    }

    /// What a device knows of a neighbour, by its number, to be changed.
    pub(super) fn peer_mut(&mut self, dev: DevId, number: usize) -> &mut Peer {
        &mut self.wlans[dev.index()].dev.tx.peers[number]
    }

    /// A device, for packets to be pushed into.
    #[inline(always)]
    pub(super) fn port(&mut self, dev: DevId) -> WifiPort<'_> {
        let (wlan, hardware) = self.open(dev);
        WifiPort(&mut wlan.dev, hardware)
    }

    #[inline(always)]
    fn open(&mut self, dev: DevId) -> (&mut Wlan, Hardware<'_>) {
        self.dirty.open(&mut self.wlans, &mut self.radios, &mut self.channels, dev)
    }

    /// Whether an event has changed who transmits next, or timers.
    #[inline(always)]
    pub(super) fn has_changed(&self) -> bool {
        !(self.dirty.channels.is_empty() && self.dirty.devs.is_empty())
    }

    /// After such an event: who transmits next, and timers that changed.
    #[inline]
    pub(super) fn settle<S: Sink>(&mut self, core: &mut SimState<S>) {
        while let Some(channel) = self.dirty.channels.pop() {
            self.plan(core, channel);
        }
        while let Some(dev) = self.dirty.devs.pop() {
            let wlan = &mut self.wlans[dev];
            wlan.dirty = false;
            // A frame that has waited long may become the first of its buffer, and is overdue at once.
            let at = match self.radios[wlan.dev.radio.index()].has_returned() {
                false => wlan.dev.next_timer().map(|t| t.max(core.now)),
                true => Some(core.now),
            };
            core.timers.set(Slot(self.slots.devs + dev as u32), at);
        }
    }
}

#[cfg(test)]
mod tests;
