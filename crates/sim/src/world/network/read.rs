//! Read access to the network: backlogs of queues and wires, and counters of disciplines.

use stillair_model::node::interface::TxQueues;
use stillair_model::types::SockId;
use stillair_model::wire::Wire;

use super::{NetDevice, Network};

impl Network {
    /// The transmit queues of each interface, and what is below them, in the order of the scenario.
    pub(in crate::world) fn interfaces(&self) -> impl ExactSizeIterator<Item = (&TxQueues, NetDevice)> {
        self.interfaces.iter().map(|interface| (&interface.tx, interface.device))
    }

    /// All wires; those of a link are neighbours.
    pub(in crate::world) fn wires(&self) -> &[Wire] {
        &self.wires
    }

    /// Packets in transmit queues, and on wires.
    pub(in crate::world) fn held(&self) -> (u64, u64) {
        (self.interfaces.iter().map(|i| i.tx.held()).sum(), self.wires.iter().map(|w| w.held()).sum())
    }

    /// Sockets that are charged for entries of rings whose packets have left.
    pub(in crate::world) fn charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        self.wires.iter().flat_map(|w| w.charges())
    }
}
