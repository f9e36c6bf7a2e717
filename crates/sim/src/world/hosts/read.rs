//! Read access to hosts: socket charges and unsent data.

use stillair_model::types::{Addr, Instant, SockId};

use super::{AppKind, Hosts, Socket, SocketProtocol};

/// Data written by an application and not yet sent by TCP, with the socket's local address.
pub(in crate::world) struct UnsentData {
    pub(in crate::world) address: Addr,
    pub(in crate::world) segments: u32,
    pub(in crate::world) bytes: u64,
}

impl Hosts {
    /// Returns the memory currently charged to each socket, in bytes.
    pub(in crate::world) fn charges(&self) -> impl ExactSizeIterator<Item = u64> {
        (0..self.sockets.len()).map(|socket| self.charge_of(socket))
    }

    fn charge_of(&self, socket: usize) -> u64 {
        let Socket { app, protocol, .. } = self.sockets[socket];
        match (protocol, &self.apps[app as usize].kind) {
            (SocketProtocol::Over, _) => 0,
            (SocketProtocol::Tcp, _) => {
                self.tcps[socket].as_ref().map_or(0, |tcp| u64::from(tcp.sender.charged()))
            }
            (SocketProtocol::Udp, AppKind::Udp(source)) => source.charged(),
            (SocketProtocol::Udp, AppKind::Video(video)) => video.charged(),
            (SocketProtocol::Udp, AppKind::Voip(call)) => call.charged(),
            (SocketProtocol::Quic, AppKind::Quic(quic)) => quic.charged(SockId::from_index(socket)),
            (SocketProtocol::Udp | SocketProtocol::Quic, _) => 0,
        }
    }

    /// Returns the unsent data in send buffers.
    pub(in crate::world) fn unsent(&self, now: Instant) -> impl Iterator<Item = UnsentData> {
        self.tcps.iter().flatten().map(move |tcp| {
            let info = tcp.info(now);
            let segments = info.notsent.div_ceil(info.mss);
            UnsentData { address: tcp.source(), segments, bytes: u64::from(info.notsent) }
        })
    }

    /// Corrupts the account for a test: charges the socket of a datagram source without a packet.
    #[cfg(test)]
    pub(in crate::world) fn charge_without_packet(&mut self, socket: usize, now: Instant) -> u64 {
        let AppKind::Udp(source) = &mut self.apps[self.sockets[socket].app as usize].kind else {
            panic!("a UDP source")
        };
        let before = source.charged();
        source.on_timer(now);
        assert!(source.emit(now).is_some());
        before
    }
}
