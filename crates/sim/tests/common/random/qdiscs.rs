//! Qdiscs of random networks.

/// Qdiscs of the server; true if they keep the order of a flow.
pub(super) const QDISCS: [(&str, bool); 16] = [
    ("pfifo_fast", true),
    ("{ kind = \"pie\", target = \"1 ms\", limit = 50, bytemode = true }", true),
    ("{ kind = \"fq\", flow_limit = 10, maxrate = \"5 Mbit/s\" }", true),
    ("{ kind = \"sfq\", limit = 20, depth = 8, headdrop = true }", true),
    ("{ kind = \"codel\", target = \"1 ms\", interval = \"5 ms\", limit = 40 }", true),
    ("{ kind = \"htb\", rate = \"10 Mbit/s\" }", true),
    (
        "{ kind = \"cake\", bandwidth = \"10 Mbit/s\", rtt = \"5 ms\", memlimit = 60000, ingress = true }, masquerade = true",
        true,
    ),
    (
        "{ kind = \"htb\", rate = \"10 Mbit/s\", child = { kind = \"cake\", rtt = \"5 ms\", tins = \"diffserv8\" } }",
        true,
    ),
    (
        "{ kind = \"htb\", rate = \"10 Mbit/s\", burst = 20000, child = { kind = \"fq_codel\", limit = 20 } }",
        true,
    ),
    (
        "{ kind = \"tbf\", rate = \"10 Mbit/s\", burst = 6000, latency = \"5 ms\", peakrate = \"20 Mbit/s\", mtu = 1600 }",
        true,
    ),
    (
        "{ kind = \"tbf\", rate = \"10 Mbit/s\", burst = 6000, child = { kind = \"codel\", target = \"1 ms\" } }",
        true,
    ),
    (
        "{ kind = \"htb\", rate = \"10 Mbit/s\", child = { kind = \"fq\", maxrate = \"4 Mbit/s\", horizon = \"1 ms\" } }",
        true,
    ),
    (
        "{ kind = \"netem\", delay = \"1 ms\", child = { kind = \"pie\", target = \"1 ms\", ecn = true } }",
        true,
    ),
    ("{ kind = \"netem\", delay = \"3 ms\", limit = 30, rate = \"20 Mbit/s\", loss = 0.05 }", true),
    (
        "{ kind = \"netem\", delay = \"3 ms\", jitter = \"2 ms\", duplicate = 0.1, reorder = 0.1, gap = 3 }",
        false,
    ),
    (
        "{ kind = \"htb\", rate = \"10 Mbit/s\", child = { kind = \"netem\", delay = \"2 ms\", duplicate = 0.2 } }",
        false,
    ),
];

/// Quotes a plain kind name.
pub fn quoted(kind: &str) -> String {
    if kind.starts_with('{') { kind.to_owned() } else { format!("\"{kind}\"") }
}
