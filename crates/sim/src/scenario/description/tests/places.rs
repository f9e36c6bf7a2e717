//! Places in the specimen where each table of the description can appear.

use super::super::super::decode;
use super::super::TableSchema;
use super::super::reference::all;
use super::{AP, STATION, WIRED};

pub(super) type Sets = Vec<(String, String)>;

/// A place in the specimen for a table, and the overrides that put the table there.
pub(super) struct Place {
    pub(super) path: String,
    pub(super) shape: &'static TableSchema,
    pub(super) sets: Sets,
}

/// Returns a place in the specimen for every table of the description.
pub(super) fn places() -> Vec<Place> {
    let known = |title: &str| all(&decode::SCHEMA).into_iter().find(|s| s.title == title).expect("a table");
    let place =
        |path: &str, title: &str| Place { path: path.to_owned(), shape: known(title), sets: Vec::new() };
    let mut out = vec![
        place("", "Scenario"),
        place("channel.wifi", "Channel"),
        place("link.lan", "Link"),
        Place {
            sets: vec![("link.lan".to_owned(), "{ kind = \"veth\" }".to_owned())],
            ..place("link.lan", "Link of kind veth")
        },
        place("node.server", "Node"),
        place(WIRED, "Wired interface"),
        place(AP, "Access point's interface"),
        place(STATION, "Station's interface"),
        place("flow.0", "Flow of kind udp"),
        Place {
            sets: vec![
                ("duration".to_owned(), "100 s".to_owned()),
                ("test".to_owned(), "{ name = \"rrul\", from = \"slow\", to = \"server\" }".to_owned()),
            ],
            ..place("test", "Test")
        },
        place("flow.1", "Flow of kind ping"),
    ];
    const ACCESS: &str = "{ kind = \"access\", rate = { down = \"1 Gbit/s\", up = \"1 Gbit/s\" }, \
                          buffer = { down = \"1 s\", up = \"1 s\" }, delay = \"1 ms\" }";
    for (path, title) in [
        ("link.lan", "Link of kind access"),
        ("link.lan.rate", "Rates of an access line"),
        ("link.lan.buffer", "Buffers of an access line"),
    ] {
        out.push(Place { sets: vec![("link.lan".to_owned(), ACCESS.to_owned())], ..place(path, title) });
    }
    let mut shaper = place(&format!("{WIRED}.shaper"), "Shaper");
    shaper.sets.push((shaper.path.clone(), "{ down = \"10 Mbit/s\" }".to_owned()));
    out.push(shaper);
    // The specimen has no flow to a guest.
    const GUEST: &str = "{ kind = \"uml\", kernel = \"6.12\", run = [{ command = \"true\" }] }";
    for (path, title) in [("node.server.host", "Guest"), ("node.server.host.run.0", "Program of a guest")] {
        let sets = [("flow", "[]"), ("node.server.host", GUEST)];
        let sets = sets.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        out.push(Place { sets, ..place(path, title) });
    }
    let mut udp_ping = place("flow.1", "Flow of kind udp_ping");
    udp_ping.sets.push(("flow.1.kind".to_owned(), "udp_ping".to_owned()));
    out.push(udp_ping);
    let mut step = place("step.0", "Step");
    let sets = "[{ at = \"1 s\", set = [\"link.lan.delay=2 ms\"] }]";
    step.sets.push(("step".to_owned(), sets.to_owned()));
    out.push(step);
    for (path, title, table) in [
        ("flow.1", "Flow of kind tcp", "{ kind = \"tcp\", from = \"server\", to = \"slow\" }"),
        (
            "flow.1",
            "Flow of kind video",
            "{ kind = \"video\", from = \"server\", to = \"slow\", rate = \"1 Mbit/s\" }",
        ),
        ("flow.1", "Flow of kind voip", "{ kind = \"voip\", from = \"server\", to = \"slow\" }"),
        (
            "flow.1",
            "Flow of kind web",
            "{ kind = \"web\", from = \"slow\", to = \"server\", page = \"small\" }",
        ),
        ("flow.1", "Flow of kind quic", "{ kind = \"quic\", from = \"server\", to = \"slow\" }"),
        (
            "flow.1",
            "Flow of kind responsiveness",
            "{ kind = \"responsiveness\", from = \"slow\", to = \"server\" }",
        ),
        ("record.sojourn", "Sojourn of a sample", "{ sample = 10 }"),
        ("node.slow.tcp", "TCP of a node", "{}"),
        ("node.server.jitter", "Jitter none", "{ kind = \"none\" }"),
        ("node.server.jitter", "Jitter of a desktop", "{ kind = \"desktop\" }"),
        ("record", "Record", "{}"),
    ] {
        let mut new = place(path, title);
        new.sets.push((path.to_owned(), table.to_owned()));
        out.push(new);
    }
    let web = |page: &str| format!("{{ kind = \"web\", from = \"slow\", to = \"server\", page = {page} }}");
    let quic =
        |stack: &str| format!("{{ kind = \"quic\", from = \"server\", to = \"slow\", stack = {stack} }}");
    for (path, title, stack) in [
        ("flow.1.stack", "Stack model", "{ kind = \"model\" }"),
        ("flow.1.stack", "Stack quinn", "{ kind = \"quinn\" }"),
        (
            "flow.1.stack.ack_frequency",
            "Acknowledgements of quinn",
            "{ kind = \"quinn\", ack_frequency = {} }",
        ),
    ] {
        let sets = vec![("flow.1".to_owned(), quic(stack))];
        out.push(Place { sets, ..place(path, title) });
    }
    for (path, title, page) in [
        ("flow.1.page", "Page", "{ list = 1, objects = [1] }"),
        ("flow.1.page.objects.0", "Objects of a page", "{ list = 1, objects = [{ count = 1, size = 1 }] }"),
    ] {
        let sets = vec![("flow.1".to_owned(), web(page))];
        out.push(Place { sets, ..place(path, title) });
    }
    let entry = "{ rate = \"ht20-mcs0-sgi\" }";
    let mut chain = place(&format!("{STATION}.retry_chain.0"), "Entry of a retry chain");
    chain.sets.push((chain.path.clone(), entry.to_owned()));
    out.push(chain);
    let mut control = place(&format!("{STATION}.rate"), "Rate control minstrel_ht");
    control.sets.push((format!("{STATION}.retry_chain"), "[]".to_owned()));
    control.sets.push((control.path.clone(), "{ kind = \"minstrel_ht\" }".to_owned()));
    out.push(control);
    let mut firmware = place(&format!("{STATION}.rate"), "Rate control ath9k_htc");
    firmware.sets.push((format!("{STATION}.retry_chain"), "[]".to_owned()));
    firmware.sets.push(("channel.wifi.band".to_owned(), "2.4 GHz".to_owned()));
    firmware.sets.push((firmware.path.clone(), "{ kind = \"ath9k_htc\" }".to_owned()));
    out.push(firmware);
    // A retry chain may consist of its own rate only, so the table requires nothing more.
    let mut legacy = place(&format!("{STATION}.rate"), "Rate control minstrel");
    legacy.sets.push((format!("{STATION}.retry_chain"), "[]".to_owned()));
    legacy.sets.push((legacy.path.clone(), "{ kind = \"minstrel\" }".to_owned()));
    out.push(legacy);
    let mut by_rate = place(&format!("{STATION}.error_rate.1"), "Error rate by rate");
    by_rate.sets.push((format!("{STATION}.retry_chain"), "[]".to_owned()));
    by_rate.sets.push((format!("{STATION}.rate"), "{ kind = \"minstrel_ht\", streams = 1 }".to_owned()));
    let all = (0..8).map(|mcs| format!("\"mcs{mcs}\"")).collect::<Vec<_>>().join(", ");
    let other = format!("{{ rates = [{all}], probability = 0.1 }}");
    by_rate.sets.push((
        format!("{STATION}.error_rate"),
        format!("[{other}, {{ rates = \"mcs31\", probability = 0.5 }}]"),
    ));
    out.push(by_rate);
    let mut change = place(&format!("{STATION}.snr.1"), "Change of a ratio");
    let ratios = "[\"25 dB\", { at = \"5 s\", snr = \"20 dB\" }]";
    change.sets.push((format!("{STATION}.snr"), ratios.to_owned()));
    out.push(change);
    let mut change = place(&format!("{STATION}.distance.1"), "Change of a distance");
    let distances = "[\"10 m\", { at = \"5 s\", distance = \"20 m\" }]";
    change.sets.push((format!("{STATION}.distance"), distances.to_owned()));
    out.push(change);
    out.extend(foreign());
    for (above, key) in [
        (AP, "scheme"),
        (AP, "retry_out"),
        (AP, "rx_mitigation"),
        (AP, "qdisc"),
        (AP, "scan"),
        (STATION, "qdisc"),
        (STATION, "trace"),
        (STATION, "power_save"),
        (STATION, "scan"),
        (WIRED, "qdisc"),
    ] {
        let table = out.iter().find(|p| p.path == above).expect("placed above").shape;
        for shape in table.key(key).expect("a key with kinds").form.shapes() {
            let path = format!("{above}.{key}");
            // A qdisc with its own instances requires a driver that stops the queue; `noqueue` requires a
            // driver that does not.
            let scheme = match (key, shape.kind()) {
                ("qdisc", "noqueue") => Some("fq_mac"),
                ("qdisc", _) => Some("fifo"),
                _ => None,
            };
            let scheme = scheme.filter(|_| above != WIRED).map(|s| (format!("{above}.scheme"), s.to_owned()));
            let veth = (above, shape.kind()) == (WIRED, "noqueue");
            let link = veth.then(|| ("link.lan".to_owned(), "{ kind = \"veth\" }".to_owned()));
            let rate = match shape.kind() {
                "mac80211" | "iwlwifi" | "ath10k" | "brcmfmac" | "mwifiex" | "qcacld" | "phone"
                | "static"
                    if key == "power_save" =>
                {
                    ", uapsd = [\"VO\"]"
                }
                "index" => ", index = 1",
                "times" => ", last = \"1 ms\", first = \"1 ms\"",
                "rates" => ", file = \"tests/traces/walk.csv\"",
                "mahimahi" => ", file = \"tests/traces/cell.mahimahi\"",
                "theaterq" => ", file = \"tests/traces/path.theaterq\"",
                "htb" => ", rate = \"10 Mbit/s\"",
                "tbf" => ", rate = \"10 Mbit/s\", burst = 5000, child = \"pfifo\"",
                _ => "",
            };
            let kind = (path.clone(), format!("{{ kind = \"{}\"{rate} }}", shape.kind()));
            out.push(Place { path, shape, sets: scheme.into_iter().chain(link).chain([kind]).collect() });
        }
    }
    out
}

/// Returns overrides for interference on the channel, with a level at each station.
pub(super) fn interference() -> Sets {
    let source = "{ channel = \"wifi\", power = \"-50 dBm\" }";
    let level = ("node.fast1.interface.wlan0.snr".to_owned(), "25 dB".to_owned());
    vec![level, ("interference.oven".to_owned(), source.to_owned())]
}

/// Returns the places of the channel's other users.
fn foreign() -> Vec<Place> {
    let known = |title: &str| all(&decode::SCHEMA).into_iter().find(|s| s.title == title).expect("a table");
    let place =
        |path: &str, title: &str, sets: Sets| Place { path: path.to_owned(), shape: known(title), sets };
    let mut out = vec![place("interference.oven", "Interference", interference())];
    for (title, table) in [
        ("Pattern always", "{ kind = \"always\" }"),
        ("Pattern cycle", "{ kind = \"cycle\", on = \"1 ms\", period = \"20 ms\" }"),
        ("Pattern microwave", "{ kind = \"microwave\" }"),
        ("Pattern random", "{ kind = \"random\", on = \"1 ms\", off = \"20 ms\" }"),
        ("Pattern trace", "{ kind = \"trace\", file = \"tests/traces/oven.csv\" }"),
    ] {
        let path = "interference.oven.pattern";
        let sets = [interference(), vec![(path.to_owned(), table.to_owned())]].concat();
        out.push(place(path, title, sets));
    }
    for (path, title, load) in [
        ("neighbour.flat", "Neighbour", "0.5"),
        ("neighbour.flat.load.1", "Change of a load", "[0.1, { at = \"5 s\", load = 0.5 }]"),
        (
            "neighbour.flat.load",
            "Load from lines of shares",
            "{ kind = \"shares\", file = \"tests/traces/busy.csv\" }",
        ),
        (
            "neighbour.flat.load",
            "Load from a survey",
            "{ kind = \"survey\", file = \"tests/traces/survey.txt\" }",
        ),
    ] {
        let table = format!("{{ channel = \"wifi\", load = {load}, frame = \"1 ms\" }}");
        out.push(place(path, title, vec![("neighbour.flat".to_owned(), table)]));
    }
    out
}
