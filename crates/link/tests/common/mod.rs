//! Code shared by tests and the fuzzer.

pub mod calls;
