//! System programs used to set up a host.

use std::io::Read;
use std::path::PathBuf;

use thiserror::Error;

use crate::sys::process::{self, Forked};
use crate::sys::{SysError, files};

/// Errors of running a system program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ToolError {
    /// The program is not installed.
    #[error("{program}: program not found")]
    Missing {
        /// Name of the program.
        program: String,
    },
    /// The program failed.
    #[error("{command}: {output}")]
    Failed {
        /// Its command line.
        command: String,
        /// Its output, in one line.
        output: String,
    },
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// Finds a program in `PATH`, then in the system's `sbin` and `bin` folders.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    let beside = ["/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/bin", "/bin"];
    let all = path.split(':').chain(beside).filter(|folder| !folder.is_empty());
    all.map(|folder| PathBuf::from(folder).join(name)).find(|file| file.is_file())
}

/// Runs a program in this thread's namespaces with network administration rights. The error contains its
/// output.
pub fn run(command: &[&str], environment: &[(&str, &str)]) -> Result<(), ToolError> {
    let program = find(command[0]).ok_or_else(|| ToolError::Missing { program: command[0].to_owned() })?;
    let mut words = vec![program.display().to_string()];
    words.extend(command[1..].iter().map(|&word| word.to_owned()));
    let (mut said, says) = files::pipe()?;
    let pid = match process::fork()? {
        Forked::Parent(pid) => pid,
        Forked::Child => process::end_with(|| {
            process::redirect(&says);
            process::keep_network_rights();
            files::signals_as_at_first();
            eprintln!("{}", process::become_program(&words, environment));
            127
        }),
    };
    drop(says);
    let mut text = String::new();
    let _ = said.read_to_string(&mut text);
    match process::wait(pid) {
        0 => Ok(()),
        _ => Err(ToolError::Failed { command: command.join(" "), output: text.trim().replace('\n', "; ") }),
    }
}
