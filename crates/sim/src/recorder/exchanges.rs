//! Every frame exchange in a part of a run, for a timeline.

use serde::Serialize;
use stillair_model::types::{DevId, Instant, PeerId, PpduKind, PpduTry};

use crate::scenario::Stretch;

/// Exchanges that started within a part of a run.
#[derive(Debug)]
pub struct Exchanges {
    from: Instant,
    until: Instant,
    /// Each try, with the end of its exchange.
    tries: Vec<(Instant, PpduTry)>,
}

/// Wi-Fi interfaces of a world, indexed by device number.
#[derive(Debug)]
pub struct AirNames {
    /// Names of the interfaces, such as `ap.wlan0`.
    pub interfaces: Vec<String>,
    /// True for access points.
    pub access_points: Vec<bool>,
    /// Name of each interface's channel.
    pub channels: Vec<String>,
    /// Devices that each interface exchanges frames with, by peer number.
    pub peers: Vec<Vec<DevId>>,
}

/// The exchanges as reported to front ends: columns of equal length, in the order in which the exchanges
/// ended.
#[derive(Clone, Debug, Serialize)]
pub struct ExchangesReport {
    from_ns: u64,
    until_ns: u64,
    /// Names of the Wi-Fi interfaces, indexed by the columns `from` and `to`.
    interfaces: Vec<String>,
    /// True for access points, by interface.
    access_points: Vec<bool>,
    /// Channel of each interface.
    channels: Vec<String>,
    start_ns: Vec<u64>,
    /// Duration of the PPDU without its response.
    airtime_ns: Vec<u64>,
    /// End of the response, or end of the time in which a missing response could have started.
    end_ns: Vec<u64>,
    from: Vec<usize>,
    /// `None` for a beacon.
    to: Vec<Option<usize>>,
    ac: Vec<&'static str>,
    kind: Vec<&'static str>,
    frames: Vec<u16>,
    received: Vec<u16>,
    /// Number of the try, from 0.
    attempt: Vec<u8>,
    collided: Vec<bool>,
    acknowledged: Vec<bool>,
    /// Data rate of the try in bit/s.
    rate_bps: Vec<u64>,
}

impl Exchanges {
    /// Creates an empty record of this part of the run.
    pub fn new(stretch: Stretch) -> Self {
        let at = |since| Instant::ZERO + since;
        Self { from: at(stretch.from), until: at(stretch.until), tries: Vec::new() }
    }

    /// Records a try whose exchange ended at `now`.
    pub fn push(&mut self, now: Instant, t: &PpduTry) {
        if (self.from..self.until).contains(&t.start) {
            self.tries.push((now, *t));
        }
    }

    /// Returns the report, with the interface names of a world.
    pub fn report(&self, names: AirNames) -> ExchangesReport {
        let AirNames { interfaces, access_points, channels, peers } = names;
        let mut r = ExchangesReport {
            from_ns: self.from.nanos(),
            until_ns: self.until.nanos(),
            interfaces,
            access_points,
            channels,
            start_ns: Vec::new(),
            airtime_ns: Vec::new(),
            end_ns: Vec::new(),
            from: Vec::new(),
            to: Vec::new(),
            ac: Vec::new(),
            kind: Vec::new(),
            frames: Vec::new(),
            received: Vec::new(),
            attempt: Vec::new(),
            collided: Vec::new(),
            acknowledged: Vec::new(),
            rate_bps: Vec::new(),
        };
        let peer = |dev: DevId, peer: PeerId| peers[dev.index()][peer.index()].index();
        for (end, t) in &self.tries {
            r.start_ns.push(t.start.nanos());
            r.airtime_ns.push(t.airtime.nanos());
            r.end_ns.push(end.nanos());
            r.from.push(t.dev.index());
            r.to.push((!matches!(t.kind, PpduKind::Beacon | PpduKind::Group)).then(|| peer(t.dev, t.peer)));
            r.ac.push(t.ac.name());
            r.kind.push(kind(t.kind));
            r.frames.push(t.mpdus);
            r.received.push(t.received);
            r.attempt.push(t.attempt);
            r.collided.push(t.collided);
            r.acknowledged.push(t.acknowledged);
            r.rate_bps.push(t.rate.bps());
        }
        r
    }
}

const fn kind(kind: PpduKind) -> &'static str {
    match kind {
        PpduKind::Single => "single",
        PpduKind::Aggregate => "aggregate",
        PpduKind::Bar => "bar",
        PpduKind::Management => "management",
        PpduKind::Beacon => "beacon",
        PpduKind::Group => "group",
    }
}
