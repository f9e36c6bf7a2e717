//! Notes on timing: links that never carry a packet, and flows that start together.

use std::collections::BTreeSet;

use stillair_model::types::{Bytes, Duration, Rate};
use stillair_model::wire::WireParams;

use super::notes::FRAME;
use super::{Attachment, Flow, FlowKind, Gap, Role, Scenario};

/// Start of a flow at a station: time, node, and the flow.
type Start<'a> = (Duration, usize, &'a Flow);

/// Maximum time between starts that count as simultaneous: a few exchanges with their backoff.
const TOGETHER: Duration = Duration::from_millis(5);
/// Number of simultaneous stations from which a note is given.
const MANY: f64 = 10.0;

/// Returns the rate of one direction of a link.
fn rate(params: &WireParams) -> Option<Rate> {
    match params {
        WireParams::Access(_, line) => Some(line.rate),
        WireParams::Ethernet(ethernet) => Some(ethernet.rate),
        WireParams::Veth => None,
    }
}

impl Scenario {
    /// Notes on link directions that never carry a packet, and on rates at which a single packet takes longer
    /// than the run.
    pub(super) fn outages(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (n, link) in self.links.iter().enumerate() {
            for way in 0..2 {
                let steps = self.steps.iter().map(|step| &*step.to);
                let rates: Vec<Rate> = core::iter::once(self)
                    .chain(steps)
                    .filter_map(|of| rate(&of.links[n].params[way]))
                    .collect();
                let [from, to] = [way, 1 - way].map(|end| &self.nodes[link.ends[end].node].name);
                let key = format!("link.{}.rate", link.name);
                if !rates.is_empty() && rates.iter().all(|rate| rate.bps() == 0) {
                    notes.push(format!(
                        "{key}: 0 bit/s for the whole run, so {from} never reaches {to}; raise it in a [[step]]"
                    ));
                }
                let takes = |rate: &Rate| rate.time_for(Bytes::new(u64::from(FRAME)));
                let slow = rates.iter().filter(|rate| rate.bps() > 0).min();
                if let Some(slow) = slow.filter(|rate| takes(rate) > self.duration) {
                    notes.push(format!(
                        "{key}: a full frame from {from} to {to} takes {:.1} s at {} bit/s, longer than the run; 0 bit/s is an outage",
                        takes(slow).secs_f64(),
                        slow.bps()
                    ));
                }
            }
        }
        // Both directions of a link usually have the same rate.
        notes.dedup();
        notes
    }

    /// Notes on channels whose stations' flows start together.
    pub(super) fn starts(&self) -> Vec<String> {
        (0..self.channels.len()).filter_map(|channel| self.starts_on(channel)).collect()
    }

    /// Returns true if a node is a station on a channel.
    fn is_station(&self, node: usize, channel: usize) -> bool {
        self.nodes[node].interfaces.iter().any(|interface| {
            matches!(&interface.medium, Attachment::Wifi(wifi) if wifi.channel == channel && matches!(wifi.role, Role::Station(_)))
        })
    }

    fn starts_on(&self, channel: usize) -> Option<String> {
        let is_station: Vec<bool> =
            (0..self.nodes.len()).map(|node| self.is_station(node, channel)).collect();
        // Start, station and flow of each stream.
        let mut starts: Vec<(Duration, usize, &Flow)> = Vec::new();
        for flow in self.flows.iter().filter(|flow| !flow.multicast) {
            for to in &flow.to {
                let ends = [flow.from.node, to.node].into_iter().filter(|node| is_station[*node]);
                starts.extend(ends.map(|node| (flow.start, node, flow)));
            }
        }
        starts.sort_by_key(|(start, ..)| *start);
        let mut worst: Option<(f64, &[Start<'_>])> = None;
        let mut first = 0;
        for last in 0..starts.len() {
            while starts[first].0 + TOGETHER < starts[last].0 {
                first += 1;
            }
            let next = starts.get(last + 1).map(|start| start.0);
            if next.is_some_and(|next| next <= starts[first].0 + TOGETHER) {
                continue;
            }
            let all = &starts[first..=last];
            let crowd = crowd(all);
            if crowd >= MANY && worst.is_none_or(|(most, _)| crowd > most) {
                worst = Some((crowd, all));
            }
        }
        let (crowd, all) = worst?;
        let flow = all[0].2;
        let in_step = all.iter().filter(|(_, _, flow)| is_periodic(flow)).count() * 2 > all.len();
        let spread = Duration::from_millis(100 * all.len() as u64);
        let key = flow.table.map_or_else(|| flow.name.clone(), |table| format!("flow.{table}.start_spread"));
        Some(format!(
            "{key}: about {crowd:.0} stations on channel {} start flows within {} ms of each other at {} s: their requests for Block Ack \
             sessions collide{}, which looks like a lack of capacity; spread the starts over {} s before the end of warm_up, such as \
             start_spread = \"{} ms\"",
            self.channels[channel].name,
            TOGETHER.nanos() / 1_000_000,
            flow.start.secs_f64(),
            if in_step { ", and packets of the same interval stay in step for the whole run" } else { "" },
            spread.secs_f64(),
            spread.nanos() / 1_000_000
        ))
    }
}

/// Returns the expected number of stations that start within [`TOGETHER`] of each other.
fn crowd(starts: &[(Duration, usize, &Flow)]) -> f64 {
    let mut seen = BTreeSet::new();
    let first_of_station = starts.iter().filter(|(_, station, _)| seen.insert(*station));
    let share = |flow: &Flow| (TOGETHER.nanos() as f64 / flow.start_spread.nanos().max(1) as f64).min(1.0);
    first_of_station.map(|(_, _, flow)| share(flow)).sum()
}

/// Returns true if a flow sends at a fixed interval from its start.
fn is_periodic(flow: &Flow) -> bool {
    match &flow.kind {
        FlowKind::Voip { .. } | FlowKind::Video(_) | FlowKind::Ping { .. } | FlowKind::UdpPing { .. } => true,
        FlowKind::Udp { gap, .. } => *gap == Gap::Periodic,
        _ => false,
    }
}
