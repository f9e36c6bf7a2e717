//! Options of cake.

use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::cake::{AckFilter, CakeParams, Isolation, Masquerade, Tins};
use stillair_model::types::Rate;
use stillair_scenario_derive::Section;

use super::super::super::description::ValueType;
use super::super::super::units;
use super::super::domain::{Bytes, Choice, Flag, Period, named, quantity};
use super::super::{self as spec, Assign, Key, Object, overhead};
use super::{Context, Discipline};

named!(Tins { Besteffort, Precedence, Diffserv3, Diffserv4, Diffserv8 });
named!(AckFilter { Off, Conservative, Aggressive });
named!(Isolation { Flowblind, Srchost, Dsthost, Hosts, Flows, DualSrchost, DualDsthost, TripleIsolate });

/// Minimum rate: the shaper counts whole bytes per second, and a rate rounded to zero would not shape.
// linux: iproute2 lib/utils_math.c get_rate64, tc/q_cake.c (6.1) - divides bits by eight, rounding down; 0
// means unlimited.
pub struct Bandwidth;
quantity!(Bandwidth: Rate = ValueType::RateFrom("8 bit/s", "one byte per second"), "_bps", units::rate_text;);

/// Options of cake, under the names that `tc` uses.
#[derive(Section, Clone, Debug, Default)]
#[section(params = CakeParams, base = CakeParams::default())]
pub struct Cake {
    /// rate of the shaper
    #[key(to = bandwidth, or = "`unlimited`: the device below sets the rate")]
    pub bandwidth: Key<Bandwidth>,
    /// round-trip time that flows are expected to have: CoDel's interval
    #[key(to = rtt)]
    pub rtt: Key<Period>,
    /// sojourn time that is acceptable
    #[key(to = target, or = "a twentieth of `rtt`")]
    pub target: Key<Period>,
    /// how packets go into tins
    #[key(to = tins)]
    pub tins: Key<Choice<Tins>>,
    /// which packets share a queue, and between whom the rate is shared equally
    #[key(to = isolation)]
    pub isolation: Key<Choice<Isolation>>,
    /// most bytes of truesize
    #[key(to = memlimit, or = "what the rate sends in four times the `rtt`, from 4 MiB to 10240 full packets")]
    pub memlimit: Key<Bytes<4096, { 1 << 30 }>>,
    /// Overhead of a packet on the link.
    #[key(to = framing, or = "`raw`: its Ethernet header is counted")]
    pub link: overhead::Link,
    /// packets of several segments (GSO) are split
    #[key(to = split_gso)]
    pub split_gso: Key<Flag>,
    /// ingress mode: dropped packets also count against the rate, as the link is before this queue
    #[key(to = ingress)]
    pub ingress: Key<Flag>,
    /// the DSCP is cleared once the tin is chosen
    #[key(to = wash)]
    pub wash: Key<Flag>,
    /// ACK filtering: acknowledgements that a newer one makes redundant are dropped; `ack-filter-aggressive`
    /// keeps fewer
    #[key(to = ack_filter)]
    pub ack_filter: Key<Choice<AckFilter>>,
    /// hosts behind NAT are distinguished, at the interface with `masquerade`; without it they count as one
    /// host
    #[key(to = nat, quiet)]
    pub nat: Key<Flag>,
}

impl Cake {
    /// Returns the engine's parameters.
    pub(in super::super::super) fn params(&self) -> CakeParams {
        let mut params = Self::base();
        params.target = CakeParams::target_of(self.rtt.or(params.rtt));
        params.framing = self.link.framing(params.framing);
        self.assign(&mut params);
        params
    }

    /// Returns the resolved scenario's table.
    pub(in super::super::super) fn resolved(params: &CakeParams) -> Object {
        let mut keys = spec::resolved::<Self, _>(params);
        if params.masquerade != Masquerade::Off {
            keys.insert("masquerade".to_owned(), true.into());
        }
        keys
    }
}

impl Discipline for Cake {
    fn config(&self, _: &mut Context<'_>) -> Option<QdiscConfig> {
        Some(QdiscConfig::Cake(self.params()))
    }
}
