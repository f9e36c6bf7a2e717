//! Trace of a station's path from a file: rate and loss over time.

use stillair_model::types::{Duration, Rate};
use stillair_model::wifi::phy::{HtRate, PhyRate, RateTry, RetryChain, Width};

use super::document::Table;
use super::error::Diagnostic;
use super::files::{Files, MOST_BYTES};
use super::units::phy_rate;
use super::{Attachment, Scenario};
use crate::trace_file::{self, BadLine, Format, PathRate, Steps, TraceStep};

/// A trace of a station's path.
#[derive(Clone, PartialEq, Debug)]
pub struct PathTrace {
    /// Name of the file in the scenario.
    pub file: String,
    /// Format of the file.
    pub format: Format,
    /// True if the trace repeats at its end, for formats that define the end.
    pub repeat: bool,
    /// Rate that supplies width, guard interval and number of streams of the other rates, and the attempts
    /// per rate.
    pub base: RateTry,
    /// Maximum channel width.
    pub width: Width,
    /// Times, each with the new retry chain and the share of data frames lost. Empty until the file is read.
    pub steps: Vec<(Duration, RetryChain, f64)>,
    /// Time after which the trace repeats; `None` if it does not.
    pub length: Option<Duration>,
}

/// Reads the trace files of a scenario.
pub(super) fn load(scenario: &mut Scenario, tree: &Table, files: &dyn Files) -> Result<(), Diagnostic> {
    for node in &mut scenario.nodes {
        for interface in &mut node.interfaces {
            let Attachment::Wifi(wifi) = &mut interface.medium else { continue };
            let Some(trace) = &mut wifi.trace else { continue };
            let keys = ["node", &node.name, "interface", &interface.name, "trace", "file"];
            let wrong = |found: String, expected: String| {
                Diagnostic::new(tree.origin_of(&keys), keys.join("."), found, expected)
            };
            let text = files.read(&trace.file).map_err(|why| {
                wrong(format!("{:?}, {why}", trace.file), format!("a file of up to {MOST_BYTES} bytes"))
            })?;
            fill(trace, &text).map_err(|bad| {
                wrong(format!("{} in line {} of {:?}", bad.found, bad.line, trace.file), bad.expected)
            })?;
        }
    }
    Ok(())
}

/// Fills a trace from a file.
fn fill(trace: &mut PathTrace, text: &str) -> Result<(), BadLine> {
    let Steps { steps, length } = trace_file::read(trace.format, text)?;
    for step in &steps {
        let rate = rate(step, trace)?;
        let chain =
            RetryChain::new(&[RateTry { rate, ..trace.base }]).expect("one entry with tries is a chain");
        trace.steps.push((step.at, chain, step.loss));
    }
    trace.length = length.filter(|_| trace.repeat);
    Ok(())
}

/// Returns the rate of a step: the named rate, or the fastest one within its capacity.
// deviation: a link with less capacity than the slowest rate uses that rate, unless the capacity is zero.
fn rate(step: &TraceStep, trace: &PathTrace) -> Result<PhyRate, BadLine> {
    match &step.carries {
        PathRate::Named(name) => {
            let bad = |expected: String| BadLine { line: step.line, found: format!("{name:?}"), expected };
            let rate = phy_rate(name, Some(trace.base.rate)).map_err(bad)?;
            match rate {
                PhyRate::Ht(ht) if ht.width <= trace.width => Ok(rate),
                _ => Err(bad("an HT rate no wider than its channel".to_owned())),
            }
        }
        PathRate::Unlimited => Ok(trace.base.rate),
        PathRate::Capacity(capacity) => Ok(fastest(*capacity, trace.base.rate)),
    }
}

/// Returns the fastest rate with the width, guard interval and streams of `base` that does not exceed
/// `capacity`, or the slowest.
fn fastest(capacity: Rate, base: PhyRate) -> PhyRate {
    let PhyRate::Ht(own) = base else { return base };
    let streams = own.mcs / 8;
    let all = (0..8 * (streams + 1)).map(|mcs| PhyRate::Ht(HtRate { mcs, ..own }));
    let fits = all.clone().filter(|rate| rate.rate().bps() <= capacity.bps());
    fits.max_by_key(|rate| rate.rate().bps())
        .or_else(|| all.min_by_key(|rate| rate.rate().bps()))
        .unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(format: Format) -> PathTrace {
        let base = RateTry::new(PhyRate::parse("ht20-mcs15-sgi").unwrap(), 4);
        let (file, steps) = ("x".to_owned(), Vec::new());
        PathTrace { file, format, repeat: true, base, width: Width::Mhz20, steps, length: None }
    }

    #[test]
    fn capacity_maps_to_fastest_rate_below() {
        let base = |name| PhyRate::parse(name).unwrap();
        // Tenths of Mbit/s, base rate, expected rate.
        let table = [
            (0, "ht20-mcs7-lgi", "ht20-mcs0-lgi"),
            (64, "ht20-mcs7-lgi", "ht20-mcs0-lgi"),
            (65, "ht20-mcs7-lgi", "ht20-mcs0-lgi"),
            (389, "ht20-mcs7-lgi", "ht20-mcs3-lgi"),
            (1000, "ht20-mcs7-lgi", "ht20-mcs7-lgi"),
            (1000, "ht20-mcs8-lgi", "ht20-mcs12-lgi"),
            (9999, "ht40-mcs15-sgi", "ht40-mcs15-sgi"),
        ];
        for (tenths, from, rate) in table {
            assert_eq!(fastest(Rate::from_bps(tenths * 100_000), base(from)), base(rate), "{tenths} {from}");
        }
    }

    #[test]
    fn file_gives_rates_and_losses() {
        let mut own = trace(Format::Rates);
        fill(&mut own, "0,mcs3,0.1\n2,ht20-mcs0-lgi,1\n").unwrap();
        let shown: Vec<_> = own
            .steps
            .iter()
            .map(|(at, chain, loss)| {
                (
                    at.nanos() / 1_000_000_000,
                    chain.entries()[0].rate.to_string(),
                    chain.entries()[0].tries,
                    *loss,
                )
            })
            .collect();
        assert_eq!(shown, [(0, "ht20-mcs3-sgi".to_owned(), 4, 0.1), (2, "ht20-mcs0-lgi".to_owned(), 4, 1.0)]);
        assert_eq!(own.length, None);
        let mut own = trace(Format::Mahimahi);
        fill(&mut own, "50\n100\n").unwrap();
        assert_eq!((own.steps.len(), own.length), (1, Some(Duration::from_millis(100))));
        let mut once = PathTrace { repeat: false, ..trace(Format::Mahimahi) };
        fill(&mut once, "50\n100\n").unwrap();
        assert_eq!(once.length, None);
    }

    #[test]
    fn unlimited_steps_use_the_station_rate() {
        let mut own = trace(Format::Theaterq);
        fill(&mut own, "1,0,-1,0,9\n1,0,6500000,0,9\n1,0,7,0,9\n").unwrap();
        let shown: Vec<_> =
            own.steps.iter().map(|(_, chain, loss)| (chain.entries()[0].rate.to_string(), *loss)).collect();
        let slowest = "ht20-mcs0-sgi".to_owned();
        assert_eq!(shown, [("ht20-mcs15-sgi".to_owned(), 0.0), (slowest.clone(), 0.0), (slowest, 1.0)]);
    }

    #[test]
    fn lines_reject_unsupported_rates() {
        for name in ["ht40-mcs3-lgi", "ofdm-6", "cck-11"] {
            let bad = fill(&mut trace(Format::Rates), &format!("0,mcs3,0\n1,{name},0\n")).unwrap_err();
            assert_eq!(
                (bad.line, bad.expected.as_str()),
                (2, "an HT rate no wider than its channel"),
                "{name}"
            );
        }
        let bad = fill(&mut trace(Format::Rates), "0,mcs99,0\n").unwrap_err();
        assert_eq!(
            bad.to_string(),
            "line 1: found \"mcs99\", expected an HT rate such as \"ht20-mcs15-sgi\" or \"mcs15\" (mcs 0 to 31)"
        );
    }
}
