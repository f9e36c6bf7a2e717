//! Guest settings derived from a scenario, without a kernel.

use stillair_sim::scenario;
use stillair_uml::guest::command_line;
use stillair_uml::kernel::Kernel;
use stillair_uml::plan::Plan;

fn orders(node: &str) -> String {
    let text = format!(
        "name = \"pair\"\nduration = \"2 s\"\nlink.lan = {{ rate = \"50 Mbit/s\", delay = \"5 ms\" }}\n\
         [node.a]\nprofile = \"linux-6.12\"\nhost = {{ kind = \"uml\", kernel = \"6.12\" }}\n{node}\ninterface.eth0.link = \"lan\"\n\
         [node.b]\ninherits = \"a\"\n[[flow]]\nkind = \"tcp\"\nfrom = \"a\"\nto = \"b\"\n"
    );
    let scenario = scenario::parse(&text, "pair.toml", &[]).expect("a scenario");
    Plan::new(&scenario).expect("a plan").guests[0].orders()
}

// linux: net/ipv4/tcp.c tcp_init (6.12) - on a machine with ample memory: 6 MiB and 4 MiB; a guest of 64 MB
// would have 448 KiB.
#[test]
fn buffers_come_from_the_profile_despite_little_memory() {
    let orders = orders("");
    for line in [
        "write\t/proc/sys/net/ipv4/tcp_rmem\t4096 131072 6291456\n",
        "write\t/proc/sys/net/ipv4/tcp_wmem\t4096 16384 4194304\n",
        "write\t/proc/sys/net/ipv4/tcp_mem\t4096 5461 8192\n",
    ] {
        assert!(orders.contains(line), "{line:?} is not in {orders}");
    }
}

#[test]
fn scenario_settings_override_defaults() {
    let orders = orders("sysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 1048576\" }");
    let at = |line: &str| orders.rfind(line).unwrap_or_else(|| panic!("{line:?} is not in {orders}"));
    assert!(at("tcp_rmem\t4096 131072 1048576\n") >= at("tcp_rmem\t"), "{orders}");
    assert!(!orders.contains("6291456"), "the profile's own value is the scenario's then: {orders}");
}

fn guest(node: &str) -> Result<(stillair_uml::plan::GuestPlan, String), String> {
    let text = format!(
        "name = \"pair\"\nduration = \"2 s\"\nlink.lan = {{ rate = \"50 Mbit/s\", delay = \"5 ms\" }}\n\
         [node.a]\nprofile = \"linux-6.12\"\nhost = {{ kind = \"uml\", kernel = \"6.12\" }}\n{node}\ninterface.eth0.link = \"lan\"\n\
         [node.b]\nprofile = \"linux-6.12\"\nhost = {{ kind = \"uml\", kernel = \"6.12\" }}\ninterface.eth0.link = \"lan\"\n\
         [[flow]]\nkind = \"tcp\"\nfrom = \"a\"\nto = \"b\"\n"
    );
    let scenario = scenario::parse(&text, "pair.toml", &[]).map_err(|why| why.to_string())?;
    let guest = Plan::new(&scenario).map_err(|why| why.to_string())?.guests.remove(0);
    let patches = ["header-room", "tsq-limit", "tsq"].map(str::to_owned).to_vec();
    let kernel =
        Kernel { folder: "".into(), id: "6.12-x".into(), version: "6.12".into(), patches, shares_page: true };
    let line = command_line(&kernel, &guest).join(" ");
    Ok((guest, line))
}

#[test]
fn small_queue_limits_are_kernel_parameters() {
    let line = |tcp: &str| guest(&format!("tcp = {{ {tcp} }}")).expect("a guest").1;
    for ms in [2, 3, 64] {
        let line = line(&format!("tsq_period = \"{ms} ms\""));
        assert!(line.ends_with(&format!(" tcp_output.tsq_periods={ms}")), "{line}");
    }
    // Kernel default.
    assert!(!line("tsq_period = \"1 ms\"").contains("tsq_"));
    let bytes = line("tsq_bytes = \"64 KiB\"");
    assert!(bytes.ends_with(" tcp_output.tsq_bytes=65536"), "{bytes}");
    let room = line("max_header = \"320 B\"");
    assert!(room.ends_with(" tcp.header_room=320"), "{room}");
    // Without the key, the profile's value applies.
    assert!(line("tsq = \"on\"").contains(" tcp.header_room=320"));
    let off = line("tsq = \"off\"");
    assert!(off.contains(" tcp_output.notsq=1"), "{off}");
}

#[test]
fn settings_decided_by_the_guest_kernel_are_rejected() {
    let wrong = |tcp: &str| guest(&format!("tcp = {{ {tcp} }}")).expect_err("a mistake");
    let said = wrong("initcwnd = 4");
    let expected = "found initcwnd, which has no effect at a guest, whose kernel is its own, expected tsq, tsq_period, tsq_bytes, max_header or wifi_pacing_shift";
    assert!(said.contains(expected), "{said}");
    let said = wrong("tsq_period = \"2.5 ms\"");
    assert!(said.contains("expected a whole number of ms from 1 to 64"), "{said}");
    let said = wrong("tsq_period = \"2 ms\", tsq_bytes = \"64 KiB\"");
    assert!(said.contains("expected it without tsq_period"), "{said}");
}
