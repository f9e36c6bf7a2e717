//! What others than the nodes of a scenario do on its channels: interference that is not Wi-Fi, and neighbouring networks as load.

use stillair_model::vocabulary::Duration;

use super::Scenario;
use super::document::Table;
use super::error::Fault;
use super::files::{Files, MOST_BYTES};
use crate::trace_file::{self, BadLine};

/// A source of interference that is not Wi-Fi.
#[derive(Clone, PartialEq, Debug)]
pub struct Interferer {
    /// Name in the scenario.
    pub name: String,
    /// How loud it is.
    pub level: SourceLevel,
    /// When it is on, while it works.
    pub pattern: SwitchPattern,
    /// From when on it works.
    pub start: Duration,
    /// Until when, if it ends.
    pub stop: Option<Duration>,
}

/// How loud a source is in 20 MHz, in thousandths of a dBm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceLevel {
    /// That loud at every receiver.
    Everywhere(i32),
    /// That loud at the source, which stands there (in millimetres).
    At([u64; 2], i32),
}

/// When a source is on.
#[derive(Clone, PartialEq, Debug)]
pub enum SwitchPattern {
    /// Always.
    Always,
    /// For the first part of each period.
    Cycle {
        /// How long it is on.
        on: Duration,
        /// From one beginning to the next.
        period: Duration,
        /// How long after the source the first one begins; drawn for each run if it is not given.
        phase: Option<Duration>,
    },
    /// For exponentially distributed times with these means.
    Random {
        /// Mean time on.
        on: Duration,
        /// Mean time off.
        off: Duration,
    },
    /// As a file says.
    Recorded {
        /// The file as the scenario names it.
        file: String,
        /// When it begins anew, if it does.
        repeat: Option<Duration>,
        /// From when on it is on or off; nothing before the file is read.
        steps: Vec<(Duration, bool)>,
    },
}

/// A neighbouring network as load.
#[derive(Clone, PartialEq, Debug)]
pub struct NeighbourLoad {
    /// Name in the scenario.
    pub name: String,
    /// The share of time that its frames and their answers ask for.
    pub load: ShareOfTime,
    /// Stations that send.
    pub senders: u16,
    /// How long each of their PPDUs lasts.
    pub frame: Duration,
    /// Most PPDUs that wait at each of them.
    pub queue: u32,
}

/// A share of time that changes.
#[derive(Clone, PartialEq, Debug)]
pub struct ShareOfTime {
    /// The file that it is in, and how it is written there, if it is.
    pub file: Option<(String, ShareFormat)>,
    /// From when on which share; nothing before the file is read.
    pub steps: Vec<(Duration, f64)>,
}

/// How a file tells a share of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShareFormat {
    /// Lines of time in s and share.
    Shares,
    /// What `iw survey dump` printed again and again.
    Survey,
}

/// Reads the files that a scenario's sources and neighbours name.
pub(super) fn load(scenario: &mut Scenario, tree: &Table, files: &dyn Files) -> Result<(), Fault> {
    for channel in &mut scenario.channels {
        for source in &mut channel.interference {
            if let SwitchPattern::Recorded { file, repeat, steps } = &mut source.pattern {
                let keys = ["interference", &source.name, "pattern"];
                *steps = read(tree, &keys, files, file, trace_file::read_switch)?;
                if let Some(last) = steps.last().filter(|last| repeat.is_some_and(|repeat| repeat <= last.0))
                {
                    let mut at: Vec<&str> = keys.to_vec();
                    at.push("repeat");
                    return Err(Fault::new(
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

/// The steps of a file that the key `file` of a table names.
fn read<T>(
    tree: &Table,
    table: &[&str],
    files: &dyn Files,
    file: &str,
    by: impl Fn(&str) -> Result<Vec<(Duration, T)>, BadLine>,
) -> Result<Vec<(Duration, T)>, Fault> {
    let mut keys: Vec<&str> = table.to_vec();
    keys.push("file");
    let wrong =
        |found: String, expected: String| Fault::new(tree.origin_of(&keys), keys.join("."), found, expected);
    let text = files
        .read(file)
        .map_err(|why| wrong(format!("{file:?}, {why}"), format!("a file of up to {MOST_BYTES} bytes")))?;
    by(&text).map_err(|bad| wrong(format!("{} in line {} of {file:?}", bad.found, bad.line), bad.expected))
}
