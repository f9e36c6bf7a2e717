//! Limits of a scenario, beyond which the world would fail or memory would run out.

use super::*;

/// Ids of the world are limited; without the check, building it would panic.
#[test]
fn scenario_with_too_many_interfaces() {
    let one = |n: usize| {
        format!("interface.i{n} = {{ link = \"lan\", address = \"10.1.{}.{}\" }}\n", n / 250, n % 250 + 1)
    };
    let ports: String = (0..15_998).map(one).collect();
    let text =
        GOOD.replacen("[link.lan]", &format!("[node.switch]\nprofile = \"linux-6.1\"\n{ports}[link.lan]"), 1);
    let said = scenario::parse(&text, "f.toml", &[]).unwrap_err().to_string();
    assert!(
        said.ends_with("interface: found 16004 interfaces up to here, expected at most 16000 in a scenario"),
        "{said}"
    );
}

/// Sockets of page loads are allocated at the start; too many would exceed memory.
#[test]
fn scenario_with_too_many_pages() {
    let flow =
        "[[flow]]\nkind = \"web\"\nfrom = \"fast1\"\nto = \"server\"\npage = \"small\"\ninterval = \"1 ms\"";
    let text = format!("{GOOD}\n{flow}\n");
    let said = scenario::parse(&text, "f.toml", &[("duration".into(), "1000 s".into())]).unwrap_err();
    let expected = "interval: found 1000001 loads of pages, expected at most 1000000 in a run";
    assert!(said.to_string().ends_with(expected), "{said}");
}

/// Samples and replies stay in memory until the end of a run, whatever their number.
#[test]
fn scenario_with_too_many_samples() {
    let tcp = "[[flow]]\nkind = \"tcp\"\nfrom = \"server\"\nto = [\"fast1\", \"slow\"]";
    let said = |flows: &str, sets: &[(&str, &str)]| {
        let sets: Vec<_> = sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let text = format!("{GOOD}\n{flows}\n");
        scenario::parse(&text, "f.toml", &sets).map_or_else(|e| e.to_string(), |_| String::new())
    };
    // Two senders in 20 s; six interfaces in 15 s.
    let (short, shorter) = (("duration", "20 s"), ("duration", "15 s"));
    assert_eq!(said(tcp, &[short, ("record.ss", "10 us")]), "");
    assert_eq!(
        said(tcp, &[short, ("record.ss", "9999 ns")]),
        "--set: record.ss: found 4000400 samples of TCP senders, expected at most 4000000 in a run"
    );
    assert_eq!(said("", &[("record.ss", "1 ns")]), "", "nothing is sampled");
    assert_eq!(said("", &[shorter, ("record.queues", "9 us")]), "");
    assert_eq!(
        said("", &[shorter, ("record.queues", "1 ns")]),
        "--set: record.queues: found 90000000000 samples of interfaces, expected at most 10000000 in a run"
    );
    // Three receivers already have a ping every 200 ms.
    let long = ("duration", "100000 s");
    let pings = |kind| format!("[[flow]]\nkind = \"{kind}\"\nfrom = \"fast1\"\nto = \"server\"\n");
    for (kind, key, set) in [("ping", "interval", "12 ms"), ("udp_ping", "interval", "12 ms")] {
        let flow = format!("{}interval = \"{set}\"", pings(kind));
        assert_eq!(said(&flow, &[long]), "", "{kind}");
        let flow = format!("{}interval = \"11 ms\"", pings(kind));
        let expected = format!(
            "{key}: found 10590913 answers to pings and packets of calls, expected at most 10000000 in a run"
        );
        assert!(said(&flow, &[long]).ends_with(&expected), "{}", said(&flow, &[long]));
    }
    let calls = "[[flow]]\nkind = \"voip\"\nfrom = \"fast1\"\nto = [\"server\", \"slow\"]";
    let expected =
        "to: found 11500005 answers to pings and packets of calls, expected at most 10000000 in a run";
    assert!(said(calls, &[long]).ends_with(expected), "{}", said(calls, &[long]));
    let test = "[test]\nname = \"rrul\"\nfrom = \"server\"\nto = \"fast1\"\nlength = \"500000 s\"";
    let longer = ("duration", "500010 s");
    let expected = "test.length: found";
    assert!(said(test, &[longer, ("flow.1.stop", "20 s")]).contains(expected), "{}", said(test, &[longer]));
}
