//! Metrics of flows and stations, computed only from the trace, and a hash of the whole trace.

mod datagrams;
mod delays;
mod exchanges;
mod flows;
mod hash;
mod hosts;
mod islands;
mod latencies;
mod losses;
mod occupancy;
mod pings;
mod power;
mod quic;
mod rc_stats;
mod responsiveness;
mod series;
mod series_report;
mod sockets;
mod sojourn;
mod summary;
mod voip;
mod walk;
mod xstats;

pub use datagrams::Datagrams;
pub use delays::Delays;
pub use exchanges::{AirNames, Exchanges, ExchangesReport};
pub use flows::{FlowAbout, FlowProtocol, FlowSummary, TcpSummary};
pub use hosts::{HostFlows, HostRecords, HostSummary, HostTraffic, Payload};
pub use islands::{Log, MergedHash, Traced};
pub use latencies::Latencies;
pub use losses::Losses;
pub use occupancy::{Backlog, LAYERS, LayerBacklog, Occupancy, OccupancyReport};
pub use pings::{PingRecord, PingSummary};
pub use power::PowerSummary;
pub use quic::{QuicEnds, QuicRecord, QuicSummary, QuicTraces};
pub use rc_stats::RateSummary;
pub use responsiveness::{ProbeSummary, ResponsivenessSummary};
pub use series::{STEP, Sample, Series};
pub use series_report::{SeriesReport, report};
pub use sockets::SocketSeries;
pub use sojourn::{Cause, Cells, Layer, Sojourn, SojournReport, SojournTimes, SojournWorld};
pub use summary::{AtEnd, Drop, QdiscSummary, RunSummary, StationSummary, WebSummary, summarise};
pub use voip::{VoipRecord, VoipSummary};
pub use walk::{Step, Walk};
pub use xstats::named;

use core::ops::Range;

use stillair_model::app::Due;
use stillair_model::types::{
    Addr, Duration, Instant, PacketKind, PpduKind, PpduTry, Reason, Sink, TraceEvent, UDP_HEADER,
};

use hash::TraceHash;

/// Converts bytes in `seconds` to Mbit/s.
fn mbps(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 * 8.0 / 1e6 / seconds
}

/// Returns the payload of a UDP packet of `len` bytes, counted from the IP header.
#[inline]
const fn payload(len: u32, src: Addr) -> u64 {
    (len - UDP_HEADER - src.ip().header()) as u64
}

/// Direction of a frame, seen from the access point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// To a station.
    Down,
    /// From a station.
    Up,
}

/// Protocol of a ping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// ICMP echo.
    Icmp,
    /// UDP, to a server that returns the datagrams.
    Udp,
}

/// Record of a flow in the measurement interval.
#[derive(Clone, Debug, Default)]
pub struct FlowRecord {
    /// Index of the station at one end of the flow.
    pub station: Option<usize>,
    /// For the first flow of a multicast source: number of flows to its other receivers, which follow.
    /// Packets belong to the first flow until they are on the air.
    pub others: usize,
    /// UDP payload delivered, or bytes read from a TCP stream. Sources that do not block count by due time.
    pub bytes: u64,
    /// Delivered UDP datagrams and VoIP packets that were due in the measurement interval.
    pub packets: u64,
    /// Dropped packets of the flow, in either direction, that were sent or due in the measurement interval.
    pub lost: u64,
    /// Packets counted in `lost` that a member of a multicast group missed on the air.
    pub missed: u64,
    /// Datagrams due in the measurement interval; set at the end of the run.
    pub due: Due,
    /// Additional record of the flow's datagrams, if needed.
    pub datagrams: Option<Box<Datagrams>>,
    /// One-way delays of the data packets. Datagrams skipped by the source count with the time from when they
    /// were due until a newer one arrived.
    pub delays: Delays,
    /// Round-trip times of pings, indexed by [`Protocol`].
    pub rtts: [Latencies; 2],
    /// Request counters, if the flow is a ping.
    pub ping: PingRecord,
    /// Record of the QUIC connection over the whole run, if the flow uses QUIC.
    pub quic: Option<Box<QuicRecord>>,
    /// Page load times, if the flow is a web client.
    pub loads: Latencies,
    /// Record of the call, if the flow is a VoIP call. Boxed, because most flows are not.
    pub voip: Box<VoipRecord>,
}

impl FlowRecord {
    fn reply(&mut self, over: Protocol, seq: u32, after: Duration) {
        self.rtts[over as usize].add(after);
        self.ping.answered(seq);
    }
}

/// Record of a station in the measurement interval. Arrays hold the downlink value first, then the uplink
/// value.
#[derive(Clone, Debug, Default)]
pub struct StationRecord {
    /// Airtime of all data tries to the station and by the station.
    pub airtime: [Duration; 2],
    /// Data PPDUs to and by the station. A retried PPDU counts once.
    pub ppdus: [u64; 2],
    /// MPDUs in these PPDUs.
    pub mpdus: [u64; 2],
    /// Number of A-MPDU tries to and by the station, and the sum of their PHY rates in bit/s.
    pub tries: [(u64, u64); 2],
}

/// Recorder of a run.
#[derive(Debug)]
pub struct Recorder {
    /// Measurement interval. The hash covers the whole run.
    pub measured: Range<Instant>,
    /// Records by flow.
    pub flows: Vec<FlowRecord>,
    /// Records by station, in scenario order.
    pub stations: Vec<StationRecord>,
    /// Records of external hosts.
    pub hosts: HostRecords,
    /// Station and direction that the airtime is charged to, by device and peer.
    pub links: Vec<Vec<(usize, Direction)>>,
    /// Series in steps of 0.2 s, if requested.
    pub series: Option<Series>,
    /// Every exchange in a part of the run, if requested.
    pub exchanges: Option<Exchanges>,
    hash: TraceHash,
}

impl Recorder {
    /// Creates a recorder for flows and stations. `links` holds, by device and peer, the station and
    /// direction that airtime is charged to.
    pub fn new(
        measured: Range<Instant>,
        flows: Vec<FlowRecord>,
        stations: usize,
        links: Vec<Vec<(usize, Direction)>>,
    ) -> Self {
        let stations = vec![StationRecord::default(); stations];
        let (hosts, hash) = (HostRecords::default(), TraceHash::default());
        Self { measured, flows, stations, hosts, links, series: None, exchanges: None, hash }
    }

    /// Returns the hash of the trace so far.
    pub fn trace_hash(&self) -> u64 {
        self.hash.finish()
    }

    /// Records the outcome, after the measurement interval, of requests sent in it.
    fn external(&mut self, what: &TraceEvent) {
        if let TraceEvent::Delivered {
            flow, kind: PacketKind::EchoReply | PacketKind::UdpReply, seq, ..
        } = what
        {
            self.flows[flow.index()].ping.answered(*seq);
        }
    }

    fn ppdu(&mut self, now: Instant, t: &PpduTry) {
        if let Some(exchanges) = &mut self.exchanges {
            exchanges.push(now, t);
        }
        if !matches!(t.kind, PpduKind::Single | PpduKind::Aggregate) {
            return;
        }
        let (station, direction) = self.links[t.dev.index()][t.peer.index()];
        if let Some(series) = &mut self.series {
            series.ppdu(t, station, direction);
        }
        if !self.measured.contains(&now) {
            return;
        }
        let record = &mut self.stations[station];
        record.airtime[direction as usize] += t.airtime;
        if t.kind == PpduKind::Aggregate {
            let (tries, rates) = &mut record.tries[direction as usize];
            *tries += 1;
            *rates += t.rate.bps();
        }
        if t.attempt == 0 {
            record.ppdus[direction as usize] += 1;
            record.mpdus[direction as usize] += u64::from(t.mpdus);
        }
    }
}

impl Sink for Recorder {
    // Inlined, because each caller passes a constant kind of event, which leaves only that arm.
    #[inline(always)]
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        self.hash.add(now, what);
        if let Some(series) = &mut self.series {
            // A copy, so that without series the event need not be in memory.
            let what = *what;
            series.event(now, &what);
        }
        match what {
            TraceEvent::Ppdu(t) => self.ppdu(now, t),
            TraceEvent::Quic { flow, what } => {
                if let Some(quic) = &mut self.flows[flow.index()].quic {
                    quic.event(now, *what);
                }
            }
            // The test keeps its own results.
            TraceEvent::Probed { .. } => {}
            TraceEvent::Delivered {
                flow,
                kind: kind @ (PacketKind::Udp | PacketKind::Voip),
                seq,
                len,
                delay,
                src,
            } => {
                self.datagram(now, *flow, (*kind, *seq, *len), *delay, *src);
            }
            TraceEvent::Dropped { flow, seq, sent, src, reason, .. } => {
                if let Some(quic) = self.flows.get_mut(flow.index()).and_then(|flow| flow.quic.as_mut()) {
                    quic.dropped(*sent, *src);
                }
                self.drops(now, *flow, (*seq, *sent), *reason == Reason::Missed);
            }
            TraceEvent::Skipped { flow, datagrams } => self.skips(now, *flow, *datagrams),
            TraceEvent::Doubled { flow, kind, seq } => self.doubles(*flow, *kind, *seq),
            _ if !self.measured.contains(&now) => self.external(what),
            TraceEvent::Asked { flow, seq } => self.flows[flow.index()].ping.asked(*seq),
            TraceEvent::Delivered { flow, kind: PacketKind::External, len, delay, .. } => {
                self.hosts.delivered(*flow, *len, *delay);
            }
            TraceEvent::Delivered { flow, kind, seq, delay, src, .. } => {
                let record = &mut self.flows[flow.index()];
                match kind {
                    PacketKind::Tcp => record.delays.add(*delay),
                    PacketKind::Quic => {
                        if record.quic.as_ref().is_some_and(|quic| quic.sends_data(*src)) {
                            record.delays.add(*delay);
                        }
                    }
                    PacketKind::EchoReply => record.reply(Protocol::Icmp, *seq, *delay),
                    PacketKind::UdpReply => record.reply(Protocol::Udp, *seq, *delay),
                    PacketKind::Udp
                    | PacketKind::Voip
                    | PacketKind::EchoRequest
                    | PacketKind::UdpRequest
                    | PacketKind::Query
                    | PacketKind::Answer
                    | PacketKind::External => {}
                }
            }
            TraceEvent::Read { flow, bytes, .. } => self.flows[flow.index()].bytes += u64::from(*bytes),
            TraceEvent::Loaded { flow, took } => self.flows[flow.index()].loads.add(*took),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use stillair_model::metrics::jain;
    use stillair_model::types::{
        Ac, Addr, ChannelId, DevId, FlowId, PacketAccount, PeerId, PlaceId, Rate, Reason,
    };
    use stillair_model::wifi::air::account::{AirAccount, AirUse};

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// An access point (device 0) with two stations (devices 1 and 2) and a flow to each, measured from 100
    /// ms on.
    fn recorder() -> Recorder {
        use Direction::{Down, Up};
        let flows = [Some(0), Some(1)].map(|station| FlowRecord { station, ..FlowRecord::default() });
        let links = vec![vec![(0, Down), (1, Down)], vec![(0, Up)], vec![(1, Up)]];
        Recorder::new(ms(100)..ms(2000), flows.to_vec(), 2, links)
    }

    fn delivered(r: &mut Recorder, at: u64, flow: u32, kind: PacketKind, len: u32, delay: u64) {
        let delay = Duration::from_millis(delay);
        r.event(
            ms(at),
            &TraceEvent::Delivered { flow: FlowId(flow), kind, seq: 1, len, delay, src: Addr(0) },
        );
    }

    fn asked(r: &mut Recorder, at: u64, seq: u32) {
        r.event(ms(at), &TraceEvent::Asked { flow: FlowId(1), seq });
    }

    fn sent(r: &mut Recorder, at: u64, (dev, peer): (u16, u16), kind: PpduKind, mpdus: u16, attempt: u8) {
        let t = PpduTry {
            channel: ChannelId(0),
            dev: DevId(dev),
            peer: PeerId(peer),
            ac: Ac::Be,
            kind,
            start: ms(at),
            airtime: Duration::from_micros(500),
            rate: Rate::from_mbps(u64::from(mpdus)),
            mpdus,
            received: mpdus,
            attempt,
            collided: false,
            acknowledged: true,
        };
        r.event(ms(at), &TraceEvent::Ppdu(t));
    }

    fn filled() -> Recorder {
        let mut r = recorder();
        // Nothing counts before the end of the warm-up.
        asked(&mut r, 98, 1);
        delivered(&mut r, 99, 0, PacketKind::Udp, 1028, 1);
        sent(&mut r, 99, (0, 0), PpduKind::Aggregate, 32, 0);
        // The first is due before the interval, so only its payload counts; the last is due in time but
        // arrives after the end.
        for at in [100, 101, 102, 103, 104, 2000] {
            delivered(&mut r, at, 0, PacketKind::Udp, 1028, 1);
        }
        // Two of the dropped packets were due in the measurement interval.
        for (at, sent) in [(99, 98), (105, 99), (105, 101), (2001, 1999)] {
            let (flow, reason, place) = (FlowId(0), Reason::Codel, PlaceId(0));
            r.event(
                ms(at),
                &TraceEvent::Dropped { flow, seq: 9, sent: ms(sent), src: Addr(0), reason, place },
            );
        }
        // The source counts eleven, of which three were neither received nor dropped.
        r.flows[0].due = Due { datagrams: 11, unsent: 1, last: None };
        for seq in 1..4 {
            asked(&mut r, 105, seq);
        }
        delivered(&mut r, 110, 1, PacketKind::EchoRequest, 84, 3);
        delivered(&mut r, 120, 1, PacketKind::EchoReply, 84, 7);
        delivered(&mut r, 130, 1, PacketKind::EchoReply, 84, 5);
        // UDP pings are separate, and not goodput.
        delivered(&mut r, 131, 1, PacketKind::UdpReply, 88, 9);
        // Two tries of one aggregate: its airtime counts twice, its frames once.
        sent(&mut r, 140, (0, 0), PpduKind::Aggregate, 8, 0);
        sent(&mut r, 141, (0, 0), PpduKind::Aggregate, 8, 1);
        sent(&mut r, 142, (0, 0), PpduKind::Single, 1, 0);
        sent(&mut r, 143, (2, 0), PpduKind::Single, 1, 0);
        // Management frames and beacons are charged to no station.
        sent(&mut r, 144, (0, 1), PpduKind::Management, 0, 0);
        sent(&mut r, 145, (0, 0), PpduKind::Beacon, 0, 0);
        sent(&mut r, 146, (0, 0), PpduKind::Bar, 0, 0);
        // Nothing counts after the end.
        sent(&mut r, 2000, (0, 0), PpduKind::Aggregate, 32, 0);
        r
    }

    #[test]
    fn flows_and_stations_after_the_warm_up() {
        let r = filled();
        assert_eq!(
            r.flows.iter().map(|f| (f.bytes, f.rtts.each_ref().map(Latencies::count))).collect::<Vec<_>>(),
            [(5_000, [0, 0]), (0, [2, 1])]
        );
        let station = |s: &StationRecord| (s.airtime.map(|d| d.nanos() / 1000), s.ppdus, s.mpdus);
        assert_eq!(station(&r.stations[0]), ([1500, 0], [2, 0], [9, 0]));
        assert_eq!(station(&r.stations[1]), ([0, 500], [0, 1], [0, 1]));
        // Only A-MPDUs, each try: two at 8 Mbit/s.
        assert_eq!((r.stations[0].tries, r.stations[1].tries), ([(2, 16_000_000), (0, 0)], [(0, 0); 2]));
        assert_ne!(r.trace_hash(), recorder().trace_hash());
    }

    #[test]
    fn summary_of_a_recorded_run() {
        let mut account =
            PacketAccount { created: 20, delivered: 8, consumed: 2, merged: 0, dropped: vec![] };
        account.dropped = vec![[0; Reason::COUNT]; 2];
        account.dropped[1][Reason::Codel as usize] = 3;
        account.dropped[1][Reason::RetryLimit as usize] = 4;
        let mut air = AirAccount::default();
        air.book(AirUse::Idle, ms(1));
        air.book(AirUse::Data, ms(3));
        let names = |names: [&str; 2]| names.map(str::to_owned);
        let places = names(["x", "y"]);
        let about =
            [("udp-0.a", Some(FlowProtocol::Udp)), ("ping-1.b", None)].map(|(name, protocol)| FlowAbout {
                name: name.to_owned(),
                ends: names(["ap", &name[6..]]),
                protocol,
                pings: protocol.is_none(),
                skips: false,
            });
        let end = AtEnd {
            hosts: (&[], &Payload::default()),
            packets: (&account, 3),
            air: vec![("wifi".to_owned(), &air)],
            qdiscs: BTreeMap::new(),
            rc_stats: BTreeMap::new(),
            losses: BTreeMap::new(),
            power: BTreeMap::new(),
            tcp: Vec::new(),
            quic: (Vec::new(), ms(2000)),
            flows: &about,
            under_way: Vec::new(),
            tests: Vec::new(),
        };
        let mut recorder = filled();
        // A station without traffic does not count in Jain's index; a station whose traffic never got through
        // does.
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        recorder.stations.extend([StationRecord::default(), StationRecord::default()]);
        recorder.flows.push(FlowRecord { station: Some(3), lost: 9, ..FlowRecord::default() });
        let payload = Payload { by_host: vec![125_000], total: 125_000 };
        let external = names(&["d"]);
        let end = AtEnd { hosts: (&external, &payload), ..end };
        let s =
            summarise((7, 3), &recorder, Duration::from_secs(1), &names(&["a", "b", "c", "d"]), &places, end);
        assert_eq!((s.seed, s.run), (7, 3));
        // 5,000 bytes in a second.
        assert_eq!((s.goodput_total_mbps, s.jain_airtime), (1.04, jain(&[1500.0, 500.0, 0.0])));
        // An external host's payload counts as goodput of its station.
        assert_eq!((s.stations["c"].goodput_mbps, s.stations["d"].goodput_mbps), (0.0, 1.0));
        let a = &s.stations["a"];
        assert_eq!((a.goodput_mbps, a.airtime_share, a.mean_aggregate), (0.04, Some(0.75), Some(4.5)));
        assert_eq!((a.mean_aggregate_up, a.ping_median_ms, a.airtime_tx_us), (None, None, 1500.0));
        let b = &s.stations["b"];
        assert_eq!((b.goodput_mbps, b.airtime_share, b.mean_aggregate), (0.0, Some(0.25), Some(1.0)));
        assert_eq!((b.mean_aggregate_up, b.ping_median_ms, b.airtime_rx_us), (Some(1.0), Some(6.0), 500.0));
        assert_eq!((b.ping_mean_ms, a.ping_mean_ms, a.mean_rate_up_mbps), (Some(6.0), None, None));
        assert_eq!((b.udp_ping_median_ms, b.udp_ping_p95_ms), (Some(9.0), Some(9.0)));
        // Three requests after the warm-up. The replies of this test all have the same number, so two are
        // copies.
        let ping = &s.pings["ping-1.b"];
        assert_eq!((ping.sent, ping.received, ping.lost, ping.loss), (3, 1, 0, Some(0.0)));
        assert_eq!((ping.replies, ping.median_ms, s.pings.len()), (3, Some(7.0), 1));
        let drops: Vec<_> = s.drops.iter().map(|d| (d.place.as_str(), d.reason, d.packets)).collect();
        assert_eq!(drops, [("y", "codel", 3), ("y", "retry_limit", 4)]);
        assert_eq!((s.air["wifi"]["idle_us"], s.air["wifi"]["data_us"]), (1000.0, 2000.0));
        assert_eq!((s.packets.dropped, s.packets.inside), (7, 3));
        // Lost datagrams do not make the flow a call.
        assert!(s.voip.is_empty() && s.mos.is_none());
        let flow = &s.flows["udp-0.a"];
        assert_eq!((s.flows.len(), flow.from.as_str(), flow.to.as_str()), (1, "ap", "a"));
        assert_eq!(
            (flow.goodput_mbps, flow.packets, flow.lost, flow.loss),
            (0.04, Some(5), Some(3), Some(3.0 / 11.0))
        );
        assert_eq!((flow.due, flow.unsent, flow.skipped, flow.under_way), (Some(11), Some(1), None, Some(3)));
        assert!((flow.delay_p99_ms.expect("packets") - 1.0).abs() < 0.01 && flow.tcp.is_none());
    }
}
