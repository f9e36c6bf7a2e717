//! The parts of an exchange: how long a PPDU takes on the air, what for, and what answers it.

use stillair_model::vocabulary::Duration;
use stillair_model::wifi::air::account::AirUse;
use stillair_model::wifi::air::ppdu::{Content, Ppdu};
use stillair_model::wifi::phy::ppdu_duration;
use stillair_model::wifi::phy::timing::{Timing, control_rate};

/// How long a PPDU's next try takes.
pub(super) fn airtime(timing: Timing, ppdu: &Ppdu) -> Duration {
    ppdu_duration(ppdu.rate(), ppdu.bytes, timing.band)
}

/// Whether a PPDU is answered by a Block Ack, not by an ACK.
pub(super) fn asks_for_block_ack(ppdu: &Ppdu) -> bool {
    matches!(ppdu.header.content, Content::Data { aggregate: true } | Content::Bar { .. })
}

/// What the air is used for while a PPDU is sent.
pub(super) const fn use_of(content: Content) -> AirUse {
    match content {
        Content::Data { .. } => AirUse::Data,
        Content::Beacon => AirUse::Beacon,
        Content::Bar { .. } | Content::AddbaRequest { .. } | Content::AddbaResponse => AirUse::Management,
    }
}

/// SIFS and the acknowledgement that a PPDU asks for.
pub(super) fn response(timing: Timing, ppdu: &Ppdu) -> Duration {
    let rate = control_rate(ppdu.rate());
    match ppdu.header.content {
        Content::Beacon => Duration::ZERO,
        _ if asks_for_block_ack(ppdu) => timing.sifs + timing.block_ack_duration(rate),
        _ => timing.sifs + timing.ack_duration(rate),
    }
}
