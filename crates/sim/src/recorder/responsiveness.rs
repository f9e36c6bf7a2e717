//! Responsiveness tests: round trips per minute (RPM), by each published formula.

use std::collections::BTreeMap;

use serde::Serialize;
use stillair_model::app::ResponsivenessOutcome;
use stillair_model::metrics::quantile;
use stillair_model::metrics::responsiveness::ProbeTimes;
use stillair_model::types::{Instant, Probe};

/// Summary of a responsiveness test. Rates are in round trips per minute (RPM). Values without probes are
/// `null`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ResponsivenessSummary {
    /// Responsiveness by draft-ietf-ippm-responsiveness-09: the mean of `foreign_rpm` and `loaded_rpm`.
    pub rpm: Option<f64>,
    /// RPM of probes on new connections.
    pub foreign_rpm: Option<f64>,
    /// RPM of probes on load-generating connections.
    pub loaded_rpm: Option<f64>,
    /// RPM by the drafts -02 and -03, from the mean round-trip time of both kinds of probes.
    pub rpm_draft_02: Option<f64>,
    /// RPM by the drafts up to -01, from 90th percentiles.
    pub rpm_draft_01: Option<f64>,
    /// RPM printed by goresponsiveness for trimmed means. By default, these are means of the shortest 5 % of
    /// the times.
    pub rpm_goresponsiveness: Option<f64>,
    /// RPM printed by goresponsiveness for 90th percentiles.
    pub rpm_goresponsiveness_p90: Option<f64>,
    /// Confidence in the responsiveness: `high` if it became stable, `medium` if not, `low` if the test had
    /// too few intervals.
    pub confidence: &'static str,
    /// Confidence in the goodput, with the same values.
    pub goodput_confidence: &'static str,
    /// Goodput of the load-generating connections over the averaged (last) intervals, in Mbit/s.
    pub goodput_mbps: f64,
    /// Load-generating connections per loaded direction at the end of the test.
    pub connections: u32,
    /// Duration of the test in s.
    pub took_s: f64,
    /// Unanswered probes at the end of the test.
    pub unanswered: u32,
    /// Probes in the averaged (last) intervals, by what they measure: `tcp`, `tls`, `http`, `loaded`.
    pub probes: BTreeMap<&'static str, ProbeSummary>,
}

/// Times of one kind of probe.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProbeSummary {
    /// Number of probes.
    pub count: usize,
    /// Trimmed mean in ms: the mean without the longest 5 % of the times.
    pub trimmed_mean_ms: f64,
    /// Median in ms.
    pub median_ms: f64,
    /// 95th percentile in ms.
    pub p95_ms: f64,
    /// 99th percentile in ms.
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
    /// Creates the summary of a finished test.
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
