//! What is wrong with a scenario: where it stands, what was found there and what would be right.

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

    /// The mistake as the user sees it, in the file named `file`.
    pub(super) fn in_file(self, file: &str) -> ScenarioError {
        let (file, line) = match self.origin {
            Origin::Line(line) => (file.to_owned(), Some(line)),
            Origin::Set => ("--set".to_owned(), None),
        };
        // A quoted key may hold anything; a message stays on one line.
        let key = self.key.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        ScenarioError { file, line, key, found: self.found, expected: self.expected }
    }
}

/// What was expected of a name that is none of `known`: the nearest one, or all of them.
pub(super) fn suggest(found: &str, known: &[&str]) -> String {
    if let Some(near) = nearest(found, known) {
        return format!("{near:?} (did you mean that?)");
    }
    // A longer list would not be read.
    const SHOWN: usize = 12;
    let mut list: Vec<String> = known.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    if known.len() > SHOWN {
        list.push("...".to_owned());
    }
    match list.as_slice() {
        [] => "none here".to_owned(),
        [only] => only.clone(),
        _ => format!("one of {}", list.join(", ")),
    }
}

/// The name of `known` that `found` most likely misspells.
pub(super) fn nearest<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    let limit = if found.chars().count() <= 3 { 1 } else { 2 };
    known
        .iter()
        .map(|name| (edit_distance(found, name), *name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Insertions, deletions and replacements that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name() {
        let known = ["airtime", "fifo", "fq_codel", "fq_mac"];
        for (found, near) in [
            ("airtme", Some("airtime")),
            ("fq-codel", Some("fq_codel")),
            ("fifo", Some("fifo")),
            ("fq_mca", Some("fq_mac")),
            ("ff", None),
            ("pie", None),
        ] {
            assert_eq!(nearest(found, &known), near, "{found}");
        }
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
    }
}
