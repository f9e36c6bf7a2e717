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

/// Converts a negative result of a system call into an error, which names `what` the call was for.
pub fn check(result: i32, what: &str) -> Result<i32, String> {
    if result < 0 { Err(format!("{what}: {}", reason(&io::Error::last_os_error()))) } else { Ok(result) }
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
