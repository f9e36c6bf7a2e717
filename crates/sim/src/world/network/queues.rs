//! Transmit queues. The device below is fed when a packet is queued, when the device has room again, and when
//! a qdisc releases delayed packets.

use stillair_model::qdisc::{Enqueue, Qdisc, QdiscConfig};
use stillair_model::types::{Ac, IfId, PacketKind, Pkt, RandomStream, Sink, Step};
use stillair_model::wifi::dev::Woken;

use super::ports::{WirePort, feed, push_directly};
use super::{NetDevice, NetInterface, Network};
use crate::engine::Slot;
use crate::world::air::Air;
use crate::world::state::SimState;

impl Network {
    /// Queues a packet at an interface and feeds its device. A packet that the device takes directly is never
    /// refused.
    #[inline(always)]
    pub(super) fn transmit<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        air: &mut Air,
        interface: IfId,
        ac: Ac,
        p: Pkt,
    ) -> Enqueue {
        if S::STEPS {
            self.tell_of(core, interface, ac, p);
        }
        if let Some(answer) = self.feed(core, air, interface, ac, Some(p)) {
            return answer;
        }
        let now = core.now;
        match self.interfaces[interface.index()].device {
            NetDevice::Wire(id) => {
                let (tso, shown) = (self.interfaces[interface.index()].tso, id.index() < self.shown);
                let passed = self.slots.report_has_passed(core, id);
                let wire = &mut self.wires[id.index()];
                wire.catch_up(now, passed);
                push_directly(now, p, &mut WirePort { wire, id, tso, shown }, &mut core.ctx());
                self.arm_arrival(core, id);
                self.arm_awaited(core, id);
            }
            NetDevice::Wifi(dev) => push_directly(now, p, &mut air.port(dev), &mut core.ctx()),
        }
        Enqueue::Queued
    }

    /// Feeds a Wi-Fi device from the transmit queues that it has woken. A queue that serves several
    /// categories runs once.
    pub(in crate::world) fn run_woken<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        air: &mut Air,
        id: IfId,
        woken: Woken,
    ) {
        let mut last = None;
        for ac in Ac::ALL.into_iter().filter(|&ac| woken.has(ac)) {
            let queue = self.interfaces[id.index()].tx.index_of(ac);
            if last.replace(queue) != Some(queue) {
                self.run_queue(core, air, id, ac);
            }
        }
    }

    /// Feeds a device from one of its transmit queues.
    pub(super) fn run_queue<S: Sink>(&mut self, core: &mut SimState<S>, air: &mut Air, id: IfId, ac: Ac) {
        let _ = self.feed(core, air, id, ac, None);
    }

    /// Feeds a device after queueing `p` if given. Returns the result of the queue, or `None` without a
    /// queue.
    #[inline]
    fn feed<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        air: &mut Air,
        id: IfId,
        ac: Ac,
        p: Option<Pkt>,
    ) -> Option<Enqueue> {
        let now = core.now;
        let interface = &mut self.interfaces[id.index()];
        let watchdog = interface.watchdog;
        let queue = interface.tx.queue_of(ac)?;
        let (answer, more) = match interface.device {
            NetDevice::Wire(wire) => {
                if !S::STEPS
                    && let Some(p) = p
                    && queue.holds(now)
                {
                    return Some(self.hold(core, id, ac, p));
                }
                let passed = self.slots.report_has_passed(core, wire);
                let under = &mut self.wires[wire.index()];
                under.catch_up(now, passed);
                let (arrival, completion) = (under.is_arrival_known(), under.is_completion_known());
                let shown = wire.index() < self.shown;
                let port = &mut WirePort { wire: under, id: wire, tso: interface.tso, shown };
                let fed = feed(now, queue, p, port, &mut core.ctx());
                if !arrival {
                    self.arm_arrival(core, wire);
                }
                if !completion {
                    self.arm_awaited(core, wire);
                }
                fed
            }
            NetDevice::Wifi(dev) => feed(now, queue, p, &mut air.port(dev), &mut core.ctx()),
        };
        if more {
            self.softirq.push((id, ac));
        }
        if let Some(first) = watchdog {
            self.arm_watchdog(core, id, ac, first);
        }
        Some(answer)
    }

    /// Queues a packet behind delayed packets. Nothing else happens until the qdisc releases them.
    #[inline(never)]
    fn hold<S: Sink>(&mut self, core: &mut SimState<S>, id: IfId, ac: Ac, p: Pkt) -> Enqueue {
        let NetInterface { tx, watchdog, .. } = &mut self.interfaces[id.index()];
        let queue = tx.queue_of(ac).expect("a queue that holds packets back");
        let answer = queue.enqueue(core.now, p, &mut core.ctx());
        if answer != Enqueue::Queued
            && let Some(first) = *watchdog
        {
            self.arm_watchdog(core, id, ac, first);
        }
        answer
    }

    /// Arms the watchdog after a delaying qdisc was asked for packets.
    #[inline(never)]
    fn arm_watchdog<S: Sink>(&mut self, core: &mut SimState<S>, id: IfId, ac: Ac, first: u32) {
        let tx = &mut self.interfaces[id.index()].tx;
        let slot = Slot(self.slots.watchdogs + first + tx.index_of(ac) as u32);
        let at = tx.queue_of(ac).and_then(|queue| queue.watchdog(core.now));
        core.timers.set(slot, at);
        if S::STEPS {
            let queue = tx.index_of(ac);
            let paces = tx.queue_of(ac).is_some_and(|q| matches!(q.qdisc(), Qdisc::Fq(_)));
            core.step(&Step::Held { at: id, queue: queue as u8, paces, until: at });
        }
    }

    /// Reports the queue of a packet to a trace that follows packets.
    fn tell_of<S: Sink>(&mut self, core: &mut SimState<S>, at: IfId, ac: Ac, p: Pkt) {
        let tx = &mut self.interfaces[at.index()].tx;
        let queue = tx.index_of(ac) as u8;
        let heeds = tx.queue_of(ac).is_some_and(|q| matches!(q.qdisc(), Qdisc::Fq(_)));
        let hot = core.packets.get(p);
        let paced =
            (heeds && hot.kind == PacketKind::Tcp).then_some(hot.t_enqueue).filter(|at| *at > core.now);
        core.step(&Step::Queued { p, at, queue, paced });
    }

    /// Changes the qdisc of each transmit queue of an interface. Queued packets stay if only parameters
    /// change that Linux changes in place; if not, they are dropped.
    pub(in crate::world) fn change_qdisc<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        id: IfId,
        [before, config]: [&QdiscConfig; 2],
        stream: &mut RandomStream,
    ) {
        let now = core.now;
        let interface = &mut self.interfaces[id.index()];
        if interface.tx.change(before, config) {
            return;
        }
        interface.tx.replace(now, config, stream, &mut core.ctx());
        interface.watches();
    }

    /// Reports whether a queue has used up its quota.
    #[inline(always)]
    pub(in crate::world) fn has_softirq(&self) -> bool {
        !self.softirq.is_empty()
    }

    /// Runs a queue that had used up its quota. Returns false if no such queue is left.
    #[inline]
    pub(in crate::world) fn run_softirq<S: Sink>(&mut self, core: &mut SimState<S>, air: &mut Air) -> bool {
        let Some((interface, ac)) = self.softirq.pop() else { return false };
        self.run_queue(core, air, interface, ac);
        true
    }

    /// Runs a queue whose qdisc releases delayed packets.
    pub(in crate::world) fn watchdog<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        air: &mut Air,
        number: usize,
    ) {
        let (interface, ac) = self.watchdogs[number];
        self.run_queue(core, air, interface, ac);
    }
}
