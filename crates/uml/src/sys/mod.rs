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
    /// A command without a program.
    #[error("found no program")]
    NoProgram,
}

impl SysError {
    /// Converts a failed standard library operation on `what`.
    fn io(what: impl Into<String>, error: &io::Error) -> Self {
        Self::Call { what: what.into(), errno: error.raw_os_error().unwrap_or(libc::EIO) }
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
