//! TCP senders.

use stillair_model::app::GateParams;
use stillair_scenario_derive::Section;

use super::super::super::error::Diagnostics;
use super::super::super::{FlowKind, profile};
use super::super::Key;
use super::super::domain::as_written;
use super::super::domain::{BitRate, Bytes, Period};
use super::{Context, Traffic};

/// Bytes per write of iperf.
// iperf 3: src/iperf.h DEFAULT_TCP_BLKSIZE - 128 KiB by default.
const IPERF_WRITE: u32 = 128 << 10;

/// A TCP sender. Without `rate`, `on` and `off` it is greedy: it writes whenever its socket takes anything.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Flow of kind tcp", kind = "tcp", common = super::Common)]
pub struct Tcp {
    /// its congestion control (TCP_CONGESTION)
    #[key(or = "what the sender's `sysctl` says")]
    pub congestion_control: Key<Control>,
    /// bytes that it sends to each receiver before it closes
    #[key(or = "no limit")]
    pub bytes: Key<Bytes<1, { u32::MAX }>>,
    /// bytes that its application writes at once
    #[key(default = "128 KiB")]
    pub write_size: Key<Bytes<1, { 1 << 30 }>>,
    /// mean rate at which its application writes, `write_size` at a time; what the socket does not take at
    /// once is made up for, as with `iperf3 -b`. With large writes it is a video of segments: 2.5 MB at 5
    /// Mbit/s are one each 4 s
    #[key(or = "as fast as the socket takes it")]
    pub rate: Key<BitRate>,
    /// so long its application writes, from its start on; with `off`
    #[key(or = "always")]
    pub on: Key<Period>,
    /// so long its application is silent after that, before it writes again; with `on`
    #[key(or = "never")]
    pub off: Key<Period>,
}

as_written! {
    /// A congestion control of the kernel, or a user-defined one.
    Control = profile::CONTROL;
}

impl Traffic for Tcp {
    fn traffic(&self, flow: &Context<'_>, faults: &mut Diagnostics) -> Option<FlowKind> {
        let sender = &flow.nodes[flow.from.node].profile;
        let control =
            self.congestion_control.late(flow.parts, |field| profile::controller(field, sender.version));
        let congestion_control =
            control.map_or(Some(sender.congestion_control.clone()), |own| faults.unless(own));
        let on_off = match (&self.on, &self.off) {
            (Key::Absent, Key::Given(..)) | (Key::Given(..), Key::Absent) => {
                faults.add(flow.at.found("one of on and off", "both or neither"));
                None
            }
            (on, off) => on.get().copied().zip(off.get().copied()),
        };
        let rate = self.rate.get().copied();
        Some(FlowKind::Tcp {
            congestion_control: congestion_control?,
            bytes: self.bytes.get().map(|bytes| u64::from(*bytes)),
            write_size: self.write_size.or(IPERF_WRITE),
            gate: (rate.is_some() || on_off.is_some()).then_some(GateParams { rate, on_off }),
        })
    }
}
