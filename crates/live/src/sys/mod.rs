//! System calls, in the only module of this crate with `unsafe`. Each is a function with owned or borrowed
//! arguments and owned results.

#![expect(unsafe_code, reason = "system calls")]

pub mod clock;
pub mod files;
pub mod mount;
pub mod net;
pub mod poll;
pub mod process;

use std::io;

use nix::errno::Errno;
use thiserror::Error;

/// An error of the operating system.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SysError {
    /// A system call failed.
    #[error("{what}: {}", description(*errno))]
    Call {
        /// The call, or the path it was for.
        what: String,
        /// Error number (`errno`).
        errno: i32,
    },
    /// The network namespace has no device of this name.
    #[error("{name}: there is no such device")]
    NoDevice {
        /// Name of the device.
        name: String,
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
    #[error("found no command, expected a program")]
    NoCommand,
}

impl SysError {
    /// Converts a failed standard library operation on `what`.
    pub fn io(what: impl Into<String>, error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(errno) => Self::Call { what: what.into(), errno },
            None => Self::Io { what: what.into(), reason: error.to_string() },
        }
    }

    /// Converts a failed system call for `what`.
    fn call(what: &str) -> impl Fn(Errno) -> Self {
        move |errno| Self::Call { what: what.to_owned(), errno: errno as i32 }
    }
}

/// Converts a negative result of a system call into an error that names `what`.
fn check(result: i32, what: &str) -> Result<(), SysError> {
    Errno::result(result).map(|_| ()).map_err(SysError::call(what))
}

/// The system's description of an error number.
pub fn description(errno: i32) -> String {
    reason(&io::Error::from_raw_os_error(errno))
}

/// The system's description of an error, without the number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
