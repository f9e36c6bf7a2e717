//! TCP connections that an application opens and closes during the run.

use stillair_model::transport::cc::Cc;
use stillair_model::transport::tcp::config::TcpConfig;
use stillair_model::transport::tcp::socket::Tcp;
use stillair_model::types::{Endpoint, NodeId, RandomStream, Sink, SockId};

use super::sockets::{Socket, SocketProtocol};
use super::{Hosts, LowerLayers};

/// Configuration of the sockets at one end of a flow.
#[derive(Debug)]
pub(in crate::world) struct ConnectionEnd {
    pub(in crate::world) config: TcpConfig,
    /// Congestion control in its initial state.
    pub(in crate::world) controller: Cc,
    /// Addresses and flow, from this end to the other.
    pub(in crate::world) endpoint: Endpoint,
    pub(in crate::world) node: NodeId,
}

impl ConnectionEnd {
    /// Creates the sockets of a new connection's client and server, with their nodes. The server socket
    /// listens.
    pub(super) fn sockets(
        ends: &[Self; 2],
        random: &mut RandomStream,
        socks: [SockId; 2],
    ) -> [(NodeId, Box<Tcp>); 2] {
        let hash = random.word();
        [0, 1].map(|end| {
            let random = random.split();
            let Self { config, controller, endpoint, node } = &ends[end];
            let endpoint = Endpoint { flow_hash: hash, ..*endpoint };
            let mut tcp = Tcp::new(*config, controller.clone(), endpoint, socks[end], socks[1 - end], random);
            if end == 1 {
                tcp.listen();
            }
            (*node, Box::new(tcp))
        })
    }
}

impl Hosts {
    /// Returns the numbers of the sockets that [`Hosts::open`] would open next.
    pub(super) fn pair(&self) -> [SockId; 2] {
        [0, 1].map(|n| SockId::from_index(self.sockets.len() + n))
    }

    /// Opens the sockets of a connection and connects the first to the second.
    pub(super) fn open<S: Sink>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        app: usize,
        made: [(NodeId, Box<Tcp>); 2],
    ) {
        let [client, server] = self.pair();
        for (node, tcp) in made {
            self.sockets.push(Socket { app: app as u32, node, protocol: SocketProtocol::Tcp, woken: false });
            self.tcps.push(Some(tcp));
        }
        debug_assert!(self.slots.sockets as usize + self.sockets.len() <= self.slots.end as usize);
        let now = below.core.now;
        self.recall(now, client);
        self.recall(now, server);
        self.with_tcp(below, client, |tcp, out| tcp.connect(now, out));
        self.arm_socket(below, client);
    }

    /// Frees the sockets of a connection if both are closed, and returns whether they were. Packets of the
    /// connection still in flight get no reply.
    pub(super) fn forget(&mut self, pair: [SockId; 2]) -> bool {
        let over = pair.iter().all(|sock| {
            let tcp = self.tcps[sock.index()].as_ref();
            tcp.is_none_or(|tcp| tcp.is_closed() && tcp.sender.charged() == 0)
        });
        if over {
            for sock in pair {
                self.sockets[sock.index()].protocol = SocketProtocol::Over;
                self.tcps[sock.index()] = None;
            }
        }
        over
    }
}
