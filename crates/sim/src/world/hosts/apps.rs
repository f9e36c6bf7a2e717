//! Applications and their sockets.

use stillair_model::app::{Due, Ping, ResponsivenessOutcome, UdpSource, Video, Voip};
use stillair_model::metrics::responsiveness::ProbeTimes;
use stillair_model::transport::quic::Stack;
use stillair_model::types::{FlowId, Instant, NewPacket, Sink, SockId, TraceEvent};

use super::quic::QuicApp;
use super::responsiveness::ResponsivenessFlow;
use super::sockets::{BulkFlow, Socket, SocketProtocol};
use super::web::WebFlow;
use super::{Hosts, LowerLayers};
use crate::engine::Slot;
use crate::recorder::QuicEnds;

/// An application, aligned to cache lines of its own.
#[derive(Debug)]
#[repr(align(64))]
pub(in crate::world) struct App {
    pub(in crate::world) kind: AppKind,
}

#[derive(Debug)]
pub(in crate::world) enum AppKind {
    Udp(UdpSource),
    Ping(Ping),
    Bulk(BulkFlow),
    Voip(Voip),
    Video(Box<Video>),
    Web(Box<WebFlow>),
    Responsiveness(Box<ResponsivenessFlow>),
    Quic(Box<QuicApp>),
}

impl Hosts {
    /// Returns the QUIC flow of an application.
    pub(super) fn quic(&mut self, app: usize) -> &mut QuicApp {
        let AppKind::Quic(quic) = &mut self.apps[app].kind else {
            unreachable!("application {app} speaks no QUIC")
        };
        quic
    }

    /// Returns the web client of an application.
    pub(super) fn web(&mut self, app: usize) -> &mut WebFlow {
        let AppKind::Web(flow) = &mut self.apps[app].kind else {
            unreachable!("application {app} loads no pages")
        };
        flow
    }

    /// Returns the responsiveness test of an application.
    pub(super) fn responsiveness(&mut self, app: usize) -> &mut ResponsivenessFlow {
        let AppKind::Responsiveness(flow) = &mut self.apps[app].kind else {
            unreachable!("application {app} tests no responsiveness")
        };
        flow
    }

    /// Returns the bulk transfer of an application, if it is one.
    pub(super) fn bulk(&mut self, app: usize) -> Option<&mut BulkFlow> {
        match &mut self.apps[app].kind {
            AppKind::Bulk(flow) => Some(flow),
            _ => None,
        }
    }

    /// Returns the start time of each client's current page load, in flow order.
    pub(in crate::world) fn loads_under_way(&self) -> impl Iterator<Item = (FlowId, Option<Instant>)> {
        self.apps.iter().filter_map(|app| match &app.kind {
            AppKind::Web(flow) => Some((flow.flow, flow.web.under_way())),
            AppKind::Quic(quic) => Some((quic.flow, quic.load.page_under_way()?)),
            _ => None,
        })
    }

    /// Returns the outcome of each responsiveness test that has started, as if the test ended now, in flow
    /// order.
    pub(in crate::world) fn tests(
        &self,
        now: Instant,
    ) -> impl Iterator<Item = (FlowId, (ResponsivenessOutcome, ProbeTimes))> {
        self.apps.iter().filter_map(move |app| match &app.kind {
            AppKind::Responsiveness(flow) => Some((flow.flow, flow.test.outcome(now)?)),
            _ => None,
        })
    }

    /// Returns the datagrams that each source has to send during the measurement interval of a run ending at
    /// `end`, in flow order.
    pub(in crate::world) fn due(&self, end: Instant) -> impl Iterator<Item = (FlowId, Due)> {
        self.apps.iter().enumerate().filter_map(move |(index, app)| {
            let due = match &app.kind {
                AppKind::Udp(source) => source.due(end),
                AppKind::Video(video) => video.due(end),
                AppKind::Voip(call) => call.due(),
                AppKind::Ping(_)
                | AppKind::Bulk(_)
                | AppKind::Web(_)
                | AppKind::Responsiveness(_)
                | AppKind::Quic(_) => return None,
            };
            Some((flow_of(index), due))
        })
    }

    /// Returns the state of both ends of each QUIC flow in flow order, the data sender first.
    pub(in crate::world) fn quic_ends(&self, now: Instant) -> impl Iterator<Item = QuicEnds> {
        self.apps.iter().filter_map(move |app| match &app.kind {
            AppKind::Quic(quic) => {
                let ends = quic.ends.each_ref().map(|end| end.stack().map(|stack| stack.snapshot(now)));
                Some((quic.flow, ends))
            }
            _ => None,
        })
    }

    /// Returns all bulk transfers in flow order.
    pub(super) fn bulks(&self) -> impl Iterator<Item = &BulkFlow> {
        self.apps.iter().filter_map(|app| match &app.kind {
            AppKind::Bulk(flow) => Some(flow),
            AppKind::Udp(_)
            | AppKind::Ping(_)
            | AppKind::Voip(_)
            | AppKind::Video(_)
            | AppKind::Web(_)
            | AppKind::Responsiveness(_)
            | AppKind::Quic(_) => None,
        })
    }

    pub(in crate::world) fn app_timer<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, index: usize) {
        let now = below.core.now;
        if !self.clocks.is_empty() {
            self.clocks[index].fired();
        }
        match &mut self.apps[index].kind {
            AppKind::Udp(source) => {
                source.on_timer(now);
                self.write(below, index);
            }
            AppKind::Video(video) => {
                video.on_timer(now);
                self.write_video(below, index);
            }
            AppKind::Ping(ping) => {
                let request = ping.on_timer(now);
                below.core.tell(&TraceEvent::Asked { flow: request.flow, seq: request.seq });
                self.send_datagram(below, request);
            }
            AppKind::Voip(call) => match call.on_timer(now) {
                Some(packet) => self.send_datagram(below, packet),
                None => below.core.tell(&TraceEvent::Skipped { flow: flow_of(index), datagrams: 1 }),
            },
            AppKind::Web(flow) => {
                let action = flow.web.on_timer(now);
                self.web_action(below, index, action);
            }
            AppKind::Responsiveness(_) => self.responsiveness_timer(below, index),
            AppKind::Quic(quic) => {
                if quic.load.on_timer(now) {
                    self.quic_connect(below, index);
                } else {
                    self.quic_close(below, index);
                }
            }
            AppKind::Bulk(flow) => {
                let sender = flow.sender;
                if let Some(action) = flow.bulk.on_timer() {
                    self.bulk_action(below, sender, action);
                }
            }
        }
        self.arm_app(below, index);
    }

    pub(super) fn arm_app<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, index: usize) {
        let at = match &self.apps[index].kind {
            AppKind::Udp(source) => source.next_timer(),
            AppKind::Ping(ping) => ping.next_timer(),
            AppKind::Bulk(flow) => flow.bulk.next_timer(),
            AppKind::Voip(call) => call.next_timer(),
            AppKind::Video(video) => video.next_timer(),
            AppKind::Web(flow) => flow.web.next_timer(),
            AppKind::Responsiveness(flow) => flow.test.next_timer(),
            AppKind::Quic(quic) => quic.load.next_timer(),
        };
        let at = if self.clocks.is_empty() { at } else { self.fires(index, at) };
        // A delayed burst may be overdue.
        below.core.timers.set(Slot(self.slots.apps + index as u32), at.map(|t| t.max(below.core.now)));
    }

    /// Returns when an application timer set for `at` actually fires. Periodic senders follow the drift of
    /// the host's clock over the whole run. A single start, or one that follows the end of something, does
    /// not.
    #[inline(never)]
    fn fires(&self, index: usize, at: Option<Instant>) -> Option<Instant> {
        let clock = &self.clocks[index];
        match &self.apps[index].kind {
            AppKind::Udp(_)
            | AppKind::Ping(_)
            | AppKind::Voip(_)
            | AppKind::Video(_)
            | AppKind::Responsiveness(_) => at.map(|at| clock.fires(at)),
            AppKind::Bulk(flow) if flow.bulk.is_gated() => at.map(|at| clock.fires(at)),
            AppKind::Bulk(_) | AppKind::Web(_) | AppKind::Quic(_) => at.map(|at| clock.fires_once(at)),
        }
    }

    /// Writes the rest of a burst, up to the free send buffer.
    #[inline(always)]
    fn write<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, index: usize) {
        loop {
            let now = below.core.now;
            let AppKind::Udp(source) = &mut self.apps[index].kind else {
                return self.write_video(below, index);
            };
            let Some(datagram) = source.emit(now) else {
                let skipped = source.take_skipped();
                return skips(below, index, skipped);
            };
            self.send_datagram(below, datagram);
        }
    }

    /// Writes the rest of a video frame. A separate function, because plain datagram sources write millions
    /// of datagrams and must not pay for it.
    #[inline(never)]
    fn write_video<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, index: usize) {
        while let AppKind::Video(video) = &mut self.apps[index].kind {
            let Some(datagram) = video.emit(below.core.now) else {
                let skipped = video.take_skipped();
                return skips(below, index, skipped);
            };
            self.send_datagram(below, datagram);
        }
    }

    /// Sends a datagram from the node with its source address.
    #[inline]
    pub(super) fn send_datagram<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, datagram: NewPacket) {
        let node = below.network.node_of(datagram.src);
        let p = below.core.packets.create(datagram);
        // Pings, calls and datagram sources do not react to drops by the local queue.
        let _ = self.send(below, node, p);
    }

    /// Runs the process of a socket that the application opened during the run.
    pub(super) fn serve_opened<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize, sock: SockId) {
        match &self.apps[app].kind {
            AppKind::Web(_) => self.serve_web(below, app, sock),
            AppKind::Responsiveness(_) => self.serve_test(below, app, sock),
            _ => {}
        }
    }

    /// Ends the charges reported since the last call (`first` has already been taken), and lets each socket
    /// that waited write once.
    pub(in crate::world) fn drain_uncharged<S: Sink>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        first: (SockId, u32),
    ) {
        let mut next = Some(first);
        while let Some((socket, truesize)) = next {
            if self.uncharge(below.core.now, socket, truesize) && !self.writable.contains(&socket) {
                self.writable.push(socket);
            }
            next = below.core.packets.pop_uncharged();
        }
        while let Some(socket) = self.writable.pop() {
            let Socket { app, protocol, .. } = self.sockets[socket.index()];
            match protocol {
                SocketProtocol::Udp => {
                    self.write(below, app as usize);
                    self.arm_app(below, app as usize);
                }
                SocketProtocol::Tcp => self.tcp_poll(below, socket),
                SocketProtocol::Quic => self.serve_quic(below, app as usize, socket),
                SocketProtocol::Over => {}
            }
        }
    }

    /// Ends a charge of a socket. Returns true if the socket was waiting for it.
    #[inline]
    fn uncharge(&mut self, now: Instant, socket: SockId, truesize: u32) -> bool {
        let Socket { app, protocol, .. } = self.sockets[socket.index()];
        match protocol {
            SocketProtocol::Tcp => {
                self.tcps[socket.index()].as_mut().is_some_and(|tcp| tcp.sender.uncharge(now, truesize))
            }
            SocketProtocol::Quic => match &mut self.apps[app as usize].kind {
                AppKind::Quic(quic) => quic.uncharge(socket, truesize),
                _ => false,
            },
            SocketProtocol::Udp => match &mut self.apps[app as usize].kind {
                AppKind::Udp(source) => source.uncharge(truesize),
                other => uncharge_other(other, truesize),
            },
            SocketProtocol::Over => false,
        }
    }
}

/// Returns the flow of an application. Flows and applications have the same numbers.
fn flow_of(index: usize) -> FlowId {
    FlowId::from_index(index)
}

/// Reports datagrams skipped by a source, if any.
#[inline]
fn skips<S: Sink>(below: &mut LowerLayers<'_, S>, index: usize, datagrams: u32) {
    if datagrams > 0 {
        below.core.tell(&TraceEvent::Skipped { flow: flow_of(index), datagrams });
    }
}

/// Ends a charge of an application that sends datagrams but is not a plain source. Returns true if the
/// application was waiting for it.
#[cold]
#[inline(never)]
fn uncharge_other(kind: &mut AppKind, truesize: u32) -> bool {
    match kind {
        AppKind::Udp(source) => source.uncharge(truesize),
        AppKind::Video(video) => video.uncharge(truesize),
        AppKind::Voip(call) => {
            call.uncharge(truesize);
            false
        }
        AppKind::Ping(_)
        | AppKind::Bulk(_)
        | AppKind::Web(_)
        | AppKind::Responsiveness(_)
        | AppKind::Quic(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_is_two_cache_lines_and_eight_sockets_are_one() {
        assert_eq!((size_of::<App>(), size_of::<Socket>()), (128, 8));
    }
}
