//! Qdiscs in scenarios, with tc's names and options.

use stillair_model::aqm::pie::PieParams;
use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::cake::{AckFilter, CakeParams, Cells, Framing, Isolation, Masquerade, Tins};
use stillair_model::qdisc::fifo::FifoParams;
use stillair_model::qdisc::fq::FqParams;
use stillair_model::qdisc::htb::HtbParams;
use stillair_model::qdisc::netem::{NetemParams, Share};
use stillair_model::qdisc::pie::PieQdiscParams;
use stillair_model::qdisc::sfq::SfqParams;
use stillair_model::qdisc::tbf::{Peak, TbfParams};
use stillair_model::types::{Duration, Rate};
use stillair_model::wire::WireParams;
use stillair_sim::scenario::{self, Scenario, ScenarioError};

const GOOD: &str = include_str!("scenario/good.toml");

fn with(sets: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    scenario::parse(GOOD, "good.toml", &sets)
}

/// Returns the qdisc configuration for a text.
fn of(text: &str) -> QdiscConfig {
    let s = with(&[("node.server.interface.eth0.qdisc", text)]).unwrap();
    s.nodes[0].interfaces[0].qdisc.config.clone()
}

#[test]
fn default_qdisc_is_the_kernels() {
    for kind in ["pfifo_fast", "pfifo", "codel", "fq_codel", "cake", "fq", "pie", "sfq"] {
        let s = with(&[
            ("node.server.sysctl", &format!("{{ \"net.core.default_qdisc\" = \"{kind}\" }}")),
            ("node.ap.sysctl", &format!("{{ \"net.core.default_qdisc\" = \"{kind}\" }}")),
            ("node.ap.interface.wlan0.scheme", "fifo"),
        ])
        .unwrap();
        let (eth0, wlan0) = (&s.nodes[0].interfaces[0].qdisc, &s.nodes[1].interfaces[1].qdisc);
        assert_eq!((eth0.config.kind(), eth0.mq, wlan0.config.kind(), wlan0.mq), (kind, false, kind, true));
    }
    let s = with(&[
        ("node.server.sysctl", "{ \"net.core.default_qdisc\" = \"fq\" }"),
        ("node.server.interface.eth0.qdisc", "pfifo"),
    ]);
    assert_eq!(s.unwrap().nodes[0].interfaces[0].qdisc.config.kind(), "pfifo");
}

#[test]
fn fq_under_the_names_that_tc_uses() {
    let fq = |text: &str| match of(text) {
        QdiscConfig::Fq(params) => params,
        other => panic!("{other:?}"),
    };
    let default = FqParams::default();
    assert_eq!(fq("fq"), default);
    let text = "{ kind = \"fq\", maxrate = \"10 Mbit/s\", flow_limit = 200, quantum = 1514, initial_quantum = 0, \
                buckets = 64, pacing = false, horizon = \"2 s\", horizon_drop = false, ce_threshold = \"4 ms\" }";
    let (maxrate, horizon) = (Some(Rate::from_mbps(10)), Duration::from_secs(2));
    let ce_threshold = Duration::from_millis(4);
    let given = FqParams { maxrate, horizon, ce_threshold, flow_limit: 200, quantum: 1514, ..default };
    let given = FqParams { initial_quantum: 0, buckets: 64, pacing: false, horizon_drop: false, ..given };
    assert_eq!(fq(text), given);
    assert!(of("fq").paces() && !of(text).paces());
    assert!(
        of("{ kind = \"htb\", rate = \"10 Mbit/s\", child = \"fq\" }").paces() && !of("fq_codel").paces()
    );
}

#[test]
fn pie_under_the_names_that_tc_uses() {
    let pie = |text: &str| match of(text) {
        QdiscConfig::Pie(params) => params,
        other => panic!("{other:?}"),
    };
    // The server's kernel, 4.14, has 250 ticks per second: 30 ms are eight ticks.
    let usual = PieQdiscParams::new(250);
    let aqm = PieParams { target: Duration::from_millis(20), dq_rate_estimator: true, ..usual.pie };
    let default = PieQdiscParams { tupdate: Duration::from_millis(32), pie: aqm, ..usual };
    assert_eq!(pie("pie"), default);
    let text = "{ kind = \"pie\", limit = 50, target = \"5 ms\", tupdate = \"50 ms\", alpha = 4, beta = 30, ecn = true, \
                bytemode = true, dq_rate_estimator = false }";
    let (alpha, beta, ecn, bytemode) = (4, 30, true, true);
    let aqm = PieParams { target: Duration::from_millis(5), alpha, beta, ecn, bytemode, ..default.pie };
    let aqm = PieParams { dq_rate_estimator: false, ..aqm };
    assert_eq!(pie(text), PieQdiscParams { limit: 50, tupdate: Duration::from_millis(52), pie: aqm });
}

#[test]
fn pie_measures_the_drain_rate_before_linux_5_5() {
    // kernel; target, period at 250 ticks per second, drain rate
    let table = [("linux-3.13", 20, 32, true), ("linux-4.19", 20, 32, true), ("linux-5.10", 15, 16, false)];
    for (kernel, target, tupdate, dq_rate_estimator) in table {
        let quoted = format!("\"{kernel}\"");
        let own = [("node.server.profile", quoted.as_str()), ("node.server.interface.eth0.qdisc", "pie")];
        let by_sysctl = "{ \"net.core.default_qdisc\" = \"pie\" }";
        for sets in [own, [own[0], ("node.server.sysctl", by_sysctl)]] {
            let s = with(&sets).unwrap();
            let QdiscConfig::Pie(p) = &s.nodes[0].interfaces[0].qdisc.config else { panic!("{kernel}") };
            let want = (Duration::from_millis(target), Duration::from_millis(tupdate), dq_rate_estimator);
            assert_eq!((p.pie.target, p.tupdate, p.pie.dq_rate_estimator), want, "{kernel}");
        }
    }
}

#[test]
fn sfq_adjusts_derived_limits() {
    let sfq = |text: &str| match of(text) {
        QdiscConfig::Sfq(params) => params,
        other => panic!("{other:?}"),
    };
    let default = SfqParams::default();
    assert_eq!(sfq("sfq"), default);
    let perturb = Duration::from_secs(10);
    assert_eq!(sfq("{ kind = \"sfq\", perturb = \"10 s\" }"), SfqParams { perturb, ..default });
    let cut = SfqParams { limit: 60, depth: 30, flows: 2, divisor: 2, ..default };
    assert_eq!(sfq("{ kind = \"sfq\", limit = 1000, depth = 30, flows = 50, divisor = 2 }"), cut);
    assert_eq!(sfq("{ kind = \"sfq\", limit = 10 }"), SfqParams { limit: 10, flows: 10, ..default });
}

#[test]
fn shaping_and_emulation_under_tc_names() {
    let QdiscConfig::Htb(htb) = of("{ kind = \"htb\", rate = \"100 Mbit/s\" }") else { panic!("htb") };
    let rate = Rate::from_mbps(100);
    let child = Box::new(QdiscConfig::Fifo(FifoParams::Packets(1000)));
    assert_eq!(htb, HtbParams { rate, ceil: rate, burst: 1600, cburst: 1600, child });
    let text = "{ kind = \"htb\", rate = \"10 Mbit/s\", ceil = \"20 Mbit/s\", burst = \"15 kB\", \
                child = { kind = \"fq_codel\", target = \"20 ms\" } }";
    let QdiscConfig::Htb(htb) = of(text) else { panic!("htb") };
    assert_eq!((htb.ceil, htb.burst, htb.cburst), (Rate::from_mbps(20), 15_000, 1600));
    assert!(matches!(*htb.child, QdiscConfig::FqCodel(p) if p.codel.target == Duration::from_millis(20)));

    let netem = |text: &str| match of(text) {
        QdiscConfig::Netem(params, None) => params,
        other => panic!("{other:?}"),
    };
    assert_eq!(netem("netem"), NetemParams::default());
    let p = netem(
        "{ kind = \"netem\", delay = \"20 ms\", jitter = \"1 ms\", loss = 0.01, rate = \"50 Mbit/s\", limit = 350 }",
    );
    assert_eq!((p.delay, p.jitter), (Duration::from_millis(20), Duration::from_millis(1)));
    assert_eq!((p.limit, p.rate), (350, Some(Rate::from_mbps(50))));
    // 1 % of 2^32 - 1.
    assert_eq!((p.loss.share, p.gap, p.reorder.share), (Share(42_949_673), 0, Share(0)));
    // Only a gap: every such packet. Only a probability: any packet may be hit.
    let p = netem("{ kind = \"netem\", delay = \"20 ms\", gap = 5 }");
    assert_eq!((p.gap, p.reorder.share), (5, Share(u32::MAX)));
    let p = netem("{ kind = \"netem\", delay = \"20 ms\", reorder = 0.5 }");
    assert_eq!((p.gap, p.reorder.share), (1, Share(1 << 31)));

    // By default, a single qdisc for the whole Wi-Fi device, whatever its scheme.
    for scheme in ["fifo", "airtime"] {
        for (mq, one) in [(", mq = true", false), (", mq = false", true), ("", true)] {
            let s = with(&[
                ("node.ap.interface.wlan0.scheme", scheme),
                ("node.ap.interface.wlan0.qdisc", &format!("{{ kind = \"htb\", rate = \"10 Mbit/s\"{mq} }}")),
            ]);
            assert_eq!(s.unwrap().nodes[1].interfaces[1].qdisc.mq, !one);
        }
    }
}

#[test]
fn nested_qdiscs() {
    let text = "{ kind = \"netem\", delay = \"5 ms\", child = { kind = \"tbf\", rate = \"10 Mbit/s\", burst = 4000, \
                child = { kind = \"htb\", rate = \"9 Mbit/s\", child = \"cake\" } } }";
    let QdiscConfig::Netem(p, Some(tbf)) = of(text) else { panic!("netem") };
    let QdiscConfig::Tbf(TbfParams { child: htb, burst: 4000, .. }) = *tbf else { panic!("tbf") };
    let QdiscConfig::Htb(HtbParams { child, .. }) = *htb else { panic!("htb") };
    assert_eq!((p.delay, *child), (Duration::from_millis(5), QdiscConfig::Cake(CakeParams::default())));
}

#[test]
fn cake_and_tbf_under_tc_names() {
    let cake = |text: &str| match of(text) {
        QdiscConfig::Cake(params) => params,
        other => panic!("{other:?}"),
    };
    assert_eq!(cake("cake"), CakeParams::default());
    let p = cake(
        "{ kind = \"cake\", bandwidth = \"20 Mbit/s\", rtt = \"20 ms\", tins = \"diffserv4\", \
         isolation = \"dual-srchost\", overhead = -4, mpu = 64, atm = \"ptm\", memlimit = \"1 MB\", \
         split_gso = false, ingress = true, wash = true, ack_filter = \"ack-filter\" }",
    );
    let framing = Framing { overhead: Some(-4), mpu: 64, cells: Cells::Ptm };
    let want = CakeParams {
        bandwidth: Some(Rate::from_mbps(20)),
        tins: Tins::Diffserv4,
        isolation: Isolation::DualSrchost,
        rtt: Duration::from_millis(20),
        target: Duration::from_millis(1),
        memlimit: Some(1_000_000),
        framing,
        split_gso: false,
        ingress: true,
        wash: true,
        ack_filter: AckFilter::Conservative,
        nat: false,
        masquerade: Masquerade::Off,
    };
    assert_eq!(p, want);
    // Behind a router with NAT.
    let hidden = |nat: &str| {
        let qdisc = format!("{{ kind = \"htb\", rate = \"9 Mbit/s\", child = {{ kind = \"cake\"{nat} }} }}");
        let at = "node.server.interface.eth0";
        let sets = [(&*format!("{at}.qdisc"), &*qdisc), (&*format!("{at}.masquerade"), "true")];
        let QdiscConfig::Htb(HtbParams { child, .. }) =
            with(&sets).unwrap().nodes[0].interfaces[0].qdisc.config.clone()
        else {
            panic!("htb")
        };
        let QdiscConfig::Cake(params) = *child else { panic!("cake") };
        (params.nat, params.masquerade)
    };
    assert_eq!(hidden(""), (false, Masquerade::Sources));
    assert_eq!(hidden(", nat = true"), (true, Masquerade::Sources));
    assert_eq!(cake("{ kind = \"cake\", overhead = \"raw\" }").framing, Framing::RAW);
    // A keyword sets all framing parameters; explicit keys take precedence.
    let framing = cake("{ kind = \"cake\", overhead = \"pppoe-ptm\", mpu = 64 }").framing;
    assert_eq!(framing, Framing { overhead: Some(30), mpu: 64, cells: Cells::Ptm });

    let (rate, child) = (Rate::from_mbps(10), |limit| Box::new(QdiscConfig::Fifo(FifoParams::Bytes(limit))));
    let text = "{ kind = \"tbf\", rate = \"10 Mbit/s\", burst = 5000, latency = \"50 ms\" }";
    let want = TbfParams { rate, burst: 5000, peak: None, child: child(67_500) };
    assert_eq!(of(text), QdiscConfig::Tbf(want));
    let text = "{ kind = \"tbf\", rate = \"10 Mbit/s\", burst = 5000, limit = 9000, peakrate = \"20 Mbit/s\", \
                mtu = 1540 }";
    let peak = Some(Peak { rate: Rate::from_mbps(20), mtu: 1540 });
    assert_eq!(of(text), QdiscConfig::Tbf(TbfParams { rate, burst: 5000, peak, child: child(9000) }));
}

#[test]
fn virtual_devices_have_no_queue_of_their_own() {
    let veth = ("link.lan", "{ kind = \"veth\" }");
    let s = with(&[veth]).unwrap();
    let eth0 = &s.nodes[0].interfaces[0];
    assert_eq!((s.links[0].params, &eth0.qdisc.config), ([WireParams::Veth; 2], &QdiscConfig::Noqueue));
    assert_eq!((eth0.tso, eth0.gro), (true, false));
    let eth0 = "node.server.interface.eth0";
    let s = with(&[veth, (&format!("{eth0}.qdisc"), "pfifo"), (&format!("{eth0}.tso"), "false")]).unwrap();
    let eth0 = &s.nodes[0].interfaces[0];
    assert_eq!((eth0.qdisc.config.kind(), eth0.tso), ("pfifo", false));
}

#[test]
fn queueing_disciplines_under_tc_names() {
    let of = |text: &str, more: &[(&str, &str)]| {
        let mut sets = vec![("node.slow.interface.wlan0.qdisc", text)];
        sets.extend(more);
        let s = with(&sets).unwrap_or_else(|e| panic!("{e}"));
        // The resolved text distinguishes this qdisc from the default.
        assert_ne!(s.resolved(), with(&[]).unwrap().resolved());
        let qdisc = &s.nodes[4].interfaces[0].qdisc;
        match &qdisc.config {
            QdiscConfig::Fifo(params) => (*params, qdisc.mq),
            other => panic!("{other:?}"),
        }
    };
    use FifoParams::{Bytes, Packets};
    let short = ("node.slow.interface.wlan0.txqueuelen", "100");
    assert_eq!(of("pfifo", &[]), (Packets(1000), true));
    assert_eq!(of("pfifo", &[short]), (Packets(100), true));
    assert_eq!(of("{ kind = \"pfifo\", limit = 7, mq = false }", &[short]), (Packets(7), false));
    assert_eq!(of("bfifo", &[]), (Bytes(1_514_000), true));
    assert_eq!(of("{ kind = \"bfifo\", limit = \"64 KiB\" }", &[]), (Bytes(65_536), true));
}
