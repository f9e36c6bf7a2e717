//! How much is queued where, at one instant.

use super::{Device, World};
use crate::recorder::Backlog;

impl<S> World<S> {
    /// Packets in the layers of each interface, in the order of the scenario.
    pub fn backlogs(&self) -> impl Iterator<Item = Backlog> {
        self.interfaces.iter().map(|interface| {
            let qdisc = interface.tx.held() as u32;
            match interface.device {
                Device::Wire(wire) => [qdisc, 0, 0, 0, self.wires[wire.index()].held() as u32],
                Device::Wifi(id) => {
                    let dev = &self.wlans[id.index()].dev;
                    let reorder = dev.reordering();
                    let sent_by_it = self.radios[dev.radio.index()].ppdus().filter(|p| p.header.dev == id);
                    let hardware: usize = sent_by_it.map(|p| p.mpdus.len()).sum();
                    [qdisc, (dev.held() - reorder) as u32, hardware as u32, reorder as u32, 0]
                }
            }
        })
    }

    /// Interfaces of all nodes.
    pub fn interfaces(&self) -> usize {
        self.interfaces.len()
    }
}
