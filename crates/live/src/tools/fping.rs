//! fping: ICMP echo at an interval.

/// Requests by number, each with its round-trip time in ms; `None` if the request timed out.
///
/// A line is `HOST : [7], 64 bytes, 1.23 ms (1.20 avg, 0% loss)` or `HOST : [8], timed out (1.20 avg, 12%
/// loss)`.
pub fn requests(text: &str) -> Vec<(u64, Option<f64>)> {
    let one = |line: &str| {
        let (_, rest) = line.split_once(": [")?;
        let (number, rest) = rest.split_once("],")?;
        let number = number.trim().parse().ok()?;
        if rest.trim_start().starts_with("timed out") {
            return Some((number, None));
        }
        let (_, rest) = rest.split_once("bytes, ")?;
        let (ms, _) = rest.split_once(" ms")?;
        Some((number, Some(ms.trim().parse().ok()?)))
    };
    text.lines().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_request() {
        let text = "10.0.0.1 : [0], 64 bytes, 4.29 ms (4.29 avg, 0% loss)\n10.0.0.1 : [1], timed out (4.29 avg, 50% loss)\n\
                    10.0.0.1 : [12], 64 bytes, 120 ms (60 avg, 33% loss)\n\n10.0.0.1 : xmt/rcv/%loss = 3/2/33%, min/avg/max = 4/60/120\n";
        assert_eq!(requests(text), [(0, Some(4.29)), (1, None), (12, Some(120.0))]);
    }
}
