//! Each radio's view of a channel with hidden stations: one [`Medium`] for each radio. It is idle when the
//! radio senses nothing, is not in an exchange itself, and its NAV is zero.
//!
//! A frame costs two events, its beginning and its end, each at all radios that hear it. Without hidden
//! stations, one medium for all radios gives the same with one event for a whole exchange.

use super::audibility::Audibility;
use super::capture::CaptureEffect;
use super::earliest::Earliest;
use super::medium::Medium;
use crate::types::{Duration, Instant};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Number of a frame on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameId(u32);

/// The NAV setting of a frame (its Duration field), for radios that the frame is not addressed to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reservation {
    /// End of the exchange that the frame is part of.
    pub until: Instant,
    /// The radio that began the exchange.
    pub by: usize,
    /// The frame is the exchange's RTS. If nothing follows the RTS, the reservation ends.
    pub by_rts: bool,
}

impl Reservation {
    const NONE: Self = Self { until: Instant::ZERO, by: usize::MAX, by_rts: false };
}

/// What one radio makes of the channel.
#[derive(Debug)]
struct View {
    medium: Medium,
    /// Frames on the air that it senses.
    sensed: u32,
    /// It detects energy that is no frame.
    energy: bool,
    /// Their power together, and that of the frame that it receives; counted only with capture.
    loud: u64,
    level: u64,
    /// It has an exchange under way that it began.
    engaged: bool,
    /// It sends a frame.
    sending: bool,
    /// The frame that it receives.
    following: Option<FrameId>,
    /// Where others have overlapped with that frame, and since when one does.
    noise: Vec<(Instant, Instant)>,
    noisy_from: Option<Instant>,
    /// Until when it waits after a frame that it did not understand.
    quiet_until: Instant,
    reserved: Reservation,
    /// It is on the list of those to be looked at.
    touched: bool,
    /// It had something to send when it was looked at last.
    wanted: bool,
}

impl View {
    fn new(medium: Medium) -> Self {
        Self {
            medium,
            sensed: 0,
            energy: false,
            loud: 0,
            level: 0,
            engaged: false,
            sending: false,
            following: None,
            noise: Vec::new(),
            noisy_from: None,
            quiet_until: Instant::ZERO,
            reserved: Reservation::NONE,
            touched: false,
            wanted: false,
        }
    }

    /// When its functions start to transmit, if nobody else does before.
    #[inline]
    fn planned(&self, now: Instant) -> Option<Instant> {
        self.medium.start().filter(|&start| !self.engaged && start >= now)
    }

    #[inline]
    fn is_free(&self) -> bool {
        self.sensed == 0 && !self.energy && !self.engaged && !self.sending
    }

    /// Starts the wait for its next transmission anew, if the air is free.
    fn settle(&mut self, now: Instant) {
        if self.is_free() {
            self.medium.idle(now, now.max(self.quiet_until).max(self.reserved.until));
        }
    }

    fn end_noise(&mut self, now: Instant) {
        if let Some(from) = self.noisy_from.take().filter(|from| *from < now) {
            self.noise.push((from, now));
        }
    }

    /// Whether what it receives is not disturbed, although it senses others.
    fn spares(&self, capture: Option<&CaptureEffect>) -> bool {
        capture.is_some_and(|c| c.survives(self.level, self.loud - self.level))
    }
}

/// The views of all radios of a channel, by radio number.
#[derive(Debug)]
pub struct Views {
    views: Vec<View>,
    hearing: Audibility,
    capture: Option<Box<CaptureEffect>>,
    /// By how much a radio waits longer after a frame that it did not understand.
    eifs_extra: Duration,
    frames: u32,
    on_air: u32,
    /// By radio: when it is planned to begin, as it was when [`Views::plan`] was called last.
    starts: Earliest,
    /// Those that may be planned otherwise since, each once.
    touched: Vec<u16>,
    /// How many had something to send then, and how many detect energy that is no frame.
    wanted: u32,
    energetic: u32,
}

impl Views {
    /// Creates a channel that has been idle since the start of the run. `media` holds one medium per radio,
    /// with the radio's functions.
    pub fn new(media: Vec<Medium>, hearing: Audibility, eifs_extra: Duration) -> Self {
        debug_assert_eq!(media.len(), hearing.radios());
        let radios = media.len();
        Self {
            views: media.into_iter().map(View::new).collect(),
            hearing,
            capture: None,
            eifs_extra,
            frames: 0,
            on_air: 0,
            starts: Earliest::new(radios),
            touched: Vec::with_capacity(radios),
            wanted: 0,
            energetic: 0,
        }
    }

    /// The same channel with the capture effect: a sufficiently strong frame survives overlap.
    #[must_use]
    pub fn with_capture(mut self, capture: CaptureEffect) -> Self {
        self.capture = Some(Box::new(capture));
        self
    }

    /// A radio may be planned otherwise from now on.
    #[inline]
    fn touch(view: &mut View, radio: usize, touched: &mut Vec<u16>) {
        if !core::mem::replace(&mut view.touched, true) {
            touched.push(radio as u16);
        }
    }

    /// A radio to be acted upon.
    #[inline]
    fn view(&mut self, radio: usize) -> &mut View {
        let view = &mut self.views[radio];
        Self::touch(view, radio, &mut self.touched);
        view
    }

    /// The medium as seen by the functions of radio `radio`.
    #[inline]
    pub fn medium(&mut self, radio: usize) -> &mut Medium {
        &mut self.view(radio).medium
    }

    /// When the radio's functions start to transmit, if no other radio does before. At that instant the start
    /// stays planned until [`Views::engage`], even if another of these functions makes a request first, for
    /// example because of an event on another channel at the same instant.
    #[inline]
    pub fn planned(&self, now: Instant, radio: usize) -> Option<Instant> {
        self.views[radio].planned(now)
    }

    /// Updates all radios that have changed since the last call, for [`Views::next`],
    /// [`Views::next_starting`] and [`Views::is_wanted`]. Call this after each event of the channel.
    pub fn plan(&mut self, now: Instant) {
        let Self { views, starts, touched, wanted, .. } = self;
        for radio in touched.drain(..) {
            let (radio, view) = (usize::from(radio), &mut views[usize::from(radio)]);
            view.touched = false;
            starts.set(radio, view.planned(now).unwrap_or(Instant::NEVER));
            let is_wanted = view.medium.is_wanted();
            let was = core::mem::replace(&mut view.wanted, is_wanted);
            *wanted = *wanted + u32::from(is_wanted) - u32::from(was);
        }
        debug_assert_eq!(self.wanted as usize, self.views.iter().filter(|v| v.medium.is_wanted()).count());
        debug_assert_eq!(self.next(), (0..self.views.len()).filter_map(|n| self.planned(now, n)).min());
    }

    /// The earliest planned start of a transmission among all radios.
    #[inline]
    pub fn next(&self) -> Option<Instant> {
        Some(self.starts.first()).filter(|&at| at != Instant::NEVER)
    }

    /// The first radio, from number `from` on, that is planned to start at `now`.
    #[inline]
    pub fn next_starting(&self, now: Instant, from: usize) -> Option<usize> {
        self.starts.next_due(from, now)
    }

    /// Whether a radio has something to send.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.wanted > 0
    }

    /// Number of frames on the air.
    pub fn on_air(&self) -> u32 {
        self.on_air
    }

    /// A radio begins or ceases to detect energy that is not a frame. The medium is free for the radio as
    /// soon as the energy ends, as there is no frame to be answered.
    pub fn energy(&mut self, now: Instant, radio: usize, detected: bool) {
        let was = self.views[radio].energy;
        self.energetic = self.energetic + u32::from(detected) - u32::from(was);
        let view = self.view(radio);
        if detected && view.is_free() {
            view.medium.interrupt(now);
        }
        let ceases = view.energy && !detected;
        view.energy = detected;
        if ceases {
            view.settle(now);
        }
    }

    /// Whether a radio detects such energy.
    pub fn is_energy_detected(&self) -> bool {
        self.energetic > 0
    }

    /// The transmission that the radio planned for `now` begins. Call this for all radios that begin at `now`
    /// before the first frame begins.
    pub fn engage(&mut self, now: Instant, radio: usize) {
        let view = self.view(radio);
        view.engaged = true;
        view.medium.begin(now);
    }

    /// The radio continues at `start` within its TXOP.
    pub fn hold(&mut self, now: Instant, radio: usize, start: Instant) {
        let view = self.view(radio);
        view.engaged = true;
        view.medium.hold(now, start);
    }

    /// The radio's exchange is over. The radio waits from `idle_from` on at the earliest.
    pub fn release(&mut self, now: Instant, radio: usize, idle_from: Instant) {
        let view = self.view(radio);
        view.engaged = false;
        view.quiet_until = view.quiet_until.max(idle_from);
        view.settle(now);
    }

    /// The radio begins to send a frame.
    // deviation: who waits senses it at once - a radio takes up to 4 us (CCA), in which others may begin too;
    // only those of the very same instant collide here, as on a channel where all radios hear each other.
    pub fn begin(&mut self, now: Instant, from: usize) -> FrameId {
        let id = FrameId(self.frames);
        self.frames = self.frames.wrapping_add(1);
        self.on_air += 1;
        let Self { views, hearing, capture, touched, .. } = self;
        let capture = capture.as_deref();
        let own = &mut views[from];
        Self::touch(own, from, touched);
        if own.is_free() {
            own.medium.interrupt(now);
        }
        own.sending = true;
        // A radio that sends receives nothing.
        own.following = None;
        for &(to, clearly) in hearing.listeners(from) {
            let view = &mut views[usize::from(to)];
            if view.wanted {
                Self::touch(view, usize::from(to), touched);
            }
            if view.is_free() {
                view.medium.interrupt(now);
            }
            let power = capture.map_or(0, |c| c.power(from, usize::from(to)));
            let captures = view.sensed == 0 || capture.is_some_and(|c| c.survives(power, view.loud));
            view.sensed += 1;
            view.loud += power;
            // deviation: without capture who begins to receive a frame stays with it, however loud another
            // is; with it a radio turns to a later frame whenever that is loud enough - some can only until a
            // preamble is over, or not at all.
            if captures && clearly && !view.sending {
                view.following = Some(id);
                view.level = power;
                view.noisy_from = None;
                view.noise.clear();
            } else if view.following.is_some() && !view.spares(capture) {
                view.noisy_from.get_or_insert(now);
            }
        }
        id
    }

    /// Stretches in which other frames overlapped with a frame that is about to end, as heard by radio `at`.
    /// `None` if that radio did not receive the frame.
    pub fn received(&mut self, now: Instant, frame: FrameId, at: usize) -> Option<&[(Instant, Instant)]> {
        let view = &mut self.views[at];
        if view.following != Some(frame) {
            return None;
        }
        view.end_noise(now);
        Some(&view.noise)
    }

    /// A frame ends. `to` is the receiver and whether it understood the frame. Other radios that understood
    /// the frame set their NAV from `reservation`.
    pub fn end(
        &mut self,
        now: Instant,
        frame: FrameId,
        from: usize,
        to: Option<(usize, bool)>,
        reservation: Option<Reservation>,
    ) {
        self.on_air -= 1;
        let Self { views, hearing, capture, eifs_extra, touched, .. } = self;
        let capture = capture.as_deref();
        Self::touch(&mut views[from], from, touched);
        views[from].sending = false;
        views[from].settle(now);
        for &(other, _) in hearing.listeners(from) {
            let other = usize::from(other);
            let view = &mut views[other];
            if view.wanted {
                Self::touch(view, other, touched);
            }
            view.sensed -= 1;
            view.loud -= capture.map_or(0, |c| c.power(from, other));
            let received = view.following == Some(frame);
            if view.sensed <= 1 || (view.following.is_some() && !received && view.spares(capture)) {
                view.end_noise(now);
            }
            let understood = match to {
                Some((to, understood)) if to == other => understood,
                _ => {
                    let understood = received && view.noise.is_empty() && view.noisy_from.is_none();
                    if let Some(new) = reservation.filter(|r| understood && r.by != other) {
                        // spec: ieee80211-2016 10.3.2.4 - the later end counts.
                        if new.until >= view.reserved.until {
                            view.reserved = new;
                        }
                    }
                    understood
                }
            };
            if received {
                view.following = None;
                view.noisy_from = None;
            }
            // spec: ieee80211-2016 10.3.2.3.7 - EIFS after a frame that was not understood, until one is.
            view.quiet_until = if understood { now } else { now + *eifs_extra };
            view.settle(now);
        }
    }

    /// Whether the radio's NAV is zero, so that it may answer an RTS.
    // spec: ieee80211-2016 10.3.2.7 - an RTS is answered only then.
    pub fn may_answer_rts(&self, now: Instant, radio: usize) -> bool {
        self.views[radio].reserved.until <= now
    }

    /// Nothing has followed an RTS by radio `by`. Radios that set their NAV from that RTS reset it.
    // spec: ieee80211-2016 10.3.2.4 - a reservation by an RTS may be reset if nothing is received within two
    // SIFS, a CTS and two slots.
    pub fn give_back(&mut self, now: Instant, by: usize) {
        let Self { views, hearing, touched, .. } = self;
        for &(other, _) in hearing.listeners(by) {
            let view = &mut views[usize::from(other)];
            let Reservation { until, by: owner, by_rts } = view.reserved;
            if owner == by && by_rts && until > now && view.sensed == 0 {
                view.reserved = Reservation::NONE;
                view.settle(now);
                Self::touch(view, usize::from(other), touched);
            }
        }
    }
}

#[cfg(test)]
mod tests;
