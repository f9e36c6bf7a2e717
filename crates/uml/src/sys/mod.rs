//! System calls, in the only module of this crate with `unsafe`. Each is a function with owned arguments
//! and results.

#![expect(unsafe_code, reason = "system calls")]

mod mapping;
mod process;
mod socket;

pub use mapping::{Mapping, memory_file};
pub use process::{Child, OneProcessor, start};
pub use socket::{Ready, Socket, nothing, ready};

use std::io;

use nix::errno::Errno;
use thiserror::Error;

/// An error of the operating system.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SysError {
    /// A system call failed.
    #[error("{what}: {}", reason(&io::Error::from_raw_os_error(*errno)))]
    Call {
        /// The call, or the file it was for.
        what: String,
        /// Error number (`errno`).
        errno: i32,
    },
    /// A mapping is empty, or longer than its file.
    #[error("a mapping of {len} bytes of a file of {size}")]
    Mapping {
        /// Length of the mapping in bytes.
        len: usize,
        /// Length of the file in bytes.
        size: u64,
    },
    /// The standard library refused an operation without calling the system, for example because of a NUL in
    /// a path.
    #[error("{what}: {reason}")]
    Io {
        /// Subject of the operation.
        what: String,
        /// Reason that the library gives.
        reason: String,
    },
    /// A command without a program.
    #[error("found no program")]
    NoProgram,
}

impl SysError {
    /// Converts a failed standard library operation on `what`.
    fn io(what: impl Into<String>, error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(errno) => Self::Call { what: what.into(), errno },
            None => Self::Io { what: what.into(), reason: error.to_string() },
        }
    }

    /// Converts a failed system call.
    fn call(what: &str) -> impl Fn(Errno) -> Self {
        move |errno| Self::Call { what: what.to_owned(), errno: errno as i32 }
    }
}

/// The system's description of an error, without the number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
