//! Lines with time in s, 802.11 rate, and frame error rate.

use stillair_model::types::Duration;

use super::{BadLine, Line, MOST_STEPS, PathRate, Steps, TraceStep};

/// Optional header line.
const HEADING: [&str; 3] = ["t_s", "rate", "error_rate"];

/// Maximum length of a trace: one day.
const MOST_S: u64 = 86_400;

pub(super) fn read(lines: &mut dyn Iterator<Item = Line<'_>>) -> Result<Steps, BadLine> {
    let mut steps: Vec<TraceStep> = Vec::new();
    for line in lines {
        let found: Vec<&str> = line.text.split(',').map(str::trim).collect();
        if steps.is_empty() && found == HEADING {
            continue;
        }
        let [time, rate, error] = found[..] else {
            return Err(
                line.wrong(line.text, format!("3 fields: {}; these are {}", HEADING.join(", "), found.len()))
            );
        };
        let at =
            seconds(time).ok_or_else(|| line.wrong(time, "a time in s, at most 86400, in steps of 1 ns"))?;
        match steps.last() {
            None if at > Duration::ZERO => return Err(line.wrong(time, "0: a trace begins at 0 s")),
            Some(last) if at <= last.at => {
                return Err(line.wrong(time, format!("a time after that of line {}", last.line)));
            }
            _ => {}
        }
        if rate.is_empty() {
            return Err(line.wrong(rate, "a rate such as mcs3 or ht20-mcs3-lgi"));
        }
        let loss = share(error).ok_or_else(|| line.wrong(error, "a share from 0 to 1, such as 0.2"))?;
        if steps.len() == MOST_STEPS {
            return Err(line.too_many());
        }
        steps.push(TraceStep { at, carries: PathRate::Named(rate.to_owned()), loss, line: line.number });
    }
    Ok(Steps { steps, length: None })
}

/// Parses a number of seconds with up to nine decimals.
pub(super) fn seconds(text: &str) -> Option<Duration> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 9 {
        return None;
    }
    let whole: u64 = whole.parse().ok().filter(|&s| s <= MOST_S)?;
    let nanos: u64 = format!("{part:0<9}").parse().ok()?;
    let at = Duration::from_nanos(whole * 1_000_000_000 + nanos);
    (at <= Duration::from_secs(MOST_S)).then_some(at)
}

/// Parses a share from 0 to 1, in plain digits.
pub(super) fn share(text: &str) -> Option<f64> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    text.parse().ok().filter(|share| plain && (0.0..=1.0).contains(share))
}
