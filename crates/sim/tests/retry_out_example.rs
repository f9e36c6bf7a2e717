//! The tests of the example `retry_out`, which cargo only builds.

#[path = "../examples/retry_out.rs"]
#[expect(dead_code, reason = "its main function")]
mod retry_out;
