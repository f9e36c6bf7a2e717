//! Mahimahi traces: one line per packet delivery opportunity, with its time in ms.
// mahimahi: mm-link(1) - each line is an opportunity to deliver 1504 bytes at that ms; the trace repeats
// after its last line.

use stillair_model::types::{Duration, Rate};

use super::{BadLine, Line, PathRate, Steps, TraceStep};

/// Bits per line.
const BITS: u64 = 1504 * 8;

/// Window over which opportunities are counted and converted to a rate.
// deviation: mahimahi delivers each packet at its ms. A rate over 100 ms preserves changes that last longer
// than a few aggregates.
const WINDOW_MS: u64 = 100;

/// Maximum length of a trace: one hour.
const MOST_MS: u64 = 3_600_000;

pub(super) fn read(lines: &mut dyn Iterator<Item = Line<'_>>) -> Result<Steps, BadLine> {
    let (mut counts, mut first, mut before) = (Vec::<(u64, u32)>::new(), 0, 0);
    for line in lines {
        let ms = line.whole(line.text, MOST_MS, "a time in whole ms, at most 3600000")?;
        if ms < before {
            return Err(
                line.wrong(line.text, format!("a time that is not before that of line {first}: {before}"))
            );
        }
        (first, before) = (line.number, ms);
        // A packet leaving at the end of a window belongs to it.
        let window = usize::try_from(ms.saturating_sub(1) / WINDOW_MS).expect("an hour has 36000");
        while counts.len() <= window {
            counts.push((0, line.number));
        }
        counts[window].0 += 1;
    }
    if !counts.is_empty() && before == 0 {
        let line = Line { text: "0", number: first };
        return Err(line.wrong("0", "a last time after 0, when the trace begins anew"));
    }
    let mut steps: Vec<TraceStep> = Vec::new();
    for (n, &(packets, line)) in (0..).zip(&counts) {
        let (from, to) = (n * WINDOW_MS, ((n + 1) * WINDOW_MS).min(before));
        let carries = PathRate::Capacity(Rate::from_bps(packets * BITS * 1000 / (to - from)));
        let loss = if packets == 0 { 1.0 } else { 0.0 };
        if steps.last().is_none_or(|last| last.carries != carries) {
            steps.push(TraceStep { at: Duration::from_millis(from), carries, loss, line });
        }
    }
    Ok(Steps { steps, length: Some(Duration::from_millis(before)) })
}
