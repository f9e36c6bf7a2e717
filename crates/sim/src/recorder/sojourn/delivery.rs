//! Packets sent, received and dropped by flow, and the last arrival. Shows how much of a flow is lost and
//! where, and since when nothing has arrived.

use serde::Serialize;
use stillair_model::types::{Instant, PacketKind, PlaceId, Reason};

/// Counters of one flow.
#[derive(Clone, Debug, Default)]
struct Delivery {
    /// Packets sent and received in the measurement interval. A ping counts requests and replies.
    sent: u64,
    received: u64,
    last_sent: Option<Instant>,
    last_received: Option<Instant>,
    /// Packets sent since the last arrival.
    since: u64,
    /// Packets dropped in the measurement interval.
    drops: Vec<(PlaceId, Reason, u64)>,
}

/// Counters by flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Deliveries(Vec<Delivery>);

/// Packets of a flow sent, received and dropped.
#[derive(Clone, Debug, Serialize)]
pub(super) struct DeliveryReport {
    /// Datagrams due, or ping requests sent, in the measurement interval that entered the network. Zero for
    /// TCP and QUIC.
    sent: u64,
    /// Packets, or ping replies, received in the measurement interval; for datagrams, those that were due in
    /// it.
    received: u64,
    /// Time of the last packet sent or skipped, over the whole run.
    last_sent_ns: Option<u64>,
    /// Time of the last arrival, over the whole run.
    last_received_ns: Option<u64>,
    /// Datagrams or requests sent or skipped since the last arrival.
    sent_since: u64,
    /// Dropped packets that were sent, or due, in the measurement interval, by place and reason.
    drops: Vec<DropReport>,
}

/// Packets of a flow dropped at one place for one reason.
#[derive(Clone, Debug, Serialize)]
struct DropReport {
    place: String,
    reason: &'static str,
    packets: u64,
}

impl Deliveries {
    pub(super) fn new(flows: usize) -> Self {
        Self(vec![Delivery::default(); flows])
    }

    /// Records a packet entering the network.
    #[inline]
    pub(super) fn sent(&mut self, now: Instant, flow: usize, kind: PacketKind, measured: bool) {
        if matches!(
            kind,
            PacketKind::Udp | PacketKind::Voip | PacketKind::EchoRequest | PacketKind::UdpRequest
        ) && let Some(of) = self.0.get_mut(flow)
        {
            of.sent += u64::from(measured);
            of.last_sent = Some(now);
            of.since += 1;
        }
    }

    /// Records datagrams that a source skipped because its socket was full.
    pub(super) fn skipped(&mut self, now: Instant, flow: usize, datagrams: u32) {
        if let Some(of) = self.0.get_mut(flow) {
            of.last_sent = Some(now);
            of.since += u64::from(datagrams);
        }
    }

    /// Records a packet delivered to its application.
    #[inline]
    pub(super) fn received(&mut self, now: Instant, flow: usize, kind: PacketKind, measured: bool) {
        if !matches!(kind, PacketKind::EchoRequest | PacketKind::UdpRequest)
            && let Some(of) = self.0.get_mut(flow)
        {
            of.received += u64::from(measured);
            of.last_received = Some(now);
            of.since = 0;
        }
    }

    /// Records a packet dropped in the measurement interval.
    pub(super) fn dropped(&mut self, flow: usize, place: PlaceId, reason: Reason) {
        let Some(of) = self.0.get_mut(flow) else { return };
        match of.drops.iter_mut().find(|(at, why, _)| (*at, *why) == (place, reason)) {
            Some((.., packets)) => *packets += 1,
            None => of.drops.push((place, reason, 1)),
        }
    }

    /// Returns the report of each flow, in flow order. `None` for flows without packets.
    pub(super) fn report(&self, places: &[String]) -> impl Iterator<Item = Option<DeliveryReport>> {
        self.0.iter().map(move |of| {
            let met = of.last_sent.is_some() || of.last_received.is_some() || !of.drops.is_empty();
            let name = |place: PlaceId| places.get(place.index()).cloned().unwrap_or_default();
            let drops = of.drops.iter().map(|&(place, reason, packets)| DropReport {
                place: name(place),
                reason: reason.name(),
                packets,
            });
            met.then(|| DeliveryReport {
                sent: of.sent,
                received: of.received,
                last_sent_ns: of.last_sent.map(Instant::nanos),
                last_received_ns: of.last_received.map(Instant::nanos),
                sent_since: of.since,
                drops: drops.collect(),
            })
        })
    }
}
