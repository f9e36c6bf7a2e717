//! irtt: round-trip times of UDP datagrams.

use serde_json::Value;

/// The requests by number, each with its round-trip time in ms; `None` if the request was lost.
pub fn requests(text: &str) -> Result<Vec<(u64, Option<f64>)>, String> {
    let all: Value = serde_json::from_str(text).map_err(|e| format!("irtt: its output is no JSON: {e}"))?;
    let trips = all["round_trips"].as_array().ok_or("irtt: its output has no round_trips")?;
    let one =
        |trip: &Value| Some((trip["seqno"].as_u64()?, trip["delay"]["rtt"].as_f64().map(|ns| ns / 1e6)));
    Ok(trips.iter().filter_map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trip_is_a_request() {
        let text = r#"{"round_trips":[{"seqno":0,"lost":"false","delay":{"rtt":2500000}},{"seqno":1,"lost":"true","delay":{}}]}"#;
        assert_eq!(requests(text), Ok(vec![(0, Some(2.5)), (1, None)]));
        assert!(requests("{}").is_err());
    }
}
