//! Reads a scenario from text, with user-defined parts and a provider of files.

use super::builder::ScenarioBuilder;
use super::document::Table;
use super::error::{Diagnostic, ScenarioError};
use super::files::{Files, Folder};
use super::parts::Parts;
use super::sweep::combinations;
use super::{Scenario, decode, decoded, foreign, many, step, trace, tree};

/// A scenario reader, with the user-defined parts and the files that scenarios may name.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// User-defined parts.
    pub parts: &'a Parts,
    /// Provider of files.
    pub files: &'a dyn Files,
}

impl Reader<'_> {
    /// Reads a scenario from `text`. `file` is its name in messages; no file of that name is opened.
    ///
    /// Each override is a dotted path and the text of a value, such as
    /// `("node.ap.interface.wlan0.scheme", "fifo")`. It acts like an edit of the file. Overrides are applied
    /// in the given order, before `inherits` is resolved. Text that is not a TOML value is a string. Elements
    /// of lists are numbered: `flow.0.rate`.
    pub fn parse(
        &self,
        text: &str,
        file: &str,
        overrides: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        tree(text, overrides).and_then(|tree| self.whole(&tree)).map_err(|fault| fault.in_file(file))
    }

    /// Builds the scenario of a builder. Errors name the key, and "a scenario built in Rust" as the file.
    pub fn build(&self, builder: &ScenarioBuilder) -> Result<Scenario, ScenarioError> {
        self.whole(builder.tree()).map_err(|fault| fault.in_file("a scenario built in Rust"))
    }

    fn whole(&self, tree: &Table) -> Result<Scenario, Diagnostic> {
        let mut scenario = decoded(tree, self.parts).map_err(|fault| self.beside(fault, tree))?;
        step::check_buffers(&scenario, tree)?;
        trace::load(&mut scenario, tree, self.files)?;
        foreign::load(&mut scenario, tree, self.files)?;
        Ok(scenario)
    }

    /// Merges the error at which the decoder stopped with those that follow from the description alone.
    fn beside(&self, fault: Diagnostic, tree: &Table) -> Diagnostic {
        match many::written_out(tree) {
            Ok(whole) => fault.beside(decode::mistakes::all(&whole, self.parts)),
            Err(_) => fault,
        }
    }

    /// Returns all combinations of the `[sweep]` table of `text`. Each is a list of overrides to pass to
    /// [`Reader::parse`] after `overrides`.
    ///
    /// Errors: too many combinations, a value that no combination accepts, and an override of a swept key,
    /// which every combination would replace.
    ///
    /// Keys are in the order of the file, and the last key changes fastest. Without a `[sweep]` table, or
    /// with an empty one, there is one combination without overrides.
    pub fn sweep(
        &self,
        text: &str,
        file: &str,
        overrides: &[(String, String)],
    ) -> Result<Vec<Vec<(String, String)>>, ScenarioError> {
        let all = tree(text, overrides).and_then(|tree| combinations(&tree, overrides, self.parts));
        all.map_err(|fault| fault.in_file(file))
    }
}

/// Reads a scenario like [`Reader::parse`], with the built-in parts only. Files that the scenario names are
/// in the folder of `file`.
pub fn parse(text: &str, file: &str, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
    Reader { parts: Parts::none(), files: &Folder::of(file) }.parse(text, file, overrides)
}

/// Returns the combinations of a scenario's `[sweep]` table, like [`Reader::sweep`], with the built-in parts
/// only.
pub fn sweep(
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Vec<Vec<(String, String)>>, ScenarioError> {
    Reader { parts: Parts::none(), files: &Folder::of(file) }.sweep(text, file, overrides)
}
