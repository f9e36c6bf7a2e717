//! What is wrong with a scenario: where it stands, what was found there and what would be right.

use core::cmp::Reverse;
use core::fmt;

/// One mistake in a scenario, for the person who wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// The scenario file, or `--set` where an override is to blame.
    pub file: String,
    /// Line of the file, from 1; none for an override.
    pub line: Option<u32>,
    /// Dotted path of the key; empty where the text is not TOML at all.
    pub key: String,
    /// What stands there.
    pub found: String,
    /// What would be right.
    pub expected: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": found {}, expected {}", self.found, self.expected)
    }
}

impl std::error::Error for ScenarioError {}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// A line of the file, from 1.
    Line(u32),
    /// An override of the command line, the API or a sweep.
    Set,
    /// A builder in Rust.
    Built,
}

/// A mistake before the file's name is known.
#[derive(Debug)]
pub(super) struct Fault {
    pub origin: Origin,
    pub key: String,
    pub found: String,
    pub expected: String,
}

impl Fault {
    pub(super) fn new(
        origin: Origin,
        key: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self { origin, key: key.into(), found: found.into(), expected: expected.into() }
    }

    /// The mistake, where something else would be right too.
    pub(super) fn or(mut self, also: &str) -> Self {
        self.expected.push_str(&format!(", or {also}"));
        self
    }

    /// The mistake as the user sees it, in the file named `file`.
    pub(super) fn in_file(self, file: &str) -> ScenarioError {
        let (file, line) = match self.origin {
            Origin::Line(line) => (file.to_owned(), Some(line)),
            Origin::Set => ("--set".to_owned(), None),
            Origin::Built => (file.to_owned(), None),
        };
        // A quoted key may hold anything; a message stays on one line.
        let key = self.key.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        ScenarioError { file, line, key, found: self.found, expected: self.expected }
    }
}

/// What was expected of a name that is none of `known`: the list of them, and the one that was probably
/// meant.
pub(super) fn suggest(found: &str, known: &[&str]) -> String {
    // A longer list would not be read.
    const SHOWN: usize = 8;
    // With fewer letters in common than these, names are no kin.
    const KIN: usize = 4;
    let near = nearest(found, known);
    let mut known = known.to_vec();
    if known.len() > SHOWN {
        let common = |name: &str| name.chars().zip(found.chars()).take_while(|(a, b)| a == b).count();
        // The sort is stable: those that are no kin stay in their order.
        known.sort_by_key(|name| Reverse(Some(common(name)).filter(|n| *n >= KIN)));
    }
    let mut list: Vec<String> = known.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    if known.len() > SHOWN {
        list.push("...".to_owned());
    }
    match (list.as_slice(), near) {
        ([], _) => "no name: there is none to refer to".to_owned(),
        ([only], _) => only.clone(),
        (_, Some(near)) if known.len() > SHOWN => format!("a known name; did you mean {near:?}?"),
        (all, Some(near)) => format!("one of {}; did you mean {near:?}?", all.join(", ")),
        (all, None) => format!("one of {}", all.join(", ")),
    }
}

/// The name of `known` that `found` most likely misspells.
pub(super) fn nearest<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    // Of one letter nothing is left to tell it by.
    let limit = match found.chars().count() {
        0 | 1 => 0,
        2..=4 => 1,
        _ => 2,
    };
    let lower = found.to_lowercase();
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    known
        .iter()
        // Another number is another thing (`linux-4.6`, `fast3`), not a misspelling.
        .filter(|name| digits(name) == digits(found))
        .map(|name| (edits(&lower, &name.to_lowercase()), *name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let (x, y) = (a[i - 1], b[j - 1]);
            let mut least =
                (rows[i - 1][j - 1] + usize::from(x != y)).min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && x == b[j - 2] && y == a[i - 2] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name() {
        let known = ["airtime", "fifo", "fq_codel", "fq_mac", "fast1"];
        for (found, near) in [
            ("airtme", Some("airtime")),
            ("fq-codel", Some("fq_codel")),
            ("fifo", Some("fifo")),
            ("fq_mca", Some("fq_mac")),
            ("ff", None),
            ("fats1", Some("fast1")),
            ("fast2", None),
            ("pie", None),
            ("FIFO", Some("fifo")),
            ("x", None),
        ] {
            assert_eq!(nearest(found, &known), near, "{found}");
        }
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("udp", "upd"), 1);
        assert_eq!(edits("", "abc"), 3);
    }
}
