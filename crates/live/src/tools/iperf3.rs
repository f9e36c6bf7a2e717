//! iperf3: bulk TCP transfers, and UDP at a rate.

use serde_json::Value;

use super::OutputError;

/// Results for a part of a transfer, from the server's JSON.
#[derive(Clone, PartialEq, Debug)]
pub struct Transfer {
    /// Payload received in Mbit/s.
    pub mbps: f64,
    /// Datagrams received and lost, for UDP.
    pub datagrams: Option<(u64, u64)>,
}

/// Parses a server's JSON. `from` and `until` are in s from the start of the transfer.
pub fn transfer(text: &str, from: f64, until: f64) -> Result<Transfer, OutputError> {
    let all: Value = serde_json::from_str(text.trim())
        .map_err(|source| OutputError::NotJson { tool: "iperf3", source })?;
    if let Some(why) = all["error"].as_str().filter(|_| all["intervals"].as_array().is_none_or(Vec::is_empty))
    {
        return Err(OutputError::Iperf3(why.to_owned()));
    }
    let (mut bytes, mut seconds, mut got, mut lost, mut udp) = (0.0, 0.0, 0, 0, false);
    for interval in all["intervals"].as_array().into_iter().flatten() {
        let sum = &interval["sum"];
        let number = |key: &str| sum[key].as_f64();
        let (Some(start), Some(end), Some(part)) = (number("start"), number("end"), number("bytes")) else {
            continue;
        };
        // Only whole intervals: an interval across an edge belongs to neither side.
        const EDGE: f64 = 0.01;
        if start < from - EDGE || end > until + EDGE {
            continue;
        }
        bytes += part;
        seconds += end - start;
        if let (Some(packets), Some(missed)) = (sum["packets"].as_i64(), sum["lost_packets"].as_i64()) {
            udp = true;
            // A late datagram reduces the loss count.
            got += packets - missed;
            lost += missed;
        }
    }
    if seconds <= 0.0 {
        return Err(OutputError::NoInterval { from, until });
    }
    let datagrams = udp.then(|| (got.max(0) as u64, lost.max(0) as u64));
    Ok(Transfer { mbps: bytes * 8.0 / 1e6 / seconds, datagrams })
}

/// Segments retransmitted by the client over the whole transfer.
pub fn retransmissions(text: &str) -> Option<u64> {
    let all: Value = serde_json::from_str(text.trim()).ok()?;
    all["end"]["sum_sent"]["retransmits"].as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(parts: &[(f64, f64, u64)]) -> String {
        let one = |&(start, end, bytes): &(f64, f64, u64)| {
            format!("{{\"streams\":[],\"sum\":{{\"start\":{start},\"end\":{end},\"bytes\":{bytes}}}}}")
        };
        let all: Vec<String> = parts.iter().map(one).collect();
        format!("{{\"start\":{{}},\"intervals\":[{}],\"end\":{{}}}}", all.join(","))
    }

    #[test]
    fn only_whole_intervals_in_the_measured_time_count() {
        let text =
            output(&[(0.0, 0.5, 1), (0.5, 1.0003, 1_000_000), (1.0003, 1.5, 2_000_000), (1.5, 2.0, 1)]);
        let found = transfer(&text, 0.5, 1.5).expect("two of them");
        assert!((found.mbps - 24.0).abs() < 0.01, "{found:?}");
        assert_eq!(found.datagrams, None);
        let none = transfer(&text, 3.0, 4.0).expect_err("no interval").to_string();
        assert!(none.contains("no interval from 3.0 s to 4.0 s"), "{none}");
    }

    #[test]
    fn a_tool_error_is_reported() {
        let says = transfer("{\"start\":{},\"intervals\":[],\"error\":\"unable to connect\"}", 0.0, 1.0);
        assert_eq!(says.expect_err("it failed").to_string(), "iperf3: unable to connect");
        let says = transfer("bash: iperf3: not found", 0.0, 1.0);
        assert!(says.is_err_and(|why| why.to_string().contains("its output is not JSON")));
    }
}
