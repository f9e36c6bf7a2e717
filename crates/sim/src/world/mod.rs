//! The world: nodes, wires, devices, radios and channels wired together, and what each event does to them.
//!
//! A packet's walk through this folder: `apps` makes it, `hosts` routes it and queues it at an interface, whose
//! device is a wire (also `hosts`) or a Wi-Fi device; `air` carries it over the channel and hands it up at the
//! other end. The world does not know who drives it: virtual time pops the next event at once.

mod air;
mod apps;
mod backlog;
mod collision;
mod exchange;
mod hidden;
mod hosts;
mod layout;
mod ledger;
mod qdiscs;
mod quic;
mod routing;
mod sockets;
mod tries;
mod wake;
mod web;
mod wiring;

use std::collections::BTreeMap;

use stillair_model::node::classify::DscpToUp;
use stillair_model::node::interface::TxQueues;
use stillair_model::node::jitter::AppClock;
use stillair_model::node::routes::Routes;
use stillair_model::node::wake::Wake;
use stillair_model::transport::tcp::metrics::PathMetrics;
use stillair_model::transport::tcp::socket::Tcp;
use stillair_model::vocabulary::{
    Ac, Addr, ChannelId, Ctx, Datagram, DevId, Duration, IfId, Instant, MpduView, NodeId, Packets, Pkt,
    PlaceId, Sink, SockId, Stream, WireId,
};
use stillair_model::wifi::air::account::AirAccount;
use stillair_model::wifi::air::medium::{FunctionId, Medium};
use stillair_model::wifi::air::radio::Radio;
use stillair_model::wifi::dev::WifiDev;
use stillair_model::wifi::phy::PhyRate;
use stillair_model::wifi::phy::frame::Cipher;
use stillair_model::wifi::phy::timing::Timing;
use stillair_model::wifi::rate::{RateControl, StatsRow};
use stillair_model::wifi::tx::transmitter::Hardware;
use stillair_model::wire::Wire;

use crate::engine::{Slot, Timers};
use apps::App;
use hidden::Hidden;
use sockets::Socket;
use wake::Wakes;

pub use layout::{DevLayout, InterfaceLayout, Layout};
pub use qdiscs::QdiscCounters;
pub use sockets::TcpSocket;
pub use wiring::{Wired, layout, wire};

/// A host, router or access point.
#[derive(Debug)]
struct Node {
    routes: Routes,
    forward: bool,
    dscp_to_up: DscpToUp,
    place: PlaceId,
    wake: Wake,
}

/// What is below an interface.
#[derive(Clone, Copy, Debug)]
enum Device {
    Wire(WireId),
    Wifi(DevId),
}

#[derive(Debug)]
struct Interface {
    node: NodeId,
    tx: TxQueues,
    device: Device,
    /// Its device takes packets of several segments.
    tso: bool,
    /// What it takes in at once is merged.
    gro: bool,
    /// Memory of a packet that comes in, in bytes; 0: that of the sender's packet.
    rx_buffer: u32,
    /// Timer of the first of its disciplines, if they hold packets back.
    watchdog: Option<u32>,
    /// What packets that bear its address reach through it, if its node has other interfaces.
    bound: Option<Routes>,
}

/// A channel: its medium, whose functions contend on it, and the account of its air.
#[derive(Debug)]
struct Channel {
    name: String,
    timing: Timing,
    cipher: Cipher,
    /// Rate of the CTS before what stations without OFDM do not understand, where such are.
    protection: Option<PhyRate>,
    medium: Medium,
    account: AirAccount,
    /// What each radio makes of it, where not everybody hears everybody. Then `medium` and what follows is not used.
    hidden: Option<Box<Hidden>>,
    /// By function: the radio and its queue.
    functions: Vec<(usize, usize)>,
    /// Who transmits in the exchange whose end the timer is armed for.
    winners: Vec<FunctionId>,
    /// Somebody may have begun to contend since the exchange was planned: it is on the world's list to be looked at.
    dirty: bool,
    /// The exchange that the timer is armed for is no more than an RTS: noise takes it, or the CTS.
    rts_lost: bool,
    /// End of the transmit opportunity that the exchange under way continues, if it does.
    txop_until: Option<Instant>,
}

/// When an access point sends beacons.
#[derive(Clone, Copy, Debug)]
struct Beacons {
    first: Instant,
    interval: Duration,
}

/// The Wi-Fi device of an interface, access point's or station's, with what the simulation adds to it.
#[derive(Debug)]
struct Wlan {
    dev: WifiDev,
    interface: IfId,
    /// Transmission errors of what it sends.
    errors: Stream,
    /// When it sends beacons, if it does.
    beacons: Option<Beacons>,
    /// Its timer may have to be armed anew: it is on the world's list to be looked at.
    dirty: bool,
}

/// The kinds of timers, in the order in which events at the same instant come.
#[derive(Clone, Copy, Debug)]
struct Slots {
    devs: u32,
    arrivals: u32,
    completions: u32,
    watchdogs: u32,
    beacons: u32,
    apps: u32,
    wakes: u32,
    sockets: u32,
    end: u32,
}

impl Slots {
    const CHANNELS: u32 = 0;

    fn new(
        channels: usize,
        devs: usize,
        wires: usize,
        watchdogs: usize,
        apps: usize,
        nodes: usize,
        sockets: usize,
    ) -> Self {
        let [channels, n_devs, wires, n_watchdogs, n_apps, n_nodes] =
            [channels, devs, wires, watchdogs, apps, nodes].map(|n| n as u32);
        let devs = Self::CHANNELS + channels;
        let arrivals = devs + n_devs;
        let completions = arrivals + wires;
        let watchdogs = completions + wires;
        let beacons = watchdogs + n_watchdogs;
        let apps = beacons + n_devs;
        let wakes = apps + n_apps;
        let (first, sockets) = (wakes + n_nodes, sockets as u32);
        let end = first + sockets;
        Self { devs, arrivals, completions, watchdogs, beacons, apps, wakes, sockets: first, end }
    }
}

/// What has to be looked at after the event: each thing once, so that an event costs what it touches.
#[derive(Debug, Default)]
struct Dirty {
    channels: Vec<usize>,
    devs: Vec<usize>,
}

impl Dirty {
    #[inline]
    fn channel(&mut self, channel: &mut Channel, index: ChannelId) {
        if !core::mem::replace(&mut channel.dirty, true) {
            self.channels.push(index.index());
        }
    }

    /// A device is about to be acted upon: both it and its channel are to be looked at afterwards.
    #[inline]
    fn open<'a>(
        &mut self,
        wlans: &'a mut [Wlan],
        radios: &'a mut [Radio],
        channels: &'a mut [Channel],
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

/// Everything there is in a run.
#[derive(Debug)]
pub struct World<S> {
    now: Instant,
    timers: Timers,
    slots: Slots,
    packets: Packets,
    /// Where events are reported.
    pub trace: S,
    nodes: Vec<Node>,
    interfaces: Vec<Interface>,
    wires: Vec<Wire>,
    /// Transmit queues whose discipline holds packets back, in the order of their timers.
    watchdogs: Vec<(IfId, Ac)>,
    wlans: Vec<Wlan>,
    radios: Vec<Radio>,
    /// By radio: the devices that send with it.
    sharing: Vec<Vec<DevId>>,
    channels: Vec<Channel>,
    apps: Vec<App>,
    /// By application: the clock of its timers; empty where those of all hosts are exact.
    clocks: Vec<AppClock>,
    sockets: Vec<Socket>,
    /// By socket: the machine of one that speaks TCP; it is out of its place while it acts on the world.
    tcps: Vec<Option<Box<Tcp>>>,
    /// What hosts remember of paths, by source and destination.
    paths: BTreeMap<(Addr, Addr), PathMetrics>,
    /// Sockets that waited for memory and got some.
    writable: Vec<SockId>,
    /// Processes that were woken and have not run yet.
    wakes: Wakes,
    /// Transmit queues that used up their quota and have their turn again when all else is done.
    softirq: Vec<(IfId, Ac)>,
    dirty: Dirty,
    /// Records of QUIC datagrams, kept to be used again.
    spare: Vec<Datagram>,
    /// Batches of packets on their way up, kept to be used again.
    batches: Vec<Vec<Pkt>>,
    /// Data frames of the PPDU that is being shown to a reader that wants frames.
    mpdus: Vec<MpduView>,
    events: u64,
}

impl<S: Sink> World<S> {
    /// The latest end that a run may have.
    pub fn horizon(&self) -> Instant {
        self.timers.horizon()
    }

    /// Runs until `end`, which is not after the horizon; what is due at `end` is left.
    pub fn run_until(&mut self, end: Instant) {
        assert!(end <= self.horizon(), "timers that late do not fire");
        self.settle();
        while let Some((now, slot)) = self.timers.pop_before(end) {
            debug_assert!(now >= self.now, "time ran backwards");
            self.now = now;
            self.events += 1;
            self.handle(slot.0);
            self.settle();
        }
        self.now = end;
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    fn handle(&mut self, slot: u32) {
        let s = self.slots;
        if slot < s.devs {
            self.exchange_ended((slot - Slots::CHANNELS) as usize);
        } else if slot < s.arrivals {
            self.dev_timer((slot - s.devs) as usize);
        } else if slot < s.completions {
            self.wire_arrival((slot - s.arrivals) as usize);
        } else if slot < s.watchdogs {
            self.wire_completion((slot - s.completions) as usize);
        } else if slot < s.beacons {
            let (interface, ac) = self.watchdogs[(slot - s.watchdogs) as usize];
            self.run_queue(interface, ac);
        } else if slot < s.apps {
            self.beacon((slot - s.beacons) as usize);
        } else if slot < s.wakes {
            self.app_timer((slot - s.apps) as usize);
        } else if slot < s.sockets {
            self.wake_timer((slot - s.wakes) as usize);
        } else {
            self.socket_timer(SockId(slot - s.sockets));
        }
    }

    /// After every event: queues that wait for their turn, sockets whose memory was freed, processes that were woken, timers that
    /// changed.
    fn settle(&mut self) {
        loop {
            if let Some((interface, ac)) = self.softirq.pop() {
                self.run_queue(interface, ac);
            } else if !self.drain_uncharged() && !self.run_woken_process() {
                break;
            }
        }
        while let Some(channel) = self.dirty.channels.pop() {
            self.plan(channel);
        }
        while let Some(dev) = self.dirty.devs.pop() {
            let wlan = &mut self.wlans[dev];
            wlan.dirty = false;
            // A frame that has waited long may become the first of its buffer, and is overdue at once.
            let at = wlan.dev.next_timer().map(|t| t.max(self.now));
            self.timers.set(Slot(self.slots.devs + dev as u32), at);
        }
    }

    /// What rate control knows of each link whose rates are not fixed: from which interface, to which, and a row for each rate.
    pub fn rate_stats(&self) -> impl Iterator<Item = (IfId, IfId, Vec<StatsRow>)> {
        let links = self.wlans.iter().flat_map(|w| w.dev.tx.peers.iter().map(move |p| (w.interface, p)));
        let learning =
            links.filter(|(_, peer)| !matches!(peer.rate, RateControl::Fixed(_) | RateControl::Traced(_)));
        learning.map(|(from, peer)| (from, self.wlans[peer.remote.0.index()].interface, peer.rate.rows()))
    }

    fn ctx(&mut self) -> Ctx<'_, S> {
        Ctx { packets: &mut self.packets, trace: &mut self.trace }
    }
}
