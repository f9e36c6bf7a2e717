//! IPv6 beside IPv4, and MTUs: lengths, segment sizes and priorities, by hand from the headers.

mod common;

use common::{cell, flow, parse, run, station};
use stillair_sim::recorder::RunSummary;

/// Two hosts and a router between them; `line` is the link behind the router, where it queues in `qdisc`.
fn road(line: &str, qdisc: &str, flows: &str) -> String {
    format!(
        r#"
name = "versions"
duration = "8 s"
warm_up = "4 s"
[link.lan]
rate = "1 Gbit/s"
delay = "0.1 ms"
[link.line]
{line}
[node.a]
profile = "linux-6.1"
interface.eth0 = {{ link = "lan" }}
[node.r]
profile = "linux-6.1"
forward = true
interface.lan = {{ link = "lan" }}
interface.line = {{ link = "line"{qdisc} }}
[node.b]
profile = "linux-6.1"
interface.eth0 = {{ link = "line" }}
{flows}"#
    )
}

const LINE: &str = "rate = \"100 Mbit/s\"\ndelay = \"1 ms\"\nbql = true";

fn summary(text: &str) -> RunSummary {
    run(&parse(text, &[]), 0)
}

// spec: ieee8023 3.1 - preamble 8, header 14, check sequence 4 and gap 12 around each packet: 38 bytes.
#[test]
fn a_full_segment_is_what_mtu_and_headers_leave() {
    for (ip, mtu, segment) in [
        (4, 1500, 1500 - 20 - 20 - 12),
        (6, 1500, 1500 - 40 - 20 - 12),
        (4, 1492, 1492 - 20 - 20 - 12),
        (6, 1420, 1420 - 40 - 20 - 12),
    ] {
        for [from, to] in [["a", "b"], ["b", "a"]] {
            let line = format!("{LINE}\nmtu = {mtu}");
            let s = summary(&road(&line, "", &flow("tcp", from, to, &format!("ip = {ip}"))));
            let right = 100.0 * f64::from(segment) / f64::from(mtu + 38);
            let is = s.goodput_total_mbps;
            // Never more. A sender whose own device is the bottleneck lacks up to 0.8 % with PSH on each
            // packet of several segments; why is not known.
            let shares = if from == "a" { 0.999..1.001 } else { 0.99..1.001 };
            assert!(shares.contains(&(is / right)), "IPv{ip}, MTU {mtu}, {from} to {to}: {is} for {right}");
        }
    }
}

#[test]
fn a_ping_is_longer_by_its_header() {
    let slow = "rate = \"1 Mbit/s\"\ndelay = \"1 ms\"";
    let median = |ip| {
        let s = summary(&road(slow, "", &flow("ping", "a", "b", &format!("ip = {ip}"))));
        let ping = s.pings.values().next().expect("a ping");
        assert_eq!((ping.sent, ping.received, ping.lost), (20, 20, 0));
        ping.median_ms.expect("it is answered")
    };
    // 20 bytes more each way: 160 us at 1 Mbit/s, 160 ns at 1 Gbit/s.
    assert!((median(6) - median(4) - 2.0 * (0.160 + 0.000_16)).abs() < 1e-6);
}

#[test]
fn bands_do_not_know_the_traffic_class() {
    let flows = |ip| {
        flow("udp", "a", "b", "rate = \"120 Mbit/s\"\ngap = \"periodic\"")
            + &flow("ping", "a", "b", &format!("ip = {ip}\ndscp = 4\ninterval = \"10 ms\""))
    };
    let median = |ip, qdisc| {
        let s = summary(&road(LINE, &format!(", qdisc = \"{qdisc}\""), &flows(ip)));
        s.pings.values().next().expect("a ping").median_ms
    };
    // The bit for less delay of RFC 1349. Of IPv4 its band of pfifo_fast is before the flood; of IPv6 the
    // ping waits behind it, 1,000 packets.
    assert!(median(4, "pfifo_fast").is_some_and(|ms| ms < 4.0));
    assert!(median(6, "pfifo_fast").is_none_or(|ms| ms > 100.0));
    // A flow queue and a tin go by what both headers have.
    for qdisc in ["fq_codel", "cake"] {
        for ip in [4, 6] {
            assert!(median(ip, qdisc).is_some_and(|ms| ms < 5.0), "{qdisc}, IPv{ip}");
        }
    }
}

/// Each kind of flow, both ways, over the air and a router.
#[test]
fn every_kind_goes_over_ipv6() {
    let mut text = cell("5 s", "band = \"5 GHz\"\nwidth = \"20 MHz\"", "scheme = \"mac80211\"")
        + &station("s", 0, "rate = \"ht20-mcs7-sgi\"")
        + "[link.lan]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[node.ap.interface.eth0]\nlink = \"lan\"\n\
           [node.server]\nprofile = \"linux-6.1\"\ninterface.eth0 = { link = \"lan\" }\n";
    let kinds = [
        ("udp", "rate = \"1 Mbit/s\""),
        ("ping", ""),
        ("udp_ping", ""),
        ("tcp", "rate = \"2 Mbit/s\""),
        ("voip", ""),
        ("video", "rate = \"1 Mbit/s\""),
        ("web", "page = \"small\"\ninterval = \"1 s\""),
        ("quic", "bytes = 500000"),
    ];
    for (kind, more) in kinds {
        text += &flow(kind, "server", "s", more);
        text += &flow(kind, "s", "server", more);
    }
    let text = text.replacen("duration", "ip = 6\nduration", 1);
    let s = summary(&text);
    assert_eq!(s.flows.len(), 2 * 5, "udp, tcp, voip, video and quic");
    for (name, flow) in &s.flows {
        assert!(flow.goodput_mbps > 0.05, "{name}: {flow:?}");
        assert!(flow.loss.is_none_or(|loss| loss == 0.0), "{name}: {flow:?}");
    }
    // Payload is counted without the longer headers: 1 Mbit/s of datagrams is 1 Mbit/s.
    let udp = s.flows.iter().filter(|(name, _)| name.starts_with("udp-"));
    assert!(udp.clone().count() == 2 && udp.into_iter().all(|(_, f)| (f.goodput_mbps - 1.0).abs() < 0.2));
    let voip = &s.flows[s.voip.keys().next().expect("a call")];
    assert!((voip.goodput_mbps - 0.0688).abs() < 0.001, "{voip:?}");
    assert!(s.pings.len() == 4 && s.pings.values().all(|ping| ping.received > 20 && ping.lost == 0));
    assert!(s.web.len() == 2 && s.web.values().all(|page| page.loads > 1));
}

#[test]
fn flows_of_both_versions_are_told_apart() {
    let text = road(LINE, "", &(flow("tcp", "a", "b", "ip = 6") + &flow("tcp", "a", "b", "")));
    let resolved = parse(&text, &[]).resolved();
    assert!(resolved.contains("\"address6\":\"fd00::a80:1\"") && resolved.matches("\"ip\":6").count() == 1);
    // What says nothing of it is resolved as before there were two.
    let plain = parse(&text.replace("ip = 6", ""), &[]).resolved();
    assert!(!plain.contains("address6") && !plain.contains("\"mtu\":1500"));
}

/// What does not fit is one clear error.
#[test]
fn nothing_is_fragmented() {
    let says = |line: &str, flows: &str| {
        let text = road(line, "", flows);
        stillair_sim::scenario::parse(&text, "road.toml", &[]).expect_err("a packet is too long").to_string()
    };
    let narrow = format!("{LINE}\nmtu = 1280");
    for (kind, more, key) in [
        ("udp", "rate = \"1 Mbit/s\"\npayload = 1300", "payload"),
        ("ping", "payload = 1260", "payload"),
        ("udp_ping", "payload = 1260\nip = 6", "payload"),
        ("video", "rate = \"10 Mbit/s\"\npayload = 1300", "payload"),
        ("voip", "interval = \"170 ms\"", "interval"),
        ("quic", "packet = 1350", "packet"),
    ] {
        for [from, to] in [["a", "b"], ["b", "a"]] {
            let says = says(&narrow, &flow(kind, from, to, more));
            assert!(says.contains(&format!(" flow.0.{key}: found ")), "{says}");
            assert!(says.contains("whose MTU is 1280, expected at most 12"), "{says}");
        }
    }
    let says = says(&format!("{LINE}\nmtu = 1279"), &flow("tcp", "b", "a", "ip = 6"));
    assert!(
        says.contains("flow.0.ip: found 6 on a path to \"a\" whose MTU is 1279, expected 4, or"),
        "{says}"
    );
    // TCP keeps to it.
    parse(&road("rate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nmtu = 576", "", &flow("tcp", "b", "a", "")), &[]);
}
