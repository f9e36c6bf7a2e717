//! Options of tbf.

use stillair_model::qdisc::fifo::FifoParams;
use stillair_model::qdisc::tbf::{Peak, TbfParams};
use stillair_model::types::{Duration, Rate};

use super::super::{Object, resolved};
use super::fifo::BfifoLimit;
use super::{BitRate, Burst, Context, Discipline, Key, Period, Qdisc, QdiscConfig, Resolved, Section};

/// Options of tbf, under the names that `tc` uses.
#[derive(Section, Clone, Debug, Default)]
#[section(params = TbfParams)]
pub struct Tbf {
    /// rate of the bucket
    #[key(to = rate, need = "a rate such as \"100 Mbit/s\"")]
    pub rate: Key<BitRate>,
    /// bytes that the bucket holds; no larger packet can leave
    #[key(to = burst, need = "a size such as \"32 KiB\"")]
    pub burst: Key<Burst>,
    /// most bytes of the `bfifo` inside; not beside a `child`
    #[key(or = "what follows from `latency`")]
    pub limit: Key<BfifoLimit>,
    /// time that a packet waits for tokens at most
    #[key(or = "as `limit` has it")]
    pub latency: Key<Period>,
    /// rate of a second bucket, above the first one's
    #[key(or = "none")]
    pub peakrate: Key<BitRate>,
    /// bytes that the second bucket holds
    #[key(or = "required with `peakrate`, and only with it")]
    pub mtu: Key<Burst>,
    /// discipline that holds the packets
    #[key(or = "`bfifo`")]
    pub child: Key<Qdisc>,
}

impl Tbf {
    /// Returns the parameters of the peak-rate bucket.
    fn peak(&self, rate: Option<Rate>, context: &mut Context<'_>) -> Option<Peak> {
        if self.peakrate.place().is_some() != self.mtu.place().is_some() {
            context.faults.add(context.at.found("one of peakrate and mtu", "both or neither"));
        }
        let (peak, mtu) = (*self.peakrate.get()?, self.mtu.get().copied());
        if mtu.is_some() && rate.is_some_and(|rate| peak <= rate) {
            context.faults.add(context.at.found("a peakrate that is not above the rate", "a higher one"));
        }
        Some(Peak { rate: peak, mtu: mtu? })
    }

    /// Rejects a limit together with a child; without a child, requires exactly one limit.
    fn check_limit(&self, context: &mut Context<'_>) {
        if self.child.place().is_some() {
            self.limit.idle("beside a child", "the limit of the child", context.faults);
            self.latency.idle("beside a child", "the limit of the child", context.faults);
            return;
        }
        let (found, right) = match (self.limit.place(), self.latency.place()) {
            (Some(_), Some(_)) => ("both limit and latency", "one of them"),
            (None, None) => ("neither limit nor latency", "one of them, or a child"),
            _ => return,
        };
        context.faults.add(context.at.found(found, right));
    }

    /// Returns the limit of the inner bfifo.
    fn bfifo_limit(&self, rate: Rate, burst: u32, peak: Option<Peak>) -> Option<u32> {
        let by_latency = |latency: &Duration| TbfParams::limit(rate, burst, peak, *latency);
        self.limit.get().copied().or_else(|| self.latency.get().map(by_latency))
    }

    /// Returns the table of the resolved scenario without the child.
    pub(in super::super::super) fn resolved(params: &TbfParams) -> Object {
        let mut keys = resolved::<Self, _>(params);
        keys.insert("peakrate_bps".to_owned(), params.peak.map(|peak| peak.rate).json());
        keys.insert("mtu_bytes".to_owned(), params.peak.map(|peak| peak.mtu).json());
        keys
    }
}

impl Discipline for Tbf {
    // linux: iproute2 tc/q_tbf.c tbf_parse_opt (6.1) - requires a limit or a latency, and an mtu with a peak
    // rate; net/sched/sch_tbf.c tbf_change (6.1) - requires a peak above the rate.
    // deviation: rejects a limit with a child of another kind; tc requires one, although it has no effect.
    fn config(&self, context: &mut Context<'_>) -> Option<QdiscConfig> {
        let (rate, burst) = (self.rate.get().copied(), self.burst.get().copied());
        let peak = self.peak(rate, context);
        self.check_limit(context);
        let (child, rate, burst) = (context.child(&self.child), rate?, burst?);
        let bfifo = || Some(QdiscConfig::Fifo(FifoParams::Bytes(self.bfifo_limit(rate, burst, peak)?)));
        Some(QdiscConfig::Tbf(TbfParams { rate, burst, peak, child: Box::new(child.or_else(bfifo)?) }))
    }
}
