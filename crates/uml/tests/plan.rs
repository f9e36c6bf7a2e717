//! What of a scenario reaches a guest, read without a kernel.

use stillair_sim::scenario;
use stillair_uml::plan::Plan;

fn orders(node: &str) -> String {
    let text = format!(
        "name = \"pair\"\nduration = \"2 s\"\nlink.lan = {{ rate = \"50 Mbit/s\", delay = \"5 ms\" }}\n\
         [node.a]\nprofile = \"linux-6.12\"\nhost = {{ kind = \"uml\", kernel = \"6.12\" }}\n{node}\ninterface.eth0.link = \"lan\"\n\
         [node.b]\nlike = \"a\"\n[[flow]]\nkind = \"tcp\"\nfrom = \"a\"\nto = \"b\"\n"
    );
    let scenario = scenario::parse(&text, "pair.toml", &[]).expect("a scenario");
    Plan::new(&scenario).expect("a plan").guests[0].orders()
}

// linux: net/ipv4/tcp.c tcp_init (6.12) - a machine with memory: 6 MiB and 4 MiB; a guest of 64 MB would have 448 KiB.
#[test]
fn buffers_are_those_of_the_profile_and_not_of_a_small_memory() {
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
fn a_setting_of_the_scenario_comes_after_and_so_wins() {
    let orders = orders("sysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 1048576\" }");
    let at = |line: &str| orders.rfind(line).unwrap_or_else(|| panic!("{line:?} is not in {orders}"));
    assert!(at("tcp_rmem\t4096 131072 1048576\n") >= at("tcp_rmem\t"), "{orders}");
    assert!(!orders.contains("6291456"), "the profile's own value is the scenario's then: {orders}");
}
