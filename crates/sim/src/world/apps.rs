//! Applications and their sockets.

use stillair_model::app::{Ping, UdpSource};
use stillair_model::vocabulary::{NodeId, Sink, SockId};

use super::World;
use super::sockets::{BulkFlow, Protocol, Socket};
use crate::engine::Slot;

/// An application on a node.
#[derive(Debug)]
pub(super) struct App {
    pub(super) node: NodeId,
    pub(super) kind: AppKind,
}

#[derive(Debug)]
pub(super) enum AppKind {
    Udp(UdpSource),
    Ping(Ping),
    Bulk(BulkFlow),
}

impl<S: Sink> World<S> {
    pub(super) fn app_timer(&mut self, index: usize) {
        let now = self.now;
        let app = &mut self.apps[index];
        match &mut app.kind {
            AppKind::Udp(source) => {
                source.on_timer();
                self.write(index);
            }
            AppKind::Ping(ping) => {
                let node = app.node;
                let request = self.packets.create(ping.on_timer(now));
                // Neither pings nor sources of datagrams react to a refusal by their own queue.
                let _ = self.send(node, request);
            }
            AppKind::Bulk(flow) => {
                let sender = flow.sender;
                if let Some(action) = flow.bulk.on_timer() {
                    self.bulk_action(sender, action);
                }
            }
        }
        self.arm_app(index);
    }

    pub(super) fn arm_app(&mut self, index: usize) {
        let at = match &self.apps[index].kind {
            AppKind::Udp(source) => source.next_timer(),
            AppKind::Ping(ping) => ping.next_timer(),
            AppKind::Bulk(flow) => flow.bulk.next_timer(),
        };
        // A burst that was held up may be overdue.
        self.timers.set(Slot(self.slots.apps + index as u32), at.map(|t| t.max(self.now)));
    }

    /// Writes what is left of a burst, as far as the send buffer allows.
    fn write(&mut self, index: usize) {
        loop {
            let now = self.now;
            let app = &mut self.apps[index];
            let AppKind::Udp(source) = &mut app.kind else { return };
            let Some(datagram) = source.emit(now) else { return };
            let node = app.node;
            let p = self.packets.create(datagram);
            let _ = self.send(node, p);
        }
    }

    /// Ends the charges that were reported since the last time and lets sockets that waited write on, once each; false
    /// if there were none.
    pub(super) fn drain_uncharged(&mut self) -> bool {
        let mut any = false;
        while let Some((socket, truesize)) = self.packets.pop_uncharged() {
            any = true;
            if self.uncharge(socket, truesize) && !self.writable.contains(&socket) {
                self.writable.push(socket);
            }
        }
        while let Some(socket) = self.writable.pop() {
            let Socket { app, protocol, .. } = &self.sockets[socket.index()];
            match protocol {
                Protocol::Udp => {
                    let app = *app;
                    self.write(app);
                    self.arm_app(app);
                }
                Protocol::Tcp(_) => self.tcp_poll(socket),
            }
        }
        any
    }

    /// Ends a charge of a socket; true if it waited for that.
    #[inline]
    fn uncharge(&mut self, socket: SockId, truesize: u32) -> bool {
        let Socket { app, protocol, .. } = &mut self.sockets[socket.index()];
        match protocol {
            Protocol::Tcp(tcp) => tcp.as_mut().is_some_and(|tcp| tcp.sender.uncharge(truesize)),
            Protocol::Udp => match &mut self.apps[*app].kind {
                AppKind::Udp(source) => source.uncharge(truesize),
                AppKind::Ping(_) | AppKind::Bulk(_) => false,
            },
        }
    }
}
