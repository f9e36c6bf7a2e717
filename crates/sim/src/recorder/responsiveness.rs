//! Tests of responsiveness: round trips per minute (RPM), by each published formula.

use std::collections::BTreeMap;

use serde::Serialize;
use stillair_model::app::ResponsivenessOutcome;
use stillair_model::metrics::quantile;
use stillair_model::metrics::responsiveness::ProbeTimes;
use stillair_model::vocabulary::{Instant, Probe};

/// The summary of a test of responsiveness. Rates are round trips per minute; what no probe gives is `null`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ResponsivenessSummary {
    /// Responsiveness as draft-ietf-ippm-responsiveness-09 has it: the mean of the next two.
    pub rpm: Option<f64>,
    /// Of probes on new connections.
    pub foreign_rpm: Option<f64>,
    /// Of probes on connections that carry load.
    pub loaded_rpm: Option<f64>,
    /// By the drafts -02 and -03: of the mean round trip of both.
    pub rpm_draft_02: Option<f64>,
    /// By the drafts up to -01, written at Apple: of 90th percentiles.
    pub rpm_draft_01: Option<f64>,
    /// What goresponsiveness prints for trimmed means. By default these are of the shortest 5 % of the times.
    pub rpm_goresponsiveness: Option<f64>,
    /// What goresponsiveness prints for 90th percentiles.
    pub rpm_goresponsiveness_p90: Option<f64>,
    /// How sure the responsiveness is: `high` if it settled, `medium` if not, `low` if there were too few intervals.
    pub confidence: &'static str,
    /// The same of the goodput.
    pub goodput_confidence: &'static str,
    /// What its connections carried over the last intervals that are averaged, in Mbit/s.
    pub goodput_mbps: f64,
    /// Load-generating connections at the end, in each direction that was loaded.
    pub connections: u32,
    /// How long it took in s.
    pub took_s: f64,
    /// Probes that had no answer when it ended.
    pub unanswered: u32,
    /// The probes over the last intervals that are averaged, by what they timed: `tcp`, `tls`, `http`, `loaded`.
    pub probes: BTreeMap<&'static str, ProbeSummary>,
}

/// Times of probes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProbeSummary {
    /// How many.
    pub count: usize,
    /// Their mean in ms without the longest 5 %.
    pub trimmed_mean_ms: f64,
    /// Their median in ms.
    pub median_ms: f64,
    /// Their 95th percentile in ms.
    pub p95_ms: f64,
    /// Their 99th percentile in ms.
    pub p99_ms: f64,
}

impl ProbeSummary {
    fn new(times: &ProbeTimes, probe: Probe) -> Option<Self> {
        let all = times.of(probe);
        let ms = |part| quantile(all, part).map(|ns| ns / 1e6);
        Some(Self {
            count: all.len(),
            trimmed_mean_ms: times.trimmed_mean_ns(probe)? / 1e6,
            median_ms: ms(0.5)?,
            p95_ms: ms(0.95)?,
            p99_ms: ms(0.99)?,
        })
    }
}

impl ResponsivenessSummary {
    /// Of what became of a test.
    pub fn new((outcome, times): &(ResponsivenessOutcome, ProbeTimes)) -> Self {
        let theirs = times.goresponsiveness();
        let parts = [Probe::Tcp, Probe::Tls, Probe::Http, Probe::Loaded];
        let probes = parts.into_iter().filter_map(|p| Some((p.name(), ProbeSummary::new(times, p)?)));
        Self {
            rpm: times.rpm(),
            foreign_rpm: times.foreign_rpm(),
            loaded_rpm: times.loaded_rpm(),
            rpm_draft_02: times.rpm_of_mean(),
            rpm_draft_01: times.rpm_of_p90(),
            rpm_goresponsiveness: theirs.map(|[mean, _]| mean),
            rpm_goresponsiveness_p90: theirs.map(|[_, p90]| p90),
            confidence: outcome.responsiveness.name(),
            goodput_confidence: outcome.goodput.name(),
            goodput_mbps: outcome.goodput_bps / 1e6,
            connections: outcome.connections,
            took_s: seconds(outcome.until) - seconds(outcome.began),
            unanswered: outcome.unanswered,
            probes: probes.collect(),
        }
    }
}

fn seconds(at: Instant) -> f64 {
    at.nanos() as f64 / 1e9
}
