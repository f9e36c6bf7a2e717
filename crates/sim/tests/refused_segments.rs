//! Packets of several segments whose segments a discipline above Wi-Fi takes in part or not at all.

mod common;

use common::{cell, flow, parse, run_to, station, watched};
use stillair_model::vocabulary::Duration;

/// Bytes of each flow.
const BYTES: u64 = 100_000;

/// Flows from a station whose discipline splits what is too large for its bucket: all arrive, and nothing tries again at the same
/// instant without end.
#[test]
fn all_data_arrives_over_a_shaper_that_splits_and_refuses() {
    for (qdisc, flows) in [
        ("rate = \"1 Mbit/s\", limit = \"5000 B\"", 2),
        ("rate = \"5 Mbit/s\", limit = \"15000 B\", child = { kind = \"fq_codel\", limit = 3 }", 8),
        ("rate = \"5 Mbit/s\", limit = \"15000 B\", child = { kind = \"fq_codel\", limit = 10 }", 8),
        ("rate = \"20 Mbit/s\", limit = \"15000 B\", child = { kind = \"fq_codel\", limit = 10 }", 8),
    ] {
        let path = format!(
            "rate = \"ht20-mcs7-sgi\", scheme = \"fifo\", qdisc = {{ kind = \"tbf\", burst = \"1600 B\", mq = false, {qdisc} }}"
        );
        let mut text = cell("60 s", "band = \"5 GHz\"\nwidth = \"20 MHz\"", "scheme = \"fifo\"")
            + &station("sta", 1, &path).replace("linux-4.4", "linux-6.1");
        for _ in 0..flows {
            text += &flow("tcp", "sta", "ap", &format!("bytes = {BYTES}"));
        }
        let mut world = watched(&parse(&text, &[]), 0).world;
        run_to(&mut world, Duration::from_secs(60)).unwrap_or_else(|e| panic!("{qdisc}: {e}"));
        assert_eq!(world.trace.read, vec![BYTES; flows], "{qdisc}");
        assert_eq!(world.charged(), 0, "{qdisc}");
    }
}
