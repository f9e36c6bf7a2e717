use stillair_model::transport::cc::{CcSock, ControllerFactory, reno};

use super::super::{CongestionControl, Flow, FlowKind, Memory, NoFiles, Reader, Scenario};
use super::*;

const SPECIMEN: &str = include_str!("../../../tests/scenario/good.toml");

/// Reno with `gain` segments of growth per round trip.
#[derive(Clone, Debug)]
struct Mine {
    gain: u32,
}

impl Controller for Mine {
    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        (sk.snd_cwnd / 2).max(2)
    }
    fn cong_avoid(&mut self, sk: &mut CcSock, _: u32, acked: u32) {
        reno::cong_avoid_ai(sk, sk.snd_cwnd, acked * self.gain);
    }
}

fn mine() -> Parts {
    let mut parts = Parts::default();
    let keys = vec![
        Key::integer("gain", 1..=10, 2, "segments in a round trip"),
        Key::duration("wait", ["1 ms", "1 s"], "5 ms", "how long it waits"),
        Key::number("share", -1.0..=2.0, 0.5, "a share"),
        Key::rate("least", "1 Mbit/s", "a rate"),
        Key::bytes("burst", 1..=65_536, 3_000, "a burst"),
        Key::boolean("calm", false, "whether"),
        Key::one_of("way", &["up", "down"], "up", "which way"),
    ];
    let make = |o: &Options| Ok(Mine { gain: o.integer("gain") as u32 });
    parts.congestion_control("mine", "Reno with a gain", keys, make).expect("a part");
    parts
}

/// Reads the specimen with a TCP flow that uses this congestion control.
fn read(parts: &Parts, control: &str) -> Result<Scenario, String> {
    let flow = format!(
        "\n[[flow]]\nkind = \"tcp\"\nfrom = \"server\"\nto = \"slow\"\ncongestion_control = {control}\n"
    );
    let (scenario, _) = SPECIMEN.split_once("[sweep]").expect("the specimen is swept");
    let reader = Reader { parts, files: &NoFiles };
    reader.parse(&format!("{scenario}{flow}"), "f", &[]).map_err(|e| e.to_string())
}

fn control(scenario: &Scenario) -> ControllerFactory {
    match scenario.flows.last() {
        Some(Flow {
            kind: FlowKind::Tcp { congestion_control: CongestionControl::Custom(own), .. }, ..
        }) => own.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn parts_are_accepted_like_built_in_ones() {
    let parts = mine();
    let bare = control(&read(&parts, "\"mine\"").expect("its name alone"));
    let all = "{ kind = \"mine\", gain = 3, wait = \"7 ms\", share = 1, least = \"2 Mbit/s\", burst = \"2 kB\", calm = true, way = \"down\" }";
    let full = control(&read(&parts, all).expect("all of its options"));
    assert_eq!(bare.name(), "mine");
    assert_eq!(
        bare.options(),
        r#"{"burst_bytes":3000,"calm":false,"gain":2,"least_bps":1000000,"share":0.5,"wait_ns":5000000,"way":"up"}"#
    );
    assert_eq!(
        full.options(),
        r#"{"burst_bytes":2000,"calm":true,"gain":3,"least_bps":2000000,"share":1.0,"wait_ns":7000000,"way":"down"}"#
    );
    assert!(bare == control(&read(&parts, "{ kind = \"mine\" }").expect("the same")) && bare != full);
    assert!(format!("{:?}", full.make(())).contains("gain: 3"));
    let resolved = read(&parts, all).expect("again").resolved();
    assert!(
        resolved.contains(r#""congestion_control":{"burst_bytes":2000,"#)
            && resolved.contains(r#""kind":"mine""#)
    );
}

#[test]
fn invalid_options_give_one_error() {
    let parts = mine();
    for (control, says) in [
        (
            "{ kind = \"mine\", gain = 11 }",
            "flow.2.congestion_control.gain: found 11, expected a whole number from 1 to 10",
        ),
        (
            "{ kind = \"mine\", wait = \"5 s\" }",
            "flow.2.congestion_control.wait: found \"5 s\", expected 1 ms to 1 s (how long it waits)",
        ),
        (
            "{ kind = \"mine\", share = 3 }",
            "flow.2.congestion_control.share: found 3, expected a number from -1 to 2",
        ),
        (
            "{ kind = \"mine\", way = \"dwon\" }",
            "flow.2.congestion_control.way: found \"dwon\", expected one of \"up\", \"down\"; did you mean \"down\"?",
        ),
        (
            "{ kind = \"mine\", gian = 2 }",
            "flow.2.congestion_control.gian: found an unknown key, expected one of \"kind\", \"gain\", \"wait\", \"share\", \"least\", \"burst\", \"calm\", \"way\"; did you mean \"gain\"?",
        ),
        ("{ kind = \"mien\" }", "flow.2.congestion_control.kind: found \"mien\", expected \"mine\""),
        ("{ gain = 2 }", "flow.2.congestion_control.kind: found nothing, expected \"mine\""),
        (
            "{ kind = \"vegas\", gain = 2 }",
            "flow.2.congestion_control: found a table of \"vegas\", expected \"vegas\" alone: its parameters are those of the node's `module`",
        ),
        (
            "\"mien\"",
            "flow.2.congestion_control: found \"mien\", expected a known name; did you mean \"mine\"?",
        ),
    ] {
        let error = read(&parts, control).expect_err("wrong");
        assert_eq!(error.split_once(": ").map(|(_, rest)| rest), Some(says));
    }
    // Without the parts the name is unknown.
    assert!(read(Parts::none(), "\"mine\"").is_err_and(|e| e.contains("found \"mine\", expected")));
    assert!(read(Parts::none(), "{ kind = \"mine\" }").is_err());
}

#[test]
fn invalid_registrations() {
    let says = |name: &'static str, keys: Vec<Key>| {
        mine().congestion_control(name, "", keys, |_| Ok(Mine { gain: 1 })).expect_err("refused").to_string()
    };
    let key = |name| Key::integer(name, 0..=1, 0, "");
    for (found, wanted) in [
        (
            says("cubic", vec![]),
            "congestion control \"cubic\": there is one of that name already, so that it must have another",
        ),
        (
            says("mine", vec![]),
            "congestion control \"mine\": there is one of that name already, so that it must have another",
        ),
        (
            says("Mine", vec![]),
            "congestion control \"Mine\": there is one of that name already, so that it must have another",
        ),
        (
            says("my own", vec![]),
            "congestion control \"my own\": its name must be of up to 64 letters, digits, \"_\" and \"-\"",
        ),
        (
            says("other", vec![key("kind")]),
            "congestion control \"other\": a key \"kind\" is there already, so that its own must have another name",
        ),
        (
            says("other", vec![key("a"), key("a")]),
            "congestion control \"other\": key \"a\" is there a second time",
        ),
        (
            says("other", vec![Key::duration("wait", ["1 ms", "1 s"], "1 ms", ""), key("wait_ns")]),
            "congestion control \"other\": keys \"wait\" and \"wait_ns\" would both be \"wait_ns\" in the resolved scenario, so that one must have another name",
        ),
        (
            says("other", vec![Key::integer("a", 0..=1, 2, "")]),
            "congestion control \"other\": key \"a\": its default 2 is not between 0 and 1",
        ),
        (
            says("other", vec![Key::duration("a", ["1 ms", "1 s"], "1", "")]),
            "congestion control \"other\": key \"a\": its bounds and its default must be times, a time in ns, us, ms or s, such as \"5 ms\"",
        ),
    ] {
        assert_eq!(found, wanted);
    }
}

/// Options that are valid individually but contradict each other are an error of their table.
#[test]
fn contradictory_options_are_rejected() {
    let mut parts = Parts::default();
    let keys = || vec![Key::integer("low", 0..=9, 1, ""), Key::integer("high", 0..=9, 5, "")];
    let refuses = |o: &Options| {
        let (low, high) = (o.integer("low"), o.integer("high"));
        assert!(low != 9, "nine");
        if low < high { Ok(Mine { gain: 1 }) } else { Err("low below high".to_owned()) }
    };
    parts.congestion_control("mine", "", keys(), refuses).expect("its defaults are good");
    let aqm = move |o: &Options, _| refuses(o).map(|_| NoAqm);
    parts.aqm("between", "", keys(), aqm).expect("its defaults are good");
    let says = read(&parts, "{ kind = \"mine\", low = 7 }").expect_err("7 is not below 5");
    let line = says.split(':').nth(1).and_then(|line| line.parse::<usize>().ok());
    assert!(line > Some(10), "{says}");
    let rest = ": flow.2.congestion_control: found options that \"mine\" refuses, expected low below high";
    assert!(says.ends_with(rest), "{says}");
    let says = read(&parts, "{ kind = \"mine\", low = 9 }").expect_err("9 panics");
    assert!(says.ends_with(
        "found options with which \"mine\" panics (nine), expected options with which it can be made"
    ));
    assert!(read(&parts, "{ kind = \"mine\", low = 7, high = 8 }").is_ok());
    let reader = Reader { parts: &parts, files: &NoFiles };
    for (key, more) in [
        ("node.ap.interface.eth0.qdisc", ""),
        ("node.ap.interface.eth0.qdisc", ", limit = 5"),
        ("node.ap.interface.wlan0.scheme", ""),
    ] {
        let part = format!("{{ kind = \"between\", high = 1{more} }}");
        let value =
            if key.ends_with("scheme") { format!("{{ kind = \"fq_mac\", aqm = {part} }}") } else { part };
        let says = reader.parse(SPECIMEN, "f", &[(key.to_owned(), value)]).expect_err("refused").to_string();
        assert!(says.contains(key) && says.ends_with("refuses, expected low below high"), "{says}");
    }
    // A misspelt key is reported first.
    let key = "node.ap.interface.eth0.qdisc".to_owned();
    let says = reader.parse(SPECIMEN, "f", &[(key, "{ kind = \"between\", low = 7, hihg = 8 }".to_owned())]);
    assert!(says.is_err_and(|e| e.to_string().contains("did you mean \"high\"?")));
}

/// A part that would fail in every run is rejected at registration.
#[test]
fn broken_parts_are_rejected_at_registration() {
    let keys = || vec![Key::integer("gain", 0..=9, 1, "")];
    let mut parts = Parts::default();
    let misspelt = parts.congestion_control("a", "", keys(), |o| Ok(Mine { gain: o.integer("gian") as u32 }));
    assert_eq!(
        misspelt.expect_err("no such key").to_string(),
        "congestion control \"a\", with the defaults of its keys: found options with which \"a\" panics (key \"gian\" was not declared; declared are [\"gain\"]), expected options with which it can be made"
    );
    let confused = parts.aqm("b", "", keys(), |o, _| {
        let _ = o.duration("gain");
        Ok(NoAqm)
    });
    assert!(
        confused.is_err_and(|e| e.to_string().contains("key \"gain\" was declared as another kind of key"))
    );
    let refused = parts.aqm("c", "", keys(), |_, _| Err::<NoAqm, _>("a gain of its own".to_owned()));
    assert_eq!(
        refused.expect_err("refused").to_string(),
        "AQM \"c\", with the defaults of its keys: found options that \"c\" refuses, expected a gain of its own"
    );
    assert_eq!(parts.list().count(), 0);
}

#[test]
fn congestion_control_sets_quic_windows() {
    let parts = mine();
    let quic = |parts: &Parts, more: &str| {
        let flow = format!("{{ kind = \"quic\", from = \"server\", to = \"slow\", {more} }}");
        let reader = Reader { parts, files: &NoFiles };
        reader.parse(SPECIMEN, "f", &[("flow.1".to_owned(), flow)]).map_err(|e| e.to_string())
    };
    let aqm = |scenario: Scenario| match &scenario.flows[1].kind {
        FlowKind::Quic(flow) => flow.control.as_ref().map(|control| control.name().to_owned()),
        other => panic!("{other:?}"),
    };
    let table = "congestion_control = { kind = \"tcp_mine\", gain = 3 }";
    for (more, name) in [
        ("congestion_control = \"reno\"", None),
        ("congestion_control = \"tcp_reno\"", Some("reno")),
        ("congestion_control = \"tcp_mine\"", Some("mine")),
        (table, Some("mine")),
    ] {
        assert_eq!(quic(&parts, more).map(aqm), Ok(name.map(str::to_owned)), "{more}");
    }
    let resolved = quic(&parts, table).expect("good").resolved();
    assert!(resolved.contains(r#""of_tcp":{"burst_bytes":3000,"#), "{resolved}");
    for (more, says) in [
        (
            "congestion_control = \"tcp_vegs\"",
            "found \"tcp_vegs\", expected a known name; did you mean \"tcp_vegas\"?",
        ),
        (
            "congestion_control = { kind = \"tcp_mine\", gain = 0 }",
            "congestion_control.gain: found 0, expected a whole number from 1 to 10",
        ),
        (
            "congestion_control = \"tcp_bbr\", hystart = true",
            "hystart: found true, which has no effect under a congestion control of TCP's",
        ),
    ] {
        let error = quic(&parts, more).expect_err("wrong");
        assert!(error.contains(says), "{error}");
    }
}

/// A program's schema contains its parts wherever they may be used; the native module's schema contains none.
#[test]
fn schema_contains_registered_parts() {
    let mut parts = mine();
    parts
        .aqm("ramp", "an AQM", vec![Key::integer("low", 0..=9, 1, "a bound")], |_, _| Ok(NoAqm))
        .expect("a part");
    let schema: serde_json::Value = serde_json::from_str(&parts.schema()).expect("JSON");
    let built_in: serde_json::Value = serde_json::from_str(&Parts::none().schema()).expect("JSON");
    let table = |name: &str| &schema["definitions"][name]["properties"];
    assert_eq!(table("congestion-control-mine")["gain"]["maximum"], 10);
    assert_eq!(table("congestion-control-tcp_mine")["kind"]["const"], "tcp_mine");
    let keys = |name: &str| {
        table(name).as_object().map(|keys| keys.keys().cloned().collect::<Vec<_>>()).unwrap_or_default()
    };
    assert_eq!(keys("aqm-ramp"), ["kind", "low"]);
    assert_eq!(keys("qdisc-ramp"), ["kind", "limit", "low"]);
    assert_eq!(keys("wi-fi-qdisc-ramp"), ["kind", "limit", "low", "mq"]);
    assert_eq!(
        keys("qdisc-fq_ramp"),
        ["drop_batch", "flows", "kind", "limit", "low", "memory_limit", "quantum"]
    );
    for name in ["ramp", "mine", "fq_ramp"] {
        assert!(
            schema.to_string().contains(&format!("\"{name}\""))
                && !built_in.to_string().contains(&format!("\"{name}\""))
        );
    }
    let mut new: Vec<&str> = schema["definitions"]
        .as_object()
        .into_iter()
        .flat_map(|all| all.keys())
        .map(String::as_str)
        .collect();
    // Tables that `inherits` may complete have their own definitions.
    new.retain(|name| built_in["definitions"][name].is_null() && !name.ends_with("-part"));
    assert_eq!(new.len(), 7, "two tables of the control, one of the aqm, four of its disciplines: {new:?}");
}

/// The lists of reserved names contain the built-in parts.
#[test]
fn reserved_qdisc_names_match_the_reader() {
    let mut parts = Parts::default();
    let aqm = |parts: &mut Parts, name: &'static str| {
        parts.aqm(name, "", vec![], |_, _| Ok(NoAqm)).map(|_| ()).map_err(|e| e.to_string())
    };
    for name in DISCIPLINES {
        assert!(aqm(&mut parts, name).is_err(), "{name}");
    }
    assert!(aqm(&mut parts, "codel_").is_ok());
    // Its flow queues would be named like the built-in fq_codel.
    assert!(aqm(&mut parts, "codel").is_err_and(|says| says.contains("there is one of that name already")));
    let reader = Reader { parts: &parts, files: &NoFiles };
    let key = "node.ap.interface.eth0.qdisc".to_owned();
    let says = reader.parse(SPECIMEN, "f", &[(key, "{ kind = \"fq_codel_\", limt = 3 }".to_owned())]);
    assert!(says.is_err_and(|e| e.to_string().contains("\"limit\"")));
    let known: Vec<&str> = crate::scenario::decode::qdisc_kinds();
    assert!(known.iter().all(|kind| DISCIPLINES.contains(kind)), "{known:?}");
}

#[derive(Debug)]
struct NoAqm;

impl AqmAlgorithm for NoAqm {}

#[test]
fn files_come_from_the_provider() {
    let set = [("node.slow.interface.wlan0.trace", "{ kind = \"rates\", file = \"a.csv\" }")]
        .map(|(k, v)| (k.to_owned(), v.to_owned()));
    let read = |files: &dyn super::super::Files| {
        let reader = Reader { parts: Parts::none(), files };
        reader.parse(SPECIMEN, "f", &set).map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(read(&Memory::default().with("a.csv", "0,mcs3,0\n")), Ok(()));
    for (files, why) in [
        (&Memory::default() as &dyn super::super::Files, "which is not among those given"),
        (&NoFiles, "and no files are read here"),
    ] {
        let says = read(files).expect_err("no file");
        assert!(says.contains(&format!("found \"a.csv\", {why}, expected")), "{says}");
    }
}
