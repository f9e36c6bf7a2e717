//! Pings over ICMP and UDP.

use stillair_model::types::Duration;
use stillair_scenario_derive::Section;

use super::super::super::FlowKind;
use super::super::super::description::ValueType;
use super::super::super::error::Diagnostics;
use super::super::super::units;
use super::super::Key;
use super::super::domain::{Bytes, quantity};
use super::udp::MAX_PAYLOAD;
use super::{Context, Traffic};

/// Payload of ping and fping in bytes.
pub(in super::super::super) const PING_PAYLOAD: u32 = 56;

/// Payload of irtt as called by Flent, without a length, so that a packet consists of irtt's header: magic
/// and flags 4, token 8, sequence number 4, count and window of received packets 12, four timestamps of 8.
// irtt: packet.go fcaps, defaults.go DefaultLength, DefaultStampAt, DefaultClock (0.9).
// deviation: netperf's UDP_RR, which Flent uses if irtt is missing, sends 1 byte at irregular intervals; set
// a payload of 1 byte for its packet size.
pub(in super::super::super) const UDP_PING_PAYLOAD: u32 = 60;

/// ICMP echo, answered by the receiver.
#[derive(Section, Clone, Debug, Default)]
#[section(
    title = "Flow of kind ping",
    kind = "ping",
    common = super::Common,
    params = (Duration, u32),
    base = (Duration::from_millis(200), PING_PAYLOAD)
)]
pub struct Ping {
    /// time between requests
    #[key(to = 0)]
    pub interval: Key<Interval>,
    /// payload of a request
    #[key(to = 1)]
    pub payload: Key<Bytes<0, MAX_PAYLOAD>>,
}

/// UDP packets at a steady interval, answered by the receiver under their own DSCP (irtt).
#[derive(Section, Clone, Debug, Default)]
#[section(
    title = "Flow of kind udp_ping",
    kind = "udp_ping",
    common = super::Common,
    params = (Duration, u32),
    base = (Duration::from_millis(200), UDP_PING_PAYLOAD)
)]
pub struct UdpPing {
    /// time between packets
    #[key(to = 0)]
    pub interval: Key<Interval>,
    /// payload of a packet
    #[key(to = 1)]
    pub payload: Key<Bytes<0, MAX_PAYLOAD>>,
}

quantity! {
    /// Interval between requests. Pings measure, and are not meant as load.
    // linux: iputils ping.c option -i (20221126) - an integer number of milliseconds.
    // deviation: zero is rejected; ping would send as soon as a reply arrives. An irtt server rejects less
    // than 10 ms by default.
    Interval: Duration = ValueType::Times { least: "1 ms", most: None, why: "what ping can tell apart" }, "_ns", units::duration_text;
}

impl Traffic for Ping {
    fn traffic(&self, _: &Context<'_>, _: &mut Diagnostics) -> Option<FlowKind> {
        let (interval, payload) = self.applied();
        Some(FlowKind::Ping { interval, payload })
    }
}

impl Traffic for UdpPing {
    fn traffic(&self, _: &Context<'_>, _: &mut Diagnostics) -> Option<FlowKind> {
        let (interval, payload) = self.applied();
        Some(FlowKind::UdpPing { interval, payload })
    }
}
