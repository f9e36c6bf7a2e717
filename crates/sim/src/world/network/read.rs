//! Read access to the network: backlogs of queues and wires, and qdisc counters.

use stillair_model::node::interface::TxQueues;
use stillair_model::types::SockId;
use stillair_model::wire::Wire;

use super::{NetDevice, Network};

impl Network {
    /// Returns the transmit queues and the device of each interface, in scenario order.
    pub(in crate::world) fn interfaces(&self) -> impl ExactSizeIterator<Item = (&TxQueues, NetDevice)> {
        self.interfaces.iter().map(|interface| (&interface.tx, interface.device))
    }

    /// Returns all wires. The two wires of a link are adjacent.
    pub(in crate::world) fn wires(&self) -> &[Wire] {
        &self.wires
    }

    /// Returns the number of packets in transmit queues and on wires.
    pub(in crate::world) fn held(&self) -> (u64, u64) {
        (self.interfaces.iter().map(|i| i.tx.held()).sum(), self.wires.iter().map(|w| w.held()).sum())
    }

    /// Returns the sockets charged for ring entries whose packets have already left.
    pub(in crate::world) fn charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        self.wires.iter().flat_map(|w| w.charges())
    }
}
