//! Options of pfifo and bfifo.

use stillair_model::qdisc::fifo::FifoParams;

use super::{Bytes, Context, Discipline, Int, Key, QdiscConfig, Section};

/// Size of a full packet in bytes: the minimum limit of a bfifo.
// deviation: rejects smaller limits, which tc accepts - such a queue could not hold a full packet.
const MIN_BFIFO: u32 = 1514;

/// Limit of a bfifo.
pub(super) type BfifoLimit = Bytes<MIN_BFIFO, { 1 << 30 }>;

/// Options of pfifo.
#[derive(Section, Clone, Debug, Default)]
pub struct Pfifo {
    /// most packets
    #[key(or = "the interface's `txqueuelen`")]
    pub limit: Key<Int<1, 1_000_000>>,
}

/// Options of bfifo.
#[derive(Section, Clone, Debug, Default)]
pub struct Bfifo {
    /// most bytes
    #[key(or = "as many full packets as the interface's `txqueuelen`")]
    pub limit: Key<BfifoLimit>,
}

impl Discipline for Pfifo {
    fn config(&self, context: &mut Context<'_>) -> Option<QdiscConfig> {
        let default = FifoParams::pfifo(context.device.txqueuelen);
        Some(QdiscConfig::Fifo(self.limit.get().map_or(default, |limit| FifoParams::Packets(*limit))))
    }
}

impl Discipline for Bfifo {
    fn config(&self, context: &mut Context<'_>) -> Option<QdiscConfig> {
        let default = FifoParams::bfifo(context.device.txqueuelen);
        Some(QdiscConfig::Fifo(self.limit.get().map_or(default, |limit| FifoParams::Bytes(*limit))))
    }
}
