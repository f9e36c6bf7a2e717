//! The engine as a WebAssembly module: a request as text in, an answer out ([`stillair_sim::api::ask`]). It
//! imports nothing: no clock, no file, no thread.
//!
//! The other side (`web/src/engine/module.ts`) puts a request where [`room`] says, calls [`ask`], and reads
//! the answer from [`answer`] on. A panic ends the call in a trap; what it said is the answer then, and the
//! module is not to be called again.
#![expect(unsafe_code, reason = "names and memory that a WebAssembly host shares")]

use core::cell::RefCell;
use std::panic;

use stillair_sim::api;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Room for a request of so many bytes; where it begins.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.resize(bytes, 0);
        request.as_mut_ptr()
    })
}

/// Answers the request in that room. Zero if the answer is what was asked for, one if it is an error.
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

/// Where the last answer begins.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// How long it is, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn answer_bytes() -> usize {
    ANSWER.with_borrow(Vec::len)
}

fn set(bytes: Vec<u8>) {
    ANSWER.set(bytes);
}
