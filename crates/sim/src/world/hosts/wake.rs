//! When applications run. A segment or a freed buffer wakes the process above its socket; the process runs
//! when the softirq that woke it is over, or a stated time after the wake-up. Once it runs, it takes all that
//! has come by then.

use std::collections::VecDeque;

use stillair_model::node::wake::Wake;
use stillair_model::types::{Fifo, Instant, Sink, SockId};

use super::sockets::SocketProtocol;
use super::{Hosts, LowerLayers};
use crate::engine::Slot;

/// Sockets whose process is to run, in the order in which they were woken.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    /// By node: when its processes run.
    when: Vec<Wake>,
    /// At the end of the softirq that is under way.
    now: Fifo<SockId>,
    /// By node: at a later instant.
    later: Vec<VecDeque<(Instant, SockId)>>,
}

impl Wakes {
    /// None. `when` tells by node when processes run.
    pub(super) fn new(when: Vec<Wake>) -> Self {
        let later = when.iter().map(|_| VecDeque::new()).collect();
        Self { when, now: Fifo::default(), later }
    }
}

impl Hosts {
    /// A process is woken by its socket. One that has been woken already is not woken again. True if it runs
    /// at this instant, and arms the socket's timer then.
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

    /// Whether processes wait for the end of the softirq.
    #[inline]
    pub(in crate::world) fn has_woken_process(&self) -> bool {
        !self.wakes.now.is_empty()
    }

    /// The softirq is over: the first of the processes that wait for that runs.
    #[inline]
    pub(in crate::world) fn run_woken_process<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>) {
        if let Some(sock) = self.wakes.now.pop() {
            self.run_process(below, sock);
        }
    }

    /// The processes of a node run that were woken long enough ago.
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
        // A connection may have ended since.
        if socket.protocol == SocketProtocol::Tcp {
            self.serve(below, sock);
        }
    }
}
