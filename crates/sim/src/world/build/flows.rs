//! Applications and sockets at the ends of the flows.

use core::ops::Range;

use stillair_model::app::{
    Bulk, BulkParams, Gap, Ping, Responsiveness, UdpSource, UdpSourceParams, Video, Voip, VoipParams,
    WORKERS, Web, WebParams,
};
use stillair_model::node::jitter::{AppClock, Slack, Spread};
use stillair_model::transport::cc::Cc;
use stillair_model::transport::quic::{QuicRole, TcpControl};
use stillair_model::transport::tcp::config::TcpConfig;
use stillair_model::transport::tcp::socket::Tcp;
use stillair_model::types::{
    Duration, Endpoint, FlowId, IfId, Instant, Ip, NodeId, Seed, SockId, linear_truesize,
};

use super::super::hosts::{
    App, AppKind, BulkFlow, ConnectionEnd, Job, LoadState, QuicApp, QuicEnd, ResponsivenessFlow, Socket,
    SocketProtocol, Stacks, WebFlow,
};
use super::{Plan, Tables};
use crate::recorder::{Datagrams, FlowRecord, QuicRecord};
use crate::scenario::{
    self, Attachment, CongestionControl, FlowKind, InterfaceRef, Mtus, QuicFlow, QuicLoad, SocketMemory, Ways,
};

/// Ends of all flows, in flow order.
#[derive(Default)]
pub(super) struct Ends {
    pub(super) apps: Vec<App>,
    /// Clock of each application's timers. Empty if the timers of all hosts are exact.
    pub(super) clocks: Vec<AppClock>,
    pub(super) sockets: Vec<Socket>,
    /// TCP state machine of each TCP socket.
    pub(super) tcps: Vec<Option<Box<Tcp>>>,
    pub(super) records: Vec<FlowRecord>,
}

impl Ends {
    /// Opens a socket for the application that is created next.
    fn open(&mut self, node: usize, protocol: SocketProtocol, tcp: Option<Box<Tcp>>) -> SockId {
        let sock = SockId::from_index(self.sockets.len());
        let (app, node) = (self.apps.len() as u32, NodeId::from_index(node));
        self.sockets.push(Socket { app, node, protocol, woken: false });
        self.tcps.push(tcp);
        sock
    }
}

/// A flow of the scenario to one of its receivers.
struct One<'a> {
    flow: &'a scenario::Flow,
    id: FlowId,
    /// Sender and receiver.
    sides: [Side; 2],
    /// Name prefix of its random streams.
    name: String,
    seed: Seed,
    endpoint: Endpoint,
    start: Instant,
    stop: Instant,
    /// Maximum payload of a TCP segment without options, in bytes.
    segment: u16,
}

/// One end of a flow to one receiver.
#[derive(Clone, Copy)]
struct Side {
    /// Interface with the local address.
    at: InterfaceRef,
    /// Output interface of its packets.
    leaves: InterfaceRef,
    /// Addresses and flow of its packets.
    endpoint: Endpoint,
}

impl Plan<'_> {
    /// Creates the applications, sockets and records of all flows.
    pub(super) fn apps(&self, seed: Seed, measured: &Range<Instant>, tables: &Tables) -> Ends {
        let (mut ends, ways, mtus) = (Ends::default(), Ways::new(self.scenario), Mtus::new(self.scenario));
        for flow in &self.scenario.flows {
            for (n, &to) in flow.to.iter().enumerate() {
                let [from, at] = ways.ends(flow.from, to);
                let id = FlowId::from_index(ends.apps.len());
                let name = format!("{}.{}", flow.name, self.scenario.end_name(to));
                let mut one = self.one(flow, name, [from, at], id, seed, tables);
                one.segment = mtus.segment(from, at, flow.ip);
                if flow.multicast {
                    one.endpoint.dst = self.group_addr().of(flow.ip);
                    // A multicast flow has a single source.
                    if n > 0 {
                        one.stop = Instant::ZERO;
                    }
                }
                let station = [at, from].into_iter().find_map(|at| self.station_at(at));
                let quic = matches!(flow.kind, FlowKind::Quic(_))
                    .then(|| {
                        QuicRecord::new(
                            one.endpoint.src,
                            measured.clone(),
                            one.stop,
                            self.scenario.record.quic,
                        )
                    })
                    .map(Box::new);
                let datagrams = Datagrams::of(&flow.kind, one.start).map(Box::new);
                let others = if flow.multicast && n == 0 { flow.to.len() - 1 } else { 0 };
                ends.records.push(FlowRecord { station, others, quic, datagrams, ..FlowRecord::default() });
                ends.clocks.extend(self.clock(&one));
                let kind = self.app(&one, n, measured, &mut ends);
                ends.apps.push(App { kind });
            }
        }
        ends
    }

    /// Returns the clock of an application on the host that starts it. `None` if all hosts have exact timers.
    fn clock(&self, one: &One<'_>) -> Option<AppClock> {
        let exact = |n: &scenario::Node| n.jitter.timer_slack == Spread::None && n.jitter.drift_ppm == 0;
        if self.scenario.nodes.iter().all(exact) {
            return None;
        }
        // The client of a QUIC request receives the data.
        let asks = matches!(&one.flow.kind, FlowKind::Quic(spec)
            if !matches!(spec.load, QuicLoad::Transfer { request: None, .. }));
        let node = &self.scenario.nodes[one.sides[usize::from(asks)].at.node];
        let host = one.seed.stream(&format!("{}.clock", node.name));
        Some(AppClock::new(&node.jitter, host, one.seed.stream(&format!("{}.slack", one.name))))
    }

    /// Returns the output interface for packets with the local address of `at`.
    fn leaves(&self, at: InterfaceRef, Endpoint { src, dst, .. }: Endpoint, tables: &Tables) -> InterfaceRef {
        let out = tables.leaves(NodeId::from_index(at.node), src, dst);
        let interface = |out: IfId| out.index() - self.first_interface[at.node];
        InterfaceRef { interface: out.map_or(at.interface, interface), ..at }
    }

    /// Builds a flow between two interfaces.
    fn one<'a>(
        &self,
        flow: &'a scenario::Flow,
        name: String,
        [from, to]: [InterfaceRef; 2],
        id: FlowId,
        seed: Seed,
        tables: &Tables,
    ) -> One<'a> {
        // IPv6 flows have a different 5-tuple and therefore a different hash.
        let hash = if flow.ip == Ip::V6 { "hash6" } else { "hash" };
        let endpoint = Endpoint {
            flow: id,
            flow_hash: seed.stream(&format!("{name}.{hash}")).bits() as u32,
            src: self.addr(from).of(flow.ip),
            dst: self.addr(to).of(flow.ip),
            tos: flow.tos,
        };
        let late = flow.start_spread.nanos() as f64 * seed.stream(&format!("{name}.start")).unit();
        let start = Instant::ZERO + flow.start + Duration::from_nanos(late as u64);
        let stop = flow.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop);
        let side = |at: InterfaceRef, endpoint: Endpoint| {
            let leaves = self.leaves(at, endpoint, tables);
            Side { at, leaves, endpoint }
        };
        let back = Endpoint { src: endpoint.dst, dst: endpoint.src, ..endpoint };
        let sides = [side(from, endpoint), side(to, back)];
        One { flow, id, sides, name, seed, endpoint, start, stop, segment: 0 }
    }

    /// Creates the application of a flow to its receiver `n`.
    fn app(&self, one: &One<'_>, n: usize, measured: &Range<Instant>, ends: &mut Ends) -> AppKind {
        let &One { endpoint, start, stop, .. } = one;
        match &one.flow.kind {
            &FlowKind::Udp { ref rates, payload, burst, gap, when_full } => {
                let gap = match gap {
                    scenario::Gap::Exponential => Gap::Exponential,
                    scenario::Gap::Uniform { low, high } => {
                        Gap::Uniform(f64::from(low) / 1e6, f64::from(high) / 1e6)
                    }
                    scenario::Gap::Periodic => Gap::Periodic,
                };
                let (rate, truesize) = (rates[n], linear_truesize(endpoint.datagram(payload)));
                let sndbuf = self.scenario.nodes[one.flow.from.node].profile.wmem_default;
                let params = UdpSourceParams {
                    endpoint,
                    rate,
                    payload,
                    burst,
                    gap,
                    start,
                    stop,
                    truesize,
                    sndbuf,
                    when_full,
                    measured: measured.clone(),
                };
                let sock = ends.open(one.flow.from.node, SocketProtocol::Udp, None);
                AppKind::Udp(UdpSource::new(params, sock, one.seed.stream(&one.name)))
            }
            FlowKind::Tcp { congestion_control, bytes, write_size, gate } => {
                let params = BulkParams { start, stop, bytes: *bytes, write: *write_size, gate: *gate };
                self.bulk(one, congestion_control, params, ends)
            }
            FlowKind::Web { page, interval } => {
                self.web(one, Web::new(page.clone(), WebParams { start, stop, interval: *interval }))
            }
            FlowKind::Responsiveness(params) => {
                self.responsiveness(one, Responsiveness::new(*params, start, stop))
            }
            FlowKind::Quic(spec) => self.quic(one, spec, ends),
            FlowKind::Video(params) => {
                let sndbuf = self.scenario.nodes[one.flow.from.node].profile.wmem_default;
                let sock = ends.open(one.flow.from.node, SocketProtocol::Udp, None);
                let stream = one.seed.stream(&one.name);
                let (times, measured) = ((start, stop), measured.clone());
                AppKind::Video(Box::new(Video::new(*params, endpoint, times, measured, sndbuf, sock, stream)))
            }
            &FlowKind::Voip { interval } => {
                let sndbuf = self.scenario.nodes[one.flow.from.node].profile.wmem_default;
                let sock = ends.open(one.flow.from.node, SocketProtocol::Udp, None);
                let measured = measured.clone();
                AppKind::Voip(Voip::new(
                    VoipParams { endpoint, interval, start, stop, sndbuf, measured },
                    sock,
                ))
            }
            FlowKind::Ping { interval, payload } => {
                AppKind::Ping(Ping::icmp(endpoint, *interval, *payload, start, stop))
            }
            FlowKind::UdpPing { interval, payload } => {
                AppKind::Ping(Ping::udp(endpoint, *interval, *payload, start, stop))
            }
        }
    }

    /// Creates a TCP transfer: its sender and its listener.
    fn bulk(
        &self,
        one: &One<'_>,
        control: &CongestionControl,
        params: BulkParams,
        ends: &mut Ends,
    ) -> AppKind {
        let socks = [0, 1].map(|n| SockId::from_index(ends.sockets.len() + n));
        for (n, &Side { at, leaves, endpoint }) in one.sides.iter().enumerate() {
            let random = one.seed.stream(&format!("{}.{}", one.name, self.name(at)));
            let cc = self.controller(at, control);
            let mut tcp =
                Tcp::new(self.tcp(leaves, one.segment), cc, endpoint, socks[n], socks[1 - n], random);
            if n == 1 {
                tcp.listen();
            }
            ends.open(at.node, SocketProtocol::Tcp, Some(Box::new(tcp)));
        }
        let [sender, receiver] = socks;
        AppKind::Bulk(BulkFlow { bulk: Bulk::new(params), flow: one.id, sender, receiver, waits: false })
    }

    /// Creates a web client, which opens its connections itself.
    fn web(&self, one: &One<'_>, web: Web) -> AppKind {
        AppKind::Web(Box::new(WebFlow {
            web,
            flow: one.id,
            ends: self.connection_ends(one),
            random: one.seed.stream(&one.name),
            queries: 0,
            connections: [None; WORKERS],
            closed: Vec::new(),
        }))
    }

    /// Creates a responsiveness test, which opens its connections itself.
    // goresponsiveness, curl and Apple's URLSession set TCP_NODELAY, so a request does not wait for an
    // acknowledgement.
    fn responsiveness(&self, one: &One<'_>, test: Responsiveness) -> AppKind {
        let mut ends = self.connection_ends(one);
        for end in &mut ends {
            end.config.nodelay = true;
            end.config.notsent_lowat = test.params().notsent_lowat.unwrap_or(end.config.notsent_lowat);
        }
        AppKind::Responsiveness(Box::new(ResponsivenessFlow {
            test,
            flow: one.id,
            ends,
            random: one.seed.stream(&one.name),
            connections: Vec::new(),
            closed: Vec::new(),
        }))
    }

    /// Returns the ends of connections that an application opens itself.
    fn connection_ends(&self, one: &One<'_>) -> [ConnectionEnd; 2] {
        one.sides.map(|Side { at, leaves, endpoint }| ConnectionEnd {
            config: self.tcp(leaves, one.segment),
            controller: self.controller(at, &self.scenario.nodes[at.node].profile.congestion_control),
            endpoint,
            node: NodeId::from_index(at.node),
        })
    }

    /// Creates a transfer or a page load over QUIC.
    fn quic(&self, one: &One<'_>, spec: &QuicFlow, ends: &mut Ends) -> AppKind {
        // The sender is the client, unless the receiver requests the data.
        let (job, client) = match &spec.load {
            &QuicLoad::Transfer { bytes, streams, request } => {
                (Job::Transfer { bytes, streams, request }, usize::from(request.is_some()))
            }
            QuicLoad::Page { page, interval } => (Job::Page { page: page.clone(), interval: *interval }, 1),
        };
        let mut number = 0;
        let both = one.sides.map(|Side { at, endpoint, .. }| {
            let sock = ends.open(at.node, SocketProtocol::Quic, None);
            let role = if number == client { QuicRole::Client } else { QuicRole::Server };
            let cost = spec.costs[number];
            number += 1;
            let sndbuf = self.scenario.nodes[at.node].profile.wmem_default.into();
            let node = &self.scenario.nodes[at.node];
            let stream = one.seed.stream(&format!("{}.{}.slack", one.name, node.name));
            let slack = Slack::new(node.jitter.timer_slack, stream);
            QuicEnd::new(sock, NodeId::from_index(at.node), endpoint, role, (cost, slack), sndbuf)
        });
        let names = one.sides.map(|side| self.name(side.at));
        let random = |end: usize| one.seed.stream(&format!("{}.{}", one.name, names[end]));
        let controls = spec.control.as_ref().map(|control| {
            [0, 1].map(|end| {
                let profile = &self.scenario.nodes[one.sides[end].at.node].profile;
                let random = one.seed.stream(&format!("{}.{}.law", one.name, names[end]));
                TcpControl {
                    cc: control.make(&profile.cc),
                    hz: profile.tcp.hz,
                    growth: profile.tcp.growth,
                    random,
                }
            })
        });
        let (load, stacks) = (LoadState::new(job, one.start, one.stop), Stacks::new(spec, controls, random));
        AppKind::Quic(Box::new(QuicApp { flow: one.id, stacks, ends: both, load, connection: 0 }))
    }

    /// Creates a congestion control as implemented by the kernel of an interface's node.
    fn controller(&self, at: InterfaceRef, control: &CongestionControl) -> Cc {
        control.make(&self.scenario.nodes[at.node].profile.cc)
    }

    /// Returns the maximum number of sockets that applications may open during the run, for page loads (at
    /// most one per interval) and responsiveness tests.
    pub(super) fn opened(&self) -> usize {
        let sum = |of: fn(&scenario::Flow, Duration) -> u64| -> u64 {
            self.scenario.flows.iter().map(|flow| of(flow, self.scenario.duration)).sum()
        };
        sum(scenario::Flow::loads) as usize * WebFlow::SOCKETS + sum(scenario::Flow::connections) as usize * 2
    }

    /// Returns the TCP configuration of a socket, which depends on its kernel and on the device of its output
    /// interface.
    // linux: net/core/sock.c sk_setup_caps (4.4) - takes the features of the route's device, whatever address
    // the socket is bound to.
    fn tcp(&self, at: InterfaceRef, advmss: u16) -> TcpConfig {
        let profile = &self.scenario.nodes[at.node].profile;
        let interface = self.interface(at);
        let mut config =
            TcpConfig { tso: interface.tso, fq: interface.qdisc.config.paces(), advmss, ..profile.tcp };
        let (wifi, linear) =
            (matches!(interface.medium, Attachment::Wifi(_)), SocketMemory::linear(config.max_header));
        // linux: drivers/net/wireless/ath/ath9k/init.c (4.4) - no scatter-gather or segmentation. Sockets
        // respect that before 4.17; since then, lower layers do. A device configured with segmentation has
        // both.
        config.scatter_gather = !wifi || profile.memory.gso_always || interface.tso;
        if config.scatter_gather {
            config.truesize_segment = profile.memory.paged(config.max_header);
            config.truesize_least = profile.memory.least();
        } else {
            config.truesize_segment = linear;
        }
        if wifi {
            config.split_truesize = linear;
            config.split_at_once = interface.qdisc.config.kind() == "noqueue";
            config.pacing_shift = profile.wifi_pacing_shift;
        }
        config
    }
}
