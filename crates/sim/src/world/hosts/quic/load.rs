//! The load of a QUIC connection: a transfer that a client requests or sends, or a page.

use stillair_model::app::Page;
use stillair_model::transport::quic::{Connection, Engine, QuicRole, Stack, StreamId};
use stillair_model::types::{Duration, Instant, QuicTrace, Sink, TraceEvent};

use super::{Hosts, LowerLayers};

/// More than any run sends on a stream, for a transfer without an end; a thousand of them can be added up.
const ENDLESS: u64 = 1 << 50;

/// What is to be sent, and how far it is.
#[derive(Debug)]
pub(in crate::world) struct LoadState {
    pub(in crate::world) job: Job,
    /// When it begins, or the next one does.
    pub(in crate::world) next: Option<Instant>,
    /// When nothing more begins, and what is under way ends.
    pub(in crate::world) stop: Instant,
    /// When the one that is under way began.
    began: Option<Instant>,
    /// The client has asked.
    asked: bool,
    /// The list of the page is there.
    listed: bool,
    /// Sizes of what is to go on streams that the peer does not let be opened yet, the last one first.
    unopened: Vec<u64>,
    /// What is still to be written of the requests.
    asking: Vec<(StreamId, u64)>,
    /// What the other end answers on each stream, and what is still to be written of it.
    answers: Vec<(StreamId, u64)>,
    writing: Vec<(StreamId, u64)>,
    /// Streams that the receiver has not read to their end.
    open: usize,
}

/// What is loaded.
#[derive(Clone, Debug)]
pub(in crate::world) enum Job {
    /// So many bytes over some streams, asked for by so many each, or not asked for.
    Transfer { bytes: Option<u64>, streams: u32, request: Option<u32> },
    /// A page, over and over.
    Page { page: Page, interval: Duration },
}

impl LoadState {
    /// Begins at `start`.
    pub(in crate::world) fn new(job: Job, start: Instant, stop: Instant) -> Self {
        Self {
            job,
            next: Some(start),
            stop,
            began: None,
            asked: false,
            listed: false,
            unopened: Vec::new(),
            asking: Vec::new(),
            answers: Vec::new(),
            writing: Vec::new(),
            open: 0,
        }
    }

    /// When its timer comes: for the next beginning, or for the end of what is under way.
    pub(in crate::world) fn next_timer(&self) -> Option<Instant> {
        match self.next {
            Some(at) => (at < self.stop).then_some(at),
            None => (self.began.is_some() && self.stop != Instant::NEVER).then_some(self.stop),
        }
    }

    /// The timer has come; whether a connection is to be opened. Otherwise the one that is open ends.
    pub(in crate::world) fn on_timer(&mut self, now: Instant) -> bool {
        if self.next.take().is_none() {
            self.began = None;
            return false;
        }
        self.began = Some(now);
        (self.asked, self.listed, self.open) = (false, false, 0);
        self.unopened.clear();
        self.asking.clear();
        self.answers.clear();
        self.writing.clear();
        true
    }

    /// Of a page, since when its load has been under way, if one is.
    pub(in crate::world) fn page_under_way(&self) -> Option<Option<Instant>> {
        matches!(self.job, Job::Page { .. }).then_some(self.began)
    }

    /// Bytes of a request; nothing without one is asked for.
    fn request(&self) -> Option<u32> {
        match &self.job {
            Job::Transfer { request, .. } => *request,
            Job::Page { page, .. } => Some(page.request),
        }
    }

    /// Sizes of what the client wants now.
    fn wants(&self) -> Vec<u64> {
        match &self.job {
            Job::Transfer { bytes, streams, .. } => {
                let n = u64::from(*streams);
                let all = bytes.unwrap_or(ENDLESS * n);
                (0..n).map(|i| all / n + u64::from(i < all % n)).collect()
            }
            Job::Page { page, .. } if !self.listed => vec![u64::from(page.header) + u64::from(page.list)],
            Job::Page { page, .. } => {
                page.objects.iter().map(|&size| u64::from(page.header) + u64::from(size)).collect()
            }
        }
    }

    /// The client wants what comes next.
    fn ask(&mut self, now: Instant, stack: &mut Engine) {
        self.unopened = self.wants();
        self.unopened.reverse();
        self.open(now, stack);
    }

    /// The client opens a stream for each thing that it wants, as far as the peer allows, and asks on it.
    fn open(&mut self, now: Instant, stack: &mut Engine) {
        while let Some(&size) = self.unopened.last()
            && let Some(id) = stack.open()
        {
            self.unopened.pop();
            self.open += 1;
            match self.request() {
                Some(bytes) => {
                    self.asking.push((id, bytes.into()));
                    self.answers.push((id, size));
                }
                None => self.writing.push((id, size)),
            }
        }
        write(&mut self.asking, now, stack);
    }

    /// A load has ended: the next begins an interval after it began, at once if that is over.
    fn ended(&mut self, now: Instant) -> Option<Duration> {
        let began = self.began.take()?;
        match &self.job {
            Job::Transfer { .. } => None,
            Job::Page { interval, .. } => {
                self.next = Some((began + *interval).max(now));
                Some(now - began)
            }
        }
    }
}

/// Writes what the stack takes of what is still to be written on each stream.
fn write(all: &mut Vec<(StreamId, u64)>, now: Instant, stack: &mut Engine) {
    all.retain_mut(|(id, left)| {
        *left -= stack.write(now, *id, *left);
        if *left == 0 {
            stack.finish(now, *id);
        }
        *left > 0
    });
}

impl Hosts {
    /// The applications at one end: the client asks, whoever sends writes, what has come is read.
    pub(super) fn act_quic<S: Sink>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        app: usize,
        at: usize,
        stack: &mut Engine,
    ) {
        let now = below.core.now;
        let quic = self.quic(app);
        let client = quic.ends[at].role == QuicRole::Client;
        let (flow, load) = (quic.flow, &mut quic.load);
        if client && load.began.is_some() && !load.asked && stack.connection() == Connection::Established {
            load.asked = true;
            load.ask(now, stack);
        }
        if client && !(load.unopened.is_empty() && load.asking.is_empty()) {
            load.open(now, stack);
        }
        let (mut read, mut finished) = (0, 0);
        while let Some(id) = stack.next_readable() {
            let got = stack.read(now, id);
            if at == 1 {
                read += got.bytes;
                finished += usize::from(got.finished);
                if got.finished && !client {
                    // It has nothing to answer: until both sides are over, the stream counts among those that
                    // are open.
                    stack.finish(now, id);
                }
            } else if got.finished
                && let Some(asked) = load.answers.iter().position(|(stream, _)| *stream == id)
            {
                // The whole request is there.
                let answer = load.answers.swap_remove(asked);
                load.writing.push(answer);
            }
        }
        if at == 0 && !load.writing.is_empty() {
            write(&mut load.writing, now, stack);
        }
        if read > 0 {
            below.core.tell(&TraceEvent::Read { flow, forth: true, bytes: read as u32 });
        }
        if finished > 0 {
            self.quic_finished(below, app, finished, stack);
        }
    }

    /// The receiver has read some streams to their end.
    fn quic_finished<S: Sink>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        app: usize,
        streams: usize,
        stack: &mut Engine,
    ) {
        let now = below.core.now;
        let quic = self.quic(app);
        let (flow, load) = (quic.flow, &mut quic.load);
        load.open -= streams;
        if load.open > 0 || !load.unopened.is_empty() {
            return;
        }
        if let Job::Page { .. } = load.job
            && !load.listed
        {
            load.listed = true;
            return load.ask(now, stack);
        }
        let took = load.ended(now);
        stack.close(now);
        below.core.tell(&TraceEvent::Quic { flow, what: QuicTrace::Done });
        if let Some(took) = took {
            below.core.tell(&TraceEvent::Loaded { flow, took });
        }
        self.arm_app(below, app);
    }
}
