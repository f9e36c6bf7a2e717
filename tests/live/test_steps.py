"""Scenario steps between live hosts: the network changes while packets are sent."""

import re
import statistics

from conftest import User, needs

STEPS = """step=[
  { at = "2 s", set = ['node.server.interface.eth0.qdisc={ kind = "netem", delay = "150 ms" }'] },
  { at = "4 s", set = ['node.server.interface.eth0.qdisc={ kind = "netem", loss = 1.0 }'] },
  { at = "6 s", set = ['node.server.interface.eth0.qdisc=pfifo_fast', 'link.lan.delay=100 ms'] },
]"""
EVERY = 0.1


def test_qdiscs_and_delays_change_on_time(user: User) -> None:
    needs("ping")
    settings = ["--set", "flow=[]", "--set", "warm_up=0 s", "--set", STEPS.replace("\n", " ")]
    command = ["ping", "-4", "-D", "-W", "1", "-c", "80", "-i", str(EVERY), "server"]
    run, printed, _ = user.live(*settings, command=["sh", "-c", f"date +%s.%N; {' '.join(command)}"])
    zero = float(printed[0])
    lines = re.findall(r"\[([\d.]+)\].* time=([\d.]+) ms", "\n".join(printed))
    # Send time and round-trip time of each ping.
    trips = [(float(t) - float(ms) / 1000 - zero, float(ms)) for t, ms in lines]

    def between(begin: float, end: float) -> list[float]:
        return [ms for at, ms in trips if begin <= at < end]

    # 5 ms of wire each way; then 150 ms more one way; then total loss; then 100 ms each way. Edges are excluded.
    assert 10 <= statistics.median(between(0, 1.5)) < 100
    assert 160 <= statistics.median(between(2.5, 3.5)) < 195
    assert between(4.5, 5.5) == []
    assert 200 <= statistics.median(between(6.5, 7.5)) < 300
    assert any(drop["reason"] == "loss" and drop["place"] == "server.eth0 qdisc" for drop in run["drops"])
