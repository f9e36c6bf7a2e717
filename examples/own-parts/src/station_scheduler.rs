//! A station scheduler: the station with the least recent airtime goes first.

use stillair_cli::model::types::{Ac, Duration, Instant};
use stillair_cli::model::wifi::driver::{AirtimeUse, DeviceView, StationScheduler};
use stillair_cli::model::wifi::tx::transmitter::{Attempt, TIDS, TidIndex};

/// The scheduler.
#[derive(Debug)]
pub struct LeastUsed {
    memory: Duration,
    /// By peer: airtime used, halved after each `memory`.
    used: Vec<Duration>,
    /// Time of the last halving.
    halved: Instant,
    /// By TID index: may have frames.
    listed: Vec<bool>,
    /// By TID index: was selected in this round and could send nothing.
    tried: Vec<bool>,
}

impl LeastUsed {
    pub fn new(memory: Duration, peers: usize) -> Self {
        let (listed, tried) = (vec![false; peers * TIDS], vec![false; peers * TIDS]);
        Self { memory, used: vec![Duration::ZERO; peers], halved: Instant::ZERO, listed, tried }
    }
}

impl StationScheduler for LeastUsed {
    fn schedule(&mut self, _now: Instant, tid: TidIndex) {
        self.listed[tid.index()] = true;
    }

    fn charge(&mut self, now: Instant, tid: TidIndex, used: Duration, _kind: AirtimeUse) {
        let halvings = (now - self.halved) / self.memory;
        if halvings > 0 {
            self.used.iter_mut().for_each(|used| *used = *used / (1 << halvings.min(62)));
            self.halved += self.memory * halvings;
        }
        self.used[tid.peer().index()] += used;
    }

    fn start(&mut self, _ac: Ac) {
        self.tried.fill(false);
    }

    fn next(&mut self, _now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex> {
        let all = (0..self.listed.len()).map(|n| TidIndex(n as u32)).filter(|tid| tid.ac() == ac);
        let ready = all.filter(|tid| {
            let n = tid.index();
            self.listed[n] && !self.tried[n] && view.has_frames(*tid)
        });
        ready.min_by_key(|tid| self.used[tid.peer().index()])
    }

    fn done(&mut self, _now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool {
        self.listed[tid.index()] = view.has_frames(tid);
        self.tried[tid.index()] = attempt == Attempt::Nothing;
        attempt != Attempt::Full
    }
}
