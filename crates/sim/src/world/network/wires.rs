//! Wires: packets that arrive over them, and reports of their devices.

use stillair_model::vocabulary::{Ac, FrameView, Pkt, Sink, WireId, WirePacket};

use super::{Local, Network};
use crate::engine::Slot;
use crate::world::air::Air;
use crate::world::common::Core;

impl Network {
    /// After packets were pushed: both timers, as a wire that was empty has none.
    #[inline(always)]
    pub(super) fn arm_wire<S>(&self, core: &mut Core<S>, id: WireId) {
        self.arm_arrival(core, id);
        self.arm_completion(core, id);
    }

    #[inline(always)]
    fn arm_arrival<S>(&self, core: &mut Core<S>, id: WireId) {
        core.timers.set(Slot(self.slots.arrivals + u32::from(id.0)), self.wires[id.index()].next_arrival());
    }

    #[inline(always)]
    fn arm_completion<S>(&self, core: &mut Core<S>, id: WireId) {
        core.timers
            .set(Slot(self.slots.completions + u32::from(id.0)), self.wires[id.index()].next_completion());
    }

    /// Packets that have arrived over a wire are handed up.
    pub(in crate::world) fn wire_arrival<S: Sink>(
        &mut self,
        core: &mut Core<S>,
        air: &mut Air,
        hosts: &mut impl Local<S>,
        index: usize,
    ) {
        let to = self.wires[index].to;
        if self.wires[index].gathers() {
            let mut batch = self.batches.pop().unwrap_or_default();
            while let Some(p) = self.arrived(core, index) {
                batch.push(p);
            }
            self.ingress(core, air, hosts, to, &mut batch);
            self.batches.push(batch);
        } else {
            while let Some(p) = self.arrived(core, index) {
                self.weigh(core, to, p);
                self.receive(core, air, hosts, to, p);
            }
        }
        self.arm_arrival(core, WireId::from_index(index));
    }

    /// The next packet that has arrived over a wire.
    #[inline]
    fn arrived<S: Sink>(&mut self, core: &mut Core<S>, index: usize) -> Option<Pkt> {
        let p = self.wires[index].arrive(core.now, &mut core.packets)?;
        if S::FRAMES && index < self.shown {
            let packet = WirePacket::new(&core.packets, p);
            core.trace.frame(core.now, &FrameView::Wire(WireId::from_index(index), packet));
        }
        Some(p)
    }

    /// A wire's device reports transmissions.
    pub(in crate::world) fn wire_completion<S: Sink>(
        &mut self,
        core: &mut Core<S>,
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
