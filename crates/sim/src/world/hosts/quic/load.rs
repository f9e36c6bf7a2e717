//! Load of a QUIC connection: a transfer that the client requests or sends, or a web page.

use stillair_model::app::Page;
use stillair_model::transport::quic::{Connection, Engine, QuicRole, Stack, StreamId};
use stillair_model::types::{Duration, Instant, QuicTrace, Sink, TraceEvent};

use super::{Hosts, LowerLayers};

/// Stream length of a transfer without an end: more than any run sends. A thousand of them add up without
/// overflow.
const ENDLESS: u64 = 1 << 50;

/// Progress of a load.
#[derive(Debug)]
pub(in crate::world) struct LoadState {
    pub(in crate::world) job: Job,
    /// Start of the next load.
    pub(in crate::world) next: Option<Instant>,
    /// End of loading: no load starts after it, and the current one is closed.
    pub(in crate::world) stop: Instant,
    /// Start of the current load.
    began: Option<Instant>,
    /// The client has sent its first request.
    asked: bool,
    /// The page's list of objects has arrived.
    listed: bool,
    /// Sizes requested on streams that the peer does not allow to be opened yet, in reverse order.
    unopened: Vec<u64>,
    /// Request bytes left to write, per stream.
    asking: Vec<(StreamId, u64)>,
    /// Answer size of each stream, and bytes of the answer left to write.
    answers: Vec<(StreamId, u64)>,
    writing: Vec<(StreamId, u64)>,
    /// Streams that the receiver has not read to the end.
    open: usize,
}

/// Kind of a load.
#[derive(Clone, Debug)]
pub(in crate::world) enum Job {
    /// `bytes` split over `streams`, each requested with `request` bytes if given.
    Transfer { bytes: Option<u64>, streams: u32, request: Option<u32> },
    /// A page, loaded repeatedly.
    Page { page: Page, interval: Duration },
}

impl LoadState {
    /// Creates a load that starts at `start`.
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

    /// Returns the time of the next start, or of the end of the current load.
    pub(in crate::world) fn next_timer(&self) -> Option<Instant> {
        match self.next {
            Some(at) => (at < self.stop).then_some(at),
            None => (self.began.is_some() && self.stop != Instant::NEVER).then_some(self.stop),
        }
    }

    /// Handles the timer. Returns true if a connection is to be opened; if false, the open connection ends.
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

    /// For a page, returns the start time of the current load, or `Some(None)` between loads.
    pub(in crate::world) fn page_under_way(&self) -> Option<Option<Instant>> {
        matches!(self.job, Job::Page { .. }).then_some(self.began)
    }

    /// Returns the bytes of a request, or `None` if the load needs no request.
    fn request(&self) -> Option<u32> {
        match &self.job {
            Job::Transfer { request, .. } => *request,
            Job::Page { page, .. } => Some(page.request),
        }
    }

    /// Returns the sizes that the client requests now.
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

    /// Makes the client request the next objects.
    fn ask(&mut self, now: Instant, stack: &mut Engine) {
        self.unopened = self.wants();
        self.unopened.reverse();
        self.open(now, stack);
    }

    /// Opens one stream per object, up to the peer's limit, and writes the requests.
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

    /// Ends a load. Returns the duration of a page load and schedules the next one an interval after the
    /// start of this one, or immediately if that has passed.
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

/// Writes as much of each stream's pending data as the stack accepts.
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
    /// Runs the applications at one end: the client requests, the sender writes, and received data is read.
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
                    // No answer is due here, but the stream counts as open until both sides have finished it.
                    stack.finish(now, id);
                }
            } else if got.finished
                && let Some(asked) = load.answers.iter().position(|(stream, _)| *stream == id)
            {
                // The whole request has arrived.
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

    /// Handles streams that the receiver has read to the end.
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
