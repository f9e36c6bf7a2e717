//! Recordings of a link in files that users have: what it carried and lost, from one time to the next.
//!
//! Three formats become one list of [`TraceStep`]s: mahimahi's packet-delivery opportunities, TheaterQ's lines, and lines of time, rate
//! and share of broken frames. Of a channel there are records of a source that is on or off, and of how busy others kept it. Nothing here reads
//! a file or knows a station.

mod mahimahi;
mod rates;
mod shares;
mod survey;
mod theaterq;

use core::fmt;

use stillair_model::vocabulary::{Duration, Rate};

pub use shares::{read_shares, read_switch};
pub use survey::read_survey;

/// Most steps of a trace; what is longer is refused.
pub const MOST_STEPS: usize = 1_000_000;

/// Formats of traces.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Format {
    /// Lines of time in s, rate and share of broken frames.
    Rates,
    /// Lines of times in ms at which 1504 bytes may leave.
    Mahimahi,
    /// Lines of how long, latency, rate, loss and limit.
    Theaterq,
}

/// What the link carries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PathRate {
    /// As much as its own rate lets it.
    Unlimited,
    /// This many bits in a second.
    Capacity(Rate),
    /// What this rate of 802.11 does, by its name.
    Named(String),
}

/// What holds from a time on.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceStep {
    /// Since the beginning of the trace.
    pub at: Duration,
    /// What the link carries.
    pub carries: PathRate,
    /// The share of frames that is lost, 0 to 1.
    pub loss: f64,
    /// Line of the file, from 1.
    pub line: u32,
}

/// A trace: its steps in order of time, the first at 0, and how long it is where the format says so.
#[derive(Clone, PartialEq, Debug)]
pub struct Steps {
    /// At least one.
    pub steps: Vec<TraceStep>,
    /// When it is over; none if the last step holds for good.
    pub length: Option<Duration>,
}

/// A line that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadLine {
    /// From 1; of a trace as a whole its last.
    pub line: u32,
    /// What stands there.
    pub found: String,
    /// What would be right.
    pub expected: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: found {}, expected {}", self.line, self.found, self.expected)
    }
}

impl std::error::Error for BadLine {}

/// Reads a trace. Empty lines and those that begin with `#` are passed over.
pub fn read(format: Format, text: &str) -> Result<Steps, BadLine> {
    let read = match format {
        Format::Rates => rates::read,
        Format::Mahimahi => mahimahi::read,
        Format::Theaterq => theaterq::read,
    };
    let (mut lines, last) = lines(text);
    let steps = read(&mut lines)?;
    if steps.steps.is_empty() {
        return Err(BadLine {
            line: last,
            found: "the end".to_owned(),
            expected: "a line of the trace".to_owned(),
        });
    }
    Ok(steps)
}

/// The lines of a text that say something, and the number of its last.
fn lines(text: &str) -> (impl Iterator<Item = Line<'_>>, u32) {
    let lines = text.lines().zip(1..).map(|(text, number)| Line { text: text.trim(), number });
    let lines = lines.filter(|line| !line.text.is_empty() && !line.text.starts_with('#'));
    (lines, u32::try_from(text.lines().count()).unwrap_or(u32::MAX).max(1))
}

/// A line that says something.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    number: u32,
}

impl Line<'_> {
    /// What is wrong with `found` in this line.
    fn wrong(self, found: &str, expected: impl Into<String>) -> BadLine {
        // A message stays on one line, however long that of the file is.
        let shown: String = found.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
        let more = if found.chars().nth(40).is_some() { "..." } else { "" };
        BadLine { line: self.number, found: format!("\"{shown}{more}\""), expected: expected.into() }
    }

    /// A whole number up to `most`.
    fn whole(self, field: &str, most: u64, expected: &str) -> Result<u64, BadLine> {
        let digits = !field.is_empty() && field.bytes().all(|b| b.is_ascii_digit());
        let value = if digits { field.parse().ok().filter(|&n| n <= most) } else { None };
        value.ok_or_else(|| self.wrong(field, expected))
    }

    /// The line is one more than a trace may have.
    fn too_many(self) -> BadLine {
        self.wrong(self.text, format!("no more than {MOST_STEPS} steps"))
    }
}

#[cfg(test)]
mod tests;
