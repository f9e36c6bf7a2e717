"""`stillair bisect`: bisection, the report of a change, and mistakes."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from stillair import InputError, Result
from stillair.__main__ import status
from stillair.cli.compare import versions
from stillair.cli.compare.sides import Side

NAMES = [f"v{number}" for number in range(9)]


def measured(values: Sequence[float], asked: list[str]) -> Callable[[str], Side]:
    """A scenario whose goodput is given for each version, with runs 0.1 apart."""

    def measure(name: str) -> Side:
        asked.append(name)
        value = values[NAMES.index(name)]
        runs = [
            {"run": run, "seed": 1, "trace_hash": "0", "flows": {"up.one": {"goodput_mbps": value + 0.1 * run}}}
            for run in range(3)
        ]
        return Side(name, Result({"version": "0", "scenario": name, "runs": runs}))

    return measure


def test_halves_find_the_step() -> None:
    for step in range(1, 9):
        asked = list[str]()
        values = [10.0 if number < step else 20.0 for number in range(9)]
        found = versions.search(NAMES, measured(values, asked), "up.one.goodput", 0.01, every=False)
        [(old, new, row)] = found.moved
        assert found.has_moved
        assert (old.title, new.title) == (NAMES[step - 1], NAMES[step])
        assert row.ratios[0] is not None
        assert row.ratios[0].mean == pytest.approx(20.1 / 10.1)
        # Both ends, and three bisections of the eight steps between them.
        assert len(asked) == len(set(asked)) <= 5
        assert [side.title for side in found.measured] == sorted(asked)


def test_what_does_not_move_is_not_searched() -> None:
    asked = list[str]()
    found = versions.search(NAMES, measured([10.0] * 8 + [10.05], asked), "up.one.goodput", 0.01, every=False)
    assert not found.has_moved
    assert asked == ["v0", "v8"]


def test_all_versions_show_what_comes_and_goes() -> None:
    asked = list[str]()
    values = [10.0, 10, 10, 15, 15, 10, 10, 10, 10]
    found = versions.search(NAMES, measured(values, asked), "up.one goodput", 0.01, every=True)
    assert [(old.title, new.title) for old, new, _ in found.moved] == [("v2", "v3"), ("v4", "v5")]
    assert asked == ["v0", *NAMES[1:]]


def test_what_chance_may_do_is_no_move() -> None:
    def measure(name: str) -> Side:
        wild = [10.0, 14.0, 6.0] if name == "v0" else [12.0, 7.0, 16.0]
        runs = [{"run": n, "seed": 1, "trace_hash": "0", "goodput_total_mbps": value} for n, value in enumerate(wild)]
        return Side(name, Result({"version": "0", "scenario": name, "runs": runs}))

    assert not versions.search(["v0", "v8"], measure, "total goodput", 0.01, every=False).has_moved


def test_a_figure_that_is_not_there_is_told() -> None:
    with pytest.raises(InputError, match=r'--figure: found "up.onegoodput", expected one of up\.one goodput; did you'):
        versions.search(NAMES, measured([10.0] * 9, []), "up.onegoodput", 0.01, every=False)


@pytest.mark.parametrize("name", ["up.one goodput", "up.one.goodput", "up.goodput", "UP goodput"])
def test_a_flow_goes_by_its_name_where_it_has_one_receiver(name: str) -> None:
    assert versions.figure(measured([10.0] * 9, [])("v0"), name) == "up.one goodput"


def test_settings_that_differ_are_told_once_for_all_nodes() -> None:
    def resolved(value: int, more: int) -> str:
        nodes = [{"name": name, "tcp": {"limit": value, "hz": 250}} for name in ("a", "b")]
        return json.dumps({"nodes": nodes, "links": [{"name": "lan", "rate": more}]})

    assert versions.settings(resolved(1, 5), resolved(2, 5)) == [("tcp.limit", 1, 2)]
    assert versions.settings(resolved(1, 5), resolved(1, 6)) == [("links.lan.rate", 5, 6)]


SCENARIO = """
name = "bisected"
duration = "3 s"
warm_up = "1 s"
seed = 1
[node.client]
profile = "linux-4.14"
sysctl = { "net.ipv4.tcp_congestion_control" = "cubic" }
interface.eth0 = { link = "lan", address = "10.0.0.1" }
[node.server]
inherits = "client"
interface.eth0 = { address = "10.0.0.2" }
[link.lan]
rate = "100 Mbit/s"
delay = "1 ms"
[[flow]]
name = "upload"
kind = "tcp"
from = "client"
to = "server"
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "bisected.toml"
    path.write_text(SCENARIO)
    return str(path)


def test_a_profile_is_found_with_what_differs(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["bisect", file, "--figure", "upload.retransmissions", "--runs", "2", "--json", "--all"]
    assert status([*arguments, "--profiles", "linux-4.14..linux-5.10"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["version"] for one in told["measured"]] == ["linux-4.14", "linux-4.19", "linux-5.10"]
    assert told["nodes"] == ["client", "server"]
    assert told["figure"] == "upload.server retransmissions"
    # What moved is another matter; what differs is told of each step, and nothing of a step that is none.
    for one in told["moved"]:
        assert one["settings"]
        assert all(setting["from"] != setting["to"] for setting in one["settings"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Missing option '--figure'"),
        (["--figure", "upload.goodputs"], '--figure: found "upload.goodputs", expected one of'),
        (["--figure", "upload.goodput", "--profiles", "linux-9.9"], '--profiles: found "linux-9.9", expected one of'),
        (
            ["--figure", "upload.goodput", "--profiles", "linux-6.1"],
            "--profiles: found one version, expected at least two",
        ),
        (["--figure", "upload.goodput", "--profiles", "linux-6.1..linux-4.4"], "expected the older one first"),
        (["--figure", "upload.goodput", "--profiles", "linux-6.1,linux-6.1"], "--profiles: found linux-6.1 twice"),
        (
            ["--figure", "upload.goodput", "--node", "clients"],
            '--node: found "clients", expected one of client, server',
        ),
        (["--figure", "upload.goodput", "--kernels", "none"], "--kernels: no kernel none is built"),
        (
            ["--figure", "upload.goodput", "--kernels", "a", "--profiles", "b"],
            "--kernels: found together with --profiles",
        ),
    ],
)
def test_mistakes(
    file: str, arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STILLAIR_KERNELS", "/nonexistent")
    assert status(["bisect", file, "--runs", "1", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert says in captured.err
