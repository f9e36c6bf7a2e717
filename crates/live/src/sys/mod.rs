//! System calls: the only module of this crate with `unsafe`. Each is a function with owned arguments and
//! results.

#![expect(unsafe_code, reason = "system calls")]

pub mod clock;
pub mod files;
pub mod mount;
pub mod net;
pub mod poll;
pub mod process;

use std::ffi::CString;
use std::io;

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
    /// A command without a program.
    #[error("found no command, expected a program")]
    NoCommand,
}

impl SysError {
    /// A failed operation of the standard library on `what`.
    pub fn io(what: impl Into<String>, error: &io::Error) -> Self {
        Self::Call { what: what.into(), errno: error.raw_os_error().unwrap_or(libc::EIO) }
    }

    /// The last system call failed.
    fn last(what: &str) -> Self {
        Self::io(what, &io::Error::last_os_error())
    }
}

/// Converts a negative result of a system call into an error, which names `what` the call was for.
pub fn check(result: i32, what: &str) -> Result<i32, SysError> {
    if result < 0 { Err(SysError::last(what)) } else { Ok(result) }
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

/// The error number of the last call (`errno`).
pub fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Text for a system call; none has a zero byte in it.
pub(crate) fn c(text: &str) -> CString {
    CString::new(text.replace('\0', "?")).expect("no zero byte is left")
}
