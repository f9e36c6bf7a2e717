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

/// Payload of ping and fping.
pub(in super::super::super) const PING_PAYLOAD: u32 = 56;

/// Payload of irtt as Flent calls it, which asks for no length, so that a packet is irtt's own header: magic
/// and flags 4, token 8, sequence number 4, count and window of received packets 12, four time stamps of 8.
// irtt: packet.go fcaps, defaults.go DefaultLength, DefaultStampAt, DefaultClock (0.9).
// deviation: netperf's UDP_RR, which Flent takes where irtt is missing, sends 1 byte and not at a steady
// interval; a payload of 1 byte is that size.
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
    /// Time between requests, which are for measuring, not for load.
    // linux: iputils ping.c option -i (20221126) - kept as a whole number of milliseconds.
    // deviation: zero, which there means as soon as a reply has come, is no interval; and a server of irtt
    // refuses less than 10 ms unless told otherwise.
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
