//! The options of cake.

use stillair_model::qdisc::cake::{AckFilter, CakeParams, Isolation, Tins};

use super::super::super::contract::{Form, Key};
use super::super::super::error::Fault;
use super::super::super::reader::Section;
use super::super::overhead;

const TINS: [(&str, Tins); 5] = [
    (Tins::Besteffort.name(), Tins::Besteffort),
    (Tins::Precedence.name(), Tins::Precedence),
    (Tins::Diffserv3.name(), Tins::Diffserv3),
    (Tins::Diffserv4.name(), Tins::Diffserv4),
    (Tins::Diffserv8.name(), Tins::Diffserv8),
];

const ACK_FILTERS: [(&str, AckFilter); 3] = [
    (AckFilter::Off.name(), AckFilter::Off),
    (AckFilter::Conservative.name(), AckFilter::Conservative),
    (AckFilter::Aggressive.name(), AckFilter::Aggressive),
];

const ISOLATION: [(&str, Isolation); 8] = [
    (Isolation::Flowblind.name(), Isolation::Flowblind),
    (Isolation::Srchost.name(), Isolation::Srchost),
    (Isolation::Dsthost.name(), Isolation::Dsthost),
    (Isolation::Hosts.name(), Isolation::Hosts),
    (Isolation::Flows.name(), Isolation::Flows),
    (Isolation::DualSrchost.name(), Isolation::DualSrchost),
    (Isolation::DualDsthost.name(), Isolation::DualDsthost),
    (Isolation::TripleIsolate.name(), Isolation::TripleIsolate),
];

const fn names<T, const N: usize>(pairs: &'static [(&'static str, T); N]) -> [&'static str; N] {
    let mut out = [""; N];
    let mut n = 0;
    while n < N {
        out[n] = pairs[n].0;
        n += 1;
    }
    out
}

/// The shaper counts bytes per second: of less nothing would be left, and nothing shaped.
// linux: iproute2 lib/utils.c get_rate64 (6.1) - an eighth of the bits, rounded down, where 0 means unlimited (recalled).
const BANDWIDTH: Form = Form::RateFrom("8 bit/s", "one byte per second");

/// What a packet costs on the link.
const LINK: [Key; 3] = overhead::keys("`raw`: its Ethernet header is counted");

pub(super) const OPTIONS: &[Key] = &[
    Key::open("bandwidth", BANDWIDTH, "`unlimited`: the device below sets the rate", "rate of the shaper"),
    Key::or(
        "rtt",
        Form::Period,
        "100 ms",
        "round-trip time that flows are expected to have: CoDel's interval",
    ),
    Key::open("target", Form::Period, "a twentieth of `rtt`", "sojourn time that is acceptable"),
    Key::or("tins", Form::Choice(&names(&TINS)), "diffserv3", "how packets go into tins"),
    Key::or(
        "isolation",
        Form::Choice(&names(&ISOLATION)),
        "triple-isolate",
        "which packets share a queue, and between whom the rate is shared equally",
    ),
    Key::open(
        "memlimit",
        Form::Bytes(4096, 1 << 30),
        "what the rate sends in four times the `rtt`, from 4 MiB to 10240 full packets",
        "most bytes of truesize",
    ),
    LINK[0],
    LINK[1],
    LINK[2],
    Key::or("split_gso", Form::Boolean, "true", "packets of several segments (GSO) are split"),
    Key::or(
        "ingress",
        Form::Boolean,
        "false",
        "ingress mode: dropped packets also count against the rate, as the link is before this queue",
    ),
    Key::or("wash", Form::Boolean, "false", "the DSCP is cleared once the tin is chosen"),
    Key::or(
        "ack_filter",
        Form::Choice(&names(&ACK_FILTERS)),
        "no-ack-filter",
        "ACK filtering: acknowledgements that a newer one makes redundant are dropped; `ack-filter-aggressive` keeps fewer",
    ),
    Key::or(
        "nat",
        Form::Boolean,
        "false",
        "hosts behind NAT are distinguished, at the interface with `masquerade`; without it they count as one host",
    ),
];

/// Reads the options.
pub(super) fn read(section: Option<&mut Section<'_>>) -> Result<CakeParams, Fault> {
    let mut p = CakeParams::default();
    let Some(section) = section else { return Ok(p) };
    p.bandwidth = section.find("bandwidth")?;
    p.rtt = section.or("rtt", p.rtt)?;
    p.target = section.or("target", CakeParams::target_of(p.rtt))?;
    p.tins = section.or_by("tins", p.tins, |field| field.choice(&TINS))?;
    p.isolation = section.or_by("isolation", p.isolation, |field| field.choice(&ISOLATION))?;
    p.memlimit = section.find("memlimit")?;
    p.framing = overhead::read(section, p.framing)?;
    p.split_gso = section.or("split_gso", p.split_gso)?;
    p.ingress = section.or("ingress", p.ingress)?;
    p.wash = section.or("wash", p.wash)?;
    p.nat = section.or("nat", p.nat)?;
    p.ack_filter = section.or_by("ack_filter", p.ack_filter, |field| field.choice(&ACK_FILTERS))?;
    Ok(p)
}
