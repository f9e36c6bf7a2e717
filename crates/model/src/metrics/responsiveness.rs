//! Round trips per minute (RPM) from probe times, as computed by the IETF drafts and by measurement tools.

use alloc::vec::Vec;

use crate::types::Probe;

/// Probe times in ns by [`Probe`]; each list is sorted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ProbeTimes([Vec<u64>; 5]);

/// Percentage of probe times, the shortest, that the drafts average.
// spec: draft-ietf-ippm-responsiveness-09 Test Parameters - TMP.
const KEPT: usize = 95;
/// Percentage of probe times that goresponsiveness averages by default.
// goresponsiveness: constants/constants.go Tmp (2024-01-29); utilities/math.go TrimBy keeps this percentage,
// the shortest, although the option is documented as the percentage to trim.
const AVERAGED: usize = 5;
/// Round trips per foreign probe.
const ROUND_TRIPS: u64 = 3;
const MINUTE_NS: f64 = 60e9;

impl ProbeTimes {
    /// Sorts samples given in any order.
    pub fn new(samples: impl Iterator<Item = (Probe, u64)>) -> Self {
        let mut times: [Vec<u64>; 5] = Default::default();
        samples.for_each(|(probe, ns)| times[probe as usize].push(ns));
        times.iter_mut().for_each(|all| all.sort_unstable());
        Self(times)
    }

    /// The times of one kind of probe, sorted.
    pub fn of(&self, probe: Probe) -> &[u64] {
        &self.0[probe as usize]
    }

    /// Mean in ns of the times of one kind of probe, without the longest 5 %. `None` without probes.
    // spec: draft-ietf-ippm-responsiveness-09 Aggregating the Measurements - a single-sided trimmed mean.
    pub fn trimmed_mean_ns(&self, probe: Probe) -> Option<f64> {
        let all = self.of(probe);
        mean(&all[..all.len() - all.len() * (100 - KEPT) / 100])
    }

    /// Mean over the parts of a foreign probe, each computed by `of`. Without TLS there are two parts.
    fn foreign(&self, of: impl Fn(&Self, Probe) -> Option<f64>) -> Option<f64> {
        let (tcp, http) = (of(self, Probe::Tcp)?, of(self, Probe::Http)?);
        Some(of(self, Probe::Tls).map_or((tcp + http) / 2.0, |tls| (tcp + tls + http) / 3.0))
    }

    /// RPM on new connections.
    // spec: draft-ietf-ippm-responsiveness-09 Aggregating the Measurements - Foreign_Responsiveness.
    pub fn foreign_rpm(&self) -> Option<f64> {
        self.foreign(Self::trimmed_mean_ns).map(|ns| MINUTE_NS / ns)
    }

    /// RPM on connections that carry load.
    // spec: draft-ietf-ippm-responsiveness-09 Aggregating the Measurements - Loaded_Responsiveness.
    pub fn loaded_rpm(&self) -> Option<f64> {
        self.trimmed_mean_ns(Probe::Loaded).map(|ns| MINUTE_NS / ns)
    }

    /// Mean of foreign and loaded RPM.
    // spec: draft-ietf-ippm-responsiveness-09 Aggregating the Measurements - Responsiveness.
    pub fn rpm(&self) -> Option<f64> {
        Some((self.foreign_rpm()? + self.loaded_rpm()?) / 2.0)
    }

    /// RPM computed from the mean of the foreign and loaded trimmed means.
    // spec: draft-ietf-ippm-responsiveness-02 to -03 - 1/6 of tcp_f, tls_f and http_f each, plus 1/2 of
    // http_l.
    pub fn rpm_of_mean(&self) -> Option<f64> {
        let (foreign, loaded) = (self.foreign(Self::trimmed_mean_ns)?, self.trimmed_mean_ns(Probe::Loaded)?);
        Some(MINUTE_NS / ((foreign + loaded) / 2.0))
    }

    /// RPM of the 90th percentiles, as defined by the first draft.
    // spec: draft-ietf-ippm-responsiveness-01 - half of the sum of http_self and a third each of tcp_foreign,
    // tls_foreign and http_foreign.
    pub fn rpm_of_p90(&self) -> Option<f64> {
        let p90 = |times: &Self, probe| percentile(times.of(probe), 90);
        Some(MINUTE_NS / ((self.foreign(p90)? + p90(self, Probe::Loaded)?) / 2.0))
    }

    /// RPM as computed by goresponsiveness from trimmed means and from 90th percentiles. `None` without TLS,
    /// which it always uses.
    // goresponsiveness: rpm/calculations.go CalculateRpm (2024-01-29) - adds a third of the total time of
    // each foreign probe three times.
    pub fn goresponsiveness(&self) -> Option<[f64; 2]> {
        if self.of(Probe::Tls).is_empty() {
            return None;
        }
        let thirds = |ns: &u64| core::iter::repeat_n(ns / ROUND_TRIPS, ROUND_TRIPS as usize);
        let foreign: Vec<u64> = self.of(Probe::Foreign).iter().flat_map(thirds).collect();
        let loaded = self.of(Probe::Loaded);
        let shortest = |all: &[u64]| mean(&all[..all.len() * AVERAGED / 100]);
        let of = |foreign: Option<f64>, loaded: Option<f64>| Some(MINUTE_NS / ((foreign? + loaded?) / 2.0));
        Some([
            of(shortest(&foreign), shortest(loaded))?,
            of(percentile(&foreign, 90), percentile(loaded, 90))?,
        ])
    }
}

fn mean(all: &[u64]) -> Option<f64> {
    (!all.is_empty()).then(|| all.iter().map(|ns| *ns as f64).sum::<f64>() / all.len() as f64)
}

/// The `percent`th percentile of sorted times, in ns.
// goresponsiveness: utilities/math.go CalculatePercentile - the element at that index, rounded down.
fn percentile(sorted: &[u64], percent: usize) -> Option<f64> {
    sorted.get(sorted.len() * percent / 100).map(|ns| *ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(all: [&[u64]; 5]) -> ProbeTimes {
        let ms = |probe: Probe| all[probe as usize].iter().map(move |ms| (probe, ms * 1_000_000));
        ProbeTimes::new(Probe::ALL.into_iter().flat_map(ms))
    }

    fn close(found: Option<f64>, expected: f64) {
        let found = found.expect("there are probes");
        assert!((found - expected).abs() < 1e-6 * expected, "{found}, not {expected}");
    }

    // By hand: foreign (20 + 30 + 40) / 3 = 30 ms, 2000 per minute; loaded 100 ms, 600 per minute.
    #[test]
    fn the_drafts_by_hand() {
        let one = times([&[20], &[30], &[40], &[100], &[90]]);
        close(one.foreign_rpm(), 2_000.0);
        close(one.loaded_rpm(), 600.0);
        close(one.rpm(), 1_300.0);
        close(one.rpm_of_mean(), 60_000.0 / 65.0);
        close(one.rpm_of_p90(), 60_000.0 / 65.0);
    }

    // With 20 probes, goresponsiveness averages 3 of the 60 thirds of foreign probes and one loaded probe.
    // The 90th percentiles are the 55th third, of the 19th probe, and the 19th loaded probe.
    #[test]
    fn goresponsiveness_by_hand() {
        let foreign: Vec<u64> = (1..=20).map(|n| 30 * n).collect();
        let loaded: Vec<u64> = (1..=20).map(|n| 100 * n).collect();
        let all = times([&foreign, &foreign, &foreign, &loaded, &foreign]);
        let [shortest, p90] = all.goresponsiveness().expect("there are probes");
        close(Some(shortest), 60_000.0 / ((10.0 + 100.0) / 2.0));
        close(Some(p90), 60_000.0 / ((190.0 + 1_900.0) / 2.0));
    }

    #[test]
    fn without_tls_there_are_two_parts() {
        let one = times([&[20], &[], &[40], &[100], &[60]]);
        close(one.foreign_rpm(), 2_000.0);
        close(one.rpm_of_mean(), 60_000.0 / 65.0);
        assert_eq!(one.goresponsiveness(), None);
    }

    // The two longest of forty times are trimmed, none of nineteen; the 90th percentile of ten is the last.
    #[test]
    fn trimmed_samples() {
        let long: Vec<u64> = (1..=38).chain([1_000, 2_000]).collect();
        let of = times([&long, &[10], &[10], &long[..19], &[30]]);
        close(of.trimmed_mean_ns(Probe::Tcp), 19.5e6);
        close(of.trimmed_mean_ns(Probe::Loaded), 10e6);
        let ten: Vec<u64> = (1..=10).collect();
        close(percentile(&ten, 90), 10.0);
        close(percentile(&ten, 50), 6.0);
    }

    #[test]
    fn no_result_without_probes() {
        let none = times([&[20], &[30], &[40], &[], &[90]]);
        assert_eq!((none.rpm(), none.rpm_of_mean(), none.rpm_of_p90()), (None, None, None));
        assert_eq!(none.goresponsiveness(), None);
        assert!(none.foreign_rpm().is_some());
    }
}
