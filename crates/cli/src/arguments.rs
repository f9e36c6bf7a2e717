//! Command-line arguments.

use lexopt::{Arg, Error, Parser, ValueExt};

/// Text of `--help`.
pub const HELP: &str = "\
usage:
  run FILE [options]       run a scenario
  sweep FILE [options]     run all combinations of its [sweep] table
  ss FILE [options]        the TCP sockets of a run at one instant, as `ss -tinm` prints them
  capture FILE -o CAPTURE  a run as a pcapng file that Wireshark opens
  resolve FILE [options]   the scenario with all defaults, as JSON
  schema                   the JSON Schema of a scenario that may name the parts of this program
  parts                    list the parts of this program, with their keys

options of commands with a FILE:
  --set KEY=VALUE          as an edit of the file would; may be given again
of run, sweep, ss and capture:
  --seed N                 in place of the scenario's
of run and sweep:
  --runs N                 repetitions (1)
  --jobs N                 runs at the same time (1)
  --json                   the whole result instead of a summary
of run:
  --series                 in the JSON each run's series too
  -o DIR                   keep the result in this folder, with series, for `stillair report`, `plot` and `export`
of capture:
  --point NAME             where to look: `all`, a channel, a link or NODE-INTERFACE; may be given again (every channel)
of ss and capture:
  --run N                  number of the repetition (0)
of ss:
  --at TIME                when to look, such as \"5 s\" (the end of the run)";

/// A command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    Run,
    Sweep,
    Ss,
    Capture,
    Resolve,
    Schema,
    Parts,
    Help,
}

/// All commands except help, with their options.
const COMMANDS: [(&str, Command, &[&str]); 7] = [
    ("run", Command::Run, &["--set", "--runs", "--seed", "--jobs", "--json", "--series", "-o"]),
    ("sweep", Command::Sweep, &["--set", "--runs", "--seed", "--jobs", "--json"]),
    ("ss", Command::Ss, &["--set", "--seed", "--run", "--at"]),
    ("capture", Command::Capture, &["--set", "--seed", "--run", "--point", "-o"]),
    ("resolve", Command::Resolve, &["--set"]),
    ("schema", Command::Schema, &[]),
    ("parts", Command::Parts, &[]),
];

/// Parsed arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arguments {
    pub command: Command,
    pub file: String,
    pub sets: Vec<(String, String)>,
    pub runs: u32,
    pub seed: Option<u64>,
    pub jobs: usize,
    pub json: bool,
    pub series: bool,
    /// Result folder, or capture file.
    pub out: Option<String>,
    pub run: u64,
    pub at: Option<String>,
    pub points: Vec<String>,
}

impl Arguments {
    /// Parses the arguments. The error describes the problem and the expected value.
    pub fn read(words: &[String]) -> Result<Self, String> {
        let mut all = Self {
            command: Command::Help,
            file: String::new(),
            sets: Vec::new(),
            runs: 1,
            seed: None,
            jobs: 1,
            json: false,
            series: false,
            out: None,
            run: 0,
            at: None,
            points: Vec::new(),
        };
        let mut parser = Parser::from_args(words);
        let (name, options) = match next(&mut parser)? {
            None => return Ok(all),
            Some(Word::Option(word) | Word::Value(word)) => {
                if ["--help", "-h", "help"].contains(&word.as_str()) {
                    return Ok(all);
                }
                let found = COMMANDS.iter().find(|(name, ..)| *name == word);
                let names = COMMANDS.map(|(name, ..)| format!("{name:?}")).join(", ");
                let (name, command, options) =
                    found.ok_or_else(|| format!("{word:?}: expected one of {names}"))?;
                all.command = *command;
                (*name, *options)
            }
        };
        while let Some(word) = next(&mut parser)? {
            let option = match word {
                Word::Option(option) if ["--help", "-h"].contains(&option.as_str()) => {
                    return Ok(Self { command: Command::Help, ..all });
                }
                Word::Option(word) | Word::Value(word) if options.is_empty() => {
                    return Err(format!("{word:?}: expected nothing after {name:?}"));
                }
                Word::Value(file) if all.file.is_empty() => {
                    all.file = file;
                    continue;
                }
                Word::Value(other) => return Err(format!("{other:?}: expected one file")),
                Word::Option(option) if !options.contains(&option.as_str()) => {
                    return Err(format!("{option}: expected one of {}", options.join(", ")));
                }
                Word::Option(option) => option,
            };
            let mut value = || parser.value().and_then(ValueExt::string).map_err(says);
            match option.as_str() {
                "--json" => all.json = true,
                "--series" => all.series = true,
                "--runs" => all.runs = number(&option, &value()?, 1)?,
                "--seed" => all.seed = Some(seed(&value()?)?),
                "--jobs" => all.jobs = number(&option, &value()?, 1)?,
                "--run" => all.run = number(&option, &value()?, 0)?,
                "--at" => all.at = Some(value()?),
                "--point" => all.points.push(value()?),
                "-o" => all.out = Some(value()?),
                // The last one that a command takes: `--set`.
                _ => {
                    let text = value()?;
                    let (key, value) =
                        text.split_once('=').ok_or_else(|| format!("--set {text}: expected KEY=VALUE"))?;
                    all.sets.push((key.trim().to_owned(), value.trim().to_owned()));
                }
            }
        }
        if all.file.is_empty() && !options.is_empty() {
            return Err("expected the file of a scenario".to_owned());
        }
        if all.command == Command::Capture && all.out.is_none() {
            return Err("capture: expected -o and the file to write".to_owned());
        }
        if all.series && !all.json {
            return Err("--series: expected --json beside it; with -o they are kept anyway".to_owned());
        }
        Ok(all)
    }
}

/// An argument, with the dashes of an option.
enum Word {
    Option(String),
    Value(String),
}

fn next(parser: &mut Parser) -> Result<Option<Word>, String> {
    Ok(match parser.next().map_err(says)? {
        None => None,
        Some(Arg::Long(name)) => Some(Word::Option(format!("--{name}"))),
        Some(Arg::Short(letter)) => Some(Word::Option(format!("-{letter}"))),
        Some(Arg::Value(value)) => Some(Word::Value(value.string().map_err(says)?)),
    })
}

fn says(error: Error) -> String {
    match error {
        Error::MissingValue { option: Some(option) } => format!("{option}: expected a value after it"),
        Error::UnexpectedValue { option, value } => {
            format!("{option}={}: expected no value", value.display())
        }
        other => other.to_string(),
    }
}

/// Parses an integer of at least `least`.
fn number<T: core::str::FromStr + PartialOrd + core::fmt::Display>(
    option: &str,
    text: &str,
    least: T,
) -> Result<T, String> {
    text.parse::<T>()
        .ok()
        .filter(|n| *n >= least)
        .ok_or_else(|| format!("{option} {text}: expected a whole number of at least {least}"))
}

/// Parses a seed. As in scenario files, the maximum is that of a signed 64-bit integer.
fn seed(text: &str) -> Result<u64, String> {
    let most = i64::MAX as u64;
    let found = text.parse().ok().filter(|seed| *seed <= most);
    found.ok_or_else(|| format!("--seed {text}: expected a whole number from 0 to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Arguments, String> {
        Arguments::read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options() {
        let line =
            "run a.toml --set seed=3 --set node.ap.forward=true --runs 4 --seed 9 --jobs 2 --json -o out";
        let sets =
            [("seed", "3"), ("node.ap.forward", "true")].map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec();
        let all = Arguments {
            command: Command::Run,
            file: "a.toml".to_owned(),
            sets,
            runs: 4,
            seed: Some(9),
            jobs: 2,
            json: true,
            series: false,
            out: Some("out".to_owned()),
            run: 0,
            at: None,
            points: Vec::new(),
        };
        assert_eq!(read(line), Ok(all));
        assert_eq!(read("").map(|all| all.command), Ok(Command::Help));
        for (name, command, options) in COMMANDS {
            let line = if options.is_empty() { name.to_owned() } else { format!("{name} a.toml") };
            let line = if command == Command::Capture { line + " -o b.pcapng" } else { line };
            assert_eq!(read(&line).map(|all| all.command), Ok(command));
            // The help lists each command with its options.
            assert!(HELP.contains(&format!("\n  {name} ")) && options.iter().all(|o| HELP.contains(o)));
        }
        assert_eq!(read("run a --runs=4 -oout"), read("run a --runs 4 -o out"));
        assert_eq!(read("run -- -a.toml").map(|all| all.file), Ok("-a.toml".to_owned()));
        let ss = read("ss a --run 3 --at 5s").map(|all| (all.run, all.at));
        assert_eq!(ss, Ok((3, Some("5s".to_owned()))));
    }

    #[test]
    fn mistakes() {
        for (line, says) in [
            (
                "walk",
                "\"walk\": expected one of \"run\", \"sweep\", \"ss\", \"capture\", \"resolve\", \"schema\", \"parts\"",
            ),
            ("run", "expected the file of a scenario"),
            ("run a b", "\"b\": expected one file"),
            ("run a --runs", "--runs: expected a value after it"),
            ("run a --runs 0", "--runs 0: expected a whole number of at least 1"),
            (
                "run a --seed 9223372036854775808",
                "--seed 9223372036854775808: expected a whole number from 0 to 9223372036854775807",
            ),
            ("run a --set seed", "--set seed: expected KEY=VALUE"),
            ("run a --fast", "--fast: expected one of --set, --runs, --seed, --jobs, --json, --series, -o"),
            ("run a --series", "--series: expected --json beside it; with -o they are kept anyway"),
            ("capture a", "capture: expected -o and the file to write"),
            ("sweep a -o b", "-o: expected one of --set, --runs, --seed, --jobs, --json"),
            ("resolve a --json", "--json: expected one of --set"),
            ("parts a", "\"a\": expected nothing after \"parts\""),
            ("schema --json", "\"--json\": expected nothing after \"schema\""),
            ("run a --json=yes", "--json=yes: expected no value"),
        ] {
            assert_eq!(read(line), Err(says.to_owned()), "{line}");
        }
    }
}
