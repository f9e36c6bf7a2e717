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
    /// Other mistakes, which do not depend on this one.
    pub others: Box<[Self]>,
}

/// A line for each mistake.
impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": found {}, expected {}", self.found, self.expected)?;
        self.others.iter().try_for_each(|other| write!(f, "\n{other}"))
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
    /// It may follow from a mistake in what it refers to.
    follows: bool,
    /// Others, none of which has any itself.
    others: Vec<Self>,
}

/// So many mistakes are told at once; who has more will have had their fill.
const TOLD: usize = 20;

/// What all of these give, or the mistakes in them: each is read, whatever is wrong with those before it. What one line says of several
/// things that are like each other is told once.
pub(super) fn gather<T>(all: impl IntoIterator<Item = Result<T, Fault>>) -> Result<Vec<T>, Fault> {
    let (mut good, mut faults) = (Vec::new(), Vec::<Fault>::new());
    for one in all {
        match one {
            Ok(value) => good.push(value),
            Err(mut fault) => {
                let others = core::mem::take(&mut fault.others);
                for fault in core::iter::once(fault).chain(others) {
                    if !faults.iter().any(|told| told.is_said_by(&fault)) {
                        faults.push(fault);
                    }
                }
                if faults.len() >= TOLD {
                    break;
                }
            }
        }
    }
    if faults.is_empty() {
        return Ok(good);
    }
    let mut first = faults.remove(0);
    first.others = faults;
    Err(first)
}

impl Fault {
    pub(super) fn new(
        origin: Origin,
        key: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let (key, found, expected) = (key.into(), found.into(), expected.into());
        Self { origin, key, found, expected, follows: false, others: Vec::new() }
    }

    /// Whether another says the same of the same line, or of the same key of another thing of its kind, which has it by `like`.
    fn is_said_by(&self, other: &Self) -> bool {
        let key = |fault: &Self| fault.key.splitn(3, '.').nth(2).map(str::to_owned);
        let same = matches!(self.origin, Origin::Line(_)) || key(self) == key(other);
        same && (self.origin, &self.found, &self.expected) == (other.origin, &other.found, &other.expected)
    }

    /// A mistake about a name, which may be right where that of what it names is mended.
    pub(super) fn that_may_follow(mut self) -> Self {
        self.follows = true;
        self
    }

    /// Without those that may follow from others.
    pub(super) fn without_what_follows(mut self) -> Self {
        let others = core::mem::take(&mut self.others);
        let mut all: Vec<Self> = core::iter::once(self).chain(others).collect();
        if !all.iter().all(|fault| fault.follows) {
            all.retain(|fault| !fault.follows);
        }
        let mut first = all.remove(0);
        first.others = all;
        first
    }

    /// The mistake, where something else would be right too.
    pub(super) fn or(mut self, also: &str) -> Self {
        self.expected.push_str(&format!(", or {also}"));
        self
    }

    /// The mistake as the user sees it, in the file named `name`.
    pub(super) fn in_file(self, name: &str) -> ScenarioError {
        let (file, line) = match self.origin {
            Origin::Line(line) => (name.to_owned(), Some(line)),
            Origin::Set => ("--set".to_owned(), None),
            Origin::Built => (name.to_owned(), None),
        };
        // A quoted key may hold anything; a message stays on one line.
        let key = self.key.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        let others = self.others.into_iter().map(|other| other.in_file(name)).collect();
        ScenarioError { file, line, key, found: self.found, expected: self.expected, others }
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
