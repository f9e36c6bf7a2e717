//! Scheduling of applications. A segment or freed buffer space wakes the process of a socket. The process
//! runs when the current softirq is over, or a configured time after the wake-up, and then handles everything
//! that has arrived by that time.

use std::collections::VecDeque;

use stillair_model::node::wake::Wake;
use stillair_model::types::{Fifo, Instant, Sink, SockId};

use super::sockets::SocketProtocol;
use super::{Hosts, LowerLayers};
use crate::engine::Slot;

/// Sockets whose process is to run, in wake-up order.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    /// When woken processes run, by node.
    when: Vec<Wake>,
    /// Processes that run at the end of the current softirq.
    now: Fifo<SockId>,
    /// Processes that run at a later instant, by node.
    later: Vec<VecDeque<(Instant, SockId)>>,
}

impl Wakes {
    /// Creates an empty queue. `when` holds, per node, when woken processes run.
    pub(super) fn new(when: Vec<Wake>) -> Self {
        let later = when.iter().map(|_| VecDeque::new()).collect();
        Self { when, now: Fifo::default(), later }
    }
}

impl Hosts {
    /// Wakes the process of a socket, unless it is already woken. Returns true if the process runs at this
    /// instant; it then arms the socket's timer itself.
    #[inline]
    pub(super) fn wake<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, sock: SockId) -> bool {
        let socket = &mut self.sockets[sock.index()];
        let (node, woken) = (socket.node.index(), core::mem::replace(&mut socket.woken, true));
        let at_once = self.wakes.when[node] == Wake::Softirq;
        if woken {
            return at_once;
        }
        match self.wakes.when[node] {
            Wake::Softirq => self.wakes.now.push(sock),
            Wake::After(delay) => {
                let at = below.core.now + delay;
                let later = &mut self.wakes.later[node];
                later.push_back((at, sock));
                if later.len() == 1 {
                    below.core.timers.set(Slot(self.slots.wakes + node as u32), Some(at));
                }
            }
        }
        at_once
    }

    /// Reports whether processes wait for the end of the softirq.
    #[inline]
    pub(in crate::world) fn has_woken_process(&self) -> bool {
        !self.wakes.now.is_empty()
    }

    /// Runs the first process that waited for the end of the softirq.
    #[inline]
    pub(in crate::world) fn run_woken_process<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>) {
        if let Some(sock) = self.wakes.now.pop() {
            self.run_process(below, sock);
        }
    }

    /// Runs the processes of a node whose wake-up delay has passed.
    pub(in crate::world) fn wake_timer<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, node: usize) {
        while let Some(&(at, sock)) = self.wakes.later[node].front()
            && at <= below.core.now
        {
            self.wakes.later[node].pop_front();
            self.run_process(below, sock);
        }
        let next = self.wakes.later[node].front().map(|&(at, _)| at);
        below.core.timers.set(Slot(self.slots.wakes + node as u32), next);
    }

    fn run_process<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, sock: SockId) {
        let socket = &mut self.sockets[sock.index()];
        socket.woken = false;
        // The connection may have ended in the meantime.
        if socket.protocol == SocketProtocol::Tcp {
            self.serve(below, sock);
        }
    }
}
