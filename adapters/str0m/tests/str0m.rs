//! The released str0m over a link.

use stillair_with_str0m::row;

#[test]
fn video_finds_its_rate_and_keeps_the_queue_short() {
    let (row, estimate) = row("vdsl-40-10", 8_000_000, 1).expect("a session");
    // Grows from 1 to 8 of the link's 40 Mbit/s within a few seconds.
    assert!(row.goodput_mbps > 3.0 && row.goodput_mbps < 8.1 && estimate > 5_000_000, "{row} {estimate}");
    assert!(row.delay_ms[1] < 60.0 && row.dropped == 0, "{row}");
}
