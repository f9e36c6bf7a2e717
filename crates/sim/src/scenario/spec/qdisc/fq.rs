//! Options of fq.

use stillair_model::qdisc::fq::FqParams;

use super::{
    Assign, BitRate, Bytes, Context, Discipline, Flag, Int, Key, PowerOfTwo, QdiscConfig, Section, Time,
};

/// Maximum number of hash buckets.
// linux: net/sched/sch_fq.c fq_change (6.1).
const MAX_BUCKETS: i64 = 1 << 18;

/// Options of fq, under the names that `tc` uses.
#[derive(Section, Clone, Debug, Default)]
#[section(params = FqParams, base = FqParams::default())]
pub struct Fq {
    /// most packets
    #[key(to = limit)]
    pub limit: Key<Int<1, 1_000_000>>,
    /// most packets of a flow
    #[key(to = flow_limit)]
    pub flow_limit: Key<Int<1, 1_000_000>>,
    /// bytes that a flow may send in a round
    #[key(to = quantum)]
    pub quantum: Key<Bytes<1, { 1 << 20 }>>,
    /// bytes that a new flow may send first
    #[key(to = initial_quantum)]
    pub initial_quantum: Key<Bytes<0, { 1 << 30 }>>,
    /// most that a flow may send
    #[key(to = maxrate, or = "none")]
    pub maxrate: Key<BitRate>,
    /// lists by which flows are found, a power of two
    #[key(to = buckets)]
    pub buckets: Key<PowerOfTwo<2, MAX_BUCKETS>>,
    /// bits of the hash that distinguish flows without a local TCP socket
    #[key(to = orphan_mask)]
    pub orphan_mask: Key<Int<0, { u32::MAX as i64 }>>,
    /// fq paces TCP, and `maxrate` applies
    #[key(to = pacing)]
    pub pacing: Key<Flag>,
    /// a flow idle for longer gets its initial quantum again
    #[key(to = refill_delay)]
    pub refill_delay: Key<Time>,
    /// a flow paced below this rate gives up its turn after each packet
    #[key(to = low_rate_threshold)]
    pub low_rate_threshold: Key<BitRate>,
    /// packets that leave this late are ECN-marked
    #[key(to = ce_threshold, or = "never")]
    pub ce_threshold: Key<Time>,
    /// how late its timer may be
    #[key(to = timer_slack)]
    pub timer_slack: Key<Time>,
    /// how far in the future a departure may be
    #[key(to = horizon)]
    pub horizon: Key<Time>,
    /// packets due later than the horizon are dropped, instead of leaving at the horizon
    #[key(to = horizon_drop)]
    pub horizon_drop: Key<Flag>,
}

impl Discipline for Fq {
    fn config(&self, _: &mut Context<'_>) -> Option<QdiscConfig> {
        let mut params = Self::base();
        self.assign(&mut params);
        Some(QdiscConfig::Fq(params))
    }
}
