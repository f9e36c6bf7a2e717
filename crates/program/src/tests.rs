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
like = \"a\"
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

/// What the program says with this line of arguments, in which FILE is the scenario; or what is wrong.
fn said(line: &str) -> Result<String, String> {
    let mut parts = Parts::default();
    let keys = vec![Key::integer("gain", 1..=9, 2, "does nothing")];
    parts.congestion_control("mine", "Reno again", keys, |_| Ok(Reno)).expect("a part");
    // Tests run side by side, and none may find a file that another is writing.
    static FILES: AtomicU32 = AtomicU32::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let folder = env::temp_dir().join(format!("stillair-program-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("two.toml");
    fs::write(&file, SCENARIO).expect("a file");
    let line = line.replace("FILE", &file.to_string_lossy());
    let mut out = Vec::new();
    let ended = run(&parts, &line.split_whitespace().map(str::to_owned).collect::<Vec<_>>(), &mut out);
    fs::remove_dir_all(&folder).expect("it was made");
    match ended {
        Ok(()) => Ok(String::from_utf8(out).expect("text")),
        Err(Failure::Input(says) | Failure::Run(says)) => Err(says),
    }
}

#[test]
fn a_run_is_told_in_words_and_in_the_json_of_the_api() {
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

#[test]
fn parts_are_listed_with_their_keys() {
    let text = said("parts").expect("a list");
    assert_eq!(
        text,
        "congestion control \"mine\": Reno again\n  gain: whole number, 1 to 9 (default 2): does nothing\n"
    );
}

#[test]
fn mistakes_are_told() {
    let says = said("run FILE --set flow.0.congestion_control.gain=10").expect_err("wrong");
    assert!(
        says.ends_with("flow.0.congestion_control.gain: found 10, expected a whole number from 1 to 9"),
        "{says}"
    );
    assert!(said("run nowhere.toml").is_err_and(|says| says.starts_with("nowhere.toml: cannot be read")));
}
