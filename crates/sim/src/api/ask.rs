//! Interface for front ends in other languages: a JSON request in, a response out. Opens no files and starts
//! no threads.

use serde::Deserialize;
use serde_json::{Value, json};
use stillair_model::types::Seed;

use super::{
    ApiError, CaptureRequest, Output, WalkRequest, capture, read_to_run_by, resolve_by, run_reported,
    survey_by, walk_by,
};
use crate::scenario::parts::Parts;
use crate::scenario::{self, Files, Memory, Reader, ScenarioError};

/// A scenario with overrides and files.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Of {
    /// The scenario, as TOML.
    text: String,
    /// Name of the scenario in messages.
    file: String,
    /// Dotted keys and their new values.
    #[serde(default)]
    overrides: Vec<(String, String)>,
    /// Files that the scenario names: name and content.
    #[serde(default)]
    files: Vec<(String, String)>,
    #[serde(default)]
    seed: Option<u64>,
    /// Number of the repetition.
    #[serde(default)]
    run: u32,
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Asked {
    /// The JSON Schema of scenarios.
    Schema,
    /// The survey of a scenario.
    Survey { of: Of },
    /// The scenario with all defaults.
    Resolve { of: Of },
    /// One run, with its series.
    Run { of: Of },
    /// One run as pcapng.
    Capture {
        of: Of,
        #[serde(default)]
        points: Vec<String>,
        #[serde(default)]
        from: Option<String>,
        #[serde(default)]
        until: Option<String>,
    },
    /// The path of one packet.
    Walk { of: Of, flow: String, at: String },
}

/// Handles a request. Request and response are JSON, except that the response to a capture is a pcapng file.
///
/// A request is an object whose `do` is `schema`, `survey`, `resolve`, `run`, `capture` or `walk`. All but
/// `schema` have a scenario `of` with `text` and `file`, `overrides` (pairs of key and value), `files` that
/// the scenario may name (pairs of name and content), `seed` and `run`. An error is an object with `kind`
/// (`request`, `input`, `scenario` or `run`) and `message`. An error of kind `scenario` also has `mistakes`,
/// each with `file`, `line` (from 1, or null), `key`, `found` and `expected`.
pub fn ask(request: &str) -> Result<Vec<u8>, String> {
    let asked = serde_json::from_str(request);
    let asked = asked.map_err(|e| json!({ "kind": "request", "message": e.to_string() }).to_string())?;
    answer(asked).map_err(|error| told(&error).to_string())
}

fn answer(asked: Asked) -> Result<Vec<u8>, ApiError> {
    let of = match asked {
        Asked::Schema => return Ok(scenario::schema().into_bytes()),
        Asked::Survey { ref of }
        | Asked::Resolve { ref of }
        | Asked::Run { ref of }
        | Asked::Capture { ref of, .. }
        | Asked::Walk { ref of, .. } => of,
    };
    let given = of.files.iter().fold(Memory::default(), |files, (name, text)| files.with(name, text));
    let reader = Reader { parts: Parts::none(), files: &given as &dyn Files };
    match asked {
        Asked::Schema => unreachable!("answered above"),
        Asked::Survey { of } => survey_by(&reader, &of.text, &of.file, &of.overrides).map(String::into_bytes),
        Asked::Resolve { of } => {
            resolve_by(&reader, &of.text, &of.file, &of.overrides).map(String::into_bytes)
        }
        Asked::Run { of } => {
            let scenario = read_to_run_by(&reader, &of.text, &of.file, &of.overrides)?;
            let seed = Seed { seed: of.seed.unwrap_or(scenario.seed), run: of.run.into() };
            let report = run_reported(&scenario, seed, true).map_err(ApiError::Run)?;
            Output::new(&scenario, vec![report]).to_json().map(String::into_bytes).map_err(ApiError::Run)
        }
        Asked::Capture { of, points, from, until } => {
            let Of { text, file, overrides, seed, run, .. } = of;
            let (path, window) = ("the capture".to_owned(), (from, until));
            let request = CaptureRequest {
                text,
                file,
                overrides,
                seed,
                run: run.into(),
                part: path.clone(),
                path,
                points,
                window,
                snaplen: 0,
            };
            capture::capture_bytes(&reader, &request)
        }
        Asked::Walk { of, flow, at } => {
            let Of { text, file, overrides, seed, run, .. } = of;
            let request = WalkRequest { text, file, overrides, seed, run: run.into(), flow, at };
            walk_by(&reader, &request).map(String::into_bytes)
        }
    }
}

fn told(error: &ApiError) -> Value {
    match error {
        ApiError::Input(message) => json!({ "kind": "input", "message": message }),
        ApiError::Run(message) => json!({ "kind": "run", "message": message }),
        ApiError::Scenario(first) => {
            let all = core::iter::once(&**first).chain(first.others.iter());
            let mistakes: Vec<Value> = all.map(mistake).collect();
            json!({ "kind": "scenario", "message": first.to_string(), "mistakes": mistakes, "more": first.more })
        }
    }
}

fn mistake(of: &ScenarioError) -> Value {
    let ScenarioError { file, line, key, found, expected, .. } = of;
    json!({ "file": file, "line": line, "key": key, "found": found, "expected": expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("../../tests/scenario/good.toml");

    fn asked(what: &str, more: Value, set: &[(&str, &str)]) -> Result<Vec<u8>, Value> {
        let short = [("duration", "200 ms"), ("warm_up", "0 s")];
        let overrides: Vec<_> = short.iter().chain(set).collect();
        let mut request =
            json!({ "do": what, "of": { "text": TEXT, "file": "good.toml", "overrides": overrides } });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ask(&request.to_string()).map_err(|text| serde_json::from_str(&text).expect("JSON"))
    }

    fn json_of(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).expect("JSON")
    }

    #[test]
    fn a_run_has_its_series_and_its_hash() {
        let text = asked("run", json!({}), &[("record.air", "0 s..100 ms")]).expect("a good scenario");
        let run = &json_of(&text)["runs"][0];
        assert_eq!(run["trace_hash"].as_str().map(str::len), Some(16));
        assert_eq!(run["series"]["steps"], 1);
        let tries = run["exchanges"]["rate_bps"].as_array().expect("rates").len();
        assert!(tries > 10 && tries == run["exchanges"]["start_ns"].as_array().unwrap().len());
    }

    #[test]
    fn capture_equals_the_file() {
        let file = asked("capture", json!({ "points": ["all"] }), &[]).expect("a capture");
        assert_eq!(file[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
        assert!(file.len() > 10_000);
    }

    #[test]
    fn errors_have_lines_and_bad_requests_have_messages() {
        let error = asked("survey", json!({}), &[("duration", "soon")]).unwrap_err();
        assert_eq!((&error["kind"], &error["mistakes"][0]["key"]), (&json!("scenario"), &json!("duration")));
        let error = ask(r#"{"do":"resolve","of":{"text":"\nname = 1","file":"x.toml"}}"#).unwrap_err();
        let mistakes = json_of(error.as_bytes())["mistakes"].clone();
        assert_eq!(
            (&mistakes[0]["key"], &mistakes[0]["line"]),
            (&json!("node"), &json!(1)),
            "which is missing"
        );
        assert_eq!((&mistakes[1]["key"], &mistakes[1]["line"]), (&json!("name"), &json!(2)));
        let error = json_of(ask(r#"{"do":"fly"}"#).unwrap_err().as_bytes());
        assert!(error["message"].as_str().unwrap().contains("unknown variant `fly`"), "{error}");
        assert!(json_of(&ask(r#"{"do":"schema"}"#).unwrap())["properties"].is_object());
    }

    #[test]
    fn a_packet_is_followed_from_its_sender_to_its_end() {
        let survey = json_of(&asked("survey", json!({}), &[]).unwrap());
        let flow = &survey["flows"][0];
        let name = format!("{}.{}", flow["name"].as_str().unwrap(), flow["to"][0].as_str().unwrap());
        let walk = json_of(&asked("walk", json!({ "flow": name, "at": "100 ms" }), &[]).unwrap());
        let steps = walk["steps"].as_array().unwrap();
        let what: Vec<&str> = steps.iter().map(|step| step["what"].as_str().unwrap()).collect();
        assert_eq!(what[..2], ["created", "sent"], "{walk}");
        assert!(["delivered", "dropped"].contains(what.last().unwrap()), "{walk}");
        let at: Vec<u64> = steps.iter().map(|step| step["at_ns"].as_u64().unwrap()).collect();
        assert!(at.is_sorted() && *at.last().unwrap() >= 100_000_000, "{walk}");
        let error = asked("walk", json!({ "flow": "nobody", "at": "1 ms" }), &[]).unwrap_err();
        assert!(error["message"].as_str().unwrap().contains("expected one of"), "{error}");
    }
}
