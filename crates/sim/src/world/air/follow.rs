//! Events for traces that follow packets: channel use, and outcomes of data tries.

use stillair_model::types::{ChannelId, ChannelUse, Duration, Instant, Sink, Step, TryStep};
use stillair_model::wifi::air::account::AirUse;
use stillair_model::wifi::air::ppdu::{Content, Ppdu};
use stillair_model::wifi::air::radio::BEACON_QUEUE;
use stillair_model::wifi::air::reception::RxOutcome;
use stillair_model::wifi::marks::Marks;
use stillair_model::wifi::phy::ppdu_duration;
use stillair_model::wifi::phy::timing::Timing;

use super::exchange::At;
use super::parts::airtime;
use super::tries::TryOutcome;
use super::{Air, AirChannel};
use crate::world::state::SimState;

impl<S: Sink> SimState<S> {
    /// Reports that the channel was used for `what` until `until`, without serving a packet.
    #[inline(always)]
    pub(super) fn used(&mut self, channel: usize, until: Instant, what: ChannelUse) {
        let channel = ChannelId::from_index(channel);
        self.step(&Step::Used { channel, until, what, whose: None, packets: &[] });
    }
}

impl AirChannel {
    /// Reports the use of the channel before an exchange starting at `start`.
    pub(super) fn tell_wait<S: Sink>(&self, core: &mut SimState<S>, index: usize, start: Instant) {
        core.used(index, self.medium.wanted_from(), ChannelUse::Idle);
        core.used(index, start, ChannelUse::Wanted);
    }
}

/// Returns the airtime of the next try beyond that at the first rate of its chain.
fn slow(timing: Timing, ppdu: &Ppdu) -> Duration {
    let first = ppdu.chain.entries()[0].rate;
    airtime(timing, ppdu).saturating_sub(ppdu_duration(first, ppdu.bytes, timing.band))
}

impl Air {
    /// Reports the use of the channel from the start of an exchange without collision until now.
    pub(super) fn tell_exchange<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        at: At,
        ppdu: &Ppdu,
        acknowledged: bool,
    ) {
        let channel = ChannelId::from_index(at.index);
        let header = &ppdu.header;
        if !header.content.is_data() {
            return core.used(at.index, core.now, ChannelUse::Management);
        }
        if !acknowledged {
            return core.used(at.index, core.now, ChannelUse::Failed);
        }
        let mut packets = core::mem::take(&mut self.carried);
        ppdu.carries(&Marks::NONE, &core.packets, &mut packets);
        let end = at.start + at.took;
        let slow = slow(self.channels[at.index].timing, ppdu);
        let whose = (header.content != Content::Group).then_some((header.dev, header.peer));
        let fast = Instant::ZERO + (end - Instant::ZERO).saturating_sub(slow);
        let parts = [
            (fast, ChannelUse::Serves, whose),
            (end, ChannelUse::Slow, None),
            (core.now, ChannelUse::Serves, whose),
        ];
        for (until, what, whose) in parts {
            let packets = if what == ChannelUse::Serves { &packets[..] } else { &[] };
            core.step(&Step::Used { channel, until, what, whose, packets });
        }
        self.carried = packets;
    }

    /// Reports the use of a channel with hidden stations until now.
    pub(super) fn tell_partly<S: Sink>(&mut self, core: &mut SimState<S>, index: usize) {
        let partly = self.channels[index].partly_connected.as_ref().expect("such a channel");
        let what = match partly.using {
            AirUse::Idle => ChannelUse::Idle,
            AirUse::Contention => ChannelUse::Wanted,
            AirUse::Data | AirUse::Ack | AirUse::Protection => ChannelUse::Serves,
            AirUse::Beacon | AirUse::Management => ChannelUse::Management,
            AirUse::Noise => ChannelUse::Noise,
            AirUse::Neighbour => ChannelUse::Neighbour,
            AirUse::Overlap | AirUse::Collision => ChannelUse::Failed,
        };
        let Some((number, queue)) = partly.whose().filter(|_| what == ChannelUse::Serves) else {
            // No exchange uses the channel: the time between frames of a failed exchange.
            let what = if what == ChannelUse::Serves { ChannelUse::Wanted } else { what };
            return core.used(index, core.now, what);
        };
        let radio = partly.radio(number);
        let (first, on_data) = (self.radios[radio].first(queue), partly.data_of(number));
        let Some(ppdu) = first else { return core.used(index, core.now, ChannelUse::Wanted) };
        if !ppdu.header.content.is_data() {
            return core.used(index, core.now, ChannelUse::Management);
        }
        let channel = ChannelId::from_index(index);
        let mut packets = core::mem::take(&mut self.carried);
        ppdu.carries(&Marks::NONE, &core.packets, &mut packets);
        let header = &ppdu.header;
        let whose = (header.content != Content::Group).then_some((header.dev, header.peer));
        if let Some((start, took)) = on_data {
            let slow = slow(self.channels[index].timing, ppdu);
            let fast = Instant::ZERO + (start + took - Instant::ZERO).saturating_sub(slow);
            let (until, what) = (fast.min(core.now), ChannelUse::Serves);
            core.step(&Step::Used { channel, until, what, whose, packets: &packets });
            core.used(index, core.now, ChannelUse::Slow);
        } else {
            let (until, what) = (core.now, ChannelUse::Serves);
            core.step(&Step::Used { channel, until, what, whose, packets: &packets });
        }
        self.carried = packets;
    }

    /// Reports the outcome of a data PPDU's try.
    pub(super) fn tell_try<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        index: usize,
        ppdu: &Ppdu,
        (start, took): (Instant, Duration),
        got: &RxOutcome,
        fate: TryOutcome,
    ) {
        let timing = self.channels[index].timing;
        let mut packets = core::mem::take(&mut self.carried);
        ppdu.carries(&got.whole, &core.packets, &mut packets);
        let header = &ppdu.header;
        let first = ppdu_duration(ppdu.chain.entries()[0].rate, ppdu.bytes, timing.band);
        let queue = if header.content.is_for_all() { BEACON_QUEUE } else { header.ac.index() };
        let protection = fate.protection.duration(timing);
        core.step(&Step::Tried(TryStep {
            channel: ChannelId::from_index(index),
            dev: header.dev,
            peer: header.peer,
            queue: (self.wlans[header.dev.index()].dev.radio, queue),
            begun: Instant::ZERO + (start - Instant::ZERO).saturating_sub(protection),
            slow: if fate.sent { took.saturating_sub(first) } else { Duration::ZERO },
            packets: &packets,
        }));
        self.carried = packets;
    }
}
