//! Resources that packets wait for (channels, wires and access lines), and the packets that each served over
//! time.

use stillair_model::types::ChannelUse;

use super::cells::{Cause, Few, Layer};
use super::track::{KINDS, Share, Sums, Track};

/// Station number of packets without a station.
pub(super) const NOBODY: u32 = u32::MAX;

/// Kinds of a [`Track`] that correspond to one cause.
const CAUSES: [(usize, Cause); KINDS - 2] = [
    (1, Cause::Backoff),
    (3, Cause::SlowRate),
    (4, Cause::Failed),
    (5, Cause::Management),
    (6, Cause::Neighbour),
    (7, Cause::Noise),
];
/// The resource was idle.
pub(super) const IDLE: u8 = 0;
/// The resource served packets.
pub(super) const SERVES: u8 = 2;

/// Returns the track kind of a channel use.
pub(super) const fn kind(what: ChannelUse) -> u8 {
    match what {
        ChannelUse::Idle => IDLE,
        ChannelUse::Wanted => 1,
        ChannelUse::Serves => SERVES,
        ChannelUse::Slow => 3,
        ChannelUse::Failed => 4,
        ChannelUse::Management => 5,
        ChannelUse::Neighbour => 6,
        ChannelUse::Noise => 7,
    }
}

/// Owner of a packet, which distinguishes the causes `Own`, `Station` and `Others`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Whose {
    pub(super) flow: u32,
    /// Station number, or [`NOBODY`].
    pub(super) station: u32,
}

/// A resource that packets wait for.
#[derive(Clone, Debug, Default)]
pub(super) struct Resource {
    pub(super) track: Track,
    /// Time in which each flow was served, by station; usually only one.
    flows: Vec<Vec<(u32, Share)>>,
    stations: Vec<Share>,
}

impl Resource {
    /// Records that the resource served a station in this interval.
    pub(super) fn serves_station(&mut self, station: u32, from: u64, until: u64) {
        if station != NOBODY {
            let at = station as usize;
            if self.stations.len() <= at {
                self.stations.resize(at + 1, Share::default());
            }
            self.stations[at].push(from, until);
        }
    }

    /// Records that the resource served a flow of a station in this interval.
    pub(super) fn serves(&mut self, whose: Whose, from: u64, until: u64) {
        let at = whose.flow as usize;
        if self.flows.len() <= at {
            self.flows.resize(at + 1, Vec::new());
        }
        let shares = &mut self.flows[at];
        match shares.iter_mut().find(|(station, _)| *station == whose.station) {
            Some((_, share)) => share.push(from, until),
            None => {
                let mut share = Share::default();
                share.push(from, until);
                shares.push((whose.station, share));
            }
        }
    }

    fn served(&mut self, whose: Whose, (from, until): (u64, u64), asker: usize) -> (u64, u64) {
        let shares = self.flows.get_mut(whose.flow as usize);
        let own = shares.and_then(|all| all.iter_mut().find(|(station, _)| *station == whose.station));
        let took = |share: &mut Share| share.at(until, asker + 1) - share.at(from, asker);
        let own = own.map_or(0, |(_, share)| took(share));
        match self.stations.get_mut(whose.station as usize) {
            Some(share) if whose.station != NOBODY => (own, took(share) - own),
            _ => (own, 0),
        }
    }

    /// Adds the uses of the resource in an interval to the cells of a layer, as causes of a packet's delay.
    /// Idle time counts as `idle`.
    pub(super) fn causes(
        &mut self,
        whose: Whose,
        (from, until): (u64, u64),
        layer: Layer,
        idle: Cause,
        cells: &mut Few,
    ) {
        // One pair of cursors per layer: qdisc, driver, hardware and contention.
        let asker = 2 * (layer as usize - Layer::Qdisc as usize);
        let (before, after): (Sums, Sums) =
            (self.track.at(from, IDLE, asker), self.track.at(until, IDLE, asker + 1));
        cells.add(layer, idle, after[usize::from(IDLE)] - before[usize::from(IDLE)]);
        for (kind, cause) in CAUSES {
            cells.add(layer, cause, after[kind] - before[kind]);
        }
        let serves = after[usize::from(SERVES)] - before[usize::from(SERVES)];
        if serves > 0 {
            let (own, station) = self.served(whose, (from, until), asker);
            cells.add(layer, Cause::Own, own);
            cells.add(layer, Cause::Station, station);
            cells.add(layer, Cause::Others, serves - own - station);
        }
    }

    /// Discards the planned use after an instant.
    pub(super) fn cut(&mut self, at: u64) {
        self.track.cut(at);
        self.flows.iter_mut().flatten().for_each(|(_, share)| share.cut(at));
        self.stations.iter_mut().for_each(|share| share.cut(at));
    }

    /// Discards records that ended before an instant.
    pub(super) fn forget(&mut self, before: u64) {
        self.track.forget(before);
        self.flows.iter_mut().flatten().for_each(|(_, share)| share.forget(before));
        self.stations.iter_mut().for_each(|share| share.forget(before));
    }
}
