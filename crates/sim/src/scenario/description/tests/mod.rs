use super::super::parts::Parts;
use super::super::{Scenario, decode, document, many, parse, units};
use super::reference::all;
use super::{Key, ValueType, reference};

mod places;
mod readings;
mod renamed;

use places::{Place, Sets, places};

const SPECIMEN: &str = include_str!("../../../../tests/scenario/good.toml");
const AP: &str = "node.ap.interface.wlan0";
const STATION: &str = "node.slow.interface.wlan0";
const WIRED: &str = "node.server.interface.eth0";

/// Reads the specimen with these overrides. Notes on keys without effect are tested separately.
fn read(sets: &Sets) -> Result<Scenario, String> {
    let read = parse(SPECIMEN, "good.toml", sets).map_err(|e| e.to_string())?;
    Ok(Scenario { idle: Vec::new(), ..read })
}

/// Reads the specimen with `key` of a place set to `value`.
fn with(place: &Place, key: &Key, value: &str) -> Result<Scenario, String> {
    let path = document::join(&place.path, key.name);
    let mut sets = place.sets.clone();
    sets.push((path, value.to_owned()));
    read(&sets)
}

/// Returns the keys for which the description alone reports an error, with `key` of a place set to `value`.
fn alone(place: &Place, key: &Key, value: &str) -> Vec<String> {
    let mut tree = document::parse(SPECIMEN).expect("the specimen is TOML");
    for (path, value) in place.sets.iter().chain([&(document::join(&place.path, key.name), value.to_owned())])
    {
        if tree.set(path, value).is_err() {
            return Vec::new();
        }
    }
    let Ok(tree) = many::written_out(&tree) else { return Vec::new() };
    decode::mistakes::all(&tree, Parts::none()).into_iter().map(|fault| fault.key).collect()
}

/// Returns overrides at the bounds of a type and beyond them; empty if other keys decide.
fn probes(form: &'static ValueType) -> (Vec<String>, Vec<String>) {
    let texts = |all: &[&str]| all.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    match form {
        ValueType::Text => (texts(&["some name"]), texts(&["1", "\"\"", "[]"])),
        ValueType::Written { examples, .. } => (texts(examples), texts(&["nonsense", "1"])),
        // A sample of the many rates.
        ValueType::Listed { names, .. } => {
            let all = names();
            let step = if all.len() > 500 { 13 } else { 1 };
            (all.into_iter().step_by(step).collect(), texts(&["nonsense", "-1"]))
        }
        ValueType::Choice(names) => {
            let unspaced = names.iter().filter_map(|name| units::unspaced(name));
            (texts(names).into_iter().chain(unspaced).collect(), texts(&["nonsense", "1"]))
        }
        ValueType::Tag(_) => (Vec::new(), texts(&["nonsense", "1"])),
        ValueType::Boolean => (texts(&["true", "false"]), texts(&["1", "\"true\"", "nonsense"])),
        ValueType::Integer(low, high) => {
            let beyond =
                [low.checked_sub(1), high.checked_add(1)].into_iter().flatten().map(|n| n.to_string());
            (vec![low.to_string(), high.to_string()], beyond.chain(texts(&["1.5", "\"1\""])).collect())
        }
        ValueType::Bytes(low, high) | ValueType::BytesFor(low, high, _) => {
            let good = vec![low.to_string(), high.to_string(), format!("{low} B")];
            let beyond =
                [low.checked_sub(1), high.checked_add(1)].into_iter().flatten().map(|n| n.to_string());
            (good, beyond.chain(texts(&["1.5", "1 bit", "[]"])).collect())
        }
        ValueType::Numbers(all) => {
            let good: Vec<String> = all.iter().map(i64::to_string).collect();
            let beside = all.iter().map(|n| n + 1).filter(|n| !all.contains(n)).map(|n| n.to_string());
            (good, beside.chain(texts(&["-1", "1.5", "\"1\""])).collect())
        }
        // Other keys bound times: use one that fits everywhere.
        ValueType::Time => (texts(&["1.5 ms"]), texts(&["5", "5 min", "0.0000000001 s", "1000001 s"])),
        ValueType::Period => (texts(&["29 s"]), texts(&["0 s", "5", "5 min", "1000001 s"])),
        ValueType::Times { least, most, .. } => {
            let ns = |text: &str| units::duration(text).expect("a time").nanos();
            let under = ns(least).checked_sub(1);
            let beyond = [under, most.map(|most| ns(most) + 1)].into_iter().flatten();
            let bad = texts(&["5", "5 min", "1000001 s"]);
            let beyond = beyond.map(|ns| format!("{ns} ns")).chain(bad).collect();
            ([Some(*least), *most].into_iter().flatten().map(str::to_owned).collect(), beyond)
        }
        ValueType::RateFrom(least, _) => {
            let under = format!("{} bit/s", units::rate(least).expect("a rate").bps() - 1);
            (texts(&[least, "1000 Gbit/s"]), vec![under, "0 bit/s".into(), "10".into(), "1001 Gbit/s".into()])
        }
        ValueType::RateOrZero(least, _) => {
            let under = format!("{} bit/s", units::rate(least).expect("a rate").bps() - 1);
            (
                texts(&[least, "0 Mbit/s", "1000 Gbit/s"]),
                vec![under, "10".into(), "0".into(), "1001 Gbit/s".into()],
            )
        }
        ValueType::Rate => (texts(&["1 bit/s", "1000 Gbit/s"]), texts(&["0 bit/s", "10", "1001 Gbit/s"])),
        ValueType::Fraction => (texts(&["0", "0.25", "1"]), texts(&["-0.1", "1.1", "\"0\"", "nan"])),
        ValueType::Number(low, high) => (
            vec![low.to_string(), high.to_string()],
            vec![(high + 0.5).to_string(), "\"0\"".into(), "nan".into()],
        ),
        ValueType::Part(_, built_in) => probes(built_in),
        ValueType::Later(form) => probes(form()),
        ValueType::Either(forms) => {
            let (good, bad): (Vec<_>, Vec<_>) = forms.iter().map(probes).unzip();
            let mut bad: Vec<String> = bad.concat();
            bad.extend(texts(&["nonsense", "-1", "true"]));
            // One type may accept what another rejects.
            let good_of_all = good.concat();
            let number = |form: &ValueType, value: &String| match form {
                ValueType::Integer(low, high) => {
                    value.parse().is_ok_and(|n: i64| (*low..=*high).contains(&n))
                }
                _ => false,
            };
            bad.retain(|value| !good_of_all.contains(value) && !forms.iter().any(|form| number(form, value)));
            (good.concat(), bad)
        }
        ValueType::List(_)
        | ValueType::Table(_)
        | ValueType::OneOf(_)
        | ValueType::Named(..)
        | ValueType::Settings(_)
        | ValueType::Sweep => (Vec::new(), texts(&["1", "true", "nonsense"])),
        ValueType::Kinds { shapes, bare } => {
            let good = shapes
                .iter()
                .filter(|s| *bare && s.stands_alone())
                .map(|shape| shape.kind().to_owned())
                .collect();
            (good, texts(&["1", "nonsense"]))
        }
        ValueType::Name(_) => (Vec::new(), texts(&["nobody", "1"])),
    }
}

#[test]
fn every_table_has_a_place() {
    let places = places();
    for shape in all(&decode::SCHEMA) {
        assert!(places.iter().any(|p| core::ptr::eq(p.shape, shape)), "{} is nowhere", shape.title);
    }
    for place in &places {
        let text =
            read(&place.sets).unwrap_or_else(|e| panic!("{} at {}: {e}", place.shape.title, place.path));
        assert!(!text.nodes.is_empty());
    }
}

/// Returns the band that an 802.11b rate requires.
fn band_of(rate: &str) -> Sets {
    let low = rate.starts_with("dsss") || rate.starts_with("cck");
    low.then(|| ("channel.wifi.band".to_owned(), "2.4 GHz".to_owned())).into_iter().collect()
}

/// Returns the overrides that a key requires to have an effect; without them any value is rejected.
fn effective(place: &Place, key: &Key) -> Sets {
    let set = |path: &str, value: &str| vec![(format!("{}{path}", place.path), value.to_owned())];
    let flow = |kind: &str| {
        let table = format!("{{ kind = \"{kind}\", from = \"server\", to = \"slow\" }}");
        vec![("flow.1".to_owned(), table)]
    };
    match (place.shape.title, key.name) {
        (
            "Channel",
            "tx_power"
            | "reference_loss"
            | "path_loss_exponent"
            | "noise"
            | "cca_sensitivity"
            | "preamble_detection_threshold",
        ) => ["ap", "slow"].map(|node| (format!("node.{node}.position"), "3 m, 4 m".to_owned())).to_vec(),
        ("Channel", "cca_ed_threshold") => places::interference(),
        ("Access point's interface" | "Station's interface", "cipher_delimiters") => {
            vec![("channel.wifi.cipher".to_owned(), "ccmp".to_owned())]
        }
        ("Station's interface", "destination_filter") => {
            vec![("channel.wifi.cipher".to_owned(), "ccmp".to_owned())]
        }
        // A flow cannot start or end at an external host.
        ("Node", "host") => vec![("flow".to_owned(), "[]".to_owned())],
        (_, "default_route") => {
            let node = place.path.split(".interface").next().expect("an interface's path");
            vec![("flow".to_owned(), "[]".to_owned()), (format!("{node}.host"), "external".to_owned())]
        }
        ("Record", "quic") => flow("quic"),
        ("Qdisc netem" | "Qdisc netem of a Wi-Fi interface", "delay_correlation") => set(".jitter", "1 ms"),
        ("Qdisc netem" | "Qdisc netem of a Wi-Fi interface", name) if name.ends_with("_correlation") => {
            let chance = format!(".{}", name.replace("_correlation", ""));
            [set(&chance, "0.5"), set(".delay", "1 ms")].concat()
        }
        ("Qdisc tbf" | "Qdisc tbf of a Wi-Fi interface", "limit" | "latency") => {
            set("", "{ kind = \"tbf\", rate = \"10 Mbit/s\", burst = 5000 }")
        }
        ("Flow of kind quic", "ack_gate" | "ack_count" | "ack_fraction" | "ack_min_delay") => {
            set(".ack_decimation", "true")
        }
        ("Flow of kind quic", name) if name.starts_with("pacing_") => set(".pacing", "true"),
        ("Flow of kind quic", "interval") => set(".page", "small"),
        _ => Vec::new(),
    }
}

/// Returns the overrides that the value requires, or `None` if the specimen allows no such value.
fn company(place: &Place, key: &Key, value: &str) -> Option<Sets> {
    let set = |path: &str, value: &str| vec![(format!("{}{path}", place.path), value.to_owned())];
    match (place.shape.title, key.name) {
        ("Station's interface", "rate") if value.starts_with("minstrel") => Some(set(".retry_chain", "[]")),
        ("Rate control minstrel", "standard") => Some(match value {
            "802.11a" => Vec::new(),
            _ => vec![("channel.wifi.band".to_owned(), "2.4 GHz".to_owned())],
        }),
        ("Station's interface", "rate" | "uplink_rate") if value == "ath9k_htc" => {
            let mut sets = if key.name == "rate" { set(".retry_chain", "[]") } else { Vec::new() };
            sets.push(("channel.wifi.band".to_owned(), "2.4 GHz".to_owned()));
            Some(sets)
        }
        ("Rate control minstrel_ht", "width") => {
            Some(vec![("channel.wifi.width".to_owned(), "80 MHz".to_owned())])
        }
        ("Rate control minstrel_ht", "vht_only") => Some(set(".standard", "802.11ac")),
        ("Rate control ath9k_htc", "width") => {
            Some(vec![("channel.wifi.width".to_owned(), "40 MHz".to_owned())])
        }
        ("Station's interface", "airtime_weight") => {
            Some(vec![("node.ap.interface.wlan0.scheme".to_owned(), "mac80211".to_owned())])
        }
        ("Station's interface", "uplink_rate") if value.starts_with("minstrel") => Some(Vec::new()),
        ("Station's interface", "uplink_retry_chain") => Some(set(".uplink_rate", "ht20-mcs15-sgi")),
        ("Station's interface", "rate" | "uplink_rate") => {
            let wide = value.starts_with("vht") || value.starts_with("he");
            let chain = format!(".{}", key.name.replace("rate", "retry_chain"));
            let mut sets = set(&chain, &format!("[\"{value}\"]"));
            sets.push(("channel.wifi.width".to_owned(), if wide { "160 MHz" } else { "40 MHz" }.to_owned()));
            sets.extend(band_of(value));
            Some(sets)
        }
        ("Channel", "basic_rate") => Some(band_of(value)),
        // Each rate once.
        ("Error rate by rate", "rates") => {
            let listed = |mcs: u8| value.contains(&format!("-mcs{mcs}-")) || value == format!("mcs{mcs}");
            (!(0..8).any(listed)).then(Vec::new)
        }
        // A chain's first entry is the rate itself.
        ("Entry of a retry chain", "rate") => (value == "mcs0").then(Vec::new),
        ("Channel", "width") | ("Access point's interface" | "Station's interface", "channel") => {
            Some(Vec::new())
        }
        ("Shaper", "qdisc") => Some(Vec::new()),
        // Schemes that queue in the MAC take no qdisc, and the others require one.
        (_, "qdisc") if place.path != WIRED => {
            Some(set(".scheme", if value == "noqueue" { "airtime" } else { "fifo" }))
        }
        // The windows must be ordered.
        ("Access point's interface", name) if name.ends_with("_cwmin") => {
            let greatest = if name.starts_with("tx_queue") { "32767" } else { "15" };
            Some(set(&format!(".{}", name.replace("cwmin", "cwmax")), greatest))
        }
        ("Access point's interface", name) if name.ends_with("_cwmax") => {
            let least = if name.starts_with("tx_queue") { "1" } else { "0" };
            Some(set(&format!(".{}", name.replace("cwmax", "cwmin")), least))
        }
        ("Flow of kind quic", "initial_window") => Some(set(".max_window", "16777216")),
        ("Flow of kind quic", "max_window") => {
            let mut sets = set(".initial_window", "1200");
            sets.extend(set(".preset", "rfc9002"));
            Some(sets)
        }
        // `noqueue` requires another link.
        (_, "qdisc") if place.path == WIRED && value == "noqueue" => {
            Some(vec![("link.lan".to_owned(), "{ kind = \"veth\" }".to_owned())])
        }
        // The peak rate must exceed the rate.
        ("Qdisc tbf" | "Qdisc tbf of a Wi-Fi interface", "peakrate") => {
            (value != "1 bit/s").then(|| set(".mtu", "2000"))
        }
        ("Qdisc tbf" | "Qdisc tbf of a Wi-Fi interface", "mtu") => Some(set(".peakrate", "20 Mbit/s")),
        ("Qdisc netem" | "Qdisc netem of a Wi-Fi interface", "reorder" | "gap") => {
            Some(set(".delay", "1 ms"))
        }
        // These tests require a number of streams.
        ("Test", "name") if value.contains("_n") => Some(set(".streams", "3")),
        ("Test", "streams") => Some(set(".name", "tcp_nup")),
        // The Ethernet link before an access line must be at least as fast. A buffer given as a time has no
        // size on a line that is down.
        ("Link of kind access", "rate") => {
            Some([set(".port", "1000 Gbit/s"), set(".buffer", "256 KiB")].concat())
        }
        ("Rates of an access line", _) => Some(
            [("port", "1000 Gbit/s"), ("buffer", "256 KiB")]
                .map(|(k, v)| (format!("link.lan.{k}"), v.to_owned()))
                .to_vec(),
        ),
        ("Link of kind access", "port") => Some(set(".rate", "1 kbit/s")),
        // Consecutive addresses would collide with those of other nodes.
        ("Node", "count") => (value == "1").then(Vec::new),
        ("Flow of kind tcp", "on") => Some(set(".off", "1 s")),
        ("Flow of kind tcp", "off") => Some(set(".on", "1 s")),
        ("Flow of kind video", "keyframe_interval") => Some(set(".keyframe_size_ratio", "5")),
        ("Flow of kind video", "keyframe_size_ratio") => Some(set(".keyframe_interval", "2 s")),
        // A video frame has a limited number of packets.
        ("Flow of kind video", "rate") => (value != "1000 Gbit/s").then(Vec::new),
        // The file must exist.
        ("Trace of rates" | "Trace of mahimahi" | "Trace of TheaterQ", "file") => None,
        ("Pattern trace" | "Load from lines of shares" | "Load from a survey", "file") => None,
        // Requires a level everywhere, or a position where all nodes have one.
        ("Interference", "position" | "tx_power") => None,
        // The cycle must be longer than its on-time.
        ("Pattern cycle", "on") => (value == "10 us").then(Vec::new),
        ("Pattern cycle", "period") => (value != "10 us").then(Vec::new),
        // All rates on this band are HE rates.
        ("Channel", "band") if matches!(value, "6 GHz" | "6GHz") => Some(
            ["fast1", "slow"]
                .into_iter()
                .flat_map(|node| {
                    [("rate", "he20-mcs7-nss1-gi0.8"), ("retry_chain", "[]")]
                        .map(|(key, value)| (format!("node.{node}.interface.wlan0.{key}"), value.to_owned()))
                })
                .collect(),
        ),
        // Depends on the features of this build.
        ("Stack quinn", "crypto") => (value == "null" || cfg!(feature = "tls")).then(Vec::new),
        // Capture requires a position for every node.
        ("Channel", "capture") if value != "off" => Some(
            ["ap", "fast1", "fast2", "slow"]
                .map(|node| (format!("node.{node}.position"), "3 m, 4 m".to_owned()))
                .to_vec(),
        ),
        // Requires at least two nodes with a radio.
        ("Node", "position") => None,
        // Only for guest kernels; this scenario has none (see `crates/uml/tests/guests.rs`).
        ("Record", "tc" | "nstat") => None,
        // Packets must fit the MTU.
        ("Scenario" | "Flow of kind udp", "ip") | (_, "mtu") => {
            Some(vec![("flow.0.payload".to_owned(), "500".to_owned())])
        }
        // Only cake uses the masquerading mode.
        ("Wired interface", "masquerade") => Some(set(".qdisc", "cake")),
        (_, "nat") => (value != "true").then(Vec::new),
        // The initial number of connections must not exceed the maximum.
        ("Flow of kind responsiveness", "connections") => Some(set(".max_connections", "1000")),
        // One rate per receiver.
        ("Flow of kind udp", "rate") => Some(set(".to", "slow")),
        _ => Some(Vec::new()),
    }
}

#[test]
fn values_within_the_description_are_read_and_others_rejected_at_their_key() {
    let (mut tried, mut told_alone) = (0, 0);
    for place in places() {
        for key in place.shape.keys() {
            let (good, bad) = probes(&key.form);
            for value in good {
                let Some(company) = company(&place, key, &value) else { continue };
                let place = Place {
                    path: place.path.clone(),
                    shape: place.shape,
                    sets: [place.sets.clone(), effective(&place, key), company].concat(),
                };
                let said = with(&place, key, &value);
                assert!(said.is_ok(), "{}.{} = {value}: {said:?}", place.path, key.name);
                let none: [String; 0] = [];
                assert_eq!(alone(&place, key, &value), none, "{}.{} = {value}", place.path, key.name);
                tried += 1;
            }
            for value in bad {
                let said = with(&place, key, &value).map_or_else(|e| e, |_| "no error".to_owned());
                let names_it = said.contains(&format!("{}: found ", document::join(&place.path, key.name)));
                // The inherited node is looked up before its keys are checked.
                let inherited = key.name == "inherits" || said.starts_with("--set:");
                assert!(
                    names_it || inherited && said.contains("found"),
                    "{}.{} = {value}: {said}",
                    place.path,
                    key.name
                );
                // The description alone reports errors only here, apart from names of removed elements.
                let path = document::join(&place.path, key.name);
                let renames =
                    matches!(key.name, "inherits" | "node" | "link" | "channel" | "interface" | "role");
                for told in alone(&place, key, &value) {
                    assert!(renames || told.starts_with(&path), "{path} = {value}: {told}");
                    told_alone += 1;
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 500, "{tried}");
    assert!(told_alone > 500, "{told_alone}");
}

#[test]
fn explicit_defaults_change_nothing() {
    let mut tried = 0;
    for place in places() {
        for key in place.shape.keys() {
            let Some(value) = key.absent.default() else { continue };
            let path = document::join(&place.path, key.name);
            // Remove the specimen's own value so that the default applies.
            let text = without(&path);
            let resolved = |sets: &Sets| {
                let read = parse(&text, "good.toml", sets).unwrap_or_else(|e| panic!("{path}: {e}"));
                Scenario { idle: Vec::new(), ..read }.resolved()
            };
            let mut sets = [place.sets.clone(), effective(&place, key)].concat();
            let is = resolved(&sets);
            sets.push((path.clone(), value.to_owned()));
            assert_eq!(is, resolved(&sets), "{path} = {value}");
            tried += 1;
        }
    }
    assert!(tried > 80, "{tried}");
}

/// Returns the specimen without a key that has a default.
fn without(path: &str) -> String {
    let given = [
        ("duration", "duration = \"30 s\"\n"),
        ("warm_up", "warm_up = \"5 s\"\n"),
        ("seed", "seed = 1\n"),
        ("flow.0.payload", "payload = 1470\n"),
        ("flow.0.burst", "burst = 8\n"),
        ("flow.0.start", "start = \"0 s\"\n"),
        ("flow.1.interval", "interval = \"0.2 s\"\n"),
    ];
    match given.iter().find(|(key, _)| *key == path) {
        Some((_, line)) => {
            assert!(SPECIMEN.contains(line), "{line:?} is not in the specimen");
            SPECIMEN.replacen(line, "", 1)
        }
        None => SPECIMEN.to_owned(),
    }
}

#[test]
fn kernel_settings_are_listed_by_name() {
    let node = places().into_iter().find(|p| p.shape.title == "Node").expect("a node");
    for table in ["sysctl", "module"] {
        let Some(ValueType::Settings(keys)) = node.shape.key(table).map(|key| &key.form) else {
            panic!("{table}")
        };
        // The two keys belong to different kernels.
        let keys = keys.iter().copied().flatten().filter(|k| k.name != "tcp_cubic.hystart_ack_delta_us");
        for key in keys {
            let beside = match key.name {
                "net.ipv4.tcp_comp_sack_delay_ns" | "net.ipv4.tcp_comp_sack_slack_ns" => {
                    vec![("node.server.sysctl.net.ipv4.tcp_comp_sack_nr".to_owned(), "44".to_owned())]
                }
                "tcp_cubic.initial_ssthresh" => {
                    vec![("node.server.module.tcp_cubic.hystart".to_owned(), "0".to_owned())]
                }
                _ => Vec::new(),
            };
            let set = |value: &str| {
                let own = (format!("node.server.{table}.{}", key.name), value.to_owned());
                read(&[beside.clone(), vec![own]].concat())
            };
            if let Some(default) = key.absent.default() {
                assert_eq!(set(&default), read(&beside));
            }
            let (good, bad) = probes(&key.form);
            assert!(good.iter().all(|value| set(value).is_ok()), "{}", key.name);
            assert!(bad.iter().all(|value| set(value).is_err_and(|e| e.contains(key.name))));
        }
    }
}

#[test]
fn worked_example_is_valid() {
    let page = reference(&decode::SCHEMA);
    let text = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    parse(text, "example", &Vec::new()).unwrap_or_else(|e| panic!("{e}"));
    let sets = super::super::sweep(text, "example", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(sets.len(), 4);
    for set in &sets {
        parse(text, "example", set).unwrap_or_else(|e| panic!("{e}"));
    }
    assert!(["{times}", "{rates}", "{sizes}"].iter().all(|hole| !page.contains(hole)));
}

#[test]
fn rate_names_parse_and_patterns_list_every_unit() {
    for name in units::phy_rates(false) {
        assert_eq!(units::phy_rate(&name, None).map(|rate| rate.to_string()), Ok(name));
    }
    let base = units::phy_rate("ht20-mcs3-sgi", None).ok();
    assert!(units::phy_rates(true).iter().all(|name| units::phy_rate(name, base).is_ok()));
    for (pattern, names) in [units::times(), units::rates(), units::sizes()] {
        assert!(names.len() > 3 && names.iter().all(|name| pattern.contains(name)));
    }
}

/// All shipped scenarios and paths are valid, so the description alone reports nothing.
#[test]
fn shipped_scenarios_have_no_errors() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("../../scenarios"), root.join("paths")];
    let mut looked = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let tree = document::parse(&std::fs::read_to_string(&path).expect("text")).expect("TOML");
            let tree = many::written_out(&tree).expect("groups");
            let found = decode::mistakes::all(&tree, Parts::none());
            assert!(found.is_empty(), "{}: {found:?}", path.display());
            looked += 1;
        }
    }
    assert!(looked > 50, "{looked}");
}
