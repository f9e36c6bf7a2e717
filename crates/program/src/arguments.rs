//! What the program is asked to do.

/// What `--help` says.
pub const HELP: &str = "\
usage:
  run FILE [options]     run a scenario
  sweep FILE [options]   run all combinations of its [sweep] table
  parts                  list the parts of this program, with their keys

options:
  --set KEY=VALUE        as an edit of the file would; may be given again
  --runs N               repetitions (1)
  --seed N               in place of the scenario's
  --jobs N               runs at the same time (1)
  --json                 the whole result instead of a summary";

/// A command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    Run,
    Sweep,
    Parts,
    Help,
}

/// All that was said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arguments {
    pub command: Command,
    pub file: String,
    pub sets: Vec<(String, String)>,
    pub runs: u32,
    pub seed: Option<u64>,
    pub jobs: usize,
    pub json: bool,
}

impl Arguments {
    /// Reads them; an error says what is wrong, and what would be right.
    pub fn read(words: &[String]) -> Result<Self, String> {
        let mut all = Self {
            command: Command::Help,
            file: String::new(),
            sets: Vec::new(),
            runs: 1,
            seed: None,
            jobs: 1,
            json: false,
        };
        let mut words = words.iter().map(String::as_str);
        all.command = match words.next() {
            None | Some("--help" | "-h" | "help") => return Ok(all),
            Some("run") => Command::Run,
            Some("sweep") => Command::Sweep,
            Some("parts") => Command::Parts,
            Some(other) => return Err(format!("{other:?}: expected one of \"run\", \"sweep\", \"parts\"")),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word}: expected a value after it"));
            match word {
                "--help" | "-h" => return Ok(Self { command: Command::Help, ..all }),
                "--json" if all.command != Command::Parts => all.json = true,
                _ if all.command == Command::Parts => {
                    return Err(format!("{word:?}: expected nothing after \"parts\""));
                }
                "--runs" => all.runs = number(word, value()?, 1)?,
                "--seed" => all.seed = Some(number(word, value()?, 0)?),
                "--jobs" => all.jobs = number(word, value()?, 1)?,
                "--set" => {
                    let text = value()?;
                    let (key, value) =
                        text.split_once('=').ok_or_else(|| format!("--set {text}: expected KEY=VALUE"))?;
                    all.sets.push((key.trim().to_owned(), value.trim().to_owned()));
                }
                option if option.starts_with("--") => {
                    return Err(format!("{option}: expected one of --set, --runs, --seed, --jobs, --json"));
                }
                file if all.file.is_empty() => file.clone_into(&mut all.file),
                other => return Err(format!("{other:?}: expected one file")),
            }
        }
        if all.file.is_empty() && all.command != Command::Parts {
            return Err("expected the file of a scenario".to_owned());
        }
        Ok(all)
    }
}

/// A whole number of at least `least`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Arguments, String> {
        Arguments::read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options() {
        let all =
            read("run a.toml --set seed=3 --set node.ap.forward=true --runs 4 --seed 9 --jobs 2 --json")
                .unwrap();
        let sets =
            [("seed", "3"), ("node.ap.forward", "true")].map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec();
        let file = "a.toml".to_owned();
        assert_eq!(
            all,
            Arguments { command: Command::Run, file, sets, runs: 4, seed: Some(9), jobs: 2, json: true }
        );
        assert_eq!(read("").map(|all| all.command), Ok(Command::Help));
        assert_eq!(read("parts").map(|all| all.command), Ok(Command::Parts));
    }

    #[test]
    fn mistakes() {
        for (line, says) in [
            ("walk", "\"walk\": expected one of \"run\", \"sweep\", \"parts\""),
            ("run", "expected the file of a scenario"),
            ("run a b", "\"b\": expected one file"),
            ("run a --runs", "--runs: expected a value after it"),
            ("run a --runs 0", "--runs 0: expected a whole number of at least 1"),
            ("run a --set seed", "--set seed: expected KEY=VALUE"),
            ("run a --fast", "--fast: expected one of --set, --runs, --seed, --jobs, --json"),
            ("parts a", "\"a\": expected nothing after \"parts\""),
        ] {
            assert_eq!(read(line), Err(says.to_owned()), "{line}");
        }
    }
}
