"""Queueing disciplines in tc's words, compared with what tc printed of the measured kernel's."""

import json

import pytest
from typer.testing import CliRunner

from stillair.cli import app
from stillair.scenario import Scenario
from stillair.tc_text import rate, size, tc_text, time

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
# Without the handle, the count of references, the offset of the network header and the filter of acknowledgements.
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


def test_a_cake_is_printed_as_tc_prints_it() -> None:
    config = _resolved('{ kind = "cake", bandwidth = "20 Mbit/s" }')["nodes"][0]["interfaces"][0]["qdisc"]
    resolved = {"nodes": [{"name": "R", "interfaces": [{"name": "rs", "qdisc": config}]}]}
    assert tc_text({"qdiscs": {"R.rs": KERNEL}}, resolved) == TC


@pytest.mark.parametrize(
    ("qdisc", "lines"),
    [
        ('"pfifo_fast"', ["qdisc pfifo_fast dev a.eth0 root bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1"]),
        (
            '{ kind = "htb", rate = "10 Mbit/s", child = "fq_codel" }',
            [
                "qdisc htb dev a.eth0 root rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b",
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
                "qdisc netem dev a.eth0 root limit 1000 delay 20ms 1ms 0% loss 1%",
                "qdisc codel dev a.eth0 parent netem limit 1000p target 5ms interval 100ms",
            ],
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


def test_the_command_prints_each_category_under_mq() -> None:
    command = ["tc", "scenarios/anomaly-udp.toml", "--set", "duration=1 s", "--set", "warm_up=0 s"]
    scheme = ["--set", "node.ap.interface.wlan0.scheme=fq_codel"]
    printed = CliRunner().invoke(app, [*command, *scheme])
    assert printed.exit_code == 0, printed.output
    lines = printed.output.splitlines()
    assert "qdisc mq dev ap.wlan0 root" in lines
    assert any(line.startswith("qdisc fq_codel dev ap.wlan0 parent :3 limit 10240p") for line in lines)
