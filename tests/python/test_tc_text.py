"""Queueing disciplines in tc's words, compared with what tc printed of the measured kernel's."""

import json

import pytest
from click.testing import CliRunner

from stillair.cli.app import app
from stillair.runs.scenario import Scenario
from stillair.text.tc import rate, size, tc_text, time

# The counters of a cake of Linux 6.1 after four uploads at 20 Mbit/s, and what tc printed of them.
KERNEL_TINS = {
    "Bulk": {"threshold_rate_bps": 1_250_000, "target_us": 14_534, "interval_us": 109_534, "flow_quantum": 300},
    "Best Effort": {
        "threshold_rate_bps": 20_000_000,
        "target_us": 5000,
        "interval_us": 100_000,
        "peak_delay_us": 11_600,
        "avg_delay_us": 7110,
        "base_delay_us": 1930,
        "backlog_bytes": 21_196,
        "sent_packets": 50_007,
        "sent_bytes": 75_272_366,
        "way_misses": 5,
        "drops": 372,
        "sparse_flows": 1,
        "bulk_flows": 4,
        "max_pkt_len": 1514,
        "flow_quantum": 610,
    },
    "Voice": {
        "threshold_rate_bps": 5_000_000,
        "target_us": 5000,
        "interval_us": 100_000,
        "sent_packets": 1,
        "sent_bytes": 42,
        "way_misses": 1,
        "max_pkt_len": 42,
        "flow_quantum": 300,
    },
}
EMPTY_TIN = dict.fromkeys(
    [
        "peak_delay_us",
        "avg_delay_us",
        "base_delay_us",
        "backlog_bytes",
        "sent_packets",
        "sent_bytes",
        "way_indirect_hits",
        "way_misses",
        "way_collisions",
        "drops",
        "ecn_mark",
        "ack_drops",
        "sparse_flows",
        "bulk_flows",
        "unresponsive_flows",
        "max_pkt_len",
    ],
    0,
)
KERNEL = {
    "kind": "cake",
    "bytes": 74_688_004,
    "packets": 49_622,
    "drops": 372,
    "overlimits": 99_565,
    "requeues": 0,
    "backlog_bytes": 21_196,
    "backlog_packets": 14,
    "memory_used": 106_398,
    "memory_limit": 4 << 20,
    "capacity_estimate_bps": 20_000_000,
    "min_network_size": 42,
    "max_network_size": 1514,
    "min_adj_size": 42,
    "max_adj_size": 1514,
    "tins": {name: EMPTY_TIN | tin for name, tin in KERNEL_TINS.items()},
}
# Without the handle, the count of references, and the offset of the network header.
TC = """\
qdisc cake dev R.rs root bandwidth 20Mbit diffserv3 triple-isolate nonat nowash no-ack-filter split-gso rtt 100ms raw \
overhead 0
 Sent 74688004 bytes 49622 pkt (dropped 372, overlimits 99565 requeues 0)
 backlog 21196b 14p requeues 0
 memory used: 106398b of 4Mb
 capacity estimate: 20Mbit
 min/max network layer size:           42 /    1514
 min/max overhead-adjusted size:       42 /    1514

                   Bulk  Best Effort        Voice
  thresh       1250Kbit       20Mbit        5Mbit
  target         14.5ms          5ms          5ms
  interval        110ms        100ms        100ms
  pk_delay          0us       11.6ms          0us
  av_delay          0us       7.11ms          0us
  sp_delay          0us       1.93ms          0us
  backlog            0b       21196b           0b
  pkts                0        50007            1
  bytes               0     75272366           42
  way_inds            0            0            0
  way_miss            0            5            1
  way_cols            0            0            0
  drops               0          372            0
  marks               0            0            0
  ack_drop            0            0            0
  sp_flows            0            1            0
  bk_flows            0            4            0
  un_flows            0            0            0
  max_len             0         1514           42
  quantum           300          610          300"""

SCENARIO = """
name = "one"
duration = "1 s"
warm_up = "0 s"
[link.lan]
rate = "100 Mbit/s"
delay = "0.1 ms"
[node.a]
profile = "linux-6.1"
[node.a.interface.eth0]
link = "lan"
address = "10.0.0.1"
qdisc = QDISC
[node.b]
profile = "linux-6.1"
[node.b.interface.eth0]
link = "lan"
address = "10.0.0.2"
[[flow]]
kind = "tcp"
from = "a"
to = "b"
"""


def test_units_are_those_of_tc() -> None:
    rates = [0, 999, 1250, 1_250_000, 20_000_000, 1_500_000_000, 1_234_567_000, 2 * 10**12]
    written = ["0bit", "999bit", "1250bit", "1250Kbit", "20Mbit", "1500Mbit", "1234Mbit", "2Tbit"]
    assert [rate(bps) for bps in rates] == written
    sizes = [0, 1023, 1998, 21_196, 32_768, 15_503_360, 4 << 20, (32 << 20) + 1000]
    assert [size(n) for n in sizes] == ["0b", "1023b", "1998b", "21196b", "32Kb", "15140Kb", "4Mb", "32Mb"]
    times = [0, 950, 5000, 14_534, 109_534, 27_900, 1_500_000]
    assert [time(us) for us in times] == ["0us", "950us", "5ms", "14.5ms", "110ms", "27.9ms", "1.5s"]


def _resolved(qdisc: str) -> dict:  # type: ignore[type-arg]
    resolved: dict = json.loads(Scenario(SCENARIO.replace("QDISC", qdisc)).resolve())  # type: ignore[type-arg]
    return resolved


def _at_router(qdisc: str) -> dict:  # type: ignore[type-arg]
    interface = _resolved(qdisc)["nodes"][0]["interfaces"][0]
    return {"nodes": [{"name": "R", "interfaces": [{**interface, "name": "rs"}]}]}


class _Zeros(dict):  # type: ignore[type-arg]
    """Counters of which all are zero that are not named."""

    def __missing__(self, key: str) -> int | None:
        return None if key in ("avg_dq_rate", "drop_next_us") else 0

    def __or__(self, other: dict) -> "_Zeros":  # type: ignore[type-arg, override]
        return _Zeros({**self, **other})


ZEROS = _Zeros()


def test_a_cake_is_printed_as_tc_prints_it() -> None:
    assert tc_text({"qdiscs": {"R.rs": KERNEL}}, _at_router('{ kind = "cake", bandwidth = "20 Mbit/s" }')) == TC


# Of Linux 6.1 with iproute2 6.1: a discipline, its counters and the text, without handle and count of references.
@pytest.mark.parametrize(
    ("qdisc", "counters", "printed"),
    [
        (
            '{ kind = "fq", maxrate = "2 Mbit/s", flow_limit = 40, ce_threshold = "1 ms" }',
            {
                "kind": "fq",
                "flows": 6,
                "inactive": 2,
                "throttled_flows": 4,
                "next_packet_delay_ns": 2_739_000,
                "throttled": 1907,
                "latency_ns": 9972,
                "ce_mark": 476,
            },
            "limit 10000p flow_limit 40p buckets 1024 orphan_mask 1023 quantum 3028b initial_quantum 15140b "
            "maxrate 2Mbit low_rate_threshold 550Kbit refill_delay 40ms ce_threshold 1ms timer_slack 10us horizon 10s "
            "horizon_drop\n"
            "  flows 6 (inactive 2 throttled 4) next_packet_delay 2.74ms\n"
            "  gc 0 highprio 0 throttled 1907 latency 9.97us ce_mark 476",
        ),
        (
            '{ kind = "fq", maxrate = "2 kbit/s", flow_limit = 5 }',
            {
                "kind": "fq",
                "flows": 66,
                "inactive": 24,
                "throttled_flows": 42,
                "next_packet_delay_ns": 3_940_000,
                "throttled": 146,
                "latency_ns": 6632,
                "flows_plimit": 60,
                "pkts_too_long": 149,
            },
            "limit 10000p flow_limit 5p buckets 1024 orphan_mask 1023 quantum 3028b initial_quantum 15140b "
            "maxrate 2Kbit low_rate_threshold 550Kbit refill_delay 40ms timer_slack 10us horizon 10s horizon_drop\n"
            "  flows 66 (inactive 24 throttled 42) next_packet_delay 3.94ms\n"
            "  gc 0 highprio 0 throttled 146 latency 6.63us flows_plimit 60\n"
            " pkts_too_long 149",
        ),
        (
            '{ kind = "fq", horizon = "300 us", horizon_drop = false }',
            {
                "kind": "fq",
                "flows": 6,
                "inactive": 5,
                "throttled_flows": 1,
                "next_packet_delay_ns": 67_800,
                "throttled": 1196,
                "latency_ns": 9810,
                "horizon_caps": 1317,
            },
            "limit 10000p flow_limit 100p buckets 1024 orphan_mask 1023 quantum 3028b initial_quantum 15140b "
            "low_rate_threshold 550Kbit refill_delay 40ms timer_slack 10us horizon 300us horizon_cap\n"
            "  flows 6 (inactive 5 throttled 1) next_packet_delay 67.8us\n"
            "  gc 0 highprio 0 throttled 1196 latency 9.81us\n"
            "  horizon_caps 1317",
        ),
        (
            '{ kind = "fq", maxrate = "10 Mbit/s", pacing = false, flow_limit = 20, quantum = 1514, '
            'initial_quantum = 3028, ce_threshold = "4 ms", timer_slack = "5 us", horizon = "2 s", '
            'horizon_drop = false, buckets = 64, orphan_mask = 15, refill_delay = "20 ms", '
            'low_rate_threshold = "1 Mbit/s" }',
            {"kind": "fq", "flows": 0, "next_packet_delay_ns": None},
            "limit 10000p flow_limit 20p buckets 64 orphan_mask 15 nopacing quantum 1514b initial_quantum 3028b "
            "maxrate 10Mbit low_rate_threshold 1Mbit refill_delay 20ms ce_threshold 4ms timer_slack 5us horizon 2s "
            "horizon_cap\n"
            "  flows 0 (inactive 0 throttled 0)\n"
            "  gc 0 highprio 0 throttled 0",
        ),
        (
            '"pie"',
            {"kind": "pie", "prob": 0.011222, "delay_us": 21_200, "pkts_in": 49_663, "dropped": 275, "maxq": 125},
            "limit 1000p target 15ms tupdate 16ms alpha 2 beta 20\n"
            "  prob 0.011222 delay 21.2ms\n"
            "  pkts_in 49663 overlimit 0 dropped 275 maxq 125 ecn_mark 0",
        ),
        (
            '{ kind = "pie", limit = 50, target = "5 ms", tupdate = "30 ms", alpha = 4, beta = 30, ecn = true, '
            "bytemode = true, dq_rate_estimator = true }",
            {"kind": "pie", "avg_dq_rate": 0},
            "limit 50p target 5ms tupdate 32ms alpha 4 beta 30 ecn bytemode dq_rate_estimator\n"
            "  prob 0 delay 0us avg_dq_rate 0\n"
            "  pkts_in 0 overlimit 0 dropped 0 maxq 0 ecn_mark 0",
        ),
        (
            '{ kind = "codel", limit = 50, target = "2.5 ms", interval = "50 ms", ecn = true }',
            {"kind": "codel", "drop_next_us": None},
            "limit 50p target 2.5ms interval 50ms ecn\n"
            "  count 0 lastcount 0 ldelay 0us drop_next 0us\n"
            "  maxpacket 0 ecn_mark 0 drop_overlimit 0",
        ),
        (
            '"codel"',
            {
                "kind": "codel",
                "count": 8,
                "lastcount": 5,
                "ldelay_us": 13_700,
                "drop_next_us": 7650,
                "maxpacket": 1514,
            },
            "limit 1000p target 5ms interval 100ms\n"
            "  count 8 lastcount 5 ldelay 13.7ms dropping drop_next 7.65ms\n"
            "  maxpacket 1514 ecn_mark 0 drop_overlimit 0",
        ),
        (
            '{ kind = "fq_codel", quantum = 300, limit = 100, flows = 16, memory_limit = "1 MiB", ecn = false }',
            {"kind": "fq_codel"},
            "limit 100p flows 16 quantum 300 target 5ms interval 100ms memory_limit 1Mb drop_batch 64\n"
            "  maxpacket 0 drop_overlimit 0 new_flow_count 0 ecn_mark 0\n"
            "  new_flows_len 0 old_flows_len 0",
        ),
        (
            '{ kind = "sfq", perturb = "10 s", quantum = 3000, limit = 100, depth = 20, flows = 64, divisor = 256, '
            "headdrop = true }",
            {"kind": "sfq"},
            "limit 100p quantum 3000b depth 20 headdrop divisor 256 perturb 10sec",
        ),
        ('"sfq"', {"kind": "sfq"}, "limit 127p quantum 1514b depth 127 divisor 1024"),
        (
            '{ kind = "netem", delay = "10 ms", jitter = "2 ms", delay_correlation = 0.25, loss = 0.01, '
            "loss_correlation = 0.2, duplicate = 0.005, reorder = 0.25, reorder_correlation = 0.5, gap = 5, "
            'rate = "5 Mbit/s", limit = 50 }',
            {"kind": "netem"},
            "limit 50 delay 10ms  2ms 25% loss 1% 20% duplicate 0.5% reorder 25% 50% rate 5Mbit gap 5",
        ),
        (
            '{ kind = "netem", delay = "100 ms", jitter = "10 ms" }',
            {"kind": "netem"},
            "limit 1000 delay 100ms  10ms",
        ),
        (
            '{ kind = "netem", loss = 0.001, delay = "1.5 ms" }',
            {"kind": "netem"},
            "limit 1000 delay 1.5ms loss 0.1%",
        ),
        (
            '{ kind = "tbf", rate = "20 Mbit/s", burst = 5000, limit = 30000, peakrate = "40 Mbit/s", mtu = 1600 }',
            {"kind": "tbf"},
            "rate 20Mbit burst 5000b peakrate 40Mbit minburst 1600b lat 10ms",
        ),
        ('{ kind = "bfifo", limit = 50000 }', {"kind": "bfifo"}, "limit 50000b"),
    ],
)
def test_disciplines_are_printed_as_tc_prints_them(qdisc: str, counters: dict[str, object], printed: str) -> None:
    options, *own = printed.split("\n")
    kind = counters["kind"]
    lines = [
        f"qdisc {kind} dev R.rs root {options}",
        " Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)",
        " backlog 0b 0p requeues 0",
        *own,
    ]
    assert tc_text({"qdiscs": {"R.rs": ZEROS | counters}}, _at_router(qdisc)) == "\n".join(lines)


def test_an_htb_is_printed_with_its_class() -> None:
    counters = {"kind": "htb", "bytes": 2_886_394, "packets": 1945, "overlimits": 1435}
    counters |= {"backlog_bytes": 36_336, "backlog_packets": 24, "lended": 1945, "tokens": -9458, "ctokens": -9458}
    run = {"qdiscs": {"R.rs": ZEROS | counters}}
    text = tc_text(run, _at_router('{ kind = "htb", rate = "20 Mbit/s" }'))
    # What tc -s qdisc and tc -s class printed, without handles.
    sent = " Sent 2886394 bytes 1945 pkt (dropped 0, overlimits 1435 requeues 0)\n backlog 36336b 24p requeues 0\n"
    assert text == (
        "qdisc htb dev R.rs root r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000\n"
        f"{sent}"
        "class htb dev R.rs root prio 0 rate 20Mbit ceil 20Mbit burst 1600b cburst 1600b\n"
        f"{sent}"
        " lended: 1945 borrowed: 0 giants: 0\n"
        " tokens: -9458 ctokens: -9458"
    )


@pytest.mark.parametrize(
    ("qdisc", "lines"),
    [
        ('"pfifo_fast"', ["qdisc pfifo_fast dev a.eth0 root bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1"]),
        (
            '{ kind = "htb", rate = "10 Mbit/s", child = "fq_codel" }',
            [
                "class htb dev a.eth0 root prio 0 rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b",
                "qdisc fq_codel dev a.eth0 parent htb limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms "
                "memory_limit 32Mb ecn drop_batch 64",
            ],
        ),
        (
            '{ kind = "tbf", rate = "20 Mbit/s", burst = "32 KiB", limit = "100 KiB", '
            'peakrate = "30 Mbit/s", mtu = 1998 }',
            [
                "qdisc tbf dev a.eth0 root rate 20Mbit burst 32Kb peakrate 30Mbit minburst 1998b lat 27.9ms",
                "qdisc bfifo dev a.eth0 parent tbf limit 100Kb",
            ],
        ),
        (
            '{ kind = "netem", delay = "20 ms", jitter = "1 ms", loss = 0.01, child = "codel" }',
            [
                "qdisc netem dev a.eth0 root limit 1000 delay 20ms  1ms loss 1%",
                "qdisc codel dev a.eth0 parent netem limit 1000p target 5ms interval 100ms",
            ],
        ),
        ('"fq"', ["timer_slack 10us horizon 10s horizon_drop", "  flows 1 (inactive 0 throttled 0)"]),
        (
            '{ kind = "pie", ecn = true }',
            ["qdisc pie dev a.eth0 root limit 1000p target 15ms tupdate 16ms alpha 2 beta 20 ecn"],
        ),
        ('{ kind = "sfq", perturb = "10 s" }', ["limit 127p quantum 1514b depth 127 divisor 1024 perturb 10sec"]),
        (
            '{ kind = "cake", tins = "diffserv4", isolation = "dual-srchost", overhead = -4, atm = "ptm", mpu = 64, '
            'memlimit = "1 MiB", rtt = "20 ms", wash = true, ingress = true, split_gso = false }',
            [
                "qdisc cake dev a.eth0 root bandwidth unlimited diffserv4 dual-srchost nonat wash ingress "
                "no-ack-filter no-split-gso rtt 20ms ptm overhead -4 mpu 64 memlimit 1Mb",
                "                   Bulk  Best Effort        Video        Voice",
            ],
        ),
    ],
)
def test_disciplines_and_those_inside_them_have_their_options(qdisc: str, lines: list[str]) -> None:
    scenario = Scenario(SCENARIO.replace("QDISC", qdisc))
    run = scenario.run().runs[0]
    text = tc_text(run, json.loads(scenario.resolve())).splitlines()
    for line in lines:
        assert any(printed.endswith(line) for printed in text), f"{line}\n{text}"
    own = run["qdiscs"]["a.eth0"]
    assert f" Sent {own['bytes']} bytes {own['packets']} pkt (dropped {own['drops']}, " in "\n".join(text)


def test_a_shaper_is_printed_both_ways_with_what_its_filter_drops() -> None:
    shaper = """
[node.a.interface.eth0.shaper]
down = "20 Mbit/s"
up = "200 kbit/s"
qdisc = { kind = "cake", nat = true, ack_filter = "ack-filter" }
"""
    text = SCENARIO.replace("qdisc = QDISC", "masquerade = true" + shaper).replace(
        'from = "a"\nto = "b"', 'from = "b"\nto = "a"'
    )
    scenario = Scenario(text)
    run = scenario.run().runs[0]
    printed = tc_text(run, json.loads(scenario.resolve())).splitlines()
    up, down = (line for line in printed if line.startswith("qdisc cake"))
    assert up.startswith("qdisc cake dev a.eth0 root bandwidth 200Kbit diffserv3 triple-isolate nat nowash ack-filter ")
    assert down.startswith("qdisc cake dev a.ifb4eth0 root bandwidth 20Mbit diffserv3 triple-isolate nat nowash ")
    row = next(line for line in printed if line.startswith("  ack_drop"))
    filtered = [run["qdiscs"]["a.eth0"]["tins"][tin]["ack_drops"] for tin in ("Bulk", "Best Effort", "Voice")]
    assert row.split()[1:] == list(map(str, filtered))
    assert filtered[1] > 0


def test_the_command_prints_each_category_under_mq() -> None:
    command = ["tc", "scenarios/anomaly-udp.toml", "--set", "duration=1 s", "--set", "warm_up=0 s"]
    scheme = ["--set", "node.ap.interface.wlan0.scheme=fq_codel"]
    printed = CliRunner().invoke(app, [*command, *scheme])
    assert printed.exit_code == 0, printed.output
    lines = printed.output.splitlines()
    assert "qdisc mq dev ap.wlan0 root" in lines
    assert any(line.startswith("qdisc fq_codel dev ap.wlan0 parent :3 limit 10240p") for line in lines)
