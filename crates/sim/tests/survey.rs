//! What a scenario comes to, several mistakes told at once, and what hosts tell at an instant.

use serde_json::{Value, json};
use stillair_sim::api::{self, ApiError, SsRequest};

const GOOD: &str = include_str!("scenario/good.toml");

/// An access point and three stations in a row, the last two out of each other's reach.
const ROW: &str = r#"
name = "row"
duration = "1 s"

[channel.wifi]
band = "5 GHz"
width = "40MHz"

[node.ap]
profile = "linux-6.6"
position = "40 m, 0 m"
interface.wlan0 = { channel = "wifi", role = "ap", address = "10.0.0.1" }

[node.near]
profile = "linux-6.6"
position = "42 m, 0 m"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.0.2", rate = "ht40-mcs15-sgi" }

[node.left]
profile = "linux-6.6"
position = "0 m, 0 m"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.0.3", rate = "ht40-mcs15-sgi" }

[node.right]
profile = "linux-6.6"
position = "80 m, 0 m"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.0.4", rate = { kind = "minstrel_ht", streams = 2 } }
"#;

fn survey(text: &str, set: &[(&str, &str)]) -> Result<Value, String> {
    let overrides: Vec<_> = set.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    match api::survey(text, "f.toml", &overrides) {
        Ok(json) => Ok(serde_json::from_str(&json).expect("JSON")),
        Err(ApiError::Input(says) | ApiError::Run(says)) => Err(says),
        Err(ApiError::Scenario(error)) => Err(error.to_string()),
    }
}

#[test]
fn who_hears_whom_and_how_loud() {
    let found = survey(ROW, &[]).expect("a good scenario");
    let channel = &found["channels"][0];
    assert_eq!((&channel["width_mhz"], &channel["radios"][2]), (&json!(40), &json!("left.wlan0")));
    // 16 + 94 - 46.7 dB at one metre, 30 dB less at ten times that: 2 m, 40 m and 80 m.
    let snr = |a: usize, b: usize| channel["snr_db"][a][b].as_f64();
    assert_eq!([snr(0, 1), snr(0, 2), snr(2, 0), snr(2, 3)], [54.269, 15.238, 15.238, 6.207].map(Some));
    assert_eq!((snr(1, 1), &channel["hearing"][1][1]), (None, &Value::Null));
    let hearing = |level: &str| {
        let found = survey(ROW, &[("channel.wifi.cca_sensitivity", level)]).expect("a good scenario");
        let hears = |a: usize, b: usize| found["channels"][0]["hearing"][a][b].as_str().map(str::to_owned);
        [hears(0, 1), hears(2, 3), hears(3, 2)].map(|how| how.expect("a word"))
    };
    assert_eq!(hearing("-89 dBm"), ["clear", "sense_only", "sense_only"]);
    assert_eq!(hearing("-87 dBm"), ["clear", "hidden", "nothing"]);
}

#[test]
fn rates_that_work_at_the_signal_of_a_path() {
    let found = survey(ROW, &[]).expect("a good scenario");
    let path = |n: usize| &found["paths"][n];
    assert_eq!(path(0)["down"]["control"], "fixed");
    assert_eq!(path(0)["down"]["fastest"]["name"], "ht40-mcs15-sgi");
    assert_eq!(path(0)["down"]["rate"]["loss"], 0.0);
    // Far away the same rate is lost, and a slower one is named.
    assert_eq!(path(1)["down"]["rate"]["loss"], 1.0);
    let works = &path(1)["down"]["fastest"];
    assert!(works["mbps"].as_f64() < Some(300.0) && works["loss"].as_f64() < Some(0.1), "{works}");
    // Rate control has its own.
    assert_eq!((&path(2)["up"]["control"], &path(2)["up"]["rate"]), (&json!("minstrel_ht"), &Value::Null));
    assert!(path(2)["up"]["rates"].as_u64() > Some(16));
    assert!(path(2)["up"]["fastest"]["loss"].as_f64() < Some(0.1));
    let given = survey(
        GOOD,
        &[
            ("node.slow.interface.wlan0.error_rate", "0.25"),
            ("node.slow.interface.wlan0.preamble_loss_rate", "0.2"),
        ],
    );
    let given = given.expect("a good scenario");
    let slow = given["paths"].as_array().expect("paths").last().expect("the slow one");
    assert_eq!((&slow["losses"], &slow["down"]["rate"]["loss"]), (&json!("given"), &json!(0.4)));
    assert_eq!(slow["down"]["fastest"], Value::Null);
}

#[test]
fn keys_without_effect_are_told_apart_from_notes() {
    let idle = [("node.server.module", "{ \"tcp_vegas.alpha\" = 3 }")];
    let found = survey(GOOD, &idle).expect("a good scenario");
    let without_effect = found["without_effect"].as_array().expect("a list");
    assert!(without_effect[0].as_str().is_some_and(|says| says.contains("tcp_vegas.alpha")), "{found}");
    assert!(found["notes"].as_array().is_some_and(|notes| !notes.contains(&without_effect[0])));
}

#[test]
fn mistakes_that_do_not_depend_on_each_other_are_told_at_once() {
    let text = GOOD
        .replace("kind = \"udp\"", "kind = \"upd\"")
        .replace("band = \"5 GHz\"", "band = \"6 GHz\"\nwidht = \"20 MHz\"");
    let says = survey(&text, &[]).expect_err("mistakes");
    // Of all parts, in the order of the file.
    let keys: Vec<_> = says.lines().map(|line| line.split(": ").nth(1).expect("a key")).collect();
    assert_eq!(keys, ["channel.wifi.widht", "flow.0.kind"]);
    let two = ROW.replace("ht40-mcs15-sgi", "ht40-mcs99-sgi").replace("\"80 m, 0 m\"", "\"east\"");
    let says = survey(&two, &[]).expect_err("mistakes");
    let keys: Vec<_> = says.lines().map(|line| line.split(": ").nth(1).expect("a key")).collect();
    assert_eq!(
        keys,
        ["node.near.interface.wlan0.rate", "node.left.interface.wlan0.rate", "node.right.position"]
    );
    let unknown = GOOD.replace("seed = 1", "sead = 1\ncolour = 2");
    assert_eq!(survey(&unknown, &[]).expect_err("mistakes").lines().count(), 2);
    // What a node has of another is told once, where it stands.
    let inherited = GOOD.replacen("role = \"station\"", "role = \"statoin\"", 1);
    assert_eq!(survey(&inherited, &[]).expect_err("a mistake").lines().count(), 1);
}

#[test]
fn widths_and_bands_may_be_written_without_a_blank() {
    let wide = |set: &str| {
        survey(ROW, &[("channel.wifi.width", set)]).map(|found| found["channels"][0]["width_mhz"].clone())
    };
    assert_eq!([wide("80MHz"), wide("80 MHz")], [Ok(json!(80)), Ok(json!(80))]);
    assert!(wide("80  MHz").is_err() && wide("80").is_err() && wide("80mhz").is_err());
}

#[test]
fn disciplines_and_sockets_at_an_instant() {
    let at = |at: &str| SsRequest {
        text: GOOD.to_owned(),
        file: "good.toml".to_owned(),
        overrides: [
            ("duration", "200 ms"),
            ("warm_up", "0 s"),
            ("flow.0", "{ kind = \"tcp\", from = \"server\", to = \"slow\" }"),
        ]
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .to_vec(),
        seed: None,
        run: 0,
        at: (!at.is_empty()).then(|| at.to_owned()),
    };
    let json =
        |text: Result<String, ApiError>| serde_json::from_str::<Value>(&text.expect("a run")).expect("JSON");
    let sent =
        |when: &str| json(api::tc(&at(when)))["qdiscs"]["server.eth0"]["packets"].as_u64().expect("a count");
    assert_eq!(sent("0 s"), 0);
    assert!(sent("100 ms") < sent("200 ms"));
    assert_eq!(sent("200 ms"), sent(""));
    let sockets = json(api::ss_json(&at("150 ms")));
    let sender = &sockets[0];
    assert_eq!((&sender["state"], &sender["flow"]), (&json!("ESTAB"), &json!("tcp-0.slow")));
    assert!(sender["cwnd"].as_u64() > Some(0) && sender["rtt_ms"].as_f64() > Some(0.0), "{sender}");
    assert_eq!(sockets[1]["local"], sender["peer"]);
    let Err(ApiError::Input(says)) = api::tc(&at("1 s")) else { panic!("it was run") };
    assert_eq!(says, "at: found \"1 s\", but the run is shorter");
}
