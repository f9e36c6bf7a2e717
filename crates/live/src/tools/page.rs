//! Web pages: output of the page loader (`programs/page.py`).

use serde_json::{Value, json};
use stillair_model::app::Page;

use super::OutputError;

/// The JSON description of a page for the page loader.
pub fn as_json(page: &Page) -> String {
    let Page { request, header, list, objects } = page;
    json!({ "request": request, "header": header, "list": list, "objects": objects }).to_string()
}

/// Loads of a page client.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Loads {
    /// Finished loads: start in s since the client started, and duration.
    done: Vec<(f64, f64)>,
    /// Elapsed time of the load in progress at the end.
    under_way: Option<f64>,
}

/// Parses the loader's output. The error is the message that the loader printed.
pub fn loads(text: &str) -> Result<Loads, OutputError> {
    let mut all = Loads::default();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let said: Value = serde_json::from_str(line).map_err(|_| OutputError::Page(line.to_owned()))?;
        match (said["at"].as_f64(), said["took"].as_f64()) {
            (Some(at), Some(took)) => all.done.push((at, took)),
            _ => all.under_way = said["under_way"].as_f64(),
        }
    }
    Ok(all)
}

impl Loads {
    /// Summary of the loads that ended between two times, in s, under the names used in virtual time.
    pub fn summary(&self, from: f64, until: f64) -> Value {
        let ended = self.done.iter().filter(|(at, took)| (from..=until).contains(&(at + took)));
        let mut took: Vec<f64> = ended.map(|(_, took)| *took).collect();
        took.sort_by(f64::total_cmp);
        let part = |p: f64| took.get((p * took.len().saturating_sub(1) as f64).round() as usize);
        let mean = (!took.is_empty()).then(|| took.iter().sum::<f64>() / took.len() as f64);
        json!({
            "loads": took.len(), "mean_s": mean, "median_s": part(0.5), "p95_s": part(0.95), "p99_s": part(0.99),
            "unfinished_s": self.under_way,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_that_end_in_the_measured_time_count() {
        let text = "{\"at\": 0.5, \"took\": 0.4}\n{\"at\": 0.95, \"took\": 0.2}\n{\"at\": 1.5, \"took\": 0.6}\n\
                    {\"at\": 2.9, \"took\": 0.3}\n{\"under_way\": 1.25}\n";
        let found = loads(text).expect("lines of JSON").summary(1.0, 3.0);
        assert_eq!((found["loads"].as_u64(), found["unfinished_s"].as_f64()), (Some(2), Some(1.25)));
        assert_eq!((found["mean_s"].as_f64(), found["p99_s"].as_f64()), (Some(0.4), Some(0.6)));
        let none = Loads::default().summary(0.0, 1.0);
        assert_eq!((none["loads"].as_u64(), none["mean_s"].as_f64()), (Some(0), None));
    }

    #[test]
    fn a_tool_error_is_reported() {
        let says = loads("{\"at\": 0.5, \"took\": 0.4}\nstillair-page: [Errno 111] Connection refused\n");
        let why = says.expect_err("it failed").to_string();
        assert_eq!(why, "stillair-page: [Errno 111] Connection refused");
    }
}
