//! Options of codel.

use stillair_model::qdisc::codel::CodelQdiscParams;

use super::{Assign, Context, Discipline, Flag, Int, Key, Period, QdiscConfig, Section};

/// Options of codel, under the names that `tc` uses.
#[derive(Section, Clone, Debug, Default)]
#[section(params = CodelQdiscParams, base = CodelQdiscParams::default())]
pub struct Codel {
    /// most packets
    #[key(to = limit)]
    pub limit: Key<Int<1, 1_000_000>>,
    /// sojourn time that is acceptable
    #[key(to = codel.target, shown = "codel.target")]
    pub target: Key<Period>,
    /// how long it may be exceeded
    #[key(to = codel.interval, shown = "codel.interval")]
    pub interval: Key<Period>,
    /// packets that allow it are marked
    #[key(to = codel.ecn, shown = "codel.ecn")]
    pub ecn: Key<Flag>,
}

impl Discipline for Codel {
    fn config(&self, _: &mut Context<'_>) -> Option<QdiscConfig> {
        let mut params = Self::base();
        self.assign(&mut params);
        Some(QdiscConfig::Codel(params))
    }
}
