//! Each radio's view of a channel with hidden stations: one [`Medium`] per radio. It is idle while the radio
//! senses nothing, is not in an exchange itself, and its NAV is zero.
//!
//! A frame costs two events, its start and its end, each at all radios that hear it. Without hidden stations,
//! a single medium for all radios gives the same results with one event per exchange.

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

/// NAV setting of a frame (its Duration field), for radios that the frame is not addressed to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reservation {
    /// End of the exchange that the frame is part of.
    pub until: Instant,
    /// The radio that started the exchange.
    pub by: usize,
    /// The frame is the exchange's RTS. If nothing follows the RTS, the reservation ends.
    pub by_rts: bool,
}

impl Reservation {
    const NONE: Self = Self { until: Instant::ZERO, by: usize::MAX, by_rts: false };
}

/// State of the channel as seen by one radio.
#[derive(Debug)]
struct View {
    medium: Medium,
    /// Frames on the air that the radio senses.
    sensed: u32,
    /// The radio detects energy that is not a frame.
    energy: bool,
    /// Total power of the sensed frames, and power of the frame being received. Only maintained with capture.
    loud: u64,
    level: u64,
    /// The radio is in an exchange that it started.
    engaged: bool,
    /// The radio is sending a frame.
    sending: bool,
    /// The frame that the radio is receiving.
    following: Option<FrameId>,
    /// Overlaps of other frames with that frame, and the start of the current one.
    noise: Vec<(Instant, Instant)>,
    noisy_from: Option<Instant>,
    /// Earliest start of contention, after EIFS or after the radio's own exchange.
    quiet_until: Instant,
    reserved: Reservation,
    /// The radio is listed in `touched`.
    touched: bool,
    /// The radio had a frame to send at the last `plan`.
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

    /// Start of the radio's next transmission, if no other radio sends before.
    #[inline]
    fn planned(&self, now: Instant) -> Option<Instant> {
        self.medium.start().filter(|&start| !self.engaged && start >= now)
    }

    #[inline]
    fn is_free(&self) -> bool {
        self.sensed == 0 && !self.energy && !self.engaged && !self.sending
    }

    /// Restarts contention if the channel is free.
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

    /// Returns true if capture protects the frame being received from the others.
    fn spares(&self, capture: Option<&CaptureEffect>) -> bool {
        capture.is_some_and(|c| c.survives(self.level, self.loud - self.level))
    }
}

/// Views of all radios of a channel, by radio number.
#[derive(Debug)]
pub struct Views {
    views: Vec<View>,
    hearing: Audibility,
    capture: Option<Box<CaptureEffect>>,
    /// Extra wait of a radio after a frame that it did not decode.
    eifs_extra: Duration,
    frames: u32,
    on_air: u32,
    /// Planned start as of the last [`Views::plan`], by radio.
    starts: Earliest,
    /// Radios whose plan may have changed since, without duplicates.
    touched: Vec<u16>,
    /// Numbers of radios with a frame to send as of that call, and of radios that detect energy.
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

    /// Adds the capture effect: a sufficiently strong frame survives overlap.
    #[must_use]
    pub fn with_capture(mut self, capture: CaptureEffect) -> Self {
        self.capture = Some(Box::new(capture));
        self
    }

    /// Notes that a radio's plan may change.
    #[inline]
    fn touch(view: &mut View, radio: usize, touched: &mut Vec<u16>) {
        if !core::mem::replace(&mut view.touched, true) {
            touched.push(radio as u16);
        }
    }

    #[inline]
    fn view(&mut self, radio: usize) -> &mut View {
        let view = &mut self.views[radio];
        Self::touch(view, radio, &mut self.touched);
        view
    }

    /// Returns the medium as seen by the functions of radio `radio`.
    #[inline]
    pub fn medium(&mut self, radio: usize) -> &mut Medium {
        &mut self.view(radio).medium
    }

    /// Returns the start of the radio's next transmission, if no other radio sends before. At that instant
    /// the start stays planned until [`Views::engage`], even if another function of the radio makes a request
    /// first, for example because of an event on another channel at the same instant.
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

    /// Returns the earliest planned start among all radios.
    #[inline]
    pub fn next(&self) -> Option<Instant> {
        Some(self.starts.first()).filter(|&at| at != Instant::NEVER)
    }

    /// Returns the first radio at or after number `from` that is planned to start at `now`.
    #[inline]
    pub fn next_starting(&self, now: Instant, from: usize) -> Option<usize> {
        self.starts.next_due(from, now)
    }

    /// Returns true if any radio has a frame to send.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.wanted > 0
    }

    /// Returns the number of frames on the air.
    pub fn on_air(&self) -> u32 {
        self.on_air
    }

    /// Sets whether a radio detects energy that is not a frame. The medium is free for the radio as soon as
    /// the energy ends: no response follows.
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

    /// Returns true if any radio detects such energy.
    pub fn is_energy_detected(&self) -> bool {
        self.energetic > 0
    }

    /// Begins the transmission that the radio planned for `now`. Call this for all radios that start at `now`
    /// before the first frame begins.
    pub fn engage(&mut self, now: Instant, radio: usize) {
        let view = self.view(radio);
        view.engaged = true;
        view.medium.begin(now);
    }

    /// Continues the radio's TXOP at `start`.
    pub fn hold(&mut self, now: Instant, radio: usize, start: Instant) {
        let view = self.view(radio);
        view.engaged = true;
        view.medium.hold(now, start);
    }

    /// Ends the radio's exchange. The radio resumes contention at `idle_from` at the earliest.
    pub fn release(&mut self, now: Instant, radio: usize, idle_from: Instant) {
        let view = self.view(radio);
        view.engaged = false;
        view.quiet_until = view.quiet_until.max(idle_from);
        view.settle(now);
    }

    /// Begins a frame of radio `from`.
    // deviation: waiting radios sense the frame immediately, so only frames that start at the same instant
    // collide, as on a channel without hidden stations - CCA takes up to 4 us, in which other radios may
    // start.
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
        // A sending radio cannot receive.
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
            // deviation: without capture, a receiving radio stays with its frame regardless of the power of
            // later frames; with capture, it switches to any later frame that is strong enough - some radios
            // can do so only during the preamble, or not at all.
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

    /// Returns the stretches in which other frames overlapped with a frame that is about to end, as heard by
    /// radio `at`. Returns `None` if that radio did not receive the frame.
    pub fn received(&mut self, now: Instant, frame: FrameId, at: usize) -> Option<&[(Instant, Instant)]> {
        let view = &mut self.views[at];
        if view.following != Some(frame) {
            return None;
        }
        view.end_noise(now);
        Some(&view.noise)
    }

    /// Ends a frame. `to` is the receiver, with true if it decoded the frame. Other radios that decoded the
    /// frame set their NAV from `reservation`.
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
                        // spec: ieee80211-2016 10.3.2.4 - the later end applies.
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
            // spec: ieee80211-2016 10.3.2.3.7 - EIFS after a frame that was not decoded, until another frame
            // is.
            view.quiet_until = if understood { now } else { now + *eifs_extra };
            view.settle(now);
        }
    }

    /// Returns true if the radio's NAV is zero, so that it may answer an RTS.
    // spec: ieee80211-2016 10.3.2.7.
    pub fn may_answer_rts(&self, now: Instant, radio: usize) -> bool {
        self.views[radio].reserved.until <= now
    }

    /// Resets the NAV of radios that set it from an RTS of radio `by`, which nothing has followed.
    // spec: ieee80211-2016 10.3.2.4 - a NAV set by an RTS may be reset if nothing is received within two
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
