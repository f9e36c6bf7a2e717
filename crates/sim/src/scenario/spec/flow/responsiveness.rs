//! Tests of responsiveness under working conditions.

use stillair_model::app::{Load, ResponsivenessParams};
use stillair_model::types::Duration;
use stillair_scenario_derive::Section;

use super::super::super::FlowKind;
use super::super::super::description::ValueType;
use super::super::super::error::Diagnostics;
use super::super::super::units;
use super::super::Key;
use super::super::domain::{Bytes, Choice, Flag, Int, Percent, named, quantity};
use super::{Context, Traffic};

named!(Load { Down = "down", Up = "up", Both = "both", None = "none" });

/// A client at `from` measures round trips per minute (RPM) against a server at `to`, as `networkQuality` and
/// goresponsiveness do (draft-ietf-ippm-responsiveness-09): it adds TCP connections until they carry no more,
/// and times probes beside them. The test ends when the figure has settled, and at `stop` or the end of the
/// run otherwise.
// spec: draft-ietf-ippm-responsiveness-09 Test Parameters.
#[derive(Section, Clone, Debug, Default)]
#[section(
    title = "Flow of kind responsiveness",
    kind = "responsiveness",
    common = super::Common,
    params = ResponsivenessParams,
    base = DEFAULTS
)]
pub struct Responsiveness {
    /// what is loaded: downloads, uploads, both at once, or nothing (idle)
    #[key(to = load)]
    pub load: Key<Choice<Load>>,
    /// time from one decision to the next (ID). The draft said 1 s up to -08, as goresponsiveness does, and
    /// says 5 s in -09
    #[key(to = interval)]
    pub interval: Key<Decision>,
    /// intervals in a moving average (MAD)
    #[key(to = averaged)]
    pub averaged: Key<Int<2, 100>>,
    /// per cent of the average that its standard deviation may reach when it has settled (SDT)
    #[key(to = tolerance_percent)]
    pub tolerance: Key<Percent<1, 100>>,
    /// load-generating connections at the beginning, in each direction (INP)
    #[key(to = connections[0])]
    pub connections: Key<Int<1, 1_000>>,
    /// connections that each interval adds (INC)
    #[key(to = connections[1])]
    pub connection_step: Key<Int<0, 1_000>>,
    /// most load-generating connections in each direction (MNP)
    #[key(to = connections[2])]
    pub max_connections: Key<Int<1, 1_000>>,
    /// most probes in a second, half of them on new connections, half on loaded ones (MPS)
    #[key(to = probes_per_second)]
    pub probes_per_second: Key<Int<2, 1_000>>,
    /// per cent of the capacity that probes may take (PTC)
    #[key(to = capacity_percent)]
    pub probe_capacity: Key<Percent<1, 100>>,
    /// connections begin with a handshake of TLS 1.3
    #[key(to = tls)]
    pub tls: Key<Flag>,
    /// bytes that wait unsent in a socket of either end when its writer hands it more (TCP_NOTSENT_LOWAT).
    /// Without it a probe on a loaded connection waits for all that the socket's buffer holds. The draft asks
    /// for 5 ms of the connection's rate
    #[key(to = notsent_lowat, or = "what `net.ipv4.tcp_notsent_lowat` says")]
    pub notsent_lowat: Key<Bytes<1, { 1 << 30 }>>,
}

quantity! {
    /// Interval between decisions.
    Decision: Duration = ValueType::Times { least: "100 ms", most: Some("60 s"), why: "each decides once" },
        "_ns", units::duration_text;
}

const DEFAULTS: ResponsivenessParams = ResponsivenessParams {
    load: Load::Down,
    interval: Duration::from_secs(1),
    averaged: 4,
    tolerance_percent: 5,
    connections: [1, 1, 16],
    probes_per_second: 100,
    capacity_percent: 5,
    tls: true,
    notsent_lowat: None,
};

impl Traffic for Responsiveness {
    fn traffic(&self, flow: &Context<'_>, faults: &mut Diagnostics) -> Option<FlowKind> {
        let params = self.applied();
        let [first, _, most] = params.connections;
        let misread =
            matches!(self.connections, Key::Misread(_)) || matches!(self.max_connections, Key::Misread(_));
        if first > most && !misread {
            let found = format!("connections = {first} above max_connections = {most}");
            faults.add(flow.at.found(found, "no more at the beginning than at most"));
        }
        Some(FlowKind::Responsiveness(params))
    }
}
