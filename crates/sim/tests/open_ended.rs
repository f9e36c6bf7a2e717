//! Runs whose end is decided by a driver: they stop at any time, and keep a bounded amount of records.

mod common;

use common::external::{SEED, SERVER, SERVER_IP, STATION, STATION_IP, at_ms, entering, ip, text};
use common::parse;
use serde_json::Value;
use stillair_model::types::Addr;
use stillair_sim::run::Session;
use stillair_sim::scenario::{self, Scenario};

/// The network of external hosts, without a duration.
fn open_ended() -> Scenario {
    let text = text("external", "fq_codel", "").replace("duration = \"1 s\"\n", "warm_up = \"100 ms\"\n");
    parse(&text, &[("channel.wifi.beacon_interval", "off")])
}

#[test]
fn run_with_external_hosts_may_have_no_fixed_end() {
    assert!(open_ended().is_open_ended());
    let text = text("model", "fq_codel", "").replace("duration = \"1 s\"\n", "");
    let modelled = scenario::parse(&text, "model.toml", &[]).expect("a good scenario");
    assert_eq!((modelled.is_open_ended(), modelled.duration.secs_f64()), (false, 30.0));
}

#[test]
fn stopped_run_reports_its_records() {
    let scenario = open_ended();
    let mut session = Session::driven(&scenario, SEED, |recorder| recorder).expect("a run").with_series();
    for n in 0..10_u32 {
        session.advance_through(at_ms(u64::from(n) * 50));
        let bytes = ip(1_028, n, 0, [SERVER_IP, STATION_IP]);
        let _ = session.enter(&entering(&bytes, SERVER, Addr(STATION.0), None)).expect("a good packet");
        session.put_through();
    }
    session.advance_through(at_ms(500));
    session.stop();
    assert_eq!((session.end(), session.next_event()), (at_ms(500), None));
    let report = session.finish().expect("accounts close").0.to_json().expect("JSON");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    // Two complete steps and half a step.
    assert_eq!(
        (&report["series"]["steps"], &report["series"]["duration_ns"]),
        (&3.into(), &500_000_000_u64.into())
    );
    assert_eq!(report["series"]["gone"], Value::Null);
    // Packets from 100 ms on, for 400 ms.
    let came = &report["hosts"]["sta"];
    assert!(came.to_string().contains("\"packets\":8"), "{report}");
}

#[test]
fn long_run_keeps_the_last_hours() {
    let scenario = open_ended();
    let mut session = Session::driven(&scenario, SEED, |recorder| recorder).expect("a run").with_series();
    let hours = 5 * 3_600_000;
    for second in 0..hours / 1_000 {
        session.advance_through(at_ms(second * 1_000));
        let bytes = ip(528, second as u32, 0, [SERVER_IP, STATION_IP]);
        let _ = session.enter(&entering(&bytes, SERVER, Addr(STATION.0), None)).expect("a good packet");
        session.put_through();
        let mut bytes = Vec::new();
        while session.left(&mut bytes).is_some() {}
    }
    session.advance_through(at_ms(hours));
    session.stop();
    let report = session.finish().expect("accounts close").0.to_json().expect("JSON");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let series = &report["series"];
    let (steps, gone) =
        (series["steps"].as_u64().expect("a number"), series["gone"].as_u64().expect("a number"));
    // The first half is discarded whenever 36,000 steps are kept.
    assert_eq!((steps + gone, gone % 18_000), (90_000, 0));
    assert!((18_000..36_000).contains(&steps), "{steps}");
    // Each row belongs to its step: one packet per second, five steps apart.
    let used = series["stations"].as_array().and_then(|all| all.first()).expect("a station that was sent to");
    let airtime: Vec<u64> = used["airtime_down_ns"]
        .as_array()
        .expect("a column")
        .iter()
        .map(|ns| ns.as_u64().expect("ns"))
        .collect();
    assert_eq!(airtime.len() as u64, steps);
    assert!(airtime.chunks(5).all(|second| second[0] > 0 && second[1..].iter().all(|&ns| ns == 0)));
}
