//! Sampled counters of guest kernels: qdiscs, protocols, and Multipath TCP subflows.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::BEFORE;
use crate::guest::{Guest, GuestError};
use crate::plan::Plan;

/// Qdisc counters in the order of the guest's output, under the model's names.
const OF_QDISC: [&str; 7] =
    ["bytes", "packets", "drops", "overlimits", "requeues", "backlog_bytes", "backlog_packets"];
/// Subflow counters in the order of the guest's output.
const OF_PATH: [&str; 4] = ["cwnd", "srtt_ms", "retrans_total", "acked_bytes"];

/// Converts a guest's timestamp to s of the scenario.
fn seconds(word: &str) -> Option<f64> {
    let ns: u64 = word.parse().ok()?;
    Some((ns as f64 - BEFORE as f64) / 1e9)
}

/// Columns as time series by name. Each line has a name, a time, and the columns.
fn series<'a>(
    lines: impl Iterator<Item = (String, &'a str, Vec<&'a str>)>,
    columns: &[&str],
) -> BTreeMap<String, Value> {
    let mut all: BTreeMap<String, Value> = BTreeMap::new();
    for (name, at, words) in lines {
        let values: Vec<f64> = words.iter().filter_map(|word| word.parse().ok()).collect();
        let (Some(t), true) = (seconds(at), values.len() == columns.len()) else { continue };
        let of = all.entry(name).or_insert_with(|| json!({ "t_s": [] }));
        let mut push = |key: &str, value: f64| {
            if of[key].is_null() {
                of[key] = json!([]);
            }
            if let Some(list) = of[key].as_array_mut() {
                list.push(json!(value));
            }
        };
        push("t_s", t);
        columns
            .iter()
            .zip(values)
            .for_each(|(key, value)| push(key, if *key == "srtt_ms" { value / 1e3 } else { value }));
    }
    all
}

/// Subflows of a Multipath TCP connection, by the sender's address.
pub fn paths(said: &str) -> BTreeMap<String, Value> {
    let lines = said.lines().filter_map(|line| {
        let ["m", at, local, rest @ ..] = &line.split(' ').collect::<Vec<_>>()[..] else { return None };
        Some(((*local).to_owned(), *at, rest.to_vec()))
    });
    series(lines, &OF_PATH)
}

/// Adds the guests' samples to the result of a run: `tc` by interface, `nstat` by host.
pub fn put(
    run: &mut Value,
    plan: &Plan,
    guests: &[Guest],
    programs: &[(usize, &str)],
) -> Result<(), GuestError> {
    for &(guest, id) in programs.iter().filter(|(_, id)| id.starts_with("stats-")) {
        let of = &plan.guests[guest];
        let text = guests[guest].said(id)?;
        if id == "stats-nstat" {
            run["nstat"][&of.name] = nstat(&text);
            continue;
        }
        let name = |device: &str| {
            let n: usize = device.strip_prefix("eth")?.parse().ok()?;
            Some(of.interfaces.get(n)?.name.clone())
        };
        let kinds = qdisc_lines(&text, &name).map(|(name, kind, ..)| (name, kind.to_owned()));
        let kinds: BTreeMap<String, String> = kinds.collect();
        let lines = qdisc_lines(&text, &name).map(|(name, _, at, rest)| (name, at, rest));
        for (name, mut one) in series(lines, &OF_QDISC) {
            one["kind"] = json!(kinds[&name]);
            run["tc"][name] = one;
        }
    }
    Ok(())
}

type QdiscLine<'a> = (String, &'a str, &'a str, Vec<&'a str>);

fn qdisc_lines<'a>(
    text: &'a str,
    name: &impl Fn(&str) -> Option<String>,
) -> impl Iterator<Item = QdiscLine<'a>> {
    text.lines().filter_map(move |line| {
        let ["k", at, device, kind, rest @ ..] = &line.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        Some((name(device)?, *kind, *at, rest.to_vec()))
    })
}

/// Counters that changed, each with its times and values from the first change on.
fn nstat(text: &str) -> Value {
    let lines = text.lines().filter_map(|line| {
        let ["n", at, name, value] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
        Some((name.to_owned(), at, vec![value]))
    });
    json!(series(lines, &["value"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_series_by_name() {
        let text = "s 1 2\nm 2500000000 10.0.1.10 12 4500 0 900\nm 2500000000 10.0.2.10 8 20000 1 100\nm 3000000000 10.0.1.10 13 4600 0 1900\n";
        let all = paths(text);
        assert_eq!(all.keys().collect::<Vec<_>>(), ["10.0.1.10", "10.0.2.10"]);
        assert_eq!(all["10.0.1.10"]["t_s"], json!([0.5, 1.0]));
        assert_eq!(all["10.0.1.10"]["acked_bytes"], json!([900.0, 1900.0]));
        assert_eq!(all["10.0.2.10"]["srtt_ms"], json!([20.0]));
        let counters = nstat("n 3000000000 TcpRetransSegs 4\nn 4000000000 TcpRetransSegs 9\nn 4 cut\n");
        assert_eq!(counters, json!({ "TcpRetransSegs": { "t_s": [1.0, 2.0], "value": [4.0, 9.0] } }));
    }
}
