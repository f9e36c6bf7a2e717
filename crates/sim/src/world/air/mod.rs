//! The air: channels, radios and Wi-Fi devices. The network passes packets to a device. Received packets and
//! wake-ups of upper queues go to the implementation of [`UpperLayer`]. This module identifies interfaces
//! only by number.

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

/// Layer above the air: receives packets, and is notified when a device has room.
pub(super) trait UpperLayer {
    /// Sink of trace events.
    type Sink: Sink;

    /// Time, timers, packets and trace.
    fn core(&mut self) -> &mut SimState<Self::Sink>;

    /// Receives a batch of packets from one interface. Packets left in the batch are ignored.
    fn up(&mut self, air: &mut Air, interface: IfId, batch: &mut Vec<Pkt>);

    /// Called when the device of an interface has room again for these access categories.
    fn woken(&mut self, air: &mut Air, interface: IfId, woken: Woken);
}

/// All channels and their stations.
#[derive(Debug)]
pub(super) struct Air {
    wlans: Vec<Wlan>,
    radios: Vec<Radio>,
    /// Devices of each radio.
    sharing: Vec<Vec<DevId>>,
    channels: Vec<AirChannel>,
    dirty: Dirty,
    slots: AirSlots,
    /// Spare buffers for batches of received packets.
    batches: Vec<Vec<Pkt>>,
    /// PPDUs that failed in a collision, kept until their drivers get them back. The buffer is reused.
    #[expect(clippy::vec_box, reason = "PPDUs are large, and go from place to place by their pointer")]
    failed: Vec<Box<Ppdu>>,
    /// Data frames of the PPDU being captured.
    mpdus: Vec<MpduView>,
    /// Packets of the PPDU being reported to a trace that follows packets.
    carried: Vec<(Pkt, bool)>,
}

/// First timer slots of channels, devices and beacons.
#[derive(Clone, Copy, Debug)]
pub(super) struct AirSlots {
    pub(super) channels: u32,
    pub(super) devs: u32,
    pub(super) beacons: u32,
}

/// Parts of an exchange without collision, computed when it is planned.
#[derive(Clone, Copy, Debug)]
struct Alone {
    /// Protection (RTS/CTS or CTS-to-self) before the PPDU, and its duration.
    protection: Protection,
    before: Duration,
    /// Duration of the PPDU.
    took: Duration,
}

/// A channel: its medium, the functions contending on it, and its airtime account.
#[derive(Debug)]
pub(super) struct AirChannel {
    name: String,
    timing: Timing,
    cipher: Cipher,
    /// Rate of the CTS-to-self before frames that non-OFDM stations cannot decode, if there are such
    /// stations.
    protection: Option<PhyRate>,
    medium: Medium,
    account: AirAccount,
    /// View of each radio, if there are hidden stations; `medium` and the fields below are then unused.
    partly_connected: Option<Box<PartlyConnected>>,
    /// Radio and queue of each function.
    functions: Vec<(usize, usize)>,
    /// Functions that transmit in the planned exchange.
    winners: Vec<EdcafId>,
    /// A function may have started to contend since the exchange was planned; the channel is on the dirty
    /// list.
    dirty: bool,
    /// The planned exchange ends with the RTS: noise destroys the RTS or the CTS.
    rts_lost: bool,
    /// Parts of the planned exchange, if it has no collision.
    alone: Alone,
    /// End of the TXOP that the current exchange continues, if any.
    txop_until: Option<Instant>,
}

impl AirChannel {
    /// Creates a channel without stations.
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

    /// Returns the timing of the channel.
    pub(super) fn timing(&self) -> Timing {
        self.timing
    }

    /// Adds a radio to a channel without hidden stations. Returns the medium on which its functions contend.
    pub(super) fn add_radio(&mut self, radio: usize) -> &mut Medium {
        self.functions.extend((0..QUEUES).map(|queue| (radio, queue)));
        &mut self.medium
    }

    /// Switches the channel to per-radio views, because of hidden stations or other users.
    pub(super) fn seen_by(&mut self, views: Views, radios: Vec<usize>, foreign: Foreign) {
        self.partly_connected = Some(Box::new(PartlyConnected::new(views, radios, foreign)));
    }
}

/// Beacon times of an access point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beacons {
    pub(super) first: Instant,
    pub(super) interval: Duration,
}

/// Wi-Fi device of an interface (access point or station) with its simulation state.
#[derive(Debug)]
pub(super) struct Wlan {
    dev: WifiDev,
    interface: IfId,
    /// Random stream of transmission errors for frames that it sends.
    errors: RandomStream,
    /// Beacon times, if the device sends beacons.
    beacons: Option<Beacons>,
    /// Groups that the host has joined.
    groups: Vec<group::Member>,
    /// The timer may have to be rearmed; the device is on the dirty list.
    dirty: bool,
}

impl Wlan {
    /// Creates the device of an interface. `errors` draws its frame losses.
    pub(super) fn new(dev: WifiDev, interface: IfId, errors: RandomStream, beacons: Option<Beacons>) -> Self {
        Self { dev, interface, errors, beacons, groups: Vec::new(), dirty: false }
    }

    /// Returns the peers, without the one that represents all stations.
    fn stations(&self) -> impl Iterator<Item = &Peer> {
        let all = &self.dev.tx.peers;
        all[..all.len() - usize::from(self.dev.tx.group.is_some())].iter()
    }
}

/// Objects to update after the event, each listed once, so that an event costs only what it touches.
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

    /// Gives access to a device, and puts it and its channel on the dirty list.
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

/// Port of a device for the transmit queues above it.
pub(super) struct WifiPort<'a>(&'a mut WifiDev, Hardware<'a>);

impl<S: Sink> Port<S> for WifiPort<'_> {
    fn is_stopped(&self, ac: Ac) -> bool {
        self.0.is_stopped(ac)
    }
    // linux: net/mac80211 (4.4) - ath9k's features include neither scatter-gather nor segmentation.
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
    /// Creates idle channels. `sharing` lists the devices of each radio.
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

    /// Arms the first beacon timers of the selected devices, and marks the selected channels with other users
    /// as dirty.
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

    /// Takes over the channels of some islands, with their devices and radios.
    pub(super) fn take_over(&mut self, other: Self, owned: &Owned<'_>) {
        let Islands { devs, radios, channels, .. } = owned.islands;
        owned.take(&mut self.wlans, other.wlans, devs);
        owned.take(&mut self.radios, other.radios, radios);
        owned.take(&mut self.channels, other.channels, channels);
    }

    /// Returns a device's state for one of its peers.
    pub(super) fn peer_mut(&mut self, dev: DevId, number: usize) -> &mut Peer {
        &mut self.wlans[dev.index()].dev.tx.peers[number]
    }

    /// Returns the port of a device.
    #[inline(always)]
    pub(super) fn port(&mut self, dev: DevId) -> WifiPort<'_> {
        let (wlan, hardware) = self.open(dev);
        WifiPort(&mut wlan.dev, hardware)
    }

    #[inline(always)]
    fn open(&mut self, dev: DevId) -> (&mut Wlan, Hardware<'_>) {
        self.dirty.open(&mut self.wlans, &mut self.radios, &mut self.channels, dev)
    }

    /// Reports whether an event may have changed the next transmission or a timer.
    #[inline(always)]
    pub(super) fn has_changed(&self) -> bool {
        !(self.dirty.channels.is_empty() && self.dirty.devs.is_empty())
    }

    /// Replans transmissions and rearms timers after an event.
    #[inline]
    pub(super) fn settle<S: Sink>(&mut self, core: &mut SimState<S>) {
        while let Some(channel) = self.dirty.channels.pop() {
            self.plan(core, channel);
        }
        while let Some(dev) = self.dirty.devs.pop() {
            let wlan = &mut self.wlans[dev];
            wlan.dirty = false;
            // A frame that becomes the first of its reorder buffer after a long wait is already overdue.
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
