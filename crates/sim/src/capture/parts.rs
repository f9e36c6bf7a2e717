//! The points that show an exchange, and the part of the exchange that each point shows.

use stillair_model::types::{AckView, ContentView, DevId, PpduView, RtsCtsView};

use super::topology::Topology;

/// The part of an exchange that a point shows.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// RTS and CTS before the PPDU.
    Guard(&'a RtsCtsView),
    /// The frames of the PPDU.
    Ppdu {
        /// Whether the frames are shown as sent, none of them broken.
        sent: bool,
    },
    /// The response to the PPDU.
    Answer {
        /// Contents of the response.
        answer: &'a AckView,
        /// The device that sent the response.
        from: DevId,
        /// Whether the response was not received.
        broken: bool,
    },
}

impl Part<'_> {
    /// Number of frames in this part.
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
    /// Calls `each` for each point that shows a part of the exchange, and the part, in the order in which
    /// parts are written.
    pub fn parts(&self, view: &PpduView<'_>, mut each: impl FnMut(u32, Part<'_>)) {
        let (air, sender) = (self.air(view.tried.channel), self.dev(view.tried.dev));
        let receiver = view.to.and_then(|to| self.dev(to));
        if let Some(guard) = &view.guard {
            // Of an RTS that met another frame nothing came to its receiver, and nothing followed.
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
