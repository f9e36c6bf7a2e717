//! Packets for tests: built from their fields, made at random, and what must hold for any bytes. The fuzzer
//! uses it too.

#![allow(dead_code, reason = "each test uses a part of it")]

pub mod build;
pub mod check;
pub mod random;
