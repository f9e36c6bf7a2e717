//! Packets for tests: built from their fields, randomly generated, and properties of any bytes. The fuzzer
//! uses this module too.

#![allow(dead_code, reason = "each test uses a part of it")]

pub mod build;
pub mod check;
pub mod random;
