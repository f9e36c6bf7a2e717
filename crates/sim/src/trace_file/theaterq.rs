//! TheaterQ traces: lines with duration, latency, rate, loss and queue limit.
// theaterq: README.md, Trace File Format (cs7org/TheaterQ, 0e7da6d) - five fields, or ten in the extended
// format, nine before 20a2056: us, ns, [ns,] bit/s, loss and limit, [probability and delay of duplicates,
// route, queue]; losses are scaled to 32 bits. TheaterQ ignores lines that do not start with a digit.

use stillair_model::types::{Duration, Rate};

use super::{BadLine, Line, MOST_STEPS, PathRate, Steps, TraceStep};

/// Field names of the formats, with their maximum values.
const SIMPLE: [(&str, u64); 5] =
    [("KEEP", MOST_KEEP), ("LATENCY", u64::MAX), ("RATE", MOST_RATE), ("LOSS", SCALE), ("LIMIT", SCALE)];
const EXTENDED: [(&str, u64); 10] = [
    ("KEEP", MOST_KEEP),
    ("LATENCY", u64::MAX),
    ("JITTER", u64::MAX),
    ("RATE", MOST_RATE),
    ("LOSS", SCALE),
    ("LIMIT", SCALE),
    ("DUP_PROB", SCALE),
    ("DUP_DELAY", u64::MAX),
    ("ROUTE_ID", SCALE),
    ("QUEUE_ID", SCALE),
];

/// RATE without a limit.
const UNLIMITED: &str = "-1";
/// A loss rate of 100 %.
const SCALE: u64 = u32::MAX as u64;
/// One day in microseconds.
const MOST_KEEP: u64 = 86_400_000_000;
/// One Tbit/s.
const MOST_RATE: u64 = 1_000_000_000_000;

pub(super) fn read(lines: &mut dyn Iterator<Item = Line<'_>>) -> Result<Steps, BadLine> {
    let (mut steps, mut at, mut fields) = (Vec::new(), Duration::ZERO, 0);
    for line in
        lines.filter(|line| line.text.starts_with(|c: char| c.is_ascii_digit() || c == ',' || c == '-'))
    {
        let found: Vec<&str> = line.text.split(',').map(str::trim).collect();
        let names: &[(&str, u64)] = match found.len() {
            5 => &SIMPLE,
            n @ 9..=10 => &EXTENDED[..n],
            n => {
                let expected = format!("5 fields, or 10 in the extended format; these are {n}");
                return Err(line.wrong(line.text, expected));
            }
        };
        if fields != 0 && fields != found.len() {
            return Err(line.wrong(line.text, format!("{fields} fields, as in the lines before")));
        }
        fields = found.len();
        let (mut keep, mut rate, mut loss) = (0, Some(0), 0);
        for (field, &(name, most)) in found.into_iter().zip(names) {
            if (name, field) == ("RATE", UNLIMITED) {
                rate = None;
                continue;
            }
            let value = line.whole(field, most, &format!("{name}, a whole number up to {most}"))?;
            match name {
                "KEEP" if value == 0 => return Err(line.wrong(field, "KEEP, a time in us above 0")),
                "KEEP" => keep = value,
                "RATE" => rate = Some(value),
                "LOSS" => loss = value,
                // Fields other than rate and loss: a station's path has its own.
                _ => {}
            }
        }
        if steps.len() == MOST_STEPS {
            return Err(line.too_many());
        }
        // theaterq: sch_theaterq.c packet_time_ns, theaterq_dequeue (5b5d964) - keeps the rate in bytes per
        // second; if that is zero, nothing leaves until the next line.
        // deviation: before 534c821, a rate of 0 meant no limit.
        let outage = rate.is_some_and(|bps| bps < 8);
        let loss = if outage { 1.0 } else { loss as f64 / SCALE as f64 };
        let carries = rate.map_or(PathRate::Unlimited, |bps| PathRate::Capacity(Rate::from_bps(bps)));
        steps.push(TraceStep { at, carries, loss, line: line.number });
        at += Duration::from_micros(keep);
        if at > Duration::from_micros(MOST_KEEP) {
            return Err(line.wrong(line.text, "a trace of a day at most"));
        }
    }
    Ok(Steps { steps, length: Some(at) })
}
