//! The temporary folder of a run, with a subfolder per guest. It is removed when the run ends, for whatever
//! reason.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use thiserror::Error;

use crate::sys::reason;

/// Errors of creating the folder of a run.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The folder cannot be created.
    #[error("{}: {}", path.display(), reason(source))]
    Create {
        /// Path of the folder.
        path: PathBuf,
        /// The failure.
        source: std::io::Error,
    },
    /// All names are taken.
    #[error("{}: found no free name for a folder", base.display())]
    NoName {
        /// Folder without a free name.
        base: PathBuf,
    },
    /// The process that removes the folder cannot be started.
    #[error("/bin/sh: {}", reason(.0))]
    Keeper(std::io::Error),
}

/// A folder that is removed when this value is dropped or its process ends.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Process that waits for the end of its input and then removes the folder.
    keeper: Option<std::process::Child>,
}

impl Folder {
    /// Creates a folder in `TMPDIR`, or in /tmp.
    pub fn new() -> Result<Self, FolderError> {
        let base = std::env::temp_dir();
        for n in 0..10_000 {
            let path = base.join(format!("stillair-uml-{}-{n}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Self::kept(path),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(FolderError::Create { path, source }),
            }
        }
        Err(FolderError::NoName { base })
    }

    fn kept(path: PathBuf) -> Result<Self, FolderError> {
        // Guests keep their files open until the kernel has ended them.
        let script = "cat >/dev/null; for n in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- \"$0\" 2>/dev/null; [ -e \"$0\" ] || exit 0; sleep 0.2; done";
        let mut keeper = Command::new("/bin/sh");
        keeper.arg("-c").arg(script).arg(&path).process_group(0).current_dir("/");
        keeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        match keeper.spawn() {
            Ok(keeper) => Ok(Self { path, keeper: Some(keeper) }),
            Err(e) => {
                let _ = std::fs::remove_dir(&path);
                Err(FolderError::Keeper(e))
            }
        }
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            if let Some(mut input) = keeper.stdin.take() {
                let _ = input.flush();
            }
            let _ = keeper.wait();
        }
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_removed_on_drop() {
        let folder = Folder::new().expect("a folder");
        let path = folder.path().to_owned();
        std::fs::create_dir(path.join("a")).expect("a folder");
        std::fs::write(path.join("a/b"), "c").expect("a file");
        let other = Folder::new().expect("another");
        assert!(other.path() != path && other.path().is_dir());
        drop(folder);
        assert!(!path.exists() && other.path().is_dir());
    }
}
