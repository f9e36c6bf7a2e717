//! System calls: the only module of this crate with `unsafe`. Each is a function with owned arguments and
//! results.

#![expect(unsafe_code, reason = "system calls")]

mod mapping;
mod process;
mod socket;

pub use mapping::{Mapping, memory_file};
pub use process::{Child, OneProcessor, start};
pub use socket::{Ready, Socket, nothing, ready};

use std::io;

/// The error of a call that gave a negative number, with what it was for.
fn check(result: i64, what: &str) -> Result<i64, String> {
    if result < 0 { Err(format!("{what}: {}", reason(&io::Error::last_os_error()))) } else { Ok(result) }
}

/// The system's description of an error, without the number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
