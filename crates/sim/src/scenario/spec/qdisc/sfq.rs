//! Options of sfq.

use stillair_model::qdisc::sfq::SfqParams;

use super::{Assign, Bytes, Context, Discipline, Flag, Int, Key, PowerOfTwo, QdiscConfig, Section, Time};

/// Options of sfq, under the names that `tc` uses.
#[derive(Section, Clone, Debug, Default)]
#[section(params = SfqParams, base = SfqParams::default())]
pub struct Sfq {
    /// most packets; not more than all flows may hold
    #[key(to = limit, or = "127")]
    pub limit: Key<Int<2, 1_000_000>>,
    /// bytes that a flow may send in a round
    #[key(to = quantum)]
    pub quantum: Key<Bytes<{ SfqParams::MIN_QUANTUM }, { 1 << 20 }>>,
    /// most packets of a flow
    #[key(to = depth)]
    pub depth: Key<Int<1, { SfqParams::MAX_DEPTH as i64 }>>,
    /// maximum number of flows with packets; at most `divisor` and `limit`, if given
    #[key(to = flows)]
    pub flows: Key<Int<1, { SfqParams::MAX_FLOWS as i64 }>>,
    /// number of hash values, a power of two
    #[key(to = divisor)]
    pub divisor: Key<PowerOfTwo<1, { SfqParams::MAX_DIVISOR as i64 }>>,
    /// how often the hash changes; 0 s: never
    #[key(to = perturb, default = "0 s")]
    pub perturb: Key<Time>,
    /// the head of a queue is dropped instead of its tail
    #[key(to = headdrop)]
    pub headdrop: Key<Flag>,
}

impl Discipline for Sfq {
    // linux: net/sched/sch_sfq.c sfq_change (6.1) - an option limits the options derived from it.
    fn config(&self, context: &mut Context<'_>) -> Option<QdiscConfig> {
        let mut params = Self::base();
        self.assign(&mut params);
        // Slots beyond the number of hash values are never used.
        params.flows = params.flows.min(params.divisor);
        if let Some(limit) = self.limit.get() {
            params.limit = (*limit).min(params.depth * params.flows);
            params.flows = params.flows.min(params.limit);
        }
        if params.limit < 2 {
            let right = "a depth, flows and limit that leave room for two";
            context.faults.add(context.at.found("room for one packet", right));
        }
        Some(QdiscConfig::Sfq(params))
    }
}
