//! Which points show what of an exchange.

use stillair_model::vocabulary::{AckView, ContentView, DevId, PpduView, RtsCtsView};

use super::scene::Scene;

/// What of an exchange a point shows.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// RTS and CTS before the PPDU.
    Guard(&'a RtsCtsView),
    /// The frames of the PPDU.
    Ppdu {
        /// As its sender knows them, none of them broken.
        sent: bool,
    },
    /// The answer to the PPDU.
    Answer {
        /// What it says.
        answer: &'a AckView,
        /// Who sent it.
        from: DevId,
        /// Its receiver did not get it.
        broken: bool,
    },
}

impl Part<'_> {
    /// How many frames it is.
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

impl Scene {
    /// Each point that shows something of an exchange, and what, in the order in which it is written.
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
