//! Random hosts: kernels, segmentation, and qdiscs on Wi-Fi.

/// Kernels of hosts: before and after each change of TCP truesize and segmentation.
pub const KERNELS: [&str; 8] = [
    "linux-4.14",
    "linux-6.18",
    "linux-3.13",
    "linux-4.4",
    "linux-4.19",
    "linux-6.1",
    "windows-10",
    "macos-10.11",
];

/// Segmentation settings of an interface.
pub const TSO: [&str; 3] = ["", ", tso = true", ", tso = false"];

/// Qdiscs of a station with very small limits, some of which split packets of several segments. All keep the
/// order of a flow.
pub const UPPER: [&str; 8] = [
    "",
    ", qdisc = { kind = \"tbf\", rate = \"20 Mbit/s\", burst = 2000, mq = false, child = { kind = \"fq_codel\", limit = 3 } }",
    ", qdisc = { kind = \"tbf\", rate = \"5 Mbit/s\", burst = 1600, limit = 4000, mq = false }",
    ", qdisc = { kind = \"cake\", bandwidth = \"10 Mbit/s\", memlimit = 30000, mq = false }",
    ", qdisc = { kind = \"fq_codel\", limit = 2, mq = false }",
    ", qdisc = { kind = \"codel\", target = \"1 ms\", interval = \"5 ms\", limit = 3, mq = false }",
    ", qdisc = { kind = \"fq\", limit = 5, flow_limit = 2, mq = false }",
    ", qdisc = { kind = \"pie\", target = \"1 ms\", limit = 4, mq = false }",
];

const CONTROLS: [&str; 4] = ["reno", "cubic", "bbr", "westwood"];

/// Returns the `n`th congestion control. BBR exists since 4.9.
pub fn control(kernel: &str, n: usize) -> &'static str {
    match CONTROLS[n % CONTROLS.len()] {
        "bbr" if ["linux-3.13", "linux-4.4"].contains(&kernel) => "cubic",
        name => name,
    }
}
