//! quinn in the world: transfers and pages end, accounts balance, and a seed gives the same bytes each time.

#[cfg(feature = "quinn")]
#[path = "../../quinn/examples/own_controller/by_delay.rs"]
mod by_delay;
mod common;

#[cfg(not(feature = "quinn"))]
#[test]
fn program_without_quinn_reports_it() {
    let text = common::cell("1 s", "band = \"5 GHz\"\nwidth = \"20 MHz\"", "scheme = \"fifo\"")
        + &common::station("sta", 1, "rate = \"ht20-mcs7-sgi\"")
        + &common::flow("quic", "ap", "sta", "stack = \"quinn\"");
    let said = stillair_sim::scenario::parse(&text, "test.toml", &[]).unwrap_err().to_string();
    let expected = "flow.0.stack: found what this program was built without (feature \"quinn\" of the crate stillair-sim), \
                    expected \"model\"";
    assert!(said.contains(expected), "{said}");
}

#[cfg(feature = "quinn")]
mod with_it {
    use super::by_delay::ByDelayFactory;
    use super::common::{cell, flow, parse, run, station};
    use std::sync::Arc;

    use stillair_model::types::{Instant, PacketKind, QuicTrace, Seed, Sink, TraceEvent};
    use stillair_sim::capture::{Capture, Selection};
    use stillair_sim::recorder::{QuicSummary, RunSummary};
    use stillair_sim::scenario::{FlowKind, QuicStack, QuinnFactory};
    use stillair_sim::world::{self, Wired};

    const SHIPPED: &str = include_str!("../../../scenarios/quic-quinn.toml");

    fn one(summary: &RunSummary) -> &QuicSummary {
        summary.quic.values().next().expect("a flow over QUIC")
    }

    fn with(stack: &str) -> RunSummary {
        run(&parse(SHIPPED, &[("flow.0.stack", stack)]), 0)
    }

    /// A client on an access point's link.
    fn wifi(path: &str) -> String {
        cell("3 s", "band = \"5 GHz\"\nwidth = \"20 MHz\"", "scheme = \"airtime\"") + &station("sta", 1, path)
    }

    #[test]
    fn ten_megabytes_over_wifi_with_every_control() {
        for control in ["cubic", "newreno", "bbr", "model"] {
            let summary = with(&format!("{{ kind = \"quinn\", congestion_control = \"{control}\" }}"));
            let q = one(&summary);
            assert!(q.done, "{control}");
            let goodput = q.goodput_mbps.expect("done") * q.transfer_s.expect("done");
            assert!((goodput - 80.0).abs() < 1e-6, "{control}: {goodput}");
            assert_eq!(q.timeouts, None, "quinn does not tell");
            assert!(q.min_rtt_ms > Some(6.0), "{control}: {:?}", q.min_rtt_ms);
        }
    }

    /// The end of slow start is reported only if it occurs: not with the first window, and not by a control
    /// without a threshold.
    #[test]
    fn end_of_slow_start_with_every_control() {
        for (control, told) in [("cubic", true), ("newreno", true), ("model", true), ("bbr", false)] {
            let summary = with(&format!("{{ kind = \"quinn\", congestion_control = \"{control}\" }}"));
            let q = one(&summary);
            assert_eq!(q.slow_start_exit_s.is_some(), told, "{control}");
            if told {
                let (s, window) = (q.slow_start_exit_s, q.slow_start_exit_cwnd_bytes);
                assert!(s > Some(0.01) && window > Some(60_000), "{control}: {s:?} s, {window:?} bytes");
            }
        }
    }

    /// Windows of two packets are sufficient; if the model's window is also quinn's, it respects the limits
    /// of both.
    #[test]
    fn minimum_initial_window() {
        let text = wifi("rate = \"ht20-mcs7-sgi\"") + &flow("quic", "ap", "sta", "bytes = \"100 kB\"");
        for control in ["cubic", "newreno", "bbr", "model"] {
            for more in ["initial_window = 2400", "initial_window = 2904, packet = 1452"] {
                let stack = format!("{{ kind = \"quinn\", congestion_control = \"{control}\", {more} }}");
                let summary = run(&parse(&text, &[("flow.0.stack", &stack)]), 0);
                assert!(one(&summary).done, "{control}: {more}");
            }
        }
        let said = |key: &str, value: &str, of_stack: &str| {
            let stack = format!("{{ kind = \"quinn\", congestion_control = \"model\"{of_stack} }}");
            let sets =
                [("flow.0.stack", stack.as_str()), (key, value)].map(|(k, v)| (k.to_owned(), v.to_owned()));
            stillair_sim::scenario::parse(&text, "test.toml", &sets)
                .map_or_else(|e| e.to_string(), |_| String::new())
        };
        assert_eq!(
            said("flow.0.initial_window", "2399", ""),
            "--set: flow.0.initial_window: found 2399, expected at least 2400 bytes, two packets: with less quinn can wait for good"
        );
        assert_eq!(said("flow.0.initial_window", "2400", ""), "");
        assert_eq!(
            said("flow.0.max_window", "46720", ", initial_window = 46721"),
            "--set: flow.0.stack: found an initial_window of 46721, while max_window is 46720, expected at most max_window"
        );
        assert_eq!(said("flow.0.max_window", "46720", ", initial_window = 46720"), "");
    }

    /// Fewer acknowledgements leave more airtime for data, with a real stack as with the model.
    #[test]
    fn asking_for_fewer_acknowledgements_helps_on_wifi() {
        let [plain, asked] = ["\"quinn\"", "{ kind = \"quinn\", ack_frequency = {} }"].map(with);
        let acks = |s: &RunSummary| one(s).acks_sent.expect("quinn counts");
        assert!(acks(&plain) > 3 * acks(&asked), "{} and {}", acks(&plain), acks(&asked));
        assert!(one(&asked).throughput_mbps > one(&plain).throughput_mbps);
    }

    /// A user-defined controller decides when data is sent.
    #[test]
    fn user_defined_controller_runs_on_wifi() {
        let mut scenario = parse(SHIPPED, &[]);
        let cubic = run(&scenario, 0);
        let FlowKind::Quic(quic) = &mut scenario.flows[0].kind else { panic!("a flow over QUIC") };
        let QuicStack::Quinn(options) = &mut quic.stack else { panic!("quinn") };
        options.custom = Some(QuinnFactory(Arc::new(ByDelayFactory { first: 14_520 })));
        let own = run(&scenario, 0);
        let [a, b] = [&cubic, &own].map(|run| one(run).srtt_ms.expect("measured"));
        assert!(one(&own).done && 1.5 * b < a, "{a} and {b}");
    }

    /// Returns the trace of a run, and a capture at four points.
    fn captured(seed: Seed, stack: &str) -> (String, Vec<u8>) {
        let scenario = parse(SHIPPED, &[("flow.0.bytes", "1 MB"), ("flow.0.stack", stack)]);
        let points = ["air-wifi", "server-eth0", "ap-eth0", "client-wlan0"].map(str::to_owned).to_vec();
        let selection = Selection { points, from: Instant::ZERO, until: Instant::NEVER, snaplen: 0 };
        let mut file = Vec::new();
        let capture = Capture::new(&scenario, &selection, &mut file).expect("points of the scenario");
        let Wired { mut world, .. } = world::wire(&scenario, seed, |_| capture);
        let end = Instant::ZERO + scenario.duration;
        world.run_until(end);
        world.into_trace().finish(end).expect("written to memory");
        (run(&scenario, seed.run).trace_hash, file)
    }

    #[test]
    fn same_seed_gives_the_same_trace_and_capture() {
        for stack in ["\"quinn\"", "{ kind = \"quinn\", pacing = false, congestion_control = \"bbr\" }"] {
            let [a, b, other] = [0, 0, 1].map(|run| captured(Seed { seed: 1, run }, stack));
            assert!(a.1.len() > 1_000_000);
            assert!(a == b, "{stack}");
            assert!(a.0 != other.0 && a.1 != other.1, "{stack}");
        }
    }

    /// Uploads, several streams, endless transfers, and noise; all accounts balance.
    #[test]
    fn all_kinds_of_transfers() {
        let quiet = wifi("rate = \"ht20-mcs7-sgi\"");
        let noisy = wifi("rate = \"ht20-mcs7-sgi\", error_rate = 0.2, ack_error_rate = 0.05");
        for text in [&quiet, &noisy] {
            for (from, to, more, done) in [
                ("ap", "sta", "bytes = \"2 MB\"\nstreams = 7", true),
                // More streams than may be open at a time.
                ("ap", "sta", "bytes = \"2 MB\"\nstreams = 1000", true),
                ("sta", "ap", "bytes = \"2 MB\"\nclient = \"sender\"\nstreams = 250", true),
                ("sta", "ap", "bytes = \"2 MB\"", true),
                // Requests larger than any window.
                ("ap", "sta", "bytes = \"10 kB\"\nstreams = 5\nrequest = \"600 kB\"", true),
                ("ap", "sta", "stop = \"2 s\"", false),
                ("ap", "sta", "", false),
            ] {
                let more = format!("stack = \"quinn\"\n{more}");
                let s = run(&parse(&(text.to_owned() + &flow("quic", from, to, &more)), &[]), 1);
                assert_eq!(one(&s).done, done, "{from} to {to}: {more}");
            }
        }
    }

    /// A page of 300 objects over consecutive connections: with up to 100 streams at a time, with 10, and all
    /// in parallel.
    #[test]
    fn pages_with_more_objects_than_allowed_streams() {
        let page = "page = { list = 4000, objects = [{ count = 300, size = 2000 }] }\ninterval = \"50 ms\"";
        let loads = ["", ", streams = 10", ", streams = 1000"].map(|streams| {
            let more = format!("stack = {{ kind = \"quinn\"{streams} }}\n{page}");
            let text = wifi("rate = \"ht20-mcs7-sgi\"") + &flow("quic", "ap", "sta", &more);
            let s = run(&parse(&text, &[]), 0);
            let web = s.web.values().next().expect("a page");
            assert!(web.loads > 10, "{streams}: {} loads", web.loads);
            web.mean_s.expect("loaded")
        });
        // Streams above the limit wait for others to end.
        assert!(loads[1] > 1.1 * loads[2], "{loads:?}");
        assert!(loads[0] >= loads[2], "{loads:?}");
    }

    /// Datagrams that arrived at a host, and those reported as received.
    #[derive(Debug, Default)]
    struct Counts {
        came: u64,
        received: u64,
    }

    impl Sink for Counts {
        fn event(&mut self, _: Instant, what: &TraceEvent) {
            match what {
                TraceEvent::Delivered { kind: PacketKind::Quic, .. } => self.came += 1,
                TraceEvent::Quic { what: QuicTrace::Received { .. }, .. } => self.received += 1,
                _ => {}
            }
        }
    }

    /// Each datagram is reported once, whether it is read, too late for its connection, or queued at a slow
    /// host when the next connection replaces its own.
    #[test]
    fn every_datagram_that_comes_is_reported_once() {
        for stack in ["\"quinn\"", "\"model\""] {
            // The server needs more time per datagram than the interval between acknowledgements, so many are
            // queued when a page is complete.
            for cost in [
                "",
                "rx_cpu_per_packet = \"1 ms\"",
                "rx_cpu_per_packet = \"1 ms\"\npeer_rx_cpu_per_packet = \"300 us\"",
            ] {
                let page =
                    "page = { list = 4000, objects = [{ count = 10, size = 20000 }] }\ninterval = \"50 ms\"";
                let more = format!("stack = {stack}\n{cost}\nstop = \"2 s\"\n{page}");
                let text = wifi("rate = \"ht20-mcs7-sgi\"") + &flow("quic", "ap", "sta", &more);
                let scenario = parse(&text, &[]);
                let Wired { mut world, .. } =
                    world::wire(&scenario, Seed { seed: 1, run: 0 }, |_| Counts::default());
                world.run_until(Instant::ZERO + scenario.duration);
                let &Counts { came, received } = world.trace();
                assert!(came > 1_000, "{stack}, {cost}: {came}");
                assert_eq!(came, received, "{stack}, {cost}");
            }
        }
    }

    /// Without encryption, packets have the same sizes. Only the server's last handshake packet differs, by 4
    /// bytes less to 11 bytes more, because TLS sends a transport parameter of random length, while the
    /// message without TLS has a fixed length.
    #[cfg(feature = "tls")]
    #[test]
    fn with_tls_a_run_is_the_same() {
        let [null, tls, again] = ["null", "tls", "tls"]
            .map(|crypto| with(&format!("{{ kind = \"quinn\", crypto = \"{crypto}\" }}")));
        assert_eq!(tls.trace_hash, again.trace_hash);
        let [a, b] = [&null, &tls].map(|run| one(run).transfer_s.expect("done"));
        assert!((a - b).abs() < 1e-5 * a, "{a} and {b}");
        assert_eq!(one(&null).datagrams, one(&tls).datagrams);
    }

    /// Values that the record needs and quinn does not report are read from its packets.
    #[test]
    fn recording_changes_nothing_and_shows_acknowledgements_and_losses() {
        let short = [
            ("node.ap.interface.wlan0.scheme", "fifo"),
            ("node.ap.interface.wlan0.txqueuelen", "60"),
            ("flow.0.bytes", "4 MB"),
        ];
        for stack in ["\"quinn\"", "{ kind = \"quinn\", congestion_control = \"newreno\" }"] {
            let runs = ["false", "true"].map(|record| {
                let more = [("flow.0.stack", stack), ("record.quic", record)];
                run(&parse(SHIPPED, &[&short[..], &more].concat()), 0)
            });
            assert_eq!(runs[0].trace_hash, runs[1].trace_hash);
            let q = one(&runs[1]);
            let json = serde_json::to_value(q).expect("JSON");
            let column = |name: &str| -> Vec<u64> {
                let all = json["traces"][name].as_array().expect("a column");
                all.iter().map(|n| n.as_u64().expect("a number")).collect()
            };
            let (sent, lost, acked) = (column("sent_number"), column("lost_number"), column("back_acked"));
            assert_eq!(lost.len() as u64, q.declared_lost);
            assert_eq!(q.declared_lost, q.datagrams - q.datagrams_received, "{stack}");
            assert!(lost.len() > 20 && lost.iter().all(|number| sent.contains(number)));
            let told: Vec<u64> = acked.iter().copied().filter(|&number| number > 0).collect();
            assert!(told.len() * 10 > acked.len() * 9 && told.iter().max() <= sent.iter().max());
            assert!(told.windows(2).all(|w| w[0] <= w[1]), "{told:?}");
            assert!(q.slow_start_exit_cwnd_bytes > Some(20_000), "{:?}", q.slow_start_exit_cwnd_bytes);
        }
    }

    /// Two hosts that both send and receive, in one world with the model and TCP.
    #[test]
    fn quinn_next_to_other_traffic() {
        let text = wifi("rate = \"ht20-mcs7-sgi\"")
            + &flow("quic", "ap", "sta", "stack = \"quinn\"")
            + &flow("quic", "sta", "ap", "stack = \"quinn\"")
            + &flow("quic", "ap", "sta", "")
            + &flow("tcp", "ap", "sta", "");
        let s = run(&parse(&text, &[]), 0);
        for (name, q) in &s.quic {
            assert!(q.throughput_mbps > Some(1.0), "{name}: {:?}", q.throughput_mbps);
        }
    }

    #[test]
    fn errors_in_its_keys() {
        let said = |stack: &str| {
            let sets = [("flow.0.stack".to_owned(), stack.to_owned())];
            stillair_sim::scenario::parse(SHIPPED, "q.toml", &sets).unwrap_err().to_string()
        };
        for (stack, expected) in [
            ("\"quiche\"", "flow.0.stack: found \"quiche\", expected one of \"model\", \"quinn\""),
            (
                "{ kind = \"quinn\", ack_frequency = { evry = 3 } }",
                "flow.0.stack.ack_frequency.evry: found an unknown key",
            ),
            ("{ kind = \"quinn\", hystart = true }", "flow.0.stack.hystart: found an unknown key"),
        ] {
            assert!(said(stack).contains(expected), "{stack}: {}", said(stack));
        }
    }
}
