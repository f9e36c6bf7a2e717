//! Parsing, overriding and inheriting, with small documents.

use super::*;

fn tree(text: &str) -> Table {
    parse(text).expect("test text is TOML")
}

fn shown(table: &Table) -> String {
    Value::Table(table.clone()).to_toml().replace('"', "")
}

#[test]
fn values_keep_line_and_order() {
    let t = tree("b = 1\n[n.y]\nk = \"v\"\nt.u = { x = 1,\n y = 2 }\n[n.x]\n[[f]]\n[[f]]\na = [1,\n 2]\n");
    assert_eq!(
        shown(&t),
        "{ b = 1, n = { y = { k = v, t = { u = { x = 1, y = 2 } } }, x = {  } }, f = [{  }, { a = [1, 2] }] }"
    );
    let line = |path: &str| {
        let mut item = Item { value: Value::Table(t.clone()), origin: Origin::Set };
        for key in path.split('.') {
            item = match item.value {
                Value::Table(t) => t.get(key).unwrap().clone(),
                Value::Array(a) => a[key.parse::<usize>().unwrap()].clone(),
                _ => unreachable!(),
            };
        }
        item.origin
    };
    for (path, at) in [
        ("b", 1),
        ("n", 2),
        ("n.y", 2),
        ("n.y.k", 3),
        ("n.y.t.u", 4),
        ("n.y.t.u.y", 5),
        ("n.x", 6),
        ("f.0", 7),
        ("f.1", 8),
        ("f.1.a.0", 9),
        ("f.1.a.1", 10),
    ] {
        assert_eq!(line(path), Origin::Line(at), "{path}");
    }
}

#[test]
fn overrides() {
    let base = "[node.ap]\nscheme = \"airtime\"\nsysctl.\"a.b\" = 1\n[[flow]]\nto = [\"x\", \"y\"]\n";
    for (path, text, after) in [
        ("seed", "3", "seed = 3 }"),
        ("node.ap.scheme", "fifo", "scheme = fifo"),
        ("node.ap.scheme.sparse", "false", "scheme = { kind = airtime, sparse = false }"),
        ("node.ap.sysctl.a.b", "2", "sysctl = { a.b = 2 }"),
        ("node.ap.sysctl.\"a.b\"", "2", "sysctl = { a.b = 2 }"),
        ("\"node\".'ap'.sysctl.'a.b'", "2", "sysctl = { a.b = 2 }"),
        ("node.ap.sysctl.\"c.d\"", "2", "sysctl = { a.b = 1, c = { d = 2 } }"),
        ("flow.\"0\".to", "z", "to = z"),
        ("node.ap.new.key", "5 ms", "new = { key = 5 ms }"),
        ("flow.0.to.1", "z", "to = [x, z]"),
        ("flow.0.rate", "[\"1 Mbit/s\", \"2 Mbit/s\"]", "rate = [1 Mbit/s, 2 Mbit/s]"),
        ("seed", "1\nname = 2", "seed = 1\\u000Aname = 2"),
    ] {
        let mut t = tree(base);
        t.set(path, text).unwrap();
        let all = shown(&t);
        assert!(all.contains(after), "{path}: {all}");
    }
}

#[test]
fn overrides_of_missing_elements() {
    let base = "[node.ap]\nforward = true\ninterface.wlan0 = {}\n[[flow]]\nto = [\"x\"]\n";
    for (path, says) in [
        ("node.app.forward", "node.app: found no such name, expected \"ap\""),
        ("node.ap.interface.wlan1.scheme", "node.ap.interface.wlan1: found no such name, expected \"wlan0\""),
        ("flow.1.rate", "flow.1: found no such element, expected a number below 1"),
        ("flow.00.rate", "flow.00: found no such element, expected a number below 1"),
        ("flow.+0.rate", "flow.+0: found no such element, expected a number below 1"),
        ("flow.0.to.00", "flow.0.to.00: found no such element, expected a number below 1"),
        ("\"node.app\".x", "node.app: found no such name, expected \"ap\""),
        ("node.\"app.x", "node.\"app: found no such name, expected \"ap\""),
        ("node.\"app\"x.y", "node.\"app\"x: found no such name, expected \"ap\""),
        ("node.\"a\\\"p\".y", "node.\"a\\\"p\": found no such name, expected \"ap\""),
        ("node.\"\".x", "node..x: found no such key, expected a key such as \"node.ap.forward\""),
        ("\"sweep\".seed", "sweep.seed: found no such key, expected a key such as \"node.ap.forward\""),
        (
            "node.ap.forward.x",
            "node.ap.forward.x: found true above it, expected node.ap.forward to be a table",
        ),
        ("node..x", "node..x: found no such key, expected a key such as \"node.ap.forward\""),
    ] {
        let error = tree(base).set(path, "1").unwrap_err().in_file("f.toml");
        assert_eq!(error.to_string(), format!("--set: {says}"));
    }
}

#[test]
fn override_text_round_trips() {
    for text in [
        "fifo",
        "\"true\"",
        "true",
        "3",
        "1.5",
        "[1, \"a\"]",
        "{ \"a\" = 1 }",
        "5 ms",
        "\"1..3\"",
        "",
        "a\nb\\\"c\u{7f}",
    ] {
        let value = override_value(text);
        assert_eq!(override_value(&value.to_override()), value, "{text}");
    }
    assert_eq!(Value::String("true".into()).to_override(), "\"true\"");
    assert_eq!(Value::String("airtime".into()).to_override(), "airtime");
}

#[test]
fn inheritance_chains_and_cycles() {
    let t = tree(
        "[a]\nx = 1\ni.w = { r = 1, s = 2 }\nscheme = { kind = \"k\", o = 1 }\n[b]\ninherits = \"a\"\ni.w.r = 5\n[c]\ninherits = \"b\"\nx = 2\nscheme = { kind = \"l\" }\n[d]\ninherits = \"e\"\n[e]\ninherits = \"d\"\n",
    );
    assert_eq!(
        shown(&inherit(&t, "node", 1).unwrap()),
        "{ x = 1, i = { w = { r = 5, s = 2 } }, scheme = { kind = k, o = 1 }, inherits = a }"
    );
    assert_eq!(
        shown(&inherit(&t, "node", 2).unwrap()),
        "{ x = 2, i = { w = { r = 5, s = 2 } }, scheme = { kind = l }, inherits = b }"
    );
    let error = inherit(&t, "node", 3).unwrap_err();
    assert_eq!(
        error.in_file("f").to_string(),
        "f:15: node.e.inherits: found \"d\", which inherits from \"e\" itself, expected a node that does not inherit from this one"
    );
}
