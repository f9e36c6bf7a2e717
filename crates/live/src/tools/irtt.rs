//! irtt: round-trip times of UDP datagrams.

use serde_json::Value;

use super::OutputError;

/// Requests by number, each with its round-trip time in ms; `None` if the request was lost.
pub fn requests(text: &str) -> Result<Vec<(u64, Option<f64>)>, OutputError> {
    let all: Value =
        serde_json::from_str(text).map_err(|source| OutputError::NotJson { tool: "irtt", source })?;
    let trips = all["round_trips"].as_array().ok_or(OutputError::NoRoundTrips)?;
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
        assert_eq!(requests(text).expect("trips"), [(0, Some(2.5)), (1, None)]);
        assert!(matches!(requests("{}"), Err(OutputError::NoRoundTrips)));
    }
}
