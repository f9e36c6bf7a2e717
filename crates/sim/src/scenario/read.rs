//! Reads a scenario from text, with given parts and a provider of files.

use super::builder::ScenarioBuilder;
use super::document::Table;
use super::error::{Fault, ScenarioError};
use super::files::{Files, Folder};
use super::parts::Parts;
use super::sweep::combinations;
use super::{Scenario, decode, decoded, foreign, many, trace, tree};

/// Reads scenarios: knows the parts that they may name beside the built-in ones, and gives the files that they name.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// User-defined parts.
    pub parts: &'a Parts,
    /// Where files come from.
    pub files: &'a dyn Files,
}

impl Reader<'_> {
    /// Reads a scenario from `text`; `file` is its name in messages, and nothing is opened by it.
    ///
    /// Each override is a dotted path and the text of a value, such as `("node.ap.interface.wlan0.scheme",
    /// "fifo")`. It acts as an edit of the file would, in the order given and before `like` is resolved. Text
    /// that is no TOML value is a string. Elements of lists are numbered: `flow.0.rate`.
    pub fn parse(
        &self,
        text: &str,
        file: &str,
        overrides: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        tree(text, overrides).and_then(|tree| self.whole(&tree)).map_err(|fault| fault.in_file(file))
    }

    /// The scenario that a builder asks for; a mistake is told as of "a scenario built in Rust", by its key.
    pub fn build(&self, builder: &ScenarioBuilder) -> Result<Scenario, ScenarioError> {
        self.whole(builder.tree()).map_err(|fault| fault.in_file("a scenario built in Rust"))
    }

    fn whole(&self, tree: &Table) -> Result<Scenario, Fault> {
        let mut scenario = decoded(tree, self.parts).map_err(|fault| self.beside(fault, tree))?;
        trace::load(&mut scenario, tree, self.files)?;
        foreign::load(&mut scenario, tree, self.files)?;
        Ok(scenario)
    }

    /// The mistake at which the reading ended, beside all that the description alone can tell.
    fn beside(&self, fault: Fault, tree: &Table) -> Fault {
        match many::written_out(tree) {
            Ok(whole) => fault.beside(decode::mistakes::all(&whole, self.parts)),
            Err(_) => fault,
        }
    }

    /// All combinations of the `[sweep]` table of `text`, each a list of overrides for [`Reader::parse`] to follow `overrides`.
    ///
    /// A table of too many combinations, or with a value that none of them accepts, is a mistake; so is an override of a swept key,
    /// which every combination sets anew.
    ///
    /// Keys stand in the order of the file and the last one changes fastest. Without the table, or with an empty
    /// one, there is one combination that overrides nothing.
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

/// Reads a scenario as [`Reader::parse`] does, with the built-in parts alone; what it names are files of the folder of `file`.
pub fn parse(text: &str, file: &str, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
    Reader { parts: Parts::none(), files: &Folder::of(file) }.parse(text, file, overrides)
}

/// The combinations of a scenario's `[sweep]` table, as [`Reader::sweep`] has them, with the built-in parts alone.
pub fn sweep(
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Vec<Vec<(String, String)>>, ScenarioError> {
    Reader { parts: Parts::none(), files: &Folder::of(file) }.sweep(text, file, overrides)
}
