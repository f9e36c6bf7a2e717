//! What cake may be told, under tc's names.

use super::ack_filter::AckFilter;
use crate::vocabulary::{Duration, ETHERNET_HEADER, Rate};

/// Whose addresses are behind the one that a router masquerades with, as cake sees packets.
// linux: net/netfilter/nf_nat_masquerade.c (6.1) - what leaves has the router's address once it is routed, before its discipline; what comes in
// has it still where an ifb takes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Masquerade {
    /// Nobody's.
    #[default]
    Off,
    /// Those of sources: packets leave.
    Sources,
    /// Those of destinations: packets have come in.
    Destinations,
}

/// How packets go into tins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tins {
    /// One tin.
    Besteffort,
    /// Eight, by the upper three bits of the type of service.
    Precedence,
    /// Bulk, best effort, voice.
    Diffserv3,
    /// Bulk, best effort, video, voice.
    Diffserv4,
    /// Eight, from least effort to network control.
    Diffserv8,
}

/// Whose packets share a queue, and between whom turns are fair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isolation {
    /// One queue a tin.
    Flowblind,
    /// A queue for each source.
    Srchost,
    /// A queue for each destination.
    Dsthost,
    /// A queue for each pair of source and destination.
    Hosts,
    /// A queue for each flow.
    Flows,
    /// A queue for each flow, and sources have equal shares.
    DualSrchost,
    /// A queue for each flow, and destinations have equal shares.
    DualDsthost,
    /// A queue for each flow, and a flow's share is that of the busier of its two hosts.
    TripleIsolate,
}

impl Isolation {
    /// Its name.
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
    /// Whether sources have equal shares.
    pub(super) const fn counts_sources(self) -> bool {
        matches!(self, Self::DualSrchost | Self::TripleIsolate)
    }
    /// Whether destinations have equal shares.
    pub(super) const fn counts_destinations(self) -> bool {
        matches!(self, Self::DualDsthost | Self::TripleIsolate)
    }
}

impl Tins {
    /// Its name.
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

/// In what a packet travels on the bottleneck's link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cells {
    /// In one piece (`noatm`).
    None,
    /// In ATM cells of 53 bytes, 48 of them its own (`atm`).
    Atm,
    /// In 64b/65b blocks (`ptm`).
    Ptm,
}

impl Cells {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "noatm",
            Self::Atm => "atm",
            Self::Ptm => "ptm",
        }
    }
}

/// What a packet costs on the bottleneck's link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framing {
    /// Bytes added to the IP packet; without it (`raw`) the Ethernet header counts and nothing else.
    pub overhead: Option<i16>,
    /// Bytes that a packet costs at least.
    pub mpu: u32,
    /// The pieces it is cut into.
    pub cells: Cells,
}

impl Framing {
    /// As tc has it without a word about it.
    pub const RAW: Self = Self { overhead: None, mpu: 0, cells: Cells::None };

    /// Bytes that a packet of so many bytes with its Ethernet header counts as: first on the network layer, then with
    /// everything.
    // linux: net/sched/sch_cake.c cake_calc_overhead (6.1) - PTM's cost is taken as a byte for each 64 begun.
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

/// Parameters, under tc's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CakeParams {
    /// Rate of the shaper, or none (`unlimited`).
    pub bandwidth: Option<Rate>,
    /// How packets go into tins.
    pub tins: Tins,
    /// Whose packets share a queue, and who has equal shares.
    pub isolation: Isolation,
    /// The law's interval: the round-trip time that flows are expected to have.
    pub rtt: Duration,
    /// Sojourn time that is acceptable.
    pub target: Duration,
    /// Most bytes of truesize, if it was set.
    pub memlimit: Option<u32>,
    /// What a packet costs on the link.
    pub framing: Framing,
    /// Packets of several segments are split.
    pub split_gso: bool,
    /// What is dropped counts too: the bottleneck is before this one.
    pub ingress: bool,
    /// The type of service is cleared, but for congestion marks.
    pub wash: bool,
    /// Acknowledgements that newer ones make needless are dropped.
    pub ack_filter: AckFilter,
    /// Hosts behind a masquerading router are told apart (`nat`).
    pub nat: bool,
    /// Whose addresses that router hides.
    pub masquerade: Masquerade,
}

impl CakeParams {
    /// The target that tc gives with an `rtt`.
    // linux: iproute2 tc/q_cake.c cake_parse_opt (6.1) - a twentieth, in whole microseconds, and at least one.
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
