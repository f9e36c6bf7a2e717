"""A kept result of every queueing discipline is read back, drawn, reported and exported."""

from pathlib import Path

import pytest

from stillair import Result
from stillair.__main__ import status
from stillair.text import extras

NET = """\
name = "qdisc"
duration = "1 s"

[channel.wifi]
band = "5 GHz"
width = "20 MHz"

[link.lan]
rate = "10 Mbit/s"
delay = "1 ms"

[node.a]
profile = "linux-6.1"
interface.eth0 = {{ link = "lan", address = "10.0.0.1"{wired} }}

[node.ap]
profile = "linux-6.1"
forward = true
interface.eth0 = {{ link = "lan", address = "10.0.0.2" }}
interface.wlan0 = {{ channel = "wifi", role = "ap", address = "10.0.1.1"{wifi} }}

[node.s]
profile = "linux-6.1"
[node.s.interface.wlan0]
channel = "wifi"
role = "station"
ap = "ap.wlan0"
address = "10.0.1.2"
rate = "ht20-mcs7-sgi"

[[flow]]
kind = "tcp"
from = "a"
to = "s"

[[flow]]
kind = "ping"
from = "a"
to = "s"
"""

WIRED = {
    **{kind: f'"{kind}"' for kind in ("pfifo_fast", "pfifo", "bfifo", "codel", "fq_codel", "cake", "sfq", "fq", "pie")},
    "netem": '{ kind = "netem", delay = "5 ms" }',
    "netem with cake": '{ kind = "netem", delay = "5 ms", child = { kind = "cake", bandwidth = "5 Mbit/s" } }',
    "htb": '{ kind = "htb", rate = "5 Mbit/s" }',
    "htb with cake": '{ kind = "htb", rate = "5 Mbit/s", child = "cake" }',
    "htb with tbf with fq_codel": '{ kind = "htb", rate = "5 Mbit/s", child = { kind = "tbf", rate = "4 Mbit/s", burst = 5000, child = "fq_codel" } }',  # noqa: E501
    "tbf": '{ kind = "tbf", rate = "5 Mbit/s", burst = 5000, limit = 100000 }',
    "cake with eight tins": '{ kind = "cake", bandwidth = "5 Mbit/s", tins = "diffserv8" }',
}
WIFI = {
    **{f"mq of {kind}": f'"{kind}"' for kind in ("pfifo_fast", "codel", "fq_codel", "cake", "sfq", "fq", "pie")},
    "one cake": '{ kind = "cake", mq = false }',
    "mq of htb with cake": '{ kind = "htb", rate = "5 Mbit/s", child = "cake", mq = true }',
}
CASES = [
    *((name, NET.format(wired=f", qdisc = {qdisc}", wifi="")) for name, qdisc in WIRED.items()),
    *((name, NET.format(wired="", wifi=f', scheme = "fifo", qdisc = {qdisc}')) for name, qdisc in WIFI.items()),
]


@pytest.mark.parametrize(("name", "text"), CASES, ids=[name for name, _ in CASES])
def test_a_kept_result_of_each_discipline(name: str, text: str, tmp_path: Path) -> None:
    file, kept = tmp_path / "net.toml", tmp_path / "kept"
    file.write_text(text)
    assert status(["run", str(file), "--runs", "2", "-o", str(kept)]) == 0
    loaded = Result.load(kept)
    assert loaded.runs[0]["qdiscs"], name
    if "cake" in name:
        assert any(of.get("tins") for of in loaded.summary()["qdiscs"].values())
    assert status(["report", str(kept), "-o", str(tmp_path / "page.html")]) == 0
    assert status(["plot", str(kept), "-o", str(tmp_path / "picture.svg")]) == 0
    wanted = {"csv": "table.csv", "flent": "one.flent.gz"}
    if extras.there("pyarrow"):
        wanted["parquet"] = "table.parquet"
    for kind, target in wanted.items():
        more = ["--run", "0"] if kind == "flent" else []
        assert status(["export", str(kept), f"--{kind}", *more, "-o", str(tmp_path / target)]) == 0, kind
        assert (tmp_path / target).stat().st_size > 0
