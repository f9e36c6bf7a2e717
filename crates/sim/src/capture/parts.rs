//! Selects the points that capture an exchange, and each point's part of the exchange.

use stillair_model::types::{AckView, ContentView, DevId, PpduView, RtsCtsView};

use super::topology::Topology;

/// Part of an exchange captured at a point.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// RTS and CTS before the PPDU.
    Guard(&'a RtsCtsView),
    /// The frames of the PPDU.
    Ppdu {
        /// True if the frames are captured as sent, without errors.
        sent: bool,
    },
    /// The response to the PPDU.
    Answer {
        /// Contents of the response.
        answer: &'a AckView,
        /// The device that sent the response.
        from: DevId,
        /// True if the response was not received.
        broken: bool,
    },
}

impl Part<'_> {
    /// Returns the number of frames in this part.
    pub fn frames(&self, view: &PpduView<'_>) -> u64 {
        match self {
            Self::Guard(guard) => u64::from(guard.rts.is_some()) + u64::from(guard.answered),
            Self::Ppdu { .. } => match view.content {
                ContentView::Data { .. } | ContentView::Group => view.mpdus.len() as u64,
                _ => 1,
            },
            Self::Answer { .. } => 1,
        }
    }
}

impl Topology {
    /// Calls `each` with each point that captures a part of the exchange and that part, in the order of
    /// writing.
    pub fn parts(&self, view: &PpduView<'_>, mut each: impl FnMut(u32, Part<'_>)) {
        let (air, sender) = (self.air(view.tried.channel), self.dev(view.tried.dev));
        let receiver = view.to.and_then(|to| self.dev(to));
        if let Some(guard) = &view.guard {
            // A collided RTS did not reach its receiver, and nothing followed it.
            let receiver = receiver.filter(|_| guard.answered);
            [air, sender, receiver].into_iter().flatten().for_each(|point| each(point, Part::Guard(guard)));
            if !guard.answered {
                return;
            }
        }
        let mut ppdu = |point: Option<u32>, sent| {
            point.into_iter().for_each(|point| each(point, Part::Ppdu { sent }));
        };
        ppdu(air, false);
        ppdu(sender, true);
        match view.to {
            Some(_) => ppdu(receiver, false),
            None => self.peers(view.tried.dev).for_each(|to| ppdu(self.dev(to), false)),
        }
        let (Some(answer), Some(from)) = (&view.answer, view.to) else { return };
        let lost = !answer.heard;
        for (point, broken) in [(air, lost), (receiver, false), (sender, lost)] {
            point.into_iter().for_each(|point| each(point, Part::Answer { answer, from, broken }));
        }
    }
}
