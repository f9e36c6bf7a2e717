//! Where what a scenario names comes from: reading one opens no file by itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Bytes of the largest file that is taken.
pub const MOST_BYTES: u64 = 16 << 20;

/// Gives the text of files that scenarios name.
pub trait Files {
    /// The text of the file of that name, as the scenario has the name; or why there is none, as "which cannot be read".
    fn read(&self, name: &str) -> Result<String, String>;
}

/// The files of a folder: names are relative to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// This folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The folder in which `file` lies, a scenario's.
    pub fn of(file: &str) -> Self {
        Self(PathBuf::from(file).parent().map_or_else(PathBuf::new, PathBuf::from))
    }
}

impl Files for Folder {
    fn read(&self, name: &str) -> Result<String, String> {
        let path = self.0.join(name);
        let known = fs::metadata(&path).map_err(|_| "which cannot be read".to_owned())?;
        // A device or a pipe may never end.
        if !known.is_file() || known.len() > MOST_BYTES {
            return Err("which is no file or too large".to_owned());
        }
        fs::read_to_string(&path).map_err(|_| "which is no text".to_owned())
    }
}

/// Texts in memory, by their names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Memory(BTreeMap<String, String>);

impl Memory {
    /// With the text `text` under `name`.
    #[must_use]
    pub fn with(mut self, name: &str, text: &str) -> Self {
        self.0.insert(name.to_owned(), text.to_owned());
        self
    }
}

impl Files for Memory {
    fn read(&self, name: &str) -> Result<String, String> {
        match self.0.get(name) {
            Some(text) if text.len() as u64 > MOST_BYTES => Err("which is no file or too large".to_owned()),
            Some(text) => Ok(text.clone()),
            None => Err("which is not among those given".to_owned()),
        }
    }
}

/// None: a scenario that names a file is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<String, String> {
        Err("and no files are read here".to_owned())
    }
}
