//! Host jitter: interrupts, timers and clock.

use serde_json::{Value as Json, json};
use stillair_model::node::jitter::{JitterParams, Spread};
use stillair_model::types::Duration;
use stillair_scenario_derive::Section;

use super::super::description::ValueType;
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::reader::Field;
use super::super::units;
use super::domain::Int;
use super::{Domain, Key, Resolved};

/// Options of host jitter.
#[derive(Section, Clone, Debug, Default)]
#[section(params = JitterParams, base = JitterParams::DESKTOP)]
pub struct Options {
    /// from an interrupt of received packets until the network stack takes them in, with all that have come
    /// since; default: what a Core i5 of 2011 needs to wake from C1E, at most from C6 (intel_idle). It acts
    /// on Ethernet and Wi-Fi, after `rx_usecs` and `rx_mitigation`; a veth has no interrupts, and behind USB
    /// it does not act
    #[key(to = softirq)]
    pub softirq: Key<Spread>,
    /// how late timers of its applications fire: those of senders of datagrams, pings, calls and pages, of
    /// QUIC, and beginnings; default: anywhere within Linux's timer slack. The kernel's own timers, such as
    /// those of TCP and its pacing, have none
    #[key(to = timer_slack)]
    pub timer_slack: Key<Spread>,
    /// parts per million by which its clock may be fast or slow, drawn evenly for each run: it stretches the
    /// intervals of datagrams, pings and calls; default: NTP's bound for a clock that was adjusted, without
    /// that some 100
    #[key(to = drift_ppm)]
    pub drift_ppm: Key<Int<0, 500>>,
}

kinds! {
    /// Jitter of a host.
    pub struct Jitter: Options => JitterParams {
        /// The host does everything at once, and its clock is right.
        "none": "Jitter none",
        /// As a desktop computer under Linux with its power management on. Each key may be changed by itself.
        "desktop": "Jitter of a desktop" = JitterParams::DESKTOP,
    }
}

/// The node key.
#[derive(Section, Clone, Debug, Default)]
pub struct OfNode {
    /// how its interrupts, timers and clock vary, at random; what runs of a scenario without it have in
    /// common may be the work of periods that lock, which no real host keeps
    #[key(default = "none")]
    pub jitter: Key<Jitter>,
}

impl OfNode {
    /// Returns the engine's parameters.
    pub(in super::super) fn params(&self) -> JitterParams {
        self.jitter.get().and_then(Jitter::params).unwrap_or(JitterParams::NONE)
    }
}

const EXPECTED: &str = "\"none\", \"uniform 0 us..50 us\" or \"exponential 10 us..104 us\" (its mean and its most), of up to 10 ms";

/// Maximum jitter; a real host that is later has other problems.
const MOST: Duration = Duration::from_millis(10);

impl Domain for Spread {
    type Value = Self;
    const TYPE: ValueType = ValueType::Written {
        words: "`none`, `uniform LEAST..MOST`, or `exponential MEAN..MOST` whose longer values count as the most, of up to 10 ms",
        pattern: r"^(none|(uniform|exponential) [0-9.]+ *(ns|us|ms)\.\.[0-9.]+ *(ns|us|ms))$",
        examples: &["none", "uniform 0 us..50 us", "exponential 10 us..104 us"],
    };

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Self, Diagnostic> {
        let text = field.text(EXPECTED)?;
        let bounds = |range: &str| {
            let (low, high) = range.split_once("..")?;
            let (low, high) = (units::duration(low.trim()).ok()?, units::duration(high.trim()).ok()?);
            (low <= high && high <= MOST).then_some((low, high))
        };
        let read = match text.split_once(' ') {
            None if text == "none" => Some(Self::None),
            Some(("uniform", range)) => bounds(range).map(|(least, most)| Self::Uniform(least, most)),
            Some(("exponential", range)) => bounds(range).map(|(mean, most)| Self::Exponential(mean, most)),
            _ => None,
        };
        // A distribution that is always zero means no jitter.
        read.map(|spread| match spread {
            Self::Uniform(_, Duration::ZERO) | Self::Exponential(Duration::ZERO, _) => Self::None,
            spread => spread,
        })
        .ok_or_else(|| field.wrong(EXPECTED))
    }

    fn written(value: &Self) -> Value {
        Value::String(match value {
            Self::None => "none".to_owned(),
            Self::Uniform(least, most) => format!("uniform {}", units::range_text(*least, *most)),
            Self::Exponential(mean, most) => format!("exponential {}", units::range_text(*mean, *most)),
        })
    }
}

impl Resolved for Spread {
    fn json(&self) -> Json {
        match self {
            Self::None => Json::Null,
            Self::Uniform(least, most) => json!({ "kind": "uniform", "ns": [least.nanos(), most.nanos()] }),
            Self::Exponential(mean, most) => {
                json!({ "kind": "exponential", "mean_ns": mean.nanos(), "most_ns": most.nanos() })
            }
        }
    }
}
