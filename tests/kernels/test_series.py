"""Flows between guests in the series of a run."""

from conftest import Machine
from stillair import Scenario
from stillair.kernels import store

WIRE = """
name = "wire"
duration = "3 s"
warm_up = "1 s"
record.ss = "200 ms"
link.lan = { rate = "10 Mbit/s", delay = "5 ms" }
node.a = { profile = "linux-6.12", host = { kind = "uml", kernel = "KERNEL" }, interface.eth0.link = "lan" }
node.b = { profile = "linux-6.12", host = { kind = "uml", kernel = "KERNEL" }, interface.eth0.link = "lan" }
[[flow]]
name = "up"
kind = "tcp"
from = "a"
to = "b"
start = "500 ms"
[[flow]]
name = "ping"
kind = "ping"
from = "a"
to = "b"
interval = "100 ms"
"""


def test_flows_of_guests_are_in_the_series(machine: Machine, kernel: store.Kernel) -> None:
    file = machine.folder / "wire.toml"
    file.write_text(WIRE.replace("KERNEL", kernel.folder.name), encoding="utf-8")
    result = Scenario(file).run(series=True)
    run = result.runs[0]
    flows = {flow.name: flow for flow in result.run_with_series(run["run"]).series.flows}
    carried, answered = flows["up.b"].bytes, flows["ping.b"].pings
    assert carried is not None
    assert answered is not None
    # Steps of 200 ms: nothing before the start, then 10 Mbit/s with 1448 payload bytes per 1538-byte frame.
    assert len(carried) == 15
    assert carried[:2] == [0, 0]
    assert all(abs(step / 250_000 - 1448 / 1538) < 0.02 for step in carried[5:])
    assert [ping.seq for ping in answered] == list(range(30))
    assert all(ping.rtt_ns >= 10_000_000 for ping in answered)
    acked = run["sockets"]["up.b"]["bytes_acked"]
    assert 0.9 < acked[-1] / sum(carried) < 1.02
