//! Two fast stations and a slow one with one-way UDP: results of each scheme, pinned and compared with the
//! paper.

mod common;

use common::{ANOMALY, of, parse, rounded, run};
use stillair_sim::recorder::RunSummary;

const SCHEME: &str = "node.ap.interface.wlan0.scheme";
const STATIONS: [&str; 3] = ["fast1", "fast2", "slow"];
const FIFO: (&str, &str) = (SCHEME, "fifo");
const AIRTIME: (&str, &str) = (SCHEME, "airtime");

fn short(sets: &[(&str, &str)]) -> RunSummary {
    let length = [("duration", "4 s"), ("warm_up", "1 s")];
    run(&parse(ANOMALY, &[&length, sets].concat()), 0)
}

/// Per station: goodput in kbit/s, airtime in thousandths, hundredths of frames per aggregate.
fn row(summary: &RunSummary) -> [[u64; 3]; 3] {
    STATIONS.map(|name| {
        let s = of(summary, name);
        let per = |x: Option<f64>, scale: f64| rounded(x.expect("it was sent something") * scale);
        [rounded(s.goodput_mbps * 1e3), per(s.airtime_share, 1e3), per(s.mean_aggregate, 100.0)]
    })
}

/// Name, overrides, and pinned values of each station.
type Cell<'a> = (&'a str, &'a [(&'a str, &'a str)], [[u64; 3]; 3]);

/// Three seconds each. Detects any change of behaviour; the tolerances of the tests below are the
/// requirements.
#[test]
fn pinned_figures() {
    let cells: [Cell; 7] = [
        (
            "fifo, bursts of 1",
            &[FIFO, ("flow.0.burst", "1")],
            [[5504, 51, 317], [5343, 50, 298], [5527, 898, 200]],
        ),
        ("fifo, bursts of 8", &[FIFO], [[5272, 46, 469], [5523, 48, 534], [5684, 906, 200]]),
        (
            "fifo, bursts of 32",
            &[FIFO, ("flow.0.burst", "32")],
            [[6037, 51, 718], [5112, 44, 578], [5715, 906, 200]],
        ),
        ("fq_codel", &[(SCHEME, "fq_codel")], [[5174, 57, 164], [5037, 51, 246], [5308, 893, 202]]),
        ("fq_mac", &[(SCHEME, "fq_mac")], [[30776, 248, 1900], [34425, 278, 1900], [2940, 474, 204]]),
        ("airtime", &[AIRTIME], [[40980, 333, 1900], [41054, 334, 1900], [2062, 333, 206]]),
        (
            "airtime_as_printed",
            &[(SCHEME, "airtime_as_printed")],
            [[40980, 333, 1900], [41054, 334, 1900], [2062, 333, 206]],
        ),
    ];
    let show = |name: &str, row: &[[u64; 3]; 3]| format!("{name}: {row:?}");
    let got: Vec<String> = cells.iter().map(|(name, sets, _)| show(name, &row(&short(sets)))).collect();
    let want: Vec<String> = cells.iter().map(|(name, _, row)| show(name, row)).collect();
    assert_eq!(got, want, "got {got:#?}");
}

fn mean(runs: &[RunSummary], value: impl Fn(&RunSummary) -> f64) -> f64 {
    runs.iter().map(value).sum::<f64>() / runs.len() as f64
}

fn long(scheme: (&str, &str)) -> [RunSummary; 2] {
    let scenario = parse(ANOMALY, &[("duration", "12 s"), ("warm_up", "2 s"), scheme]);
    [0, 1].map(|n| run(&scenario, n))
}

// paper: ending-the-anomaly table1 - the airtime rows: 37.2, 37.2 and 2.0 Mbit/s, 76.4 in total, a third of
// the airtime each.
#[test]
fn airtime_fairness_as_in_table_1() {
    let runs = long(AIRTIME);
    let total = mean(&runs, |r| r.goodput_total_mbps);
    assert!((total / 76.4 - 1.0).abs() < 0.15, "total {total}");
    for (name, stated) in STATIONS.into_iter().zip([37.2, 37.2, 2.0]) {
        let mbps = mean(&runs, |r| of(r, name).goodput_mbps);
        assert!((mbps / stated - 1.0).abs() < 0.15, "{name}: {mbps} Mbit/s, stated {stated}");
        let share = mean(&runs, |r| of(r, name).airtime_share.expect("it was sent something"));
        assert!((0.31..=0.35).contains(&share), "{name}: {share} of the air");
    }
}

// paper: ending-the-anomaly table1 - the FIFO rows: 18.7 Mbit/s in total, and most of the airtime for the
// slow station.
#[test]
fn the_anomaly_as_in_table_1() {
    let runs = long(FIFO);
    let total = mean(&runs, |r| r.goodput_total_mbps);
    assert!((total / 18.7 - 1.0).abs() < 0.20, "total {total}");
    let share = mean(&runs, |r| of(r, "slow").airtime_share.expect("it was sent something"));
    assert!((0.75..=0.92).contains(&share), "slow station: {share} of the air");
}
