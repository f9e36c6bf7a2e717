//! Builds a world from a scenario: assigns numbers to names, devices to interfaces, and routes to addresses.

use core::ops::Range;

use stillair_model::node::interface::{QueueLayout, TxQueues};
use stillair_model::node::jitter::Softirq;
use stillair_model::node::routes::Routes;
use stillair_model::types::{
    Ac, Addr, ChannelId, DevId, Duration, IfId, Instant, NodeId, Packets, PeerId, PlaceId, RadioId, Seed,
    Sink, WireId,
};
use stillair_model::wire::{Wire, WireParams};

use super::accounting::{DevLayout, InterfaceLayout, WorldLayout};
use super::air::Air;
use super::hosts::{External, Hosts, LowerLayers};
use super::network::{NetDevice, NetInterface, NetNode, Network, RxHandler};
use super::state::SimState;
use super::{SlotCounts, Slots, World};
use crate::engine::Timers;
use crate::recorder::{Direction, HostFlows, HostRecords, Recorder};
use crate::scenario::{self, Attachment, InterfaceRef, Role, Scenario, Wifi};

mod change;
mod flows;
mod foreign;
mod groups;
mod islands;
mod medium;
mod paths;
mod routing;
mod wifi;

use flows::Ends;
pub use islands::islands;
use routing::{Edge, Graph, Tables};

/// Numbers of interfaces, devices and stations in the world.
struct Plan<'a> {
    scenario: &'a Scenario,
    /// First interface of each node.
    first_interface: Vec<usize>,
    /// Wi-Fi device of each interface, if any.
    devs: Vec<Option<DevId>>,
    /// Interface of each device.
    interfaces_of_devs: Vec<InterfaceRef>,
    /// Interfaces of each device's peers, in peer order.
    peers: Vec<Vec<InterfaceRef>>,
    /// Number of each station's device among its access point's peers.
    numbers: Vec<PeerId>,
    /// Radio of each device.
    radios: Vec<RadioId>,
    /// Interfaces of stations, in scenario order.
    stations: Vec<InterfaceRef>,
    /// Station index of each device, if it is a station.
    station_of_dev: Vec<Option<usize>>,
    places: Vec<String>,
}

/// A world ready to run.
#[derive(Debug)]
pub struct Wired<S> {
    /// The world.
    pub world: World<S>,
    /// Names of the stations, in recorder order.
    pub stations: Vec<String>,
    /// Names of the places where packets are dropped.
    pub places: Vec<String>,
}

/// Builds the world of one run of a scenario. `sink` wraps the recorder in the trace sink of the world: the
/// recorder itself, or a sink that passes events on to the recorder.
pub fn wire<S: Sink>(scenario: &Scenario, seed: Seed, sink: impl FnOnce(Recorder) -> S) -> Wired<S> {
    let mut wired = wire_idle(scenario, seed, sink);
    let World { core, hosts, network, air, .. } = &mut wired.world;
    hosts.start(&mut LowerLayers { core, network, air }, |_| true);
    air.start(core, |_| true, |_| true);
    wired
}

/// Builds a world like [`wire`], in which nothing starts before [`World::start_island`] is called.
pub fn wire_idle<S: Sink>(scenario: &Scenario, seed: Seed, sink: impl FnOnce(Recorder) -> S) -> Wired<S> {
    let mut plan = Plan::new(scenario);
    let (channels, radios, wlans) = plan.wifi(seed);
    let mut tables = plan.graph().tables();
    let members = plan.groups(&mut tables);
    let until = match scenario.cool_down {
        // Without a cool-down, events at the very end count as well.
        Duration::ZERO => Instant::from_nanos(u64::MAX),
        cool_down => Instant::ZERO + (scenario.duration - cool_down),
    };
    let measured = Instant::ZERO + scenario.warm_up..until;
    let Ends { apps, clocks, sockets, tcps, records: flows } = plan.apps(seed, &measured, &tables);
    let Tables { nodes: routes, bound } = tables;
    let interfaces = plan.interfaces(seed, bound);
    let wires = plan.wires(seed);
    let (interfaces, watchdogs) = watchdogs(interfaces);
    let nodes = plan.nodes(routes);
    let sharing = plan.sharing(radios.len());
    let links = (0..wlans.len()).map(|dev| plan.links(dev)).collect();
    let external = plan.external(flows.len(), &measured);
    let mut recorder = Recorder::new(measured, flows, plan.stations.len(), links);
    recorder.hosts = HostRecords::new(external.0);
    // Sockets of web pages are opened during the run; their timers come last.
    let n_sockets = sockets.len() + plan.opened();
    let slots = Slots::new(SlotCounts {
        channels: channels.len(),
        devs: wlans.len(),
        wires: wires.len(),
        watchdogs: watchdogs.len(),
        apps: apps.len(),
        nodes: nodes.len(),
        sockets: n_sockets,
    });
    let wakes = scenario.nodes.iter().map(|node| node.wake).collect();
    let timers = Timers::new(slots.hosts.end);
    let core =
        SimState { now: Instant::ZERO, passed: 0, timers, packets: Packets::new(), trace: sink(recorder) };
    let mut air = Air::new(channels, radios, wlans, sharing, slots.air);
    let network = Network::new(nodes, interfaces, wires, watchdogs, slots.network);
    let hosts = Hosts::new((apps, clocks), sockets, tcps, wakes, external.1, slots.hosts);
    members.into_iter().for_each(|(dev, member)| air.join(dev, member));
    let world = World { core, hosts, network, air, slots, events: 0 };
    let stations = plan.stations.iter().map(|&at| scenario.station_name(at)).collect();
    Wired { world, stations, places: plan.places }
}

/// Assigns a watchdog timer to each transmit queue whose qdisc delays packets or may be replaced by one that
/// does.
fn watchdogs(mut interfaces: Vec<NetInterface>) -> (Vec<NetInterface>, Vec<(IfId, Ac)>) {
    let mut all = Vec::new();
    for (n, interface) in interfaces.iter_mut().enumerate() {
        interface.timer = all.len() as u32;
        interface.watches();
        let queues = Ac::ALL.into_iter().take(interface.tx.iter().count());
        all.extend(queues.map(|ac| (IfId::from_index(n), ac)));
    }
    (interfaces, all)
}

/// Returns the numbers that [`wire`] assigns to the interfaces, devices and wires of a scenario.
pub fn layout(scenario: &Scenario) -> WorldLayout {
    let plan = Plan::new(scenario);
    let interface = |at: InterfaceRef| InterfaceLayout {
        node: scenario.nodes[at.node].name.clone(),
        name: plan.interface(at).name.clone(),
        address: plan.interface(at).address,
        address6: plan.interface(at).address6,
    };
    let dev = |(n, &at): (usize, &InterfaceRef)| DevLayout {
        interface: plan.id(at),
        channel: ChannelId::from_index(plan.wifi_of(at).channel),
        ap: matches!(plan.wifi_of(at).role, Role::Ap),
        peers: plan.peers[n].iter().map(|&peer| plan.dev(peer)).collect(),
    };
    WorldLayout {
        interfaces: plan.all().map(interface).collect(),
        devs: plan.interfaces_of_devs.iter().enumerate().map(dev).collect(),
        wires: plan.ends_of_wires(),
    }
}

impl<'a> Plan<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let (mut first_interface, mut devs, mut interfaces_of_devs) = (Vec::new(), Vec::new(), Vec::new());
        let (mut stations, mut station_of_dev) = (Vec::new(), Vec::new());
        for (node, n) in scenario.nodes.iter().enumerate() {
            first_interface.push(devs.len());
            for (interface, i) in n.interfaces.iter().enumerate() {
                let Attachment::Wifi(wifi) = &i.medium else {
                    devs.push(None);
                    continue;
                };
                devs.push(Some(DevId::from_index(interfaces_of_devs.len())));
                interfaces_of_devs.push(InterfaceRef { node, interface });
                let is_station = matches!(wifi.role, Role::Station(_));
                station_of_dev.push(is_station.then_some(stations.len()));
                if is_station {
                    stations.push(InterfaceRef { node, interface });
                }
            }
        }
        let mut plan = Self {
            scenario,
            first_interface,
            devs,
            interfaces_of_devs,
            peers: vec![],
            numbers: vec![],
            radios: vec![],
            stations,
            station_of_dev,
            places: vec![],
        };
        plan.radios = plan.number_radios();
        (plan.peers, plan.numbers) = plan.number_peers();
        plan
    }

    /// Assigns a radio to each device that does not share another interface's radio.
    fn number_radios(&self) -> Vec<RadioId> {
        let of = |dev: usize| self.wifi_of(self.interfaces_of_devs[dev]).radio;
        let all = 0..self.interfaces_of_devs.len();
        let mut own = 0;
        let mut radios: Vec<RadioId> = Vec::with_capacity(all.len());
        for dev in all.clone() {
            radios.push(RadioId::from_index(own));
            own += usize::from(of(dev).is_none());
        }
        for dev in all {
            if let Some(of) = of(dev) {
                radios[dev] = radios[self.dev(of).index()];
            }
        }
        radios
    }

    /// Determines the peers of each device, and each station's number at its access point.
    fn number_peers(&self) -> (Vec<Vec<InterfaceRef>>, Vec<PeerId>) {
        let mut peers = vec![Vec::new(); self.interfaces_of_devs.len()];
        let mut numbers = vec![PeerId(0); peers.len()];
        for (dev, &at) in self.interfaces_of_devs.iter().enumerate() {
            if let Role::Station(station) = &self.wifi_of(at).role {
                let ap = &mut peers[self.dev(station.ap).index()];
                numbers[dev] = PeerId::from_index(ap.len());
                ap.push(at);
                peers[dev].push(station.ap);
            }
        }
        (peers, numbers)
    }

    /// Returns the devices of each radio.
    fn sharing(&self, radios: usize) -> Vec<Vec<DevId>> {
        let mut sharing = vec![Vec::new(); radios];
        for (dev, radio) in self.radios.iter().enumerate() {
            sharing[radio.index()].push(DevId::from_index(dev));
        }
        sharing
    }

    fn interface(&self, at: InterfaceRef) -> &'a scenario::Interface {
        &self.scenario.nodes[at.node].interfaces[at.interface]
    }

    fn wifi_of(&self, at: InterfaceRef) -> &'a Wifi {
        match &self.interface(at).medium {
            Attachment::Wifi(wifi) => wifi,
            Attachment::Wired { .. } => unreachable!("only called for Wi-Fi interfaces"),
        }
    }

    fn id(&self, at: InterfaceRef) -> IfId {
        IfId::from_index(self.first_interface[at.node] + at.interface)
    }

    fn dev(&self, at: InterfaceRef) -> DevId {
        self.devs[self.id(at).index()].expect("only called for Wi-Fi interfaces")
    }

    /// Returns `node.interface`, the name used for places and random streams.
    fn name(&self, at: InterfaceRef) -> String {
        format!("{}.{}", self.scenario.nodes[at.node].name, self.interface(at).name)
    }

    fn place(&mut self, name: String) -> PlaceId {
        self.places.push(name);
        PlaceId::from_index(self.places.len() - 1)
    }

    fn all(&self) -> impl Iterator<Item = InterfaceRef> + use<'a> {
        let nodes = self.scenario.nodes.iter().enumerate();
        nodes.flat_map(|(node, n)| {
            (0..n.interfaces.len()).map(move |interface| InterfaceRef { node, interface })
        })
    }

    /// Returns the station's side of the path between a device and one of its peers.
    fn path(&self, at: InterfaceRef, peer: InterfaceRef) -> (InterfaceRef, &scenario::Station) {
        for i in [at, peer] {
            if let Role::Station(station) = &self.wifi_of(i).role {
                return (i, station);
            }
        }
        unreachable!("one end of every path is a station")
    }

    fn interfaces(&mut self, seed: Seed, bound: Vec<Option<Routes>>) -> Vec<NetInterface> {
        let all = self.all().zip(bound).collect::<Vec<_>>();
        let interface = |(at, bound): (InterfaceRef, Option<Routes>)| {
            let i = self.interface(at);
            let (device, layout) = match &i.medium {
                Attachment::Wired { link } => {
                    // The two directions of a link are wires 2n and 2n + 1, in the order of its ends.
                    let end = usize::from(self.scenario.links[*link].ends[0] != at);
                    (NetDevice::Wire(WireId::from_index(2 * link + end)), QueueLayout::OneQueue)
                }
                Attachment::Wifi(_) => (
                    NetDevice::Wifi(self.dev(at)),
                    if i.qdisc.mq { QueueLayout::Mq } else { QueueLayout::Root },
                ),
            };
            let name = self.name(at);
            let place = self.place(format!("{name} qdisc"));
            let mut stream = seed.stream(&format!("{name}.qdisc"));
            let tx = TxQueues::new(&i.qdisc.config, layout, place, &mut stream);
            let node = NodeId::from_index(at.node);
            let rx_buffer = i.rx_buffer.unwrap_or(0);
            let external = self.scenario.nodes[at.node].host.is_external();
            let rx_handler = if external { RxHandler::External } else { RxHandler::Host };
            // Packets with bytes are merged by the driver, after they leave the model.
            let gro = i.gro && !external;
            let behind_ifb = i.ingress.is_some();
            let (tso, timer, watchdog) = (i.tso, 0, None);
            NetInterface {
                node,
                tx,
                device,
                tso,
                gro,
                rx_buffer,
                timer,
                watchdog,
                rx_handler,
                behind_ifb,
                bound,
            }
        };
        let mut interfaces: Vec<NetInterface> = all.into_iter().map(interface).collect();
        let ifbs = self.ifbs(&interfaces, seed);
        interfaces.extend(ifbs);
        interfaces
    }

    /// Builds the ifbs of shapers, numbered behind all interfaces of the scenario. Received packets are
    /// merged before an ifb and pass it unsplit.
    // linux: drivers/net/ifb.c IFB_FEATURES (6.1) - does not segment packets.
    fn ifbs(&mut self, interfaces: &[NetInterface], seed: Seed) -> Vec<NetInterface> {
        let names = self.scenario.interface_names().split_off(interfaces.len());
        let shaped: Vec<InterfaceRef> = self.scenario.shaped().collect();
        let ifb = |((n, at), name): ((usize, InterfaceRef), String)| {
            let place = self.place(format!("{name} qdisc"));
            let config = self.interface(at).ingress.clone().expect("only of interfaces with one");
            let mut stream = seed.stream(&format!("{name}.qdisc"));
            let tx = TxQueues::new(&config, QueueLayout::OneQueue, place, &mut stream);
            let of = self.id(at);
            let NetInterface { node, gro, rx_buffer, .. } = interfaces[of.index()];
            let device = NetDevice::Wire(WireId::from_index(2 * self.scenario.links.len() + n));
            let (rx_handler, watchdog, bound) = (RxHandler::Shaper(of), None, None);
            NetInterface {
                node,
                tx,
                device,
                tso: true,
                gro,
                rx_buffer,
                timer: 0,
                watchdog,
                rx_handler,
                behind_ifb: false,
                bound,
            }
        };
        shaped.into_iter().enumerate().zip(names).map(ifb).collect()
    }

    /// Returns the interface that receives packets arriving at `at` over a link: its ifb, if it has one.
    fn comes_in(&self, at: InterfaceRef) -> IfId {
        let ifb = self.scenario.shaped().position(|shaped| shaped == at);
        ifb.map_or(self.id(at), |n| IfId::from_index(self.devs.len() + n))
    }

    /// Builds the external hosts in scenario order. Their flows are numbered behind the first `flows`.
    fn external(&self, flows: usize, measured: &Range<Instant>) -> (HostFlows, External) {
        let mut hosts = 0;
        let number = |node: &scenario::Node| {
            node.host.is_external().then(|| {
                hosts += 1;
                hosts - 1
            })
        };
        let numbers: Vec<Option<u32>> = self.scenario.nodes.iter().map(number).collect();
        let flows = HostFlows::new(flows, hosts as usize);
        let nodes = self.all().map(|at| NodeId::from_index(at.node)).collect();
        let uplink = self.uplink().map(|at| NodeId::from_index(at.node));
        (flows, External::new(flows, numbers, nodes, uplink, measured.clone()))
    }

    /// Returns the interface for packets to unknown addresses.
    fn uplink(&self) -> Option<InterfaceRef> {
        self.all().find(|&at| self.interface(at).default_route)
    }

    fn wires(&mut self, seed: Seed) -> Vec<Wire> {
        let lines: Vec<[Option<PlaceId>; 2]> =
            self.scenario.links.iter().map(|link| self.modems(link)).collect();
        let one = |params: WireParams, [from, to]: [InterfaceRef; 2], modem: Option<PlaceId>| {
            let wire = Wire::new(params, self.id(from), self.comes_in(to));
            let wire = if let Some(place) = modem { wire.with_place(place) } else { wire };
            // Virtual devices have no interrupts: the sender's softirq passes packets on.
            match self.softirq(to, seed).filter(|_| params != WireParams::Veth) {
                Some(softirq) => wire.with_softirq(softirq),
                None => wire,
            }
        };
        let both = |(link, [from_a, from_b]): (&scenario::Link, [Option<PlaceId>; 2])| {
            let ([a, b], [there, back]) = (link.ends, link.params);
            [one(there, [a, b], from_a), one(back, [b, a], from_b)]
        };
        let mut all: Vec<Wire> = self.scenario.links.iter().zip(lines).flat_map(both).collect();
        // Packets released by an ifb arrive at its interface.
        let ifb = |at: InterfaceRef| Wire::new(WireParams::Veth, self.comes_in(at), self.id(at));
        all.extend(self.scenario.shaped().map(ifb));
        all
    }

    /// Returns the places where the two ends of an access line drop packets on overflow.
    fn modems(&mut self, link: &scenario::Link) -> [Option<PlaceId>; 2] {
        [0, 1].map(|end| {
            let is_line = matches!(link.params[end], WireParams::Access(..));
            is_line.then(|| self.place(format!("{} modem", self.name(link.ends[end]))))
        })
    }

    /// Returns the sending and receiving interface of each wire.
    fn ends_of_wires(&self) -> Vec<[IfId; 2]> {
        let both = |link: &scenario::Link| {
            let [a, b] = link.ends.map(|end| self.id(end));
            [[a, b], [b, a]]
        };
        self.scenario.links.iter().flat_map(both).collect()
    }

    /// Returns the delay from an interface's interrupt to the stack, if any.
    fn softirq(&self, at: InterfaceRef, seed: Seed) -> Option<Softirq> {
        let stream = seed.stream(&format!("{}.softirq", self.name(at)));
        Softirq::new(self.scenario.nodes[at.node].jitter.softirq, stream)
    }

    /// Returns the interfaces that packets sent through an interface may reach, with their peer numbers.
    fn neighbours(&self, at: InterfaceRef) -> Vec<(InterfaceRef, PeerId)> {
        match &self.interface(at).medium {
            Attachment::Wired { link } => {
                let ends = self.scenario.links[*link].ends;
                vec![(if ends[0] == at { ends[1] } else { ends[0] }, PeerId(0))]
            }
            Attachment::Wifi(_) => {
                let peers = &self.peers[self.dev(at).index()];
                peers.iter().enumerate().map(|(n, &p)| (p, PeerId::from_index(n))).collect()
            }
        }
    }

    fn graph(&self) -> Graph {
        let forward = self.scenario.nodes.iter().map(|n| n.forward).collect();
        let edges = |from: InterfaceRef| {
            let out = self.id(from);
            self.neighbours(from).into_iter().map(move |(to, peer)| Edge { from, out, peer, to })
        };
        let edges = self.all().flat_map(edges).collect();
        Graph { forward, interfaces: self.all().collect(), elsewhere: self.uplink(), edges }
    }

    fn nodes(&mut self, routes: Vec<Routes>) -> Vec<NetNode> {
        let node = |(n, routes): (usize, Routes)| {
            let scenario = &self.scenario.nodes[n];
            let place = self.place(format!("{} ip", scenario.name));
            let dscp_to_up = scenario.profile.dscp_to_up;
            NetNode { routes, forward: scenario.forward, dscp_to_up, place }
        };
        routes.into_iter().enumerate().map(node).collect()
    }

    /// Returns the station of a flow's end: its own interface, or else the first station of its node.
    fn station_at(&self, at: InterfaceRef) -> Option<usize> {
        let same_node = || self.stations.iter().position(|s| s.node == at.node);
        self.devs[self.id(at).index()].and_then(|dev| self.station_of_dev[dev.index()]).or_else(same_node)
    }

    /// Returns an interface's address, which is its number.
    fn addr(&self, at: InterfaceRef) -> Addr {
        Addr::from_index(self.id(at).index())
    }

    /// Returns the station and direction to charge for a device's airtime to each peer.
    fn links(&self, dev: usize) -> Vec<(usize, Direction)> {
        let at = self.interfaces_of_devs[dev];
        let link = |&peer: &InterfaceRef| {
            let (station, _) = self.path(at, peer);
            let index = self.station_of_dev[self.dev(station).index()].expect("every station is listed");
            (index, if station == at { Direction::Up } else { Direction::Down })
        };
        self.peers[dev].iter().map(link).collect()
    }
}
