//! A user-defined station scheduler with checks, so that an error ends the run with a message instead of an
//! endless loop.

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use crate::types::{Ac, Duration, Instant, PeerId};
use crate::wifi::config::SchedulerFactory;
use crate::wifi::stations::{AirtimeUse, DeviceView, StationScheduler};
use crate::wifi::tx::transmitter::{Attempt, TIDS, TidIndex};

/// The scheduler, and the number of consecutive turns of a pass without a PPDU.
#[derive(Debug)]
pub(super) struct Watched {
    name: String,
    inner: Box<dyn StationScheduler + Send>,
    tids: u32,
    in_vain: u32,
}

impl Watched {
    pub(super) fn new(own: &SchedulerFactory, peers: usize) -> Self {
        Self { name: own.name().to_string(), inner: own.make(peers), tids: (peers * TIDS) as u32, in_vain: 0 }
    }

    pub(super) fn into_inner(self) -> Box<dyn StationScheduler + Send> {
        self.inner
    }
}

impl StationScheduler for Watched {
    fn weigh(&mut self, peer: PeerId, weight: u32) {
        self.inner.weigh(peer, weight);
    }
    fn schedule(&mut self, now: Instant, tid: TidIndex) {
        self.inner.schedule(now, tid);
    }
    fn charge(&mut self, now: Instant, tid: TidIndex, used: Duration, kind: AirtimeUse) {
        self.inner.charge(now, tid, used, kind);
    }
    fn start(&mut self, ac: Ac) {
        self.in_vain = 0;
        self.inner.start(ac);
    }
    fn next(&mut self, now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex> {
        let tid = self.inner.next(now, ac, view)?;
        assert!(
            tid.0 < self.tids && tid.ac() == ac,
            "station scheduler {:?}: names identifier {} in a look of {}; the device has {}, each of one category",
            self.name,
            tid.0,
            ac.name(),
            self.tids
        );
        Some(tid)
    }
    fn done(&mut self, now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool {
        self.in_vain = if matches!(attempt, Attempt::Sent) { 0 } else { self.in_vain + 1 };
        assert!(
            self.in_vain <= 4 * self.tids,
            "station scheduler {:?}: has named {} identifiers in a row that could not send, and goes on; a look must end",
            self.name,
            self.in_vain
        );
        self.inner.done(now, tid, attempt, view)
    }
}
