//! Other users of a scenario's channels: interference that is not Wi-Fi, and neighbouring networks as load.

use stillair_model::types::Duration;

use super::Scenario;
use super::document::Table;
use super::error::Diagnostic;
use super::files::{Files, MOST_BYTES};
use crate::trace_file::{self, BadLine};

/// A source of interference that is not Wi-Fi.
#[derive(Clone, PartialEq, Debug)]
pub struct Interferer {
    /// Name in the scenario.
    pub name: String,
    /// Power of the source.
    pub level: SourceLevel,
    /// On and off times while the source is active.
    pub pattern: SwitchPattern,
    /// Time at which the source becomes active.
    pub start: Duration,
    /// Time at which the source stops, if it stops.
    pub stop: Option<Duration>,
}

/// Power of a source in 20 MHz, in thousandths of a dBm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceLevel {
    /// The same received power at every receiver.
    Everywhere(i32),
    /// Transmit power of a source at this position (in millimetres).
    At([u64; 2], i32),
}

/// On and off times of a source.
#[derive(Clone, PartialEq, Debug)]
pub enum SwitchPattern {
    /// Always on.
    Always,
    /// On for the first part of each period.
    Cycle {
        /// Time on in each period.
        on: Duration,
        /// Length of the period.
        period: Duration,
        /// Offset of the first period from the start of the source. `None`: drawn at random for each run.
        phase: Option<Duration>,
    },
    /// On and off for exponentially distributed times with these means.
    Random {
        /// Mean time on.
        on: Duration,
        /// Mean time off.
        off: Duration,
    },
    /// On and off times from a file.
    Recorded {
        /// Name of the file in the scenario.
        file: String,
        /// Time after which the file repeats, if it repeats.
        repeat: Option<Duration>,
        /// Times with the new state, on or off. Empty until the file is read.
        steps: Vec<(Duration, bool)>,
    },
}

/// A neighbouring network as load.
#[derive(Clone, PartialEq, Debug)]
pub struct NeighbourLoad {
    /// Name in the scenario.
    pub name: String,
    /// Share of time that its frames and their responses would use.
    pub load: ShareOfTime,
    /// Number of sending stations.
    pub senders: u16,
    /// Duration of a PPDU.
    pub frame: Duration,
    /// Maximum number of PPDUs queued at each station.
    pub queue: u32,
}

/// A time-varying share of airtime.
#[derive(Clone, PartialEq, Debug)]
pub struct ShareOfTime {
    /// Name and format of the file with the shares, if any.
    pub file: Option<(String, ShareFormat)>,
    /// Times with the new share. Empty until the file is read.
    pub steps: Vec<(Duration, f64)>,
}

/// Format of a file with shares of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShareFormat {
    /// Lines with a time in s and a share.
    Shares,
    /// Repeated output of `iw survey dump`.
    Survey,
}

/// Reads the files of a scenario's interference sources and neighbours.
pub(super) fn load(scenario: &mut Scenario, tree: &Table, files: &dyn Files) -> Result<(), Diagnostic> {
    for channel in &mut scenario.channels {
        for source in &mut channel.interference {
            if let SwitchPattern::Recorded { file, repeat, steps } = &mut source.pattern {
                let keys = ["interference", &source.name, "pattern"];
                *steps = read(tree, &keys, files, file, trace_file::read_switch)?;
                if let Some(last) = steps.last().filter(|last| repeat.is_some_and(|repeat| repeat <= last.0))
                {
                    let mut at: Vec<&str> = keys.to_vec();
                    at.push("repeat");
                    return Err(Diagnostic::new(
                        tree.origin_of(&at),
                        at.join("."),
                        format!("a time that is not after the last of {file:?}, {} s", last.0.secs_f64()),
                        "a time after that",
                    ));
                }
            }
        }
        for neighbour in &mut channel.neighbours {
            if let Some((file, format)) = &neighbour.load.file {
                let by = match format {
                    ShareFormat::Shares => trace_file::read_shares,
                    ShareFormat::Survey => trace_file::read_survey,
                };
                let keys = ["neighbour", &neighbour.name, "load"];
                neighbour.load.steps = read(tree, &keys, files, file, by)?;
            }
        }
    }
    Ok(())
}

/// Reads the steps of a file named by the key `file` of a table.
fn read<T>(
    tree: &Table,
    table: &[&str],
    files: &dyn Files,
    file: &str,
    by: impl Fn(&str) -> Result<Vec<(Duration, T)>, BadLine>,
) -> Result<Vec<(Duration, T)>, Diagnostic> {
    let mut keys: Vec<&str> = table.to_vec();
    keys.push("file");
    let wrong = |found: String, expected: String| {
        Diagnostic::new(tree.origin_of(&keys), keys.join("."), found, expected)
    };
    let text = files
        .read(file)
        .map_err(|why| wrong(format!("{file:?}, {why}"), format!("a file of up to {MOST_BYTES} bytes")))?;
    by(&text).map_err(|bad| wrong(format!("{} in line {} of {file:?}", bad.found, bad.line), bad.expected))
}
