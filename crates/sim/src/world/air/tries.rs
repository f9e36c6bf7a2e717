//! Reports each try to the trace, and its frames to captures.

use stillair_model::types::{
    AckView, ChannelId, DevId, Duration, FrameView, Instant, PowerView, PpduTry, PpduView, RtsCtsView, Sink,
    TimView, TraceEvent,
};
use stillair_model::wifi::air::ppdu::{Content, Header, Ppdu};
use stillair_model::wifi::air::protection::Protection;
use stillair_model::wifi::air::reception::RxOutcome;
use stillair_model::wifi::phy::timing::{Timing, control_rate};
use stillair_model::wifi::phy::{frame, ppdu_duration};

use super::Air;
use super::parts::{asks_for_block_ack, response};
use crate::world::state::SimState;

/// Outcome of a try, for the trace.
#[derive(Clone, Copy)]
pub(super) struct TryOutcome {
    /// Receiving device; `None` for group-addressed frames.
    pub(super) to: Option<DevId>,
    pub(super) collided: bool,
    /// The PPDU was sent, not just the RTS before it.
    pub(super) sent: bool,
    pub(super) acknowledged: bool,
    pub(super) protection: Protection,
}

impl Air {
    /// Reports the outcome of a try, before the receiver takes packets from the PPDU. If the PPDU was not
    /// sent, only captures get a report, of the RTS.
    #[expect(clippy::too_many_arguments, reason = "all that there is to say of a try")]
    pub(super) fn report<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        index: usize,
        ppdu: &Ppdu,
        start: Instant,
        airtime: Duration,
        got: &RxOutcome,
        fate: TryOutcome,
    ) {
        let what = tried(index, ppdu, start, airtime, got, fate);
        if fate.sent {
            core.trace.event(core.now, &TraceEvent::Ppdu(what));
        }
        if S::FRAMES {
            self.show(core, ppdu, what, got, fate);
        }
        if S::STEPS {
            self.tell_try(core, index, ppdu, (start, airtime), got, fate);
        }
    }

    /// Captures the frames of a try.
    fn show<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        ppdu: &Ppdu,
        tried: PpduTry,
        got: &RxOutcome,
        fate: TryOutcome,
    ) {
        let timing = self.channels[tried.channel.index()].timing;
        let rate = control_rate(ppdu.rate());
        let answer = AckView {
            start: tried.start + tried.airtime + timing.sifs,
            airtime: response(timing, ppdu).saturating_sub(timing.sifs),
            rate: rate.code(),
            block: asks_for_block_ack(ppdu),
            frames: *ppdu.held(&got.whole).words(),
            heard: fate.acknowledged,
        };
        ppdu.view(&got.whole, &mut self.mpdus);
        // A beacon has no receiver and counts as received unless it collided.
        let whole = got.whole.any() || (fate.to.is_none() && !fate.collided);
        let sender = &self.wlans[ppdu.header.dev.index()].dev;
        let tim = sender.tim().filter(|_| ppdu.header.content == Content::Beacon);
        let view = PpduView {
            tried,
            to: fate.to,
            rate: ppdu.rate().code(),
            bytes: ppdu.bytes,
            tid: ppdu.header.tid,
            content: ppdu.header.content.view(),
            wide: ppdu.wide,
            mpdus: &self.mpdus,
            packets: &core.packets,
            whole,
            answer: (whole && fate.to.is_some()).then_some(answer),
            guard: guard(timing, tried.start, fate.protection, fate.sent),
            power: PowerView { pm: sender.pm, more: ppdu.more, eosp: ppdu.eosp },
            tim: tim.map(|tim| TimView {
                count: tim.count,
                period: tim.period,
                group: tim.group,
                bitmap: tim.partial(),
            }),
        };
        core.trace.frame(core.now, &FrameView::Air(&view));
    }
}

/// Returns the frames captured before a PPDU that starts at `start`.
fn guard(timing: Timing, start: Instant, protection: Protection, sent: bool) -> Option<RtsCtsView> {
    let (rate, rts) = match protection {
        Protection::None => return None,
        Protection::CtsToSelf(rate) => (rate, false),
        Protection::RtsCts(rate) => (rate, true),
    };
    let cts = start - timing.sifs - ppdu_duration(rate, frame::CTS, timing.band);
    let first = start - protection.duration(timing);
    Some(RtsCtsView { rate: rate.code(), cts, rts: rts.then_some(first), answered: !rts || sent })
}

/// Returns a try as seen by all trace sinks.
#[inline]
fn tried(
    index: usize,
    ppdu: &Ppdu,
    start: Instant,
    airtime: Duration,
    got: &RxOutcome,
    fate: TryOutcome,
) -> PpduTry {
    let Header { dev, peer, ac, content, .. } = ppdu.header;
    PpduTry {
        channel: ChannelId::from_index(index),
        dev,
        peer,
        ac,
        kind: content.kind(),
        start,
        airtime,
        rate: ppdu.rate().rate(),
        mpdus: ppdu.mpdus.len() as u16,
        received: got.whole.count() as u16,
        attempt: ppdu.tries,
        collided: fate.collided,
        acknowledged: fate.acknowledged,
    }
}
