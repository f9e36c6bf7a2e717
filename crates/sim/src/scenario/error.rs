//! Errors in a scenario: place, value found, and value expected.

use core::cmp::Reverse;
use core::fmt;

use super::renamed::{conversion, renamed};

/// An error in a scenario, for its author.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// The scenario file, or `--set` if an override is wrong.
    pub file: Box<str>,
    /// Line of the file, from 1; `None` for an override.
    pub line: Option<u32>,
    /// Dotted path of the key; empty if the text is not valid TOML.
    pub key: String,
    /// What was found.
    pub found: String,
    /// What is expected.
    pub expected: String,
    /// Other errors, independent of this one.
    pub others: Box<[Self]>,
    /// Number of further errors that are not listed.
    pub more: usize,
}

/// Formats each error as a line, followed by a line with the number of unlisted errors.
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
        self.others.iter().try_for_each(|other| write!(f, "\n{other}"))?;
        match self.more {
            0 => Ok(()),
            1 => f.write_str("\nand 1 more mistake"),
            more => write!(f, "\nand {more} more mistakes"),
        }
    }
}

impl std::error::Error for ScenarioError {}

/// Origin of a value, in the order in which errors are reported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Origin {
    /// An override from the command line, the API or a sweep.
    Set,
    /// A builder in Rust.
    Built,
    /// A line of the file, from 1.
    Line(u32),
}

/// An error before the file name is known.
#[derive(Debug)]
pub(super) struct Diagnostic {
    pub origin: Origin,
    pub key: String,
    pub found: String,
    pub expected: String,
    /// True if another error may be the cause.
    follows: bool,
    /// Other errors, themselves without others.
    others: Vec<Self>,
    /// Number of further errors.
    more: usize,
}

/// Maximum number of errors reported; further errors are counted.
const TOLD: usize = 20;

/// Text for a key that its table does not have.
pub(super) const UNKNOWN: &str = "an unknown key";

/// Maximum number of errors stored; duplicates beyond this are not detected.
const KEPT: usize = 1000;

/// Returns all values, or all errors: each element is read even if earlier ones failed. Errors on the same
/// line that concern similar elements are reported once.
pub(super) fn gather<T>(all: impl IntoIterator<Item = Result<T, Diagnostic>>) -> Result<Vec<T>, Diagnostic> {
    let (mut good, mut wrong) = (Vec::new(), Diagnostics::default());
    for one in all {
        good.extend(wrong.unless(one));
    }
    wrong.or(good)
}

/// Errors collected so far, while reading continues.
#[derive(Debug, Default)]
pub(super) struct Diagnostics {
    all: Vec<Diagnostic>,
    more: usize,
}

impl Diagnostics {
    /// Returns the value, or stores the error.
    pub(super) fn unless<T>(&mut self, one: Result<T, Diagnostic>) -> Option<T> {
        one.map_err(|fault| self.add(fault)).ok()
    }

    /// Returns `value` if no error occurred.
    pub(super) fn or<T>(mut self, value: T) -> Result<T, Diagnostic> {
        if self.all.is_empty() {
            return Ok(value);
        }
        let mut first = self.all.remove(0);
        (first.others, first.more) = (self.all, self.more);
        Err(first)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns all stored errors as a flat list.
    pub(super) fn into_all(self) -> Vec<Diagnostic> {
        self.all
    }

    /// Adds an error, including its others.
    pub(super) fn add(&mut self, fault: Diagnostic) {
        self.more += fault.more;
        for fault in fault.apart() {
            if self.all.iter().any(|told| told.is_said_by(&fault)) {
                continue;
            }
            if self.all.len() < KEPT { self.all.push(fault) } else { self.more += 1 }
        }
    }
}

/// Returns the last part of a dotted key.
fn last(key: &str) -> Option<&str> {
    key.rsplit('.').next()
}

impl Diagnostic {
    pub(super) fn new(
        origin: Origin,
        key: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let (key, found, expected) = (key.into(), found.into(), expected.into());
        Self { origin, key, found, expected, follows: false, others: Vec::new(), more: 0 }
    }

    /// Returns true if `other` reports the same problem of the same key on the same line, or of the same key
    /// of a similar element that inherited it.
    fn is_said_by(&self, other: &Self) -> bool {
        let below = |fault: &Self| fault.key.splitn(3, '.').nth(2).map(str::to_owned);
        let same = if matches!(self.origin, Origin::Line(_)) {
            last(&self.key) == last(&other.key)
        } else {
            below(self) == below(other)
        };
        same && (self.origin, &self.found, &self.expected) == (other.origin, &other.found, &other.expected)
    }

    /// Marks an error about a name that may disappear once the named element is corrected.
    pub(super) fn that_may_follow(mut self) -> Self {
        self.follows = true;
        self
    }

    /// Splits the error and its others into a flat list.
    fn apart(mut self) -> Vec<Self> {
        let others = core::mem::take(&mut self.others);
        self.more = 0;
        core::iter::once(self).chain(others).collect()
    }

    /// Removes errors that may follow from others.
    pub(super) fn without_what_follows(self) -> Self {
        let more = self.more;
        let mut all = self.apart();
        if !all.iter().all(|fault| fault.follows) {
            all.retain(|fault| !fault.follows);
        }
        let mut first = all.remove(0);
        (first.others, first.more) = (all, more);
        first
    }

    /// Returns true if `other` is at the same place, whatever its text.
    fn is_where(&self, other: &Self) -> bool {
        let (own, its) = (self.key.as_str(), other.key.as_str());
        let within = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.starts_with('.'));
        let same_line = matches!(self.origin, Origin::Line(_)) && last(own) == last(its);
        let same =
            own == its || self.found == other.found && (same_line || within(own, its) || within(its, own));
        self.origin == other.origin && same || self.is_said_by(other)
    }

    /// Merges with the errors found by another check, in file order. For duplicates this error's text wins.
    pub(super) fn beside(self, found: Vec<Self>) -> Self {
        let more = self.more;
        let mut all = self.apart();
        // Correcting a misspelt key also corrects the error of its table as a whole.
        let misspelt = |table: &Self| {
            found.iter().any(|fault| {
                let own = fault.key.strip_prefix(&table.key).and_then(|rest| rest.strip_prefix('.'));
                fault.found == UNKNOWN && own.is_some_and(|own| !own.contains('.'))
            })
        };
        all.retain(|fault| fault.key.is_empty() || !misspelt(fault));
        let own = all.len();
        for fault in found {
            if !all[..own].iter().any(|told| told.is_where(&fault))
                && !all[own..].iter().any(|told| told.is_said_by(&fault))
            {
                all.push(fault);
            }
        }
        all.sort_by_key(|fault| fault.origin);
        let mut first = all.remove(0);
        (first.others, first.more) = (all, more);
        first.without_what_follows()
    }

    /// Adds an alternative to the expectation.
    pub(super) fn or(mut self, also: &str) -> Self {
        self.expected.push_str(&format!(", or {also}"));
        self
    }

    /// Returns the error for the user, in the file named `name`.
    pub(super) fn in_file(mut self, name: &str) -> ScenarioError {
        let told = self.others.len().min(TOLD - 1);
        let more = self.more + self.others.len() - told;
        self.others.truncate(told);
        let (file, line) = match self.origin {
            Origin::Line(line) => (name.to_owned(), Some(line)),
            Origin::Set => ("--set".to_owned(), None),
            Origin::Built => (name.to_owned(), None),
        };
        // A quoted key may contain control characters; keep the message on one line.
        let key = self.key.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        let others = self.others.into_iter().map(|other| other.in_file(name)).collect();
        ScenarioError {
            file: file.into(),
            line,
            key,
            found: self.found,
            expected: self.expected,
            others,
            more,
        }
    }
}

/// Returns the expectation for a name that is not in `known`: the known names, and the one probably meant.
pub(super) fn suggest(found: &str, known: &[&str]) -> String {
    // Maximum number of names listed.
    const SHOWN: usize = 8;
    // Minimum number of letters in common for related names.
    const KIN: usize = 4;
    if let Some(new) = renamed(found, known) {
        return format!("{new:?}, the new name of {found:?}{}", conversion(found));
    }
    let near = nearest(found, known);
    let mut known = known.to_vec();
    if known.len() > SHOWN {
        let common = |name: &str| name.chars().zip(found.chars()).take_while(|(a, b)| a == b).count();
        // The sort is stable: unrelated names keep their order.
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

/// Returns the name in `known` that `found` most likely misspells.
pub(super) fn nearest<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    if let Some(new) = renamed(found, known) {
        return Some(new);
    }
    // Single letters have nothing to compare.
    let limit = match found.chars().count() {
        0 | 1 => 0,
        2..=4 => 1,
        _ => 2,
    };
    let lower = found.to_lowercase();
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    known
        .iter()
        // A different number means a different thing (`linux-4.6`, `fast3`), not a misspelling.
        .filter(|name| digits(name) == digits(found))
        .map(|name| (edits(&lower, &name.to_lowercase()), *name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Returns the edit distance: insertions, deletions, substitutions and swaps of adjacent characters.
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
