"""`stillair validate guests`: what a file's run becomes with guests, and when figures are within."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stillair.__main__ import status
from stillair_lab.validate import guests, kernel_file

FILES = {path.stem: path for path in kernel_file.bundled().glob("*.json")}


@pytest.mark.parametrize("name", ["L100M_cubic_pfifo_fast_notsq", "L100M_cubic_pfifo_fast_tsq_tso"])
def test_both_ends_are_guests_and_keep_the_set_up(name: str) -> None:
    file = kernel_file.read(FILES[name])
    found = json.loads(guests.guests(file).resolve(guests.hosts(file, "6.12")))
    nodes = {node["name"]: node for node in found["nodes"]}
    offload = "tso" if name.endswith("_tso") else "none"
    assert {name: node["host"]["offload"] for name, node in nodes.items() if isinstance(node.get("host"), dict)} == {
        "C": offload,
        "S": offload,
    }
    assert "htb" in json.dumps(nodes["C"]["interfaces"][0]["qdisc"])
    assert ("gso_max_segs 1" in json.dumps(nodes["C"]["host"])) == (offload == "none")


def test_what_guests_cannot_have_is_said() -> None:
    file = kernel_file.read(FILES["L100M_cubic_pfifo_fast_tsq2ms"])
    assert guests.lacks(file) == ""
    assert guests.lacks(replace(file, config=replace(file.config, hz=1000))) == "HZ is 1000: a guest has 250"
    found = json.loads(guests.guests(file).resolve(guests.hosts(file, "6.12")))
    assert '"rate_multiple": 2' in json.dumps(found["nodes"])


def test_a_delay_may_differ_by_a_tenth_or_a_packet_and_goodput_by_a_hundredth() -> None:
    file = kernel_file.read(FILES["L100M_cubic_pfifo_fast_tsq"])
    socket = {"t_s": [1.0, 2.0, 3.0], "srtt_ms": [90.0, 3.4, 3.5]}
    ran = {
        "flows": {"upload1.S": {"goodput_mbps": 94.0}},
        "sockets": {"upload1.S": socket},
        "pings": {"ping.S": {"median_ms": 3.5}},
    }
    rows = {row.quantity: row for row in guests.rows(file, ran)}
    assert rows["mean srtt ms"].guests == pytest.approx(3.45)
    assert [rows[name].within for name in ("goodput Mbit/s", "mean srtt ms", "median ping ms")] == [False, True, False]
    ran_once = {file.name: guests.Ran(list(rows.values()), "ab")}
    told = guests.text(ran_once, {"x.json": "why"}, "6.12")
    assert "3 figures of 1 files: 1 within, 2 outside" in told
    assert "x.json: not run: why" in told
    found = json.loads(guests.as_json(ran_once, {"x.json": "why"}, "6.12"))
    assert [one["within"] for one in found["figures"]] == [False, True, False]
    assert (found["trace_hashes"], found["not_run"]) == ({file.name: "ab"}, {"x.json": "why"})


def test_a_kernel_that_is_not_there_is_said_of_each_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STILLAIR_KERNELS", str(tmp_path))
    one = str(FILES["L100M_cubic_pfifo_fast_tsq"])
    assert status(["validate", "guests", one, "--json"]) == 2
    told = capsys.readouterr()
    assert json.loads(told.out)["figures"] == []
    assert "L100M_cubic_pfifo_fast_tsq" in told.err
    assert "build it with 'stillair kernel build 6.12'" in told.err
