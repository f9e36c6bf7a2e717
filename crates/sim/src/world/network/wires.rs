//! Wires: packet arrivals and device completions.

use stillair_model::types::{Ac, FrameView, Pkt, Sink, WireId, WirePacket};
use stillair_model::wire::WireParams;

use super::{LocalDelivery, Network, NetworkSlots};
use crate::engine::Slot;
use crate::world::air::Air;
use crate::world::state::SimState;

impl NetworkSlots {
    /// Reports whether a completion of this wire that was due now has already been handled.
    #[inline(always)]
    pub(super) fn report_has_passed<S>(&self, core: &SimState<S>, id: WireId) -> bool {
        self.completions + u32::from(id.0) < core.passed
    }
}

impl Network {
    #[inline(always)]
    pub(super) fn arm_arrival<S>(&self, core: &mut SimState<S>, id: WireId) {
        core.timers.set(Slot(self.slots.arrivals + u32::from(id.0)), self.wires[id.index()].next_arrival());
    }

    /// Arms the completion timer after packets were pushed. A completion that nothing waits for has no timer.
    #[inline(always)]
    pub(super) fn arm_awaited<S>(&self, core: &mut SimState<S>, id: WireId) {
        if self.wires[id.index()].is_report_awaited() {
            self.arm_completion(core, id);
        }
    }

    #[inline(always)]
    fn arm_completion<S>(&self, core: &mut SimState<S>, id: WireId) {
        core.timers
            .set(Slot(self.slots.completions + u32::from(id.0)), self.wires[id.index()].next_completion());
    }

    /// Changes the rate and delay of a wire and updates its timers.
    pub(in crate::world) fn change_wire<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        index: usize,
        params: WireParams,
    ) {
        self.wires[index].change(core.now, params, &mut core.ctx());
        self.arm_arrival(core, WireId::from_index(index));
        self.arm_completion(core, WireId::from_index(index));
    }

    /// Receives the packets that have arrived over a wire.
    pub(in crate::world) fn wire_arrival<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        air: &mut Air,
        hosts: &mut impl LocalDelivery<S>,
        index: usize,
    ) {
        let to = self.wires[index].to;
        if self.wires[index].gathers() {
            let mut batch = self.batches.pop().unwrap_or_default();
            while let Some(p) = self.wires[index].arrive(core.now, &mut core.packets) {
                self.show(core, index, p);
                batch.push(p);
            }
            self.ingress(core, air, hosts, to, &mut batch);
            self.batches.push(batch);
            self.arm_arrival(core, WireId::from_index(index));
        } else {
            let next = loop {
                match self.wires[index].arrive_alone(core.now, &mut core.packets) {
                    Ok(p) => {
                        self.show(core, index, p);
                        self.weigh(core, to, p);
                        self.receive(core, air, hosts, to, p);
                    }
                    Err(next) => break next,
                }
            };
            core.timers.set(Slot(self.slots.arrivals + index as u32), next);
        }
    }

    /// Captures a packet that has arrived over a wire.
    #[inline(always)]
    fn show<S: Sink>(&self, core: &mut SimState<S>, index: usize, p: Pkt) {
        if S::FRAMES && index < self.shown {
            let packet = WirePacket::new(&core.packets, p);
            core.trace.frame(core.now, &FrameView::Wire(WireId::from_index(index), packet));
        }
    }

    /// Handles the transmit completion of a wire's device.
    pub(in crate::world) fn wire_completion<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        air: &mut Air,
        index: usize,
    ) {
        let wire = &mut self.wires[index];
        let (woken, from) = (wire.complete(core.now, &mut core.ctx()), wire.from);
        self.arm_completion(core, WireId::from_index(index));
        if woken {
            self.run_queue(core, air, from, Ac::Be);
        }
    }
}
