//! Frames lost on one link by noise or configured error rates. Collisions are counted apart, except by cause with hidden
//! stations.

use serde::Serialize;

/// Losses of one link over the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Losses {
    /// Data frames that came broken, with a header that could be read: the receiver's driver sees them.
    pub mpdus_broken: u64,
    /// Data PPDUs of which nothing was heard: the receiver's driver sees nothing.
    pub ppdus_unheard: u64,
    /// Block Acks and ACKs of data that did not come back.
    pub answers_lost: u64,
    /// Data frames that came again although the receiver had them, most of them for a lost answer.
    pub mpdus_twice: u64,
    /// Data PPDUs that their sender began while a frame was on the air that it does not hear: hidden stations. They are no loss yet.
    pub begun_amid: u64,
}
