//! The sending half that all drivers share: peers, sessions and windows, and the one builder of PPDUs with its limits.

pub mod aggregate;
pub mod expected;
pub mod starts;
pub mod tid;
pub mod transmitter;
