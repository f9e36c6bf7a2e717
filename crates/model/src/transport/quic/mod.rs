//! QUIC: the trait that stacks implement, and a model of Chromium's.
//!
//! A [`Stack`] is one end of a connection. The world hands it datagrams and the time, takes datagrams from it, and reads
//! and writes its streams; a real library in virtual time is used in the same way as the model.

mod stack;

pub use stack::{Connection, Read, Snapshot, Stack, StackEvent, StreamId};
