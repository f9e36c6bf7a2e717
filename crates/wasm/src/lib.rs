//! The engine as a WebAssembly module: takes a request as text and returns an answer
//! ([`stillair_sim::api::ask`]). The module imports nothing: no clock, no files, no threads.
//!
//! The caller (`web/src/engine/module.ts`) writes a request into the buffer returned by [`room`], calls
//! [`ask`], and reads the answer at [`answer`]. A panic ends the call with a trap. The answer is then the
//! panic message, and the module must not be called again.
#![expect(unsafe_code, reason = "names and memory that a WebAssembly host shares")]

use core::cell::RefCell;
use std::panic;

use stillair_sim::api;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Allocates a buffer for a request of `bytes` bytes. Returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.resize(bytes, 0);
        request.as_mut_ptr()
    })
}

/// Processes the request in the buffer. Returns 0 if the answer is a result, and 1 if it is an error.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> u32 {
    panic::set_hook(Box::new(|panic| set(panic.to_string().into_bytes())));
    let request = REQUEST.take();
    let (status, bytes) = match String::from_utf8(request) {
        Err(_) => (1, br#"{"kind":"request","message":"the request is no text"}"#.to_vec()),
        Ok(text) => match api::ask(&text) {
            Ok(answer) => (0, answer),
            Err(error) => (1, error.into_bytes()),
        },
    };
    set(bytes);
    status
}

/// Address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// Length of the last answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn answer_bytes() -> usize {
    ANSWER.with_borrow(Vec::len)
}

fn set(bytes: Vec<u8>) {
    ANSWER.set(bytes);
}
