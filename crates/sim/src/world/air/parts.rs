//! Parts of an exchange: airtime and use of the PPDU, the response, and losses by noise.

use stillair_model::types::{DevId, Duration, Instant, PeerId};
use stillair_model::wifi::air::account::AirUse;
use stillair_model::wifi::air::ppdu::{Content, Ppdu};
use stillair_model::wifi::air::reception::RxOutcome;
use stillair_model::wifi::phy::timing::{Timing, control_rate};
use stillair_model::wifi::phy::{PhyRate, frame, ppdu_duration};

use super::Air;

/// Returns the airtime of a PPDU's next try.
pub(super) fn airtime(timing: Timing, ppdu: &Ppdu) -> Duration {
    ppdu_duration(ppdu.rate(), ppdu.bytes, timing.band)
}

/// Returns true if the response to a PPDU is a Block Ack instead of an ACK.
pub(super) fn asks_for_block_ack(ppdu: &Ppdu) -> bool {
    matches!(ppdu.header.content, Content::Data { aggregate: true } | Content::Bar { .. })
}

/// Returns the use of the air by a PPDU.
pub(super) const fn use_of(content: Content) -> AirUse {
    match content {
        Content::Data { .. } | Content::Group => AirUse::Data,
        Content::Beacon => AirUse::Beacon,
        Content::Bar { .. } | Content::AddbaRequest { .. } | Content::AddbaResponse { .. } => {
            AirUse::Management
        }
        Content::Null { .. } | Content::QosNull { .. } | Content::PsPoll => AirUse::Management,
    }
}

/// Returns the duration of SIFS and the response.
pub(super) fn response(timing: Timing, ppdu: &Ppdu) -> Duration {
    let rate = control_rate(ppdu.rate());
    match ppdu.header.content {
        Content::Beacon | Content::Group => Duration::ZERO,
        _ if asks_for_block_ack(ppdu) => timing.sifs + timing.block_ack_duration(rate, ppdu.wide),
        _ => timing.sifs + timing.ack_duration(rate),
    }
}

impl Air {
    /// Draws which frames of a PPDU's try survive noise. Also returns its receiver.
    pub(super) fn noise(&mut self, start: Instant, ppdu: &Ppdu) -> (RxOutcome, (DevId, PeerId)) {
        let remote = self.wlans[ppdu.header.dev.index()].dev.tx.peers[ppdu.header.peer.index()].remote;
        if self.wlans[remote.0.index()].dev.deaf {
            return (RxOutcome::NOTHING, remote);
        }
        let wlan = &mut self.wlans[ppdu.header.dev.index()];
        let peer = &mut wlan.dev.tx.peers[ppdu.header.peer.index()];
        (peer.errors.receive(start, ppdu, &mut wlan.errors), remote)
    }

    /// Draws whether the response survives noise.
    pub(super) fn answer_comes(&mut self, start: Instant, ppdu: &Ppdu) -> bool {
        let wlan = &mut self.wlans[ppdu.header.dev.index()];
        let peer = &mut wlan.dev.tx.peers[ppdu.header.peer.index()];
        let bytes = if asks_for_block_ack(ppdu) { frame::block_ack(ppdu.wide) } else { frame::ACK };
        peer.errors.answer(start, control_rate(ppdu.rate()), bytes, &mut wlan.errors)
    }

    /// Draws whether an RTS, or the CTS in response, survives noise between a device and its peer. A sleeping
    /// or absent peer does not respond.
    pub(super) fn guard_comes(
        &mut self,
        now: Instant,
        dev: DevId,
        peer: PeerId,
        rate: PhyRate,
        bytes: u32,
    ) -> bool {
        let remote = self.wlans[dev.index()].dev.tx.peers[peer.index()].remote;
        !self.wlans[remote.0.index()].dev.deaf && self.short_comes(now, dev, peer, rate, bytes)
    }

    /// Draws whether a short frame from a device to its peer, or back, survives noise.
    pub(super) fn short_comes(
        &mut self,
        now: Instant,
        dev: DevId,
        peer: PeerId,
        rate: PhyRate,
        bytes: u32,
    ) -> bool {
        let wlan = &mut self.wlans[dev.index()];
        wlan.dev.tx.peers[peer.index()].errors.guard_comes(now, rate, bytes, &mut wlan.errors)
    }
}
