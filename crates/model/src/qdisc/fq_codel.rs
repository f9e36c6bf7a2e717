//! fq_codel: flow queues by hash, DRR++, CoDel on each.

use crate::aqm::codel::CodelParams;
use crate::vocabulary::Duration;

/// Parameters, under tc's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCodelParams {
    /// Most packets over all flows.
    pub limit: u32,
    /// Number of flow queues.
    pub flows: u32,
    /// Bytes a flow may send in a round.
    pub quantum: u32,
    /// Most bytes of truesize over all flows.
    pub memory_limit: u32,
    /// Most packets dropped at once from the fattest flow when over a limit.
    pub drop_batch: u32,
    /// The law on each flow.
    pub codel: CodelParams,
}

impl Default for FqCodelParams {
    // linux: net/sched/sch_fq_codel.c fq_codel_init (4.6) - tc's defaults.
    fn default() -> Self {
        Self {
            limit: 10_240,
            flows: 1024,
            quantum: 1514,
            memory_limit: 32 << 20,
            drop_batch: 64,
            codel: CodelParams {
                target: Duration::from_millis(5),
                interval: Duration::from_millis(100),
                ecn: true,
                mtu: 1514,
            },
        }
    }
}
