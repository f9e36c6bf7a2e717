//! Options of fq_codel.

use stillair_model::qdisc::fq_codel::FqCodelParams;

use super::{Assign, Bytes, Context, Discipline, Flag, Int, Key, Period, QdiscConfig, Section};

/// Minimum quantum in bytes.
// linux: net/sched/sch_fq_codel.c fq_codel_change (4.4) - raises a quantum below 256 to 256.
// deviation: rejects it - scenarios should not state a value that is not used.
pub(in super::super::super) const MIN_QUANTUM: u32 = 256;

/// Options of fq_codel, under the names that `tc` uses.
#[derive(Section, Clone, Debug, Default)]
#[section(params = FqCodelParams, base = FqCodelParams::default())]
pub struct FqCodel {
    /// most packets
    #[key(to = limit)]
    pub limit: Key<Int<1, 1_000_000>>,
    /// flow queues
    #[key(to = flows)]
    pub flows: Key<Int<1, 65_536>>,
    /// bytes that a flow may send in a round
    #[key(to = quantum)]
    pub quantum: Key<Bytes<MIN_QUANTUM, { 1 << 20 }>>,
    /// most bytes of truesize
    #[key(to = memory_limit, or = "the kernel's")]
    pub memory_limit: Key<Bytes<4096, { 1 << 30 }>>,
    /// packets dropped at once when over a limit
    #[key(to = drop_batch, or = "the kernel's")]
    pub drop_batch: Key<Int<1, 1_000_000>>,
    /// CoDel's target
    #[key(to = codel.target, shown = "codel.target")]
    pub target: Key<Period>,
    /// CoDel's interval
    #[key(to = codel.interval, shown = "codel.interval")]
    pub interval: Key<Period>,
    /// CoDel marks packets that allow it
    #[key(to = codel.ecn, shown = "codel.ecn")]
    pub ecn: Key<Flag>,
}

impl Discipline for FqCodel {
    fn config(&self, context: &mut Context<'_>) -> Option<QdiscConfig> {
        let mut params = context.device.fq_codel();
        self.assign(&mut params);
        Some(QdiscConfig::FqCodel(params))
    }
}
