//! What tests and the fuzzer share.

pub mod calls;
