//! The table printed during a run.

use std::fmt::Write;

use stillair_sim::recorder::{Recorder, StationRecord};
use stillair_sim::run::{Records, Session};

use crate::engine::Lateness;
use crate::plan::Plan;

/// Counters at the previous table, from which rates are computed.
#[derive(Debug, Default)]
pub struct Table {
    at: u64,
    bytes: Vec<[u64; 2]>,
    stations: Vec<StationRecord>,
}

impl Table {
    /// The current table: one line per live host, with rates since the previous table.
    pub fn text<S: Records>(
        &mut self,
        session: &Session<'_, S>,
        plan: &Plan,
        late: &Lateness,
        now: u64,
    ) -> String {
        let seen = session.seen();
        let names: Vec<String> = plan.hosts.iter().map(|host| host.name.clone()).collect();
        let hosts = seen.hosts.summaries(&names);
        let seconds = ((now - self.at) as f64 / 1e9).max(1e-3);
        let late = late.summary(u64::MAX, u64::MAX);
        let [p50, p99] = [late.p50_us, late.p99_us].map(|us| us.unwrap_or(0.0));
        let mut text = format!(
            "{:.0} s; late {p50:.0} us (median), {p99:.0} us (p99), {:.0} us (max)\n",
            now as f64 / 1e9,
            late.max_us
        );
        if now < seen.measured.start.nanos() {
            let _ = writeln!(text, "warming up until {} s", seen.measured.start.nanos() as f64 / 1e9);
        }
        text += "host               to Mbit/s  from Mbit/s  airtime  frames/PPDU  queued  delay p50/p99 ms\n";
        let backlogs: Vec<u32> =
            session.books().backlogs().map(|layers| layers.iter().map(|l| l.packets).sum()).collect();
        let mut bytes = Vec::new();
        for (n, host) in plan.hosts.iter().enumerate() {
            let Some(summary) = hosts.get(&host.name) else { continue };
            let now = [summary.to.bytes, summary.from.bytes];
            let before = self.bytes.get(n).copied().unwrap_or_default();
            let [to, from] =
                [0, 1].map(|way| now[way].saturating_sub(before[way]) as f64 * 8.0 / 1e6 / seconds);
            bytes.push(now);
            let station = session.stations().iter().position(|name| *name == host.name);
            let air =
                station.map_or_else(|| ["-".to_owned(), "-".to_owned()], |n| self.air(seen, n, seconds));
            let delay = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1}"));
            let _ = writeln!(
                text,
                "{:<18} {to:>9.2} {from:>12.2} {:>8} {:>12} {:>7}  {}/{}",
                host.name,
                air[0],
                air[1],
                backlogs.get(host.at.index()).copied().unwrap_or(0),
                delay(summary.to.delay_p50_ms),
                delay(summary.to.delay_p99_ms),
            );
        }
        (self.at, self.bytes, self.stations) = (now, bytes, seen.stations.clone());
        text
    }

    /// Airtime share and frames per PPDU since the previous table.
    fn air(&self, seen: &Recorder, n: usize, seconds: f64) -> [String; 2] {
        let zero = StationRecord::default();
        let (now, before) = (&seen.stations[n], self.stations.get(n).unwrap_or(&zero));
        let sum = |of: &StationRecord| of.airtime.iter().map(|t| t.nanos()).sum::<u64>();
        let airtime = (sum(now) - sum(before)) as f64 / 1e9 / seconds;
        let ppdus = now.ppdus.iter().sum::<u64>() - before.ppdus.iter().sum::<u64>();
        let mpdus = now.mpdus.iter().sum::<u64>() - before.mpdus.iter().sum::<u64>();
        let mean = if ppdus == 0 { "-".to_owned() } else { format!("{:.1}", mpdus as f64 / ppdus as f64) };
        [format!("{:.1} %", airtime * 100.0), mean]
    }
}
