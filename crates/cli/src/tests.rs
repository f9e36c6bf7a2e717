use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use stillair_model::transport::cc::reno::Reno;

use super::*;

const SCENARIO: &str = "
name = \"two\"
duration = \"200 ms\"
[node.a]
profile = \"linux-6.1\"
interface.eth0 = { link = \"l\", address = \"10.0.0.1\" }
[node.b]
inherits = \"a\"
interface.eth0 = { address = \"10.0.0.2\" }
[link.l]
rate = \"10 Mbit/s\"
delay = \"1 ms\"
[[flow]]
name = \"f\"
kind = \"tcp\"
from = \"a\"
to = \"b\"
congestion_control = \"mine\"
[sweep]
\"link.l.rate\" = [\"10 Mbit/s\", \"20 Mbit/s\"]
";

/// Runs the program with these arguments, in which FILE is the scenario. Returns its output or error.
fn said(line: &str) -> Result<String, String> {
    said_and(line, &mut |_| {})
}

/// Like `said`. DIR in the arguments is the file's folder, which is passed to `look` before it is removed.
fn said_and(line: &str, look: &mut dyn FnMut(&Path)) -> Result<String, String> {
    let mut parts = Parts::default();
    let keys = vec![
        Key::integer("gain", 1..=9, 2, "does nothing"),
        Key::duration("wait", ["1 ms", "1 s"], "5 ms", "neither"),
    ];
    parts.congestion_control("mine", "Reno again", keys, |_| Ok(Reno)).expect("a part");
    // Tests run in parallel, so each needs its own file.
    static FILES: AtomicU32 = AtomicU32::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let folder = env::temp_dir().join(format!("stillair-cli-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("two.toml");
    fs::write(&file, SCENARIO).expect("a file");
    let line = line.replace("FILE", &file.to_string_lossy()).replace("DIR", &folder.to_string_lossy());
    let mut out = Vec::new();
    let ended = run(&parts, &line.split_whitespace().map(str::to_owned).collect::<Vec<_>>(), &mut out);
    look(&folder);
    fs::remove_dir_all(&folder).expect("it was made");
    match ended {
        Ok(()) => Ok(String::from_utf8(out).expect("text")),
        Err(Failure::Input(says) | Failure::Run(says)) => Err(says),
    }
}

#[test]
fn run_is_printed_as_text_and_as_json() {
    let text = said("run FILE --runs 2 --jobs 2").expect("a result");
    assert!(text.starts_with("two, 2 runs\n  f.b: Mbit/s 9."), "{text}");
    let json = value(&said("run FILE --runs 2 --json").expect("a result")).unwrap_or_default();
    assert_eq!((&json["scenario"], &json["version"]), (&"two".into(), &api::VERSION.into()));
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_sweep_has_a_result_for_each_combination() {
    let text = said("sweep FILE").expect("results");
    assert!(text.starts_with("link.l.rate = 10 Mbit/s\ntwo, 1 run\n"), "{text}");
    let json = value(&said("sweep FILE --json").expect("results")).unwrap_or_default();
    let rates: Vec<&str> =
        (0..2).filter_map(|n| json["combinations"][n]["set"]["link.l.rate"].as_str()).collect();
    assert_eq!(rates, ["10 Mbit/s", "20 Mbit/s"]);
    let run = &json["combinations"][1]["result"]["runs"][0];
    assert!(run["flows"]["f.b"]["goodput_mbps"].as_f64().is_some_and(|rate| rate > 15.0));
}

/// Each combination's result equals that of the run, character by character, including the scenario's
/// records.
#[test]
fn a_sweep_writes_what_a_run_writes() {
    let more = "--set record.queues='50ms' --seed 9223372036854775807";
    let alone = said(&format!("run FILE --json --set link.l.rate='20Mbit/s' {more}")).expect("a result");
    assert!(alone.contains("\"queues\":{"), "{alone}");
    let all = said(&format!("sweep FILE --json {more}")).expect("results");
    let [first, second] = ["10 Mbit/s", "20 Mbit/s"]
        .map(|rate| format!("{{\"set\":{{\"link.l.rate\":\"{rate}\"}},\"result\":{{"));
    assert!(all.contains(&first) && all.contains(&second), "{all}");
    assert!(all.trim_end().ends_with(&format!("{}}}]}}", alone.trim_end())), "{all}");
}

/// The result folder contains the files that `stillair` reads.
#[test]
fn result_is_written_to_a_folder() {
    let mut files = BTreeSet::new();
    let mut look = |folder: &Path| {
        let out = folder.join("out");
        let read = |name: &str| fs::read_to_string(out.join(name)).unwrap_or_default();
        for name in ["runs/run-0.json", "runs/run-1.json", "scenario.toml", "overrides.json"] {
            files.insert(name);
            assert!(!read(name).is_empty(), "{name}");
        }
        assert_eq!(
            (read("scenario.toml"), read("overrides.json")),
            (SCENARIO.to_owned(), "[[\"seed\",\"5\"]]\n".into())
        );
        let result = value(&read("result.json")).unwrap_or_default();
        assert_eq!(
            (&result["format"], &result["planned_runs"], &result["seeds"]),
            (&1.into(), &2.into(), &json!([5]))
        );
        let run = value(&read("runs/run-1.json")).unwrap_or_default();
        assert!(run["series"].is_object() && result["runs"][1]["series"].is_null());
        assert_eq!(run["trace_hash"], result["runs"][1]["trace_hash"]);
        let resolved = value(&read("scenario.resolved.json")).unwrap_or_default();
        assert_eq!((&resolved["name"], &resolved["seed"]), (&"two".into(), &5.into()));
    };
    let said = said_and("run FILE --set seed=5 --runs 2 --jobs 2 -o DIR/out", &mut look);
    assert!(said.is_ok_and(|text| text.starts_with("two, 2 runs")) && files.len() == 4);
    // Files are not overwritten, and an invalid scenario creates none.
    let full = said_and("run FILE -o DIR", &mut |_| {});
    assert!(full.is_err_and(|says| says.ends_with("has files in it; give another folder with -o")));
    let wrong = said_and("run FILE -o DIR/out --set flow.0.congestion_control.gain=10", &mut |folder| {
        assert!(!folder.join("out").exists());
    });
    assert!(wrong.is_err());
}

#[test]
fn series_sockets_schema_and_what_is_resolved() {
    let json = value(&said("run FILE --json --series").expect("a result")).unwrap_or_default();
    assert!(json["runs"][0]["series"].is_object());
    let sockets = said("ss FILE --at 100ms").expect("a table");
    assert!(sockets.lines().count() == 5 && sockets.contains(" mine wscale:"), "{sockets}");
    let mut bytes = 0;
    let mut look = |folder: &Path| bytes = fs::read(folder.join("a.pcapng")).map_or(0, |all| all.len());
    let captured = said_and("capture FILE -o DIR/a.pcapng --point all", &mut look).expect("a capture");
    assert!(captured.contains("a-eth0: ") && bytes > 100_000, "{captured} {bytes}");
    let mut look = |folder: &Path| bytes = fs::read_dir(folder).map_or(9, Iterator::count);
    let wrong = said_and("capture FILE -o DIR/a.pcapng --point nowhere", &mut look);
    assert!(wrong.is_err_and(|says| says.contains("nowhere")) && bytes == 1, "only the scenario is there");
    let resolved = value(&said("resolve FILE").expect("JSON")).unwrap_or_default();
    let kind = json!({ "kind": "mine", "gain": 2, "wait_ns": 5_000_000 });
    assert_eq!(resolved["flows"][0]["traffic"]["congestion_control"], kind, "{resolved}");
    let schema = value(&said("schema").expect("JSON")).unwrap_or_default();
    assert!(schema["definitions"]["congestion-control-mine"].is_object());
}

#[test]
fn parts_are_listed_with_their_keys() {
    let text = said("parts").expect("a list");
    assert_eq!(
        text,
        "congestion control \"mine\": Reno again\n  gain: whole number, 1 to 9 (default 2): does nothing\n  wait: time, 1 ms to 1 s (default 5 ms): neither\n"
    );
}

#[test]
fn errors_are_reported() {
    let says = said("run FILE --set flow.0.congestion_control.gain=10").expect_err("wrong");
    assert!(
        says.ends_with("flow.0.congestion_control.gain: found 10, expected a whole number from 1 to 9"),
        "{says}"
    );
    assert!(said("run nowhere.toml").is_err_and(|says| says.starts_with("nowhere.toml: cannot be read")));
}
