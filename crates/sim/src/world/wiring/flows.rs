//! Applications and sockets at the ends of the flows.

use stillair_model::app::{
    Bulk, BulkParams, Gap, Ping, UdpSource, UdpSourceParams, Voip, WORKERS, Web, WebParams,
};
use stillair_model::transport::cc::Cc;
use stillair_model::transport::quic::Role;
use stillair_model::transport::tcp::config::TcpConfig;
use stillair_model::transport::tcp::socket::Tcp;
use stillair_model::vocabulary::{
    Duration, Endpoint, FlowId, Instant, NodeId, Seed, SockId, linear_truesize,
};

use super::super::apps::{App, AppKind};
use super::super::quic::{End as QuicEnd, Job, Load, QuicApp, Stacks};
use super::super::sockets::{BulkFlow, Protocol, Socket};
use super::super::web::{End, WebFlow};
use super::Plan;
use crate::recorder::{FlowRecord, QuicRecord};
use crate::scenario::{self, FlowKind, InterfaceRef, Medium as Kind, QuicLoad};

/// What is at the ends of the flows, in their order.
#[derive(Default)]
pub(super) struct Ends {
    pub(super) apps: Vec<App>,
    pub(super) sockets: Vec<Socket>,
    /// By socket: the machine of one that speaks TCP.
    pub(super) tcps: Vec<Option<Box<Tcp>>>,
    pub(super) records: Vec<FlowRecord>,
}

impl Plan<'_> {
    /// Applications, sockets and records of the flows.
    pub(super) fn apps(&self, seed: Seed) -> Ends {
        let mut ends = Ends::default();
        let Ends { apps, sockets, tcps, records } = &mut ends;
        for flow in &self.scenario.flows {
            for (n, &to) in flow.to.iter().enumerate() {
                let id = FlowId::from_index(apps.len());
                let name = format!("{}.{}", flow.name, self.scenario.endpoint_name(to));
                let endpoint = Endpoint {
                    flow: id,
                    flow_hash: seed.stream(&format!("{name}.hash")).bits() as u32,
                    src: self.addr(flow.from),
                    dst: self.addr(to),
                    tos: flow.tos,
                };
                let station = [to, flow.from].into_iter().find_map(|at| self.station_at(at));
                let quic = matches!(flow.kind, FlowKind::Quic(_))
                    .then(|| Box::new(QuicRecord::new(endpoint.src, self.scenario.record.quic)));
                records.push(FlowRecord { station, quic, ..FlowRecord::default() });
                let late = flow.start_spread.nanos() as f64 * seed.stream(&format!("{name}.start")).unit();
                let start = Instant::ZERO + flow.start + Duration::from_nanos(late as u64);
                let stop = flow.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop);
                let kind = match &flow.kind {
                    FlowKind::Udp { rates, payload, burst, gap } => {
                        let params = UdpSourceParams {
                            endpoint,
                            rate: rates[n],
                            payload: *payload,
                            burst: *burst,
                            gap: match *gap {
                                scenario::Gap::Exponential => Gap::Exponential,
                                scenario::Gap::Uniform { low, high } => {
                                    Gap::Uniform(f64::from(low) / 1e6, f64::from(high) / 1e6)
                                }
                                scenario::Gap::Periodic => Gap::Periodic,
                            },
                            start,
                            stop,
                            truesize: linear_truesize(payload + 28),
                            sndbuf: self.scenario.nodes[flow.from.node].profile.wmem_default,
                        };
                        let sock = SockId::from_index(sockets.len());
                        let node = NodeId::from_index(flow.from.node);
                        sockets.push(Socket { app: apps.len() as u32, node, protocol: Protocol::Udp });
                        tcps.push(None);
                        AppKind::Udp(UdpSource::new(params, sock, seed.stream(&name)))
                    }
                    FlowKind::Tcp { congestion_control, bytes, write_size } => {
                        let [sender, receiver] = [0, 1].map(|n| SockId::from_index(sockets.len() + n));
                        let back = Endpoint { src: endpoint.dst, dst: endpoint.src, ..endpoint };
                        let ends = [(flow.from, endpoint, sender, receiver), (to, back, receiver, sender)];
                        for (at, endpoint, own, peer) in ends {
                            let random = seed.stream(&format!("{name}.{}", self.name(at)));
                            let cc = self.controller(at, congestion_control);
                            let mut tcp = Tcp::new(self.tcp(at), cc, endpoint, own, peer, random);
                            if own == receiver {
                                tcp.listen();
                            }
                            let (node, protocol) = (NodeId::from_index(at.node), Protocol::Tcp);
                            sockets.push(Socket { app: apps.len() as u32, node, protocol });
                            tcps.push(Some(Box::new(tcp)));
                        }
                        let bulk = Bulk::new(BulkParams { start, stop, bytes: *bytes, write: *write_size });
                        AppKind::Bulk(BulkFlow { bulk, flow: id, sender, receiver, waits: false })
                    }
                    FlowKind::Web { page, interval } => {
                        let back = Endpoint { src: endpoint.dst, dst: endpoint.src, ..endpoint };
                        let ends = [(flow.from, endpoint), (to, back)].map(|(at, endpoint)| End {
                            config: self.tcp(at),
                            controller: self
                                .controller(at, self.scenario.nodes[at.node].profile.congestion_control),
                            endpoint,
                            node: NodeId::from_index(at.node),
                        });
                        let params = WebParams { start, stop, interval: *interval };
                        AppKind::Web(Box::new(WebFlow {
                            web: Web::new(page.clone(), params),
                            flow: id,
                            ends,
                            random: seed.stream(&name),
                            queries: 0,
                            connections: [None; WORKERS],
                            closed: Vec::new(),
                        }))
                    }
                    FlowKind::Quic(spec) => {
                        let back = Endpoint { src: endpoint.dst, dst: endpoint.src, ..endpoint };
                        let ends = [(flow.from, endpoint), (to, back)];
                        let (job, client) = match &spec.load {
                            QuicLoad::Transfer { bytes, streams, request } => {
                                let (bytes, streams, request) = (*bytes, *streams, *request);
                                (Job::Transfer { bytes, streams, request }, usize::from(request.is_some()))
                            }
                            QuicLoad::Page { page, interval } => {
                                (Job::Page { page: page.clone(), interval: *interval }, 1)
                            }
                        };
                        let mut number = 0;
                        let ends = ends.map(|(at, endpoint)| {
                            let (sock, node) =
                                (SockId::from_index(sockets.len()), NodeId::from_index(at.node));
                            sockets.push(Socket { app: apps.len() as u32, node, protocol: Protocol::Quic });
                            tcps.push(None);
                            let role = if number == client { Role::Client } else { Role::Server };
                            let cost = spec.costs[number];
                            number += 1;
                            let sndbuf = self.scenario.nodes[at.node].profile.wmem_default.into();
                            QuicEnd::new(sock, node, endpoint, role, cost, sndbuf)
                        });
                        let load = Load::new(job, start, stop);
                        let names = [flow.from, to].map(|at| self.name(at));
                        let random = |end: usize| seed.stream(&format!("{name}.{}", names[end]));
                        let stacks = Stacks::new(spec, random);
                        AppKind::Quic(Box::new(QuicApp { flow: id, stacks, ends, load, connection: 0 }))
                    }
                    FlowKind::Voip { interval } => AppKind::Voip(Voip::new(endpoint, *interval, start, stop)),
                    FlowKind::Ping { interval, payload } => {
                        AppKind::Ping(Ping::icmp(endpoint, *interval, *payload, start, stop))
                    }
                    FlowKind::UdpPing { interval, payload } => {
                        AppKind::Ping(Ping::udp(endpoint, *interval, *payload, start, stop))
                    }
                };
                apps.push(App { kind });
            }
        }
        ends
    }

    /// A congestion control as the kernel of an interface has it.
    fn controller(&self, at: InterfaceRef, name: &str) -> Cc {
        Cc::new(name, &self.scenario.nodes[at.node].profile.cc).expect("the reader knows it")
    }

    /// Most sockets that the loads of all pages can take: one load after the other, no closer than their interval.
    pub(super) fn pages(&self) -> usize {
        let loads: u64 = self.scenario.flows.iter().map(|flow| flow.loads(self.scenario.duration)).sum();
        loads as usize * WebFlow::SOCKETS
    }

    /// What a socket at an interface is given by its kernel and its device.
    fn tcp(&self, at: InterfaceRef) -> TcpConfig {
        let profile = &self.scenario.nodes[at.node].profile;
        let interface = self.interface(at);
        let mut config = TcpConfig { tso: interface.tso, fq: interface.qdisc.config.paces(), ..profile.tcp };
        if let Kind::Wifi(_) = interface.medium {
            // linux: drivers/net/wireless/ath/ath9k/init.c (4.4) - neither scatter-gather nor segmentation.
            config.scatter_gather = false;
            config.truesize_segment = profile.truesize_linear;
            config.pacing_shift = profile.wifi_pacing_shift;
        }
        config
    }
}
