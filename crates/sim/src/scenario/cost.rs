//! Lower bound on the memory of a run, so that a run that cannot fit is rejected before it starts.

use stillair_model::types::Duration;

use super::{Attachment, FlowKind, Scenario};

/// Bytes per interface: its queues, its device, and for Wi-Fi its association. Measured with 1,000 to 10,000
/// stations (x86-64), rounded down.
const INTERFACE: u64 = 8 << 10;
/// Bytes per flow and receiver, also rounded down.
const FLOW: u64 = 1 << 10;
/// Bytes per pair of radios on a channel with hidden stations.
const PAIR: u64 = 4;
/// Bytes per socket sample.
const SOCKET: u64 = 64;
/// Bytes per sample of one layer of an interface.
const LAYER: u64 = 16;
/// Bytes per step of a flow's series, or per ping reply.
const VALUE: u64 = 8;
/// Time step of a series.
const STEP: Duration = Duration::from_millis(200);

impl Scenario {
    /// Returns the minimum memory of a run in bytes; `series` is true if the run records its series. This is
    /// a lower bound: real runs use up to about ten times as much.
    pub fn least_memory(&self, series: bool) -> u64 {
        let interfaces = self.nodes.iter().map(|node| node.interfaces.len() as u64).sum::<u64>();
        let receivers = |counts: fn(&FlowKind) -> bool| -> u64 {
            self.flows.iter().filter(|flow| counts(&flow.kind)).map(|flow| flow.to.len() as u64).sum()
        };
        let (flows, tcp) = (receivers(|_| true), receivers(|kind| matches!(kind, FlowKind::Tcp { .. })));
        let samples =
            |every: Option<Duration>| every.map_or(0, |every| self.duration.nanos() / every.nanos().max(1));
        let replies = self.flows.iter().map(|flow| match flow.kind {
            FlowKind::Ping { interval, .. } => samples(Some(interval)).saturating_mul(flow.to.len() as u64),
            _ => 0,
        });
        let pairs = (0..self.channels.len()).filter(|&n| !self.channels[n].is_one_medium()).map(|n| {
            let radios = self.nodes.iter().flat_map(|node| &node.interfaces);
            let on = |medium: &Attachment| matches!(medium, Attachment::Wifi(wifi) if wifi.channel == n);
            let radios = radios.filter(|interface| on(&interface.medium)).count() as u64;
            radios.saturating_mul(radios)
        });
        let parts = [
            interfaces.saturating_mul(INTERFACE),
            flows.saturating_mul(FLOW),
            pairs.fold(0_u64, u64::saturating_add).saturating_mul(PAIR),
            samples(self.record.ss).saturating_mul(tcp).saturating_mul(SOCKET),
            samples(self.record.queues).saturating_mul(interfaces).saturating_mul(LAYER),
            replies.fold(0_u64, u64::saturating_add).saturating_mul(VALUE),
            if series { samples(Some(STEP)).saturating_mul(flows).saturating_mul(VALUE) } else { 0 },
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    const TEXT: &str = include_str!("../../tests/scenario/good.toml");

    fn least(sets: &[(&str, &str)], series: bool) -> u64 {
        let sets: Vec<_> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        parse(TEXT, "good.toml", &sets).unwrap_or_else(|e| panic!("{e}")).least_memory(series)
    }

    #[test]
    fn memory_estimate_includes_recordings() {
        let (short, long) = (("duration", "100 s"), ("duration", "1000 s"));
        let plain = least(&[short], false);
        assert!((1 << 14..1 << 24).contains(&plain), "{plain}");
        let queues = |every: &'static str| least(&[short, ("record.queues", every)], false) - plain;
        assert_eq!(queues("1 ms"), 10 * queues("10 ms"));
        assert!(queues("1 ms") >= 100_000 * 4 * super::LAYER, "{}", queues("1 ms"));
        let series = |length| least(&[length], true) - least(&[length], false);
        assert_eq!(series(long), 10 * series(short));
        assert!(series(short) > 0);
    }
}
