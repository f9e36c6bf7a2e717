//! What can be read of hosts: what sockets are charged for, and what they have not sent yet.

use stillair_model::vocabulary::{Addr, Instant, SockId};

use super::{AppKind, Hosts, Protocol, Socket};

/// What an application has written and TCP has not sent, by the address that the socket bears.
pub(in crate::world) struct Unsent {
    pub(in crate::world) address: Addr,
    pub(in crate::world) segments: u32,
    pub(in crate::world) bytes: u64,
}

impl Hosts {
    /// Memory charged to each socket now, in bytes.
    pub(in crate::world) fn charges(&self) -> impl ExactSizeIterator<Item = u64> {
        (0..self.sockets.len()).map(|socket| self.charge_of(socket))
    }

    fn charge_of(&self, socket: usize) -> u64 {
        let Socket { app, protocol, .. } = self.sockets[socket];
        match (protocol, &self.apps[app as usize].kind) {
            (Protocol::Over, _) => 0,
            (Protocol::Tcp, _) => self.tcps[socket].as_ref().map_or(0, |tcp| u64::from(tcp.sender.charged())),
            (Protocol::Udp, AppKind::Udp(source)) => source.charged(),
            (Protocol::Quic, AppKind::Quic(quic)) => quic.charged(SockId::from_index(socket)),
            (Protocol::Udp | Protocol::Quic, _) => 0,
        }
    }

    /// What waits in send buffers.
    pub(in crate::world) fn unsent(&self, now: Instant) -> impl Iterator<Item = Unsent> {
        self.tcps.iter().flatten().map(move |tcp| {
            let info = tcp.info(now);
            let segments = info.notsent.div_ceil(info.mss);
            Unsent { address: tcp.source(), segments, bytes: u64::from(info.notsent) }
        })
    }

    /// Something that nobody should do: a source of datagrams charges its socket without a packet.
    #[cfg(test)]
    pub(in crate::world) fn charge_without_packet(&mut self, socket: usize, now: Instant) -> u64 {
        let AppKind::Udp(source) = &mut self.apps[self.sockets[socket].app as usize].kind else {
            panic!("a UDP source")
        };
        let before = source.charged();
        source.on_timer();
        assert!(source.emit(now).is_some());
        before
    }
}
