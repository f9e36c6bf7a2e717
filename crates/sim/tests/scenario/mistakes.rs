//! Several errors in one scenario: each is reported with its line, and nothing else is.

use std::collections::BTreeSet;

use stillair_sim::scenario;

use super::GOOD;

/// Independent errors, each on its own line, in all parts of the file: unknown keys, missing keys, values of
/// the wrong type, undefined names.
const EACH: [[&str; 2]; 16] = [
    ["duration = \"30 s\"", "duration = 30"],
    ["seed = 1", "seeds = 1"],
    ["band = \"5 GHz\"", "band = \"60 GHz\""],
    ["width = \"20 MHz\"", "# none"],
    ["[node.server]\nprofile = \"linux-4.14\"", "[node.server]\nprofile = \"linux-4.41\""],
    ["link = \"lan\", address = \"10.0.0.2\"", "link = \"wan\", address = \"10.0.0.2\""],
    ["forward = true", "forward = \"yes\""],
    [
        "interface.eth0 = { link = \"lan\", address = \"10.0.0.1\" }",
        "interface.eth0 = { link = \"lan\", gro = 1 }",
    ],
    ["scheme = \"airtime\", address", "scheme = { kind = \"airtime\", quantum = 300 }, address"],
    ["rate = \"1 Gbit/s\"", "rate = \"1 Gbit\""],
    ["delay = \"0.1 ms\"", "delya = \"0.1 ms\""],
    ["rate = \"100 Mbit/s\"", "# none"],
    ["payload = 1470", "payload = 99999"],
    ["burst = 8", "bursts = 8"],
    ["to = [\"fast1\", \"fast2\", \"slow\"]\ninterval", "to = [\"fast1\", \"fast3\", \"slow\"]\ninterval"],
    ["\"node.ap.interface.wlan0.scheme\" =", "\"node.app.interface.wlan0.scheme\" ="],
];

fn with<'a>(changes: impl IntoIterator<Item = &'a [&'a str; 2]>) -> String {
    changes.into_iter().fold(GOOD.to_owned(), |text, [is, becomes]| {
        assert!(text.contains(is), "{is:?} is not there");
        text.replacen(is, becomes, 1)
    })
}

/// Returns the location of each error and what was found. The expectation may be worded differently,
/// depending on what is known of the rest.
fn told(text: &str) -> BTreeSet<String> {
    let said = scenario::parse(text, "f.toml", &[]).expect_err("a mistake").to_string();
    said.lines().map(|line| line.split(", expected").next().unwrap_or(line).to_owned()).collect()
}

#[test]
fn each_error_is_reported_whatever_else_is_wrong() {
    let alone: Vec<BTreeSet<String>> = EACH.iter().map(|change| told(&with([change]))).collect();
    for (change, said) in EACH.iter().zip(&alone) {
        assert_eq!(said.len(), 1, "{change:?}: {said:?}");
    }
    let all = |which: &[usize]| {
        let said = told(&with(which.iter().map(|n| &EACH[*n])));
        let expected: BTreeSet<String> = which.iter().flat_map(|n| alone[*n].clone()).collect();
        assert_eq!(said, expected, "{:?}", which.iter().map(|n| EACH[*n]).collect::<Vec<_>>());
    };
    for a in 0..EACH.len() {
        for b in a + 1..EACH.len() {
            all(&[a, b]);
            for c in b + 1..EACH.len() {
                all(&[a, b, c]);
            }
        }
    }
    all(&(0..EACH.len()).collect::<Vec<_>>());
}

#[test]
fn errors_are_reported_in_the_order_of_the_file() {
    let e = scenario::parse(&with(&EACH), "f.toml", &[]).expect_err("mistakes");
    let lines: Vec<Option<u32>> =
        [e.line].into_iter().chain(e.others.iter().map(|other| other.line)).collect();
    assert!(lines.is_sorted() && lines[0] == Some(2), "{lines:?}");
}

/// Parts that depend on each other: an error in one does not stop the others from being read.
#[test]
fn dependent_parts_are_all_checked() {
    for (changes, lines) in [
        // A flow that starts too late, and a flow to its own sender.
        (
            &[
                ["start = \"0 s\"", "start = \"40 s\""],
                [
                    "from = \"server\"\nto = [\"fast1\", \"fast2\", \"slow\"]\ninterval",
                    "from = \"slow\"\nto = [\"fast1\", \"fast2\", \"slow\"]\ninterval",
                ],
            ][..],
            &[43, 48][..],
        ),
        // A link with one end, and a flow that ends before it starts.
        (
            &[
                ["[link.lan]", "[link.none]\nrate = \"1 Gbit/s\"\ndelay = \"0.1 ms\"\n[link.lan]"],
                ["start = \"0 s\"", "stop = \"0 s\""],
            ],
            &[32, 46],
        ),
        // Without forwarding, which two flows report, and a list of one value that is invalid.
        (
            &[["forward = true", "forward = false"], ["\"fq_mac\", \"airtime\"]", "\"fq_mac\"]\nx = 1"]],
            &[16, 53],
        ),
    ] {
        let e = scenario::parse(&with(changes), "f.toml", &[]).expect_err("mistakes");
        let told: Vec<u32> = [&e].into_iter().chain(&e.others).filter_map(|e| e.line).collect();
        assert_eq!(told, lines, "{e}");
    }
}

#[test]
fn all_missing_keys_of_a_table_are_reported_together() {
    let said = |text: &str| scenario::parse(text, "f.toml", &[]).expect_err("mistakes").to_string();
    let bare = format!("{}\n[[flow]]\nkind = \"udp\"\n", GOOD.split("[sweep]").next().expect("a scenario"));
    let keys = |text: &str| {
        let said = said(text);
        let key = |line: &str| line.split(": ").nth(1).expect("a key").to_owned();
        said.lines().map(key).collect::<Vec<_>>()
    };
    assert_eq!(keys(&bare), ["flow.2.from", "flow.2.to", "flow.2.rate"].map(str::to_owned));
    assert_eq!(keys("x = 1\n"), ["name", "x", "node"].map(str::to_owned));
    // Nodes that inherit from it miss the keys as well.
    let station = keys(&with(&[["ap = \"ap.wlan0\", address = \"10.0.1.11\", rate", "uplink_rate"]]));
    let of_first: Vec<&str> =
        station.iter().filter_map(|key| key.strip_prefix("node.fast1.interface.wlan0.")).collect();
    assert_eq!(of_first, ["ap", "rate"]);
}

#[test]
fn twenty_of_many_errors_are_reported() {
    for (flows, told, last) in
        [(20, 20, None), (21, 21, Some("and 1 more mistake")), (300, 21, Some("and 280 more mistakes"))]
    {
        let flow = "[[flow]]\nkind = \"ping\"\nfrom = \"server\"\nto = \"slow\"\ninterval = 1\n";
        let (good, _) = GOOD.split_once("[sweep]").expect("the specimen is swept");
        let e =
            scenario::parse(&format!("{good}{}", flow.repeat(flows)), "f.toml", &[]).expect_err("mistakes");
        let text = e.to_string();
        assert_eq!((text.lines().count(), e.others.len()), (told, 19));
        assert_eq!(text.lines().last().filter(|line| line.starts_with("and")), last);
    }
}

#[test]
fn several_invalid_overrides() {
    let sets = [("node.app.forward", "true"), ("seed", "2"), ("link.wan.rate", "1 Mbit/s")];
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let said = scenario::parse(GOOD, "f.toml", &sets).expect_err("mistakes").to_string();
    assert_eq!(
        said,
        "--set: node.app: found no such name, expected one of \"server\", \"ap\", \"fast1\", \"fast2\", \"slow\"; did you mean \"ap\"?\n\
         --set: link.wan: found no such name, expected \"lan\""
    );
}
