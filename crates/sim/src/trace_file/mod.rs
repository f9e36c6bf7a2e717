//! Recordings of a link in users' files: rates and losses over time.
//!
//! Three formats are converted to a list of [`TraceStep`]s: Mahimahi's packet delivery opportunities,
//! TheaterQ's lines, and lines of time, rate and frame error rate. For a channel, there are recordings of an
//! interference source that is on or off, and of the share of time that others keep the channel busy. This
//! module opens no files and has no notion of stations.

mod mahimahi;
mod rates;
mod shares;
mod survey;
mod theaterq;

use core::fmt;

use stillair_model::types::{Duration, Rate};

pub use shares::{read_shares, read_switch};
pub use survey::read_survey;

/// Maximum number of steps; longer traces are an error.
pub const MOST_STEPS: usize = 1_000_000;

/// Trace formats.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Format {
    /// Lines with time in s, rate, and frame error rate.
    Rates,
    /// Lines with a time in ms at which 1504 bytes may be sent.
    Mahimahi,
    /// Lines with duration, latency, rate, loss and queue limit.
    Theaterq,
}

/// Capacity of the link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PathRate {
    /// Limited only by the link's own rate.
    Unlimited,
    /// A capacity in bit/s.
    Capacity(Rate),
    /// Capacity of an 802.11 rate, by name.
    Named(String),
}

/// State of a link from a time on.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceStep {
    /// Time since the start of the trace.
    pub at: Duration,
    /// Capacity of the link.
    pub carries: PathRate,
    /// Share of frames lost, 0 to 1.
    pub loss: f64,
    /// Line of the file, from 1.
    pub line: u32,
}

/// A trace: steps in order of time, the first at 0, and the length if the format defines it.
#[derive(Clone, PartialEq, Debug)]
pub struct Steps {
    /// The steps, at least one.
    pub steps: Vec<TraceStep>,
    /// Length of the trace; `None` if the last step has no end.
    pub length: Option<Duration>,
}

/// An invalid line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadLine {
    /// Line number from 1; for errors of the whole trace, the last line.
    pub line: u32,
    /// What was found.
    pub found: String,
    /// What is expected.
    pub expected: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: found {}, expected {}", self.line, self.found, self.expected)
    }
}

impl std::error::Error for BadLine {}

/// Reads a trace. Ignores empty lines and lines starting with `#`.
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

/// Returns the non-empty, non-comment lines of a text, and the number of its last line.
fn lines(text: &str) -> (impl Iterator<Item = Line<'_>>, u32) {
    let lines = text.lines().zip(1..).map(|(text, number)| Line { text: text.trim(), number });
    let lines = lines.filter(|line| !line.text.is_empty() && !line.text.starts_with('#'));
    (lines, u32::try_from(text.lines().count()).unwrap_or(u32::MAX).max(1))
}

/// A line with content.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    number: u32,
}

impl Line<'_> {
    /// Returns the error for `found` in this line.
    fn wrong(self, found: &str, expected: impl Into<String>) -> BadLine {
        // Keeps the message on one line, however long the file's line is.
        let shown: String = found.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
        let more = if found.chars().nth(40).is_some() { "..." } else { "" };
        BadLine { line: self.number, found: format!("\"{shown}{more}\""), expected: expected.into() }
    }

    /// Parses an integer up to `most`.
    fn whole(self, field: &str, most: u64, expected: &str) -> Result<u64, BadLine> {
        let digits = !field.is_empty() && field.bytes().all(|b| b.is_ascii_digit());
        let value = if digits { field.parse().ok().filter(|&n| n <= most) } else { None };
        value.ok_or_else(|| self.wrong(field, expected))
    }

    /// Returns the error for a line beyond the maximum number of steps.
    fn too_many(self) -> BadLine {
        self.wrong(self.text, format!("no more than {MOST_STEPS} steps"))
    }
}

#[cfg(test)]
mod tests;
