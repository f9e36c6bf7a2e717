//! Scans of an access point: its queues stop, the hardware drains, and it receives nothing until it is back
//! on its channel.

use super::WifiDev;
use crate::types::{Ctx, Instant, PeerId, Sink};
use crate::wifi::power::saver::Act;
use crate::wifi::power::sleepers::Sleepers;
use crate::wifi::power::trips::Trips;
use crate::wifi::tx::transmitter::Hardware;

impl WifiDev {
    pub(super) fn trips(&self) -> Option<&Trips> {
        self.sleepers().and_then(|sleepers| sleepers.trips.as_ref())
    }

    fn trips_mut(&mut self) -> Option<&mut Trips> {
        self.sleepers_mut().and_then(|sleepers| sleepers.trips.as_mut())
    }

    /// Returns true if the access point is on another channel, or about to leave, so that it sends neither
    /// beacons nor frames.
    // deviation: a beacon already waiting for the medium is still sent.
    #[inline]
    pub fn is_off(&self) -> bool {
        self.trips().is_some_and(Trips::holds)
    }

    /// Returns true if a peer's frames wait for another reason as well: the peer sleeps, or firmware buffers
    /// group-addressed frames for a DTIM.
    fn sleeps(&self, peer: PeerId) -> bool {
        let group = self.tx.group == Some(peer);
        let of = |s: &Sleepers| if group { !s.host_keeps() && s.any_asleep() } else { s.is_asleep(peer) };
        self.sleepers().is_some_and(of)
    }

    /// Handles an expired scan timer.
    pub(super) fn trip_timer<S: Sink>(
        &mut self,
        now: Instant,
        busy: bool,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let act = self.trips_mut().map_or(Act::Nothing, |trips| trips.on_timer(now, busy));
        let peers = (0..self.tx.peers.len()).map(PeerId::from_index);
        match act {
            Act::Hold => {
                for peer in peers {
                    if !self.sleeps(peer) {
                        self.hold(now, peer, true, ctx);
                    }
                }
                self.trip_flushed(now, hw);
            }
            Act::Release => {
                self.deaf = false;
                for peer in peers {
                    if !self.sleeps(peer) {
                        self.let_go(now, peer, hw, ctx);
                    }
                }
            }
            _ => {}
        }
    }

    /// Leaves the channel if this is due and the hardware is empty.
    pub(super) fn trip_flushed(&mut self, now: Instant, hw: &Hardware<'_>) {
        if !self.is_off() || self.deaf || self.is_sending_data(hw) {
            return;
        }
        if self.trips_mut().is_some_and(|trips| trips.flushed(now)) {
            self.deaf = true;
        }
    }
}
