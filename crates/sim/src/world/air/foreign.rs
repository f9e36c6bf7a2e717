//! Other users of a channel: non-Wi-Fi interference, and neighbouring networks as a load. Such a channel is
//! simulated frame by frame.

use stillair_model::types::{DevId, Duration, Instant, PeerId, RandomStream};
use stillair_model::wifi::air::account::AirUse;
use stillair_model::wifi::air::interfered::Interfered;
use stillair_model::wifi::air::interference::Interference;
use stillair_model::wifi::air::ppdu::Ppdu;
use stillair_model::wifi::air::reception::{PathErrors, RxOutcome};
use stillair_model::wifi::air::views::Views;
use stillair_model::wifi::phy::timing::{Timing, control_rate};
use stillair_model::wifi::phy::{PhyRate, frame, ppdu_duration};

use super::Air;
use super::neighbour::Neighbour;
use super::parts::asks_for_block_ack;

/// Other users of a channel.
#[derive(Debug, Default)]
pub(in crate::world) struct Foreign {
    pub(in crate::world) interference: Option<Interference>,
    pub(in crate::world) neighbours: Vec<Neighbour>,
    /// Number of radios, including neighbours'.
    pub(in crate::world) radios: usize,
}

impl Foreign {
    /// Returns true if the channel has no other users.
    pub(in crate::world) fn is_none(&self) -> bool {
        self.interference.is_none() && self.neighbours.is_empty()
    }

    /// Returns the time of the next event that no medium plans.
    pub(super) fn next(&self) -> Option<Instant> {
        let neighbours = self.neighbours.iter().map(Neighbour::next);
        let next = neighbours.chain(self.interference.as_ref().and_then(Interference::next)).min();
        next.filter(|at| *at != Instant::NEVER)
    }

    /// Finds neighbours that start transmitting now, and switches interference sources on or off.
    pub(super) fn begin(&mut self, now: Instant, views: &mut Views) {
        self.neighbours.iter_mut().for_each(|n| n.find_starting(now, views));
        let Some(interference) = &mut self.interference else { return };
        if interference.turn(now) {
            (0..self.radios).for_each(|radio| views.energy(now, radio, interference.is_busy(radio)));
        }
    }

    /// Ends neighbours' frames.
    pub(super) fn end_frames(&mut self, now: Instant, timing: Timing, views: &mut Views) {
        self.neighbours.iter_mut().for_each(|n| n.end_frames(now, timing, views));
    }

    /// Starts neighbours' frames.
    pub(super) fn begin_frames(&mut self, now: Instant, views: &mut Views) {
        self.neighbours.iter_mut().for_each(|n| n.begin_frames(now, views));
    }

    /// Adds neighbours' new PPDUs.
    pub(super) fn arrive(&mut self, now: Instant, views: &mut Views) {
        self.neighbours.iter_mut().for_each(|n| n.arrive(now, views));
    }

    /// Returns how other users occupy the air, if they do and no node of the scenario transmits.
    pub(super) fn uses(&self, views: &Views) -> Option<AirUse> {
        if self.neighbours.iter().any(Neighbour::is_under_way) {
            return Some(AirUse::Neighbour);
        }
        (self.interference.is_some() && views.is_energy_detected()).then_some(AirUse::Noise)
    }

    /// Checks the neighbours' PPDU accounts.
    pub(super) fn check(&self) -> Result<(), String> {
        self.neighbours.iter().try_for_each(Neighbour::check)
    }
}

/// A frame on a channel: number of its receiver there, start and end.
#[derive(Clone, Copy)]
pub(super) struct OnAir {
    pub(super) index: usize,
    pub(super) at: usize,
    pub(super) start: Instant,
    pub(super) took: Duration,
}

impl Air {
    /// Returns the parts of a PPDU that survive noise and interference at its receiver.
    pub(super) fn noise_and_interference(&mut self, on: OnAir, ppdu: &Ppdu) -> RxOutcome {
        let (dev, peer) = (ppdu.header.dev, ppdu.header.peer);
        if self.is_deaf(dev, peer) {
            return RxOutcome::NOTHING;
        }
        let through = self.through(on, dev, peer, |frame, stream| frame.receive(ppdu, stream));
        through.unwrap_or_else(|| self.noise(on.start, ppdu).0)
    }

    /// Returns true if the peer of a device cannot receive, because it sleeps or is on another channel.
    pub(super) fn is_deaf(&self, dev: DevId, peer: PeerId) -> bool {
        let (remote, _) = self.wlans[dev.index()].dev.tx.peers[peer.index()].remote;
        self.wlans[remote.index()].dev.deaf
    }

    /// Draws whether the response that has just ended is received.
    pub(super) fn answer_ends(
        &mut self,
        index: usize,
        at: usize,
        now: Instant,
        start: Instant,
        ppdu: &Ppdu,
    ) -> bool {
        let bytes = if asks_for_block_ack(ppdu) { frame::block_ack(ppdu.wide) } else { frame::ACK };
        let of = (ppdu.header.dev, ppdu.header.peer);
        let comes = self.interfered_comes(index, at, now, of, (control_rate(ppdu.rate()), bytes));
        comes.unwrap_or_else(|| self.answer_comes(start, ppdu))
    }

    /// Draws whether a short frame that has just ended is received by a device or its peer, if interference
    /// overlapped it.
    pub(super) fn interfered_comes(
        &mut self,
        index: usize,
        at: usize,
        now: Instant,
        (dev, peer): (DevId, PeerId),
        (rate, bytes): (PhyRate, u32),
    ) -> Option<bool> {
        let took = ppdu_duration(rate, bytes, self.channels[index].timing.band);
        let on = OnAir { index, at, start: Instant::ZERO + (now - Instant::ZERO).saturating_sub(took), took };
        self.through(on, dev, peer, |frame, stream| frame.comes(rate, bytes, stream))
    }

    /// Calls `draw` for a frame between a device and its peer. Returns `None` if no interference overlapped
    /// the frame.
    #[inline]
    fn through<T>(
        &mut self,
        OnAir { index, at, start, took }: OnAir,
        dev: DevId,
        peer: PeerId,
        draw: impl FnOnce(&Interfered<'_>, &mut RandomStream) -> T,
    ) -> Option<T> {
        let partly = self.channels[index].partly_connected.as_mut()?;
        let interference = partly.foreign.as_mut()?.interference.as_mut()?;
        let stretches = interference.stretches(at, start, start + took);
        if stretches.is_empty() {
            return None;
        }
        let wlan = &mut self.wlans[dev.index()];
        let PathErrors::Noise(noise) = &mut wlan.dev.tx.peers[peer.index()].errors else {
            unreachable!("with interference every station has a signal level")
        };
        let snr = noise.ratio(start);
        Some(draw(&Interfered { snr, start, took, stretches }, &mut wlan.errors))
    }
}
