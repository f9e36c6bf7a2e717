//! Frames lost on one link by noise or configured error rates. Collisions are counted separately, except
//! those caused by hidden stations.

use serde::Serialize;

/// Losses of one link over the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Losses {
    /// Data MPDUs received with errors but a readable header; the receiver's driver sees them.
    pub mpdus_broken: u64,
    /// Data PPDUs that the receiver did not detect; the receiver's driver sees nothing.
    pub ppdus_unheard: u64,
    /// ACKs and Block Acks of data that were lost.
    pub answers_lost: u64,
    /// Data MPDUs received more than once, usually because the acknowledgement was lost.
    pub mpdus_twice: u64,
    /// Data PPDUs that the sender started during a frame of a hidden station. They are not necessarily lost.
    pub begun_amid: u64,
}
