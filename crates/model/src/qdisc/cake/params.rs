//! Parameters of cake, by their tc names.

use super::ack_filter::AckFilter;
use crate::types::{Duration, ETHERNET_HEADER, Rate};

/// Addresses hidden from cake by a masquerading (NAT) router.
// linux: net/netfilter/nf_nat_masquerade.c (6.1) - rewrites the source of outgoing packets after routing and
// before the qdisc; incoming packets still carry the router's address when an ifb takes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Masquerade {
    /// No masquerading.
    #[default]
    Off,
    /// Source addresses are hidden: egress.
    Sources,
    /// Destination addresses are hidden: ingress.
    Destinations,
}

/// Priority tins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tins {
    /// One tin.
    Besteffort,
    /// Eight tins, by the upper three bits of the TOS byte (precedence).
    Precedence,
    /// Three tins: bulk, best effort, voice.
    Diffserv3,
    /// Four tins: bulk, best effort, video, voice.
    Diffserv4,
    /// Eight tins, from least effort to network control.
    Diffserv8,
}

/// Flow isolation: which packets share a queue, and between which hosts capacity is shared equally.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isolation {
    /// One queue per tin.
    Flowblind,
    /// One queue per source address.
    Srchost,
    /// One queue per destination address.
    Dsthost,
    /// One queue per pair of source and destination addresses.
    Hosts,
    /// One queue per flow.
    Flows,
    /// One queue per flow, with equal shares for source addresses.
    DualSrchost,
    /// One queue per flow, with equal shares for destination addresses.
    DualDsthost,
    /// One queue per flow. A flow's share is determined by the busier of its two hosts.
    TripleIsolate,
}

impl Isolation {
    /// Name in tc.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flowblind => "flowblind",
            Self::Srchost => "srchost",
            Self::Dsthost => "dsthost",
            Self::Hosts => "hosts",
            Self::Flows => "flows",
            Self::DualSrchost => "dual-srchost",
            Self::DualDsthost => "dual-dsthost",
            Self::TripleIsolate => "triple-isolate",
        }
    }
    /// Returns true if sources get equal shares.
    pub(super) const fn counts_sources(self) -> bool {
        matches!(self, Self::DualSrchost | Self::TripleIsolate)
    }
    /// Returns true if destinations get equal shares.
    pub(super) const fn counts_destinations(self) -> bool {
        matches!(self, Self::DualDsthost | Self::TripleIsolate)
    }
}

impl Tins {
    /// Name in tc.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Besteffort => "besteffort",
            Self::Precedence => "precedence",
            Self::Diffserv3 => "diffserv3",
            Self::Diffserv4 => "diffserv4",
            Self::Diffserv8 => "diffserv8",
        }
    }
}

/// Link-layer cells of the bottleneck link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cells {
    /// No cells (`noatm`).
    None,
    /// ATM cells of 53 bytes with 48 bytes of payload (`atm`).
    Atm,
    /// PTM: 64b/65b encoding (`ptm`).
    Ptm,
}

impl Cells {
    /// Name in tc.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "noatm",
            Self::Atm => "atm",
            Self::Ptm => "ptm",
        }
    }
}

/// Link-layer overhead of a packet on the bottleneck link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framing {
    /// Bytes added to the IP packet. `None` (`raw`): only the Ethernet header counts.
    pub overhead: Option<i16>,
    /// Minimum size of a packet on the link, in bytes.
    pub mpu: u32,
    /// Link-layer cells.
    pub cells: Cells,
}

impl Framing {
    /// tc's default: no overhead compensation.
    pub const RAW: Self = Self { overhead: None, mpu: 0, cells: Cells::None };

    /// Sizes in bytes charged for a packet of `with_header` bytes (including the Ethernet header): at the
    /// network layer, and with all overhead.
    // linux: net/sched/sch_cake.c cake_calc_overhead (6.1) - charges PTM's overhead as one byte per 64
    // started.
    #[inline]
    pub fn sizes(&self, with_header: u32) -> (u32, u32) {
        let (net, added) = match self.overhead {
            Some(overhead) => (with_header - ETHERNET_HEADER, i32::from(overhead)),
            None => (with_header, 0),
        };
        let len = net.saturating_add_signed(added).max(self.mpu);
        let whole = match self.cells {
            Cells::None => len,
            Cells::Atm => len.div_ceil(48) * 53,
            Cells::Ptm => len + len.div_ceil(64),
        };
        (net, whole)
    }
}

/// Parameters, by their tc names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CakeParams {
    /// Rate of the shaper. `None`: `unlimited`.
    pub bandwidth: Option<Rate>,
    /// Priority tins.
    pub tins: Tins,
    /// Flow isolation.
    pub isolation: Isolation,
    /// Expected round-trip time of flows, which is COBALT's interval.
    pub rtt: Duration,
    /// COBALT's target: the acceptable sojourn time.
    pub target: Duration,
    /// Memory limit in bytes of truesize. `None`: computed from the rate.
    pub memlimit: Option<u32>,
    /// Link-layer overhead.
    pub framing: Framing,
    /// Split packets of several segments.
    pub split_gso: bool,
    /// Ingress mode: charge dropped packets to the shaper too, because the bottleneck is upstream.
    pub ingress: bool,
    /// Clear the DSCP. The ECN bits are kept.
    pub wash: bool,
    /// ACK filter.
    pub ack_filter: AckFilter,
    /// Look up connections, to distinguish hosts behind a masquerading router (`nat`).
    pub nat: bool,
    /// Addresses hidden by the router's masquerading.
    pub masquerade: Masquerade,
}

impl CakeParams {
    /// The target that tc sets for `rtt`.
    // linux: iproute2 tc/q_cake.c cake_parse_opt (6.1) - a twentieth, in whole microseconds, at least one.
    pub const fn target_of(rtt: Duration) -> Duration {
        let us = rtt.nanos() / 20_000;
        Duration::from_micros(if us == 0 { 1 } else { us })
    }
}

impl Default for CakeParams {
    // linux: net/sched/sch_cake.c cake_init (6.1).
    fn default() -> Self {
        Self {
            bandwidth: None,
            tins: Tins::Diffserv3,
            isolation: Isolation::TripleIsolate,
            rtt: Duration::from_millis(100),
            target: Duration::from_millis(5),
            memlimit: None,
            framing: Framing::RAW,
            split_gso: true,
            ingress: false,
            wash: false,
            ack_filter: AckFilter::Off,
            nat: false,
            masquerade: Masquerade::Off,
        }
    }
}
