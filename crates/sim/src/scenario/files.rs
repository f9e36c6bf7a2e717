//! Providers of the files that a scenario names. The reader of a scenario opens no file itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Maximum size of a file in bytes.
pub const MOST_BYTES: u64 = 16 << 20;

/// A provider of the text of files that scenarios name.
pub trait Files {
    /// Returns the text of the file `name`, as the scenario spells it. An error completes a sentence about
    /// the file, such as "which cannot be read".
    fn read(&self, name: &str) -> Result<String, String>;
}

/// Files in a folder; names are relative to the folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Provides the files in `folder`.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Provides the files in the folder of the scenario file `file`.
    pub fn of(file: &str) -> Self {
        Self(PathBuf::from(file).parent().map_or_else(PathBuf::new, PathBuf::from))
    }
}

impl Files for Folder {
    fn read(&self, name: &str) -> Result<String, String> {
        let path = self.0.join(name);
        let known = fs::metadata(&path).map_err(|_| "which cannot be read".to_owned())?;
        // Reading a device or a pipe may never end.
        if !known.is_file() || known.len() > MOST_BYTES {
            return Err("which is no file or too large".to_owned());
        }
        fs::read_to_string(&path).map_err(|_| "which is no text".to_owned())
    }
}

/// Files in memory, by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Memory(BTreeMap<String, String>);

impl Memory {
    /// Adds the file `name` with this text.
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

/// No files: naming a file in the scenario is an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<String, String> {
        Err("and no files are read here".to_owned())
    }
}
