//! Complete runs with kernels built by `stillair kernel build`. Without a kernel, the tests print a message
//! and check nothing, unless `STILLAIR_NEED_KERNELS` is set.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use stillair_uml::kernel;

const WIRE: &str = "name = \"wire\"\nduration = \"2 s\"\nwarm_up = \"500 ms\"\nlink.lan = { rate = \"50 Mbit/s\", delay = \"5 ms\" }\n\
                    node.a = { profile = \"linux-6.12\", host = { kind = \"uml\", kernel = \"6.12\" }, interface.eth0.link = \"lan\" }\n\
                    node.b = { profile = \"linux-6.12\", host = { kind = \"uml\", kernel = \"6.12\" }, interface.eth0.link = \"lan\" }\n\
                    [[flow]]\nname = \"up\"\nkind = \"tcp\"\nfrom = \"a\"\nto = \"b\"\n\
                    [[flow]]\nname = \"ping\"\nkind = \"ping\"\nfrom = \"a\"\nto = \"b\"\ninterval = \"100 ms\"\n";

const AIR: &str = "name = \"air\"\nduration = \"4 s\"\nwarm_up = \"2 s\"\nchannel.wifi = { band = \"5 GHz\", width = \"20 MHz\" }\n\
                   link.lan = { rate = \"1 Gbit/s\", delay = \"5 ms\" }\n\
                   node.server = { profile = \"linux-6.12\", host = { kind = \"uml\", kernel = \"6.12\" }, interface.eth0 = { link = \"lan\" } }\n\
                   [node.ap]\nprofile = \"openwrt-24.10\"\nforward = true\ninterface.eth0 = { link = \"lan\" }\n\
                   interface.wlan0 = { channel = \"wifi\", role = \"ap\" }\n\
                   [node.sta]\nprofile = \"linux-6.12\"\nhost = { kind = \"uml\", kernel = \"6.12\" }\n\
                   interface.wlan0 = { channel = \"wifi\", role = \"station\", ap = \"ap.wlan0\", rate = \"ht20-mcs7-lgi\" }\n\
                   [[flow]]\nname = \"up\"\nkind = \"tcp\"\nfrom = \"sta\"\nto = \"server\"\n\
                   [[flow]]\nname = \"near\"\nkind = \"ping\"\nfrom = \"sta\"\nto = \"ap\"\ninterval = \"100 ms\"\n";

/// Launcher messages on machines or containers whose kernel lacks a required feature.
const FEATURES: [&str; 4] =
    ["no user namespace", "no namespaces of its own", "Linux 5.12", "no /proc of its own"];

/// Returns true if a kernel is available and can run here. Otherwise prints the reason; the caller has
/// nothing to check.
fn there_is_a_kernel() -> bool {
    static THERE: std::sync::LazyLock<bool> = std::sync::LazyLock::new(can_run);
    *THERE
}

fn can_run() -> bool {
    match kernel::find("6.12", &kernel::place()) {
        Ok(kernel) => {
            let launch = kernel.folder.join("launch");
            let at = folder("launch");
            let tried = Command::new(launch).arg(&at).arg("/bin/true").output().expect("a launcher");
            std::fs::remove_dir_all(&at).expect("it was there");
            let said = String::from_utf8_lossy(&tried.stderr);
            let lacks = tried.status.code() == Some(125) && FEATURES.iter().any(|what| said.contains(what));
            if lacks {
                eprintln!("NOT CHECKED: the kernel lacks what guests need: {said}");
            }
            !lacks
        }
        Err(why) if std::env::var_os("STILLAIR_NEED_KERNELS").is_none() => {
            eprintln!("NOT CHECKED: {why}");
            false
        }
        Err(why) => panic!("{why}"),
    }
}

/// An empty folder for a test; the run creates its own in it.
fn folder(name: &str) -> PathBuf {
    let at = std::env::temp_dir().join(format!("stillair-uml-tests-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&at);
    std::fs::create_dir_all(&at).expect("a folder");
    at
}

fn start(at: &Path, text: &str, options: &[&str]) -> Child {
    let file = at.join("scenario.toml");
    std::fs::write(&file, text).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_stillair-uml"));
    command.arg(&file).args(options).env("TMPDIR", at).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("a program")
}

/// Runs a scenario. Returns the result, or the error output.
fn run(at: &Path, text: &str, options: &[&str]) -> Result<Value, String> {
    let done = start(at, text, options).wait_with_output().expect("it was started");
    let left: Vec<_> =
        std::fs::read_dir(at).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("stillair-uml-")), "{left:?} is left");
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned());
    }
    let all: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    Ok(all["runs"][0].clone())
}

fn number(of: &Value) -> f64 {
    of.as_f64().unwrap_or_else(|| panic!("{of} is no number"))
}

#[test]
fn two_guests_over_a_wire_are_reproducible_in_any_folder() {
    if !there_is_a_kernel() {
        return;
    }
    let (here, there) = (folder("here"), folder("a-folder-with-a-longer-name"));
    let first = run(&here, WIRE, &[]).expect("a run");
    // 1448 of 1538 bytes per frame are payload; the first window ramps up.
    let goodput = number(&first["flows"]["up.b"]["goodput_mbps"]);
    assert!((46.0..=50.0 * 1448.0 / 1538.0 + 0.1).contains(&goodput), "{goodput}");
    assert_eq!(first["pings"]["ping.b"]["lost"], 0);
    assert!(number(&first["pings"]["ping.b"]["median_ms"]) >= 10.0);
    assert_eq!(run(&there, WIRE, &[]).expect("a run"), first);
    // Every byte is the same with the same seed, and differs with another: the seed determines all random
    // numbers of a guest.
    let other = run(&there, WIRE, &["--seed", "2"]).expect("a run");
    assert_ne!(other["guests"]["packets_hash"], first["guests"]["packets_hash"]);
    for at in [here, there] {
        std::fs::remove_dir_all(at).expect("it was there");
    }
}

#[test]
fn small_queues_follow_the_modelled_radio() {
    if !there_is_a_kernel() {
        return;
    }
    let at = folder("air");
    let [on, off] = ["on", "off"].map(|tsq| {
        let set = format!("node.sta.tcp.tsq={tsq}");
        run(&at, AIR, &["--set", &set, "--set", "node.sta.tcp.wifi_pacing_shift=10"]).expect("a run")
    });
    let srtt = |run: &Value| number(&run["flows"]["up.server"]["guest_tcp"]["srtt_median_ms"]);
    let frames = |run: &Value| number(&run["stations"]["sta"]["mean_aggregate_up"]);
    // Without small queues, the whole window is in the radio's queues. With them and a wired shift, there
    // is less than one aggregate.
    assert!(srtt(&on) < 0.5 * srtt(&off), "{} {}", srtt(&on), srtt(&off));
    assert!(frames(&on) < 5.0 && frames(&off) > 8.0, "{} {}", frames(&on), frames(&off));
    for run in [&on, &off] {
        assert_eq!(run["guests"]["external_io"]["answered"], 40);
        assert_eq!(run["pings"]["near.ap"]["lost"], 0);
    }
    std::fs::remove_dir_all(at).expect("it was there");
}

#[test]
fn small_queue_limits_and_header_room_come_from_the_scenario() {
    if !there_is_a_kernel() {
        return;
    }
    let at = folder("limits");
    let sampled = format!("record.ss = \"500 ms\"\n{WIRE}");
    // Queueing delay at the sender in ms: the path takes 10.
    let waits = |tcp: &str| {
        let set = format!("node.a.tcp={{ {tcp} }}");
        let run = run(&at, &sampled, &["--set", &set]).expect("a run");
        assert!(run["notes"].is_null());
        let acked = run["sockets"]["up.b"]["bytes_acked"].as_array().expect("a list");
        let acked = number(acked.last().expect("a sample")) * 8.0 / 1e6;
        assert!((80.0..100.0).contains(&acked), "{acked} Mbit in 2 s of 50 Mbit/s");
        number(&run["pings"]["ping.b"]["median_ms"]) - 10.3
    };
    let (own, four) = (waits("tsq = \"on\""), waits("tsq_period = \"4 ms\""));
    assert!(own < 3.0 && four > own + 1.0, "{own} {four}");
    // 28 segments of 2,304 bytes take 7 ms, and 15 of 4,352 bytes half as long.
    let bytes = waits("tsq_bytes = \"64 KiB\", max_header = \"200 B\"");
    assert!((6.0..8.0).contains(&bytes), "{bytes}");
    let roomy = waits("tsq_bytes = \"64 KiB\"");
    assert!((2.5..4.5).contains(&roomy), "{roomy}");
    std::fs::remove_dir_all(at).expect("it was there");
}

#[test]
fn ipv6_behaves_like_ipv4_and_kernel_counters_are_sampled() {
    if !there_is_a_kernel() {
        return;
    }
    let at = folder("six");
    let four = run(&at, WIRE, &[]).expect("a run");
    let sampled = format!("record = {{ tc = \"500 ms\", nstat = \"500 ms\" }}\nip = 6\n{WIRE}");
    let six = run(&at, &sampled, &[]).expect("a run");
    let goodput = |run: &Value| number(&run["flows"]["up.b"]["goodput_mbps"]);
    // 1428 bytes of payload per packet instead of 1448.
    let ratio = goodput(&six) / goodput(&four);
    assert!((ratio - 1428.0 / 1448.0).abs() < 0.01, "{ratio}");
    assert_eq!(six["pings"]["ping.b"]["lost"], 0);
    let list = |of: &Value| of.as_array().expect("a list").iter().map(number).collect::<Vec<_>>();
    let tc = &six["tc"]["a.eth0"];
    assert_eq!(list(&tc["t_s"]), [0.5, 1.0, 1.5, 2.0]);
    // The qdisc has sent the flow's bytes plus headers, within 10 %.
    let bytes = list(&tc["bytes"]);
    let mbps = (bytes[3] - bytes[0]) * 8.0 / 1e6 / 1.5;
    assert!((mbps / goodput(&six) - 1514.0 / 1428.0).abs() < 0.1, "{mbps}");
    let counters = six["nstat"]["a"].as_object().expect("counters");
    assert!(list(&counters["Ip6OutRequests"]["value"]).is_sorted());
    // Only its pings: nothing used IPv4 and no neighbour was solicited.
    assert_eq!(list(&counters["Icmp6OutEchos"]["value"]).last(), Some(&20.0));
    assert!(!counters.contains_key("IpOutRequests"), "{counters:?}");
    assert_eq!(six["guests"]["external_io"]["no_route"], 0);
    std::fs::remove_dir_all(at).expect("it was there");
}

const TWO_RADIOS: &str = include_str!("../../../scenarios/live/mptcp.toml");

#[test]
fn multipath_tcp_uses_both_radios_and_survives_on_one() {
    if !there_is_a_kernel() {
        return;
    }
    let at = folder("mptcp");
    let first = run(&at, TWO_RADIOS, &["--set", "duration=9 s"]).expect("a run");
    assert_eq!(first, run(&at, TWO_RADIOS, &["--set", "duration=9 s"]).expect("a run"));
    let paths = &first["flows"]["up.server"]["guest_tcp"]["paths"];
    // Mbit/s of a subflow between two samples, which are 0.5 s apart.
    let mbps = |of: &str, from: usize, to: usize| {
        let acked: Vec<f64> =
            paths[of]["acked_bytes"].as_array().expect("a list").iter().map(number).collect();
        (acked[to - 1] - acked[from - 1]) * 8.0 / 1e6 / (to - from) as f64 * 2.0
    };
    // The link rates are 39 and 26 Mbit/s.
    assert!((22.0..39.0).contains(&mbps("10.0.1.10", 2, 12)), "{first}");
    assert!((15.0..26.0).contains(&mbps("10.0.2.10", 2, 12)), "{first}");
    // After 6 s the first station is out of range.
    assert!(mbps("10.0.1.10", 13, 18) < 1.0);
    assert!((15.0..26.0).contains(&mbps("10.0.2.10", 14, 18)));
    // Without Multipath TCP there is one path, and transfer stops with it.
    let alone = run(&at, TWO_RADIOS, &["--set", "duration=9 s", "--set", "node.sta.host.mptcp=false"]);
    let alone = alone.expect("a run");
    assert!(alone["flows"]["up.server"]["guest_tcp"]["paths"].is_null());
    std::fs::remove_dir_all(at).expect("it was there");
}

#[test]
fn a_patched_in_congestion_control_keeps_its_queue_short() {
    if !there_is_a_kernel() {
        return;
    }
    let found = kernel::find("6.12", &kernel::place()).expect("there is one");
    if !found.has("shallow") {
        assert!(std::env::var_os("STILLAIR_NEED_KERNELS").is_none(), "{} has no patch shallow", found.id);
        eprintln!("NOT CHECKED: {} has no patch shallow: make test-kernels builds one that has", found.id);
        return;
    }
    let at = folder("shallow");
    let text = include_str!("../../../scenarios/live/own-control.toml");
    let median = |control: &str| {
        let set = format!("node.a.host.congestion_control={control}");
        number(&run(&at, text, &["--set", &set]).expect("a run")["pings"]["ping.b"]["median_ms"])
    };
    let (cubic, shallow) = (median("cubic"), median("shallow"));
    // The path takes 20 ms, a hundred packets 60 ms; Shallow allows 10 ms of queueing.
    assert!(cubic > 60.0, "{cubic}");
    assert!((20.0..40.0).contains(&shallow), "{shallow}");
    std::fs::remove_dir_all(at).expect("it was there");
}

#[test]
fn all_card_types_carry_the_same_load() {
    if !there_is_a_kernel() {
        return;
    }
    let at = folder("cards");
    for set in ["offload=gso", "offload=tso", "rx_buffers=mergeable", "queue=guest"] {
        let sets = ["a", "b"].map(|node| format!("node.{node}.host.{set}"));
        let run = run(&at, WIRE, &["--set", &sets[0], "--set", &sets[1]]).expect("a run");
        let goodput = number(&run["flows"]["up.b"]["goodput_mbps"]);
        assert!((45.0..=50.0 * 1448.0 / 1538.0 + 0.1).contains(&goodput), "{set}: {goodput}");
    }
    std::fs::remove_dir_all(at).expect("it was there");
}

#[test]
fn programs_run_in_a_guest_at_their_time_and_their_files_are_collected() {
    if !there_is_a_kernel() {
        return;
    }
    let at = folder("programs");
    let command = "sleep 0.25; cat /proc/uptime; echo kept > file; echo x > /etc/stillair || echo refused";
    let text = WIRE.replacen(
        "kernel = \"6.12\" }",
        &format!("kernel = \"6.12\", run = [{{ at = \"1 s\", command = \"{command}\" }}] }}"),
        1,
    );
    let kept = at.join("kept");
    let run = run(&at, &text, &["--collect", &kept.display().to_string()]).expect("a run");
    assert_eq!(run["guests"]["hosts"]["a"]["programs"]["run-1"]["status"], 0);
    let read = |name: &str| std::fs::read_to_string(kept.join("a").join(name)).expect(name);
    assert_eq!(read("file"), "kept\n");
    // The guest is 2 s old when the scenario starts.
    let said = read("run-1.out");
    assert!(said.starts_with("3.25 ") && said.ends_with("refused\n"), "{said}");
    assert!(read("console.log").contains("Linux version 6.12"));
    std::fs::remove_dir_all(at).expect("it was there");
}

#[test]
fn a_guest_that_ends_or_hangs_is_an_error_with_its_console() {
    if !there_is_a_kernel() {
        return;
    }
    let at = folder("faults");
    let with = |command: &str| {
        let own = format!("kernel = \"6.12\", run = [{{ at = \"500 ms\", command = '''{command}''' }}] }}");
        WIRE.replacen("kernel = \"6.12\" }", &own, 1)
    };
    let off = run(&at, &with("python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'"), &[])
        .expect_err("it went on");
    assert!(off.contains("node.a: its kernel has ended") && off.contains("reboot: Power down"), "{off}");
    let hung = run(&at, &with("while :; do :; done"), &["--patience", "3"]).expect_err("it went on");
    assert!(hung.contains("node.a: no message for 3 s") && hung.contains("its console ends with"), "{hung}");
    std::fs::remove_dir_all(at).expect("it was there");
}

#[test]
fn a_killed_run_leaves_nothing_behind() {
    if !there_is_a_kernel() {
        return;
    }
    let at = folder("killed");
    let long = WIRE.replacen("2 s", "10000 s", 1);
    let mut child = start(&at, &long, &[]);
    let ours = || {
        let all = std::fs::read_dir("/proc").expect("processes").flatten();
        let line = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("environ")).ok();
        let tmp = at.display().to_string();
        let lines = all.filter_map(|entry| {
            let cwd = std::fs::read_link(entry.path().join("cwd")).ok();
            (cwd.is_some_and(|cwd| cwd.starts_with(&tmp))
                || line(entry).is_some_and(|text| text.contains(&tmp)))
            .then_some(())
        });
        lines.count()
    };
    let inside = || {
        std::fs::read_dir(&at)
            .expect("a folder")
            .flatten()
            .filter(|e| e.file_name() != "scenario.toml")
            .count()
    };
    let until = |what: &dyn Fn() -> bool| {
        (0..600).any(|_| {
            what() || {
                let mut pause = Command::new("sleep").arg("0.1").spawn().expect("a program");
                pause.wait().expect("it was started");
                false
            }
        })
    };
    // Both guests are still running.
    assert!(until(&|| ours() >= 3 && inside() == 1));
    child.kill().expect("it was started");
    child.wait().expect("it was started");
    assert!(until(&|| ours() == 0 && inside() == 0), "{} processes, {} files", ours(), inside());
    std::fs::remove_dir_all(at).expect("it was there");
}
