//! Calls.

use stillair_model::app::VOIP_INTERVAL;
use stillair_model::vocabulary::Duration;
use stillair_scenario_derive::Section;

use super::super::super::FlowKind;
use super::super::super::contract::Form;
use super::super::super::units;
use super::super::domain::quantity;
use super::super::{Assign as _, Key};
use super::BothWays;

/// A telephone call, in one direction unless `both_ways`: G.711 over RTP, 172 bytes every 20 ms. Packets that find the send buffer full are
/// skipped.
#[derive(Section, Clone, Debug, Default)]
#[section(
    title = "Flow of kind voip",
    kind = "voip",
    common = super::Common,
    params = (Duration,),
    base = (VOIP_INTERVAL,)
)]
pub struct Voip {
    /// Direction of the traffic.
    #[key(group)]
    pub direction: BothWays,
    /// time between packets, and the speech in each: 8 bytes a millisecond and 12 of header; 10 ms is the call of D-ITG, and so of Flent before
    /// 1.2
    #[key(to = 0)]
    pub interval: Key<Speech>,
}

/// Time between the packets of a call.
pub struct Speech;
quantity! {
    Speech: Duration = Form::Times { least: "1 ms", most: Some("180 ms"), why: "what a packet can hold" },
        "_ns", units::duration_text;
}

impl Voip {
    pub(super) fn traffic(&self) -> FlowKind {
        let mut params = Self::base();
        self.assign(&mut params);
        FlowKind::Voip { interval: params.0 }
    }
}
