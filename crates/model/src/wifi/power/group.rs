//! Group-addressed frames, which wait for a DTIM while any station sleeps.

use crate::types::{Ctx, Instant, Pkt, PktList, PlaceId, Reason, Sink};

/// Maximum number of buffered group-addressed frames.
// linux: net/mac80211/ieee80211_i.h AP_MAX_BC_BUFFER (6.12).
pub const GROUP_LIMIT: u32 = 128;

/// Group-addressed frames buffered by the access point's host.
// linux: net/mac80211/tx.c ieee80211_tx_h_multicast_ps_buf (6.12) - for drivers with
// HOST_BROADCAST_PS_BUFFERING.
#[derive(Debug, Default)]
pub struct Group {
    waiting: PktList,
    /// Frames announced by the last DTIM that are still to be sent.
    due: u32,
}

impl Group {
    /// Buffers a frame. If the buffer is full, drops the oldest frame.
    pub fn keep<S: Sink>(&mut self, now: Instant, p: Pkt, place: PlaceId, ctx: &mut Ctx<'_, S>) {
        if self.waiting.packets() >= GROUP_LIMIT {
            self.drop_oldest(now, place, ctx);
        }
        self.waiting.push(ctx.packets, p);
    }

    /// Drops the oldest frame to make room.
    pub fn drop_oldest<S: Sink>(&mut self, now: Instant, place: PlaceId, ctx: &mut Ctx<'_, S>) {
        if let Some(oldest) = self.waiting.pop(ctx.packets) {
            self.due = self.due.min(self.waiting.packets());
            ctx.drop(now, oldest, Reason::Overlimit, place);
        }
    }

    /// Returns true if frames are buffered. Later frames then queue behind them.
    #[inline]
    pub fn waits(&self) -> bool {
        self.waiting.packets() > 0
    }

    /// Prepares a beacon. Returns true if group-addressed frames follow it, which is possible only for a DTIM
    /// beacon. `below` is the number of frames buffered in the firmware.
    pub fn announce(&mut self, dtim: bool, below: u32) -> bool {
        self.due = if dtim { self.waiting.packets() + below } else { 0 };
        self.due > 0
    }

    /// Returns true if a frame follows the beacon.
    #[inline]
    pub const fn is_due(&self) -> bool {
        self.due > 0
    }

    /// Records that a frame from the firmware's buffer follows.
    pub const fn below(&mut self) {
        self.due -= 1;
    }

    /// Takes the next frame to send after the DTIM beacon.
    // linux: net/mac80211/tx.c ieee80211_get_buffered_bc (6.12) - takes all buffered frames, including those
    // that arrived after the beacon.
    pub fn next<S: Sink>(&mut self, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        if self.due == 0 {
            return None;
        }
        let p = self.waiting.pop(ctx.packets)?;
        self.due = self.waiting.packets();
        Some(p)
    }

    /// Returns the number of buffered packets.
    pub fn packets(&self) -> u64 {
        u64::from(self.waiting.packets())
    }

    /// Returns the bytes of the buffered packets, with Ethernet headers.
    pub fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }
}
