//! Options of htb.

use stillair_model::qdisc::fifo::FifoParams;
use stillair_model::qdisc::htb::HtbParams;

use super::{BitRate, Burst, Context, Discipline, Key, Qdisc, QdiscConfig, Section};

/// Options of htb with one class.
#[derive(Section, Clone, Debug, Default)]
#[section(params = HtbParams)]
pub struct Htb {
    /// rate of its single class
    #[key(to = rate, need = "a rate such as \"100 Mbit/s\"")]
    pub rate: Key<BitRate>,
    /// ceiling of the class; without a parent it borrows nothing
    #[key(to = ceil, or = "the rate")]
    pub ceil: Key<BitRate>,
    /// bytes that may leave at once after a pause
    #[key(to = burst, or = "`tc`'s, 1600 bytes")]
    pub burst: Key<Burst>,
    /// the same of the ceiling
    #[key(to = cburst, or = "`tc`'s, 1600 bytes")]
    pub cburst: Key<Burst>,
    /// discipline of the class
    #[key(or = "`pfifo`")]
    pub child: Key<Qdisc>,
}

impl Discipline for Htb {
    // linux: iproute2 tc/q_htb.c (6.1), net/sched/sch_htb.c htb_change_class (6.1) - the ceiling defaults to
    // the rate; a new class has a pfifo of txqueuelen packets.
    fn config(&self, context: &mut Context<'_>) -> Option<QdiscConfig> {
        let child = context.child(&self.child);
        let child = child.unwrap_or(QdiscConfig::Fifo(FifoParams::pfifo(context.device.txqueuelen)));
        let rate = *self.rate.get()?;
        let ceil = self.ceil.or(rate);
        let burst = self.burst.or(HtbParams::default_burst(rate));
        let cburst = self.cburst.or(HtbParams::default_burst(ceil));
        Some(QdiscConfig::Htb(HtbParams { rate, ceil, burst, cburst, child: Box::new(child) }))
    }
}
