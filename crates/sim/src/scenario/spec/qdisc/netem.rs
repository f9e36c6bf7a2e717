//! Options of netem.

use serde_json::Value as Json;
use stillair_model::qdisc::netem::{NetemParams, Share};
use stillair_model::types::Duration;

use super::super::super::description::ValueType;
use super::super::super::document::Value;
use super::super::super::error::{Diagnostic, Diagnostics};
use super::super::super::reader::Field;
use super::{
    Assign, BitRate, Context, Discipline, Domain, Int, Key, Qdisc, QdiscConfig, Resolved, Section, Time,
};

/// Maximum jitter: twice the jitter must fit 32 bits of nanoseconds.
// linux: net/sched/sch_netem.c tabledist (6.1).
const MAX_JITTER: Duration = Duration::from_secs(2);

/// Options of netem, under the names that `tc` uses.
#[derive(Section, Clone, Debug, Default)]
#[section(params = NetemParams, base = NetemParams::default())]
pub struct Netem {
    /// most packets
    #[key(to = limit)]
    pub limit: Key<Int<1, 1_000_000>>,
    /// delay of each packet
    #[key(to = delay, default = "0 s")]
    pub delay: Key<Time>,
    /// jitter, up and down; packets may be reordered
    #[key(to = jitter, default = "0 s")]
    pub jitter: Key<Time>,
    /// share of a packet's jitter that is that of the one before
    #[key(to = delay_correlation)]
    pub delay_correlation: Key<Share>,
    /// packets lost
    #[key(to = loss.share, shown = "loss.probability")]
    pub loss: Key<Share>,
    /// the same share of the draw for losses
    #[key(to = loss.correlation, shown = "loss.correlation")]
    pub loss_correlation: Key<Share>,
    /// packets doubled
    #[key(to = duplicate.share, shown = "duplicate.probability")]
    pub duplicate: Key<Share>,
    /// the same share of the draw for doubles
    #[key(to = duplicate.correlation, shown = "duplicate.correlation")]
    pub duplicate_correlation: Key<Share>,
    /// packets that leave at once instead of waiting; with only `gap` given, all that `gap` selects
    #[key(to = reorder.share, shown = "reorder.probability")]
    pub reorder: Key<Share>,
    /// the same share of the draw for those
    #[key(to = reorder.correlation, shown = "reorder.correlation")]
    pub reorder_correlation: Key<Share>,
    /// only one packet in this many may leave at once; 0: any, if `reorder` is given
    #[key(to = gap)]
    pub gap: Key<Int<0, 1_000_000>>,
    /// packets also wait for each other's transmission at this rate
    #[key(to = rate, or = "none")]
    pub rate: Key<BitRate>,
    /// discipline that gets packets when their time has come
    #[key(or = "none")]
    pub child: Key<Qdisc>,
}

impl Netem {
    /// Rejects excessive jitter, and correlations of constant values.
    fn check(&self, faults: &mut Diagnostics) {
        if let Some((_, at)) = self.jitter.given().filter(|(jitter, _)| **jitter > MAX_JITTER) {
            faults.add(at.wrong("at most 2 s"));
        }
        if self.jitter.known_or(Duration::ZERO) == Some(Duration::ZERO) {
            self.delay_correlation.idle("without jitter", "a jitter beside it", faults);
        }
        for (name, share, correlation) in [
            ("loss", &self.loss, &self.loss_correlation),
            ("duplicate", &self.duplicate, &self.duplicate_correlation),
            // A gap without a probability means a probability of one, which cannot be correlated.
            ("reorder", &self.reorder, &self.reorder_correlation),
        ] {
            if share.known_or(Share(0)) == Some(Share(0)) {
                correlation.idle(&format!("without {name}"), &format!("{name} beside it"), faults);
            }
        }
    }
}

impl Discipline for Netem {
    // linux: iproute2 tc/q_netem.c netem_parse_opt (6.1), net/sched/sch_netem.c netem_change (6.1) - a
    // probability without a gap has a gap of one; a gap without a probability is certain. tc rejects either
    // without a delay, as neither has an effect.
    fn config(&self, context: &mut Context<'_>) -> Option<QdiscConfig> {
        let mut params = Self::base();
        self.assign(&mut params);
        self.check(context.faults);
        let reorders = params.gap > 0 || params.reorder.share != Share(0);
        if reorders && self.delay.known_or(Duration::ZERO) == Some(Duration::ZERO) {
            let right = "a delay that the others wait for";
            context.faults.add(context.at.found("reorder or gap without a delay", right));
        }
        if params.gap > 0 && params.reorder.share == Share(0) {
            params.reorder.share = Share(u32::MAX);
        } else if params.reorder.share != Share(0) {
            params.gap = params.gap.max(1);
        }
        Some(QdiscConfig::Netem(params, context.child(&self.child).map(Box::new)))
    }
}

impl Domain for Share {
    type Value = Self;
    const TYPE: ValueType = ValueType::Fraction;

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Self, Diagnostic> {
        field.value().map(Self::of)
    }

    fn written(value: &Self) -> Value {
        match value.0 {
            0 => Value::Integer(0),
            _ => Value::Float(fraction(*value)),
        }
    }
}

impl Resolved for Share {
    fn json(&self) -> Json {
        fraction(*self).into()
    }
}

fn fraction(share: Share) -> f64 {
    f64::from(share.0) / f64::from(u32::MAX)
}
