//! Options of pie.

use stillair_model::qdisc::pie::PieQdiscParams;

use super::{Assign, Context, Discipline, Flag, Int, Key, Period, QdiscConfig, Section};

/// Options of pie, under the names that `tc` uses.
#[derive(Section, Clone, Debug, Default)]
#[section(params = PieQdiscParams, base = PieQdiscParams::new(1_000))]
pub struct Pie {
    /// most packets
    #[key(to = limit)]
    pub limit: Key<Int<1, 1_000_000>>,
    /// delay that is aimed at
    #[key(to = pie.target, or = "15 ms, before 5.1 20 ms")]
    pub target: Key<Period>,
    /// how often the probability is set anew, in whole ticks of the kernel
    #[key(to = tupdate, or = "15 ms, before 5.1 30 ms")]
    pub tupdate: Key<Period>,
    /// weight of the distance from the target, in sixteenths
    #[key(to = pie.alpha)]
    pub alpha: Key<Int<0, 32>>,
    /// weight of the change of the delay, in sixteenths
    #[key(to = pie.beta)]
    pub beta: Key<Int<0, 32>>,
    /// packets that allow it are marked while the probability is below a tenth
    #[key(to = pie.ecn)]
    pub ecn: Key<Flag>,
    /// smaller packets are dropped more rarely
    #[key(to = pie.bytemode)]
    pub bytemode: Key<Flag>,
    /// the delay follows from the drain rate instead of the packets' time in the queue
    #[key(to = pie.dq_rate_estimator, or = "false, before 5.5 true")]
    pub dq_rate_estimator: Key<Flag>,
}

impl Discipline for Pie {
    fn config(&self, context: &mut Context<'_>) -> Option<QdiscConfig> {
        let mut params = context.device.pie();
        self.assign(&mut params);
        params.tupdate = PieQdiscParams::in_ticks(params.tupdate, context.device.profile.tcp.hz);
        Some(QdiscConfig::Pie(params))
    }
}
