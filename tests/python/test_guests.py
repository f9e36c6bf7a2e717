"""Real kernels in virtual time, as far as that goes without one. `cargo test -p stillair-uml` runs them."""

import sys
from pathlib import Path

import pytest

from stillair._native import InputError
from stillair.runs.crosscheck import Row, _all, _compared_with_kernels, crosscheck_with_kernels
from stillair.runs.scenario import Scenario

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "scenarios" / "live" / "kernels.toml"
HOST = [("node.sta.host", '{ kind = "uml", kernel = "6.12" }')]
BOTH = [*HOST, ("node.server.host", '{ kind = "uml", kernel = "6.12" }')]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="guests need Linux")


def test_a_scenario_knows_its_kernels() -> None:
    scenario = Scenario(KERNELS)
    assert scenario.kernels() == {}
    assert scenario.kernels(BOTH) == {"server": "6.12", "sta": "6.12"}


def test_a_kernel_that_is_not_built_is_named_with_what_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STILLAIR_KERNELS", str(tmp_path))
    says = r"node\.server\.host\.kernel: no kernel 6\.12 is built .*; build it with 'stillair kernel build 6\.12'"
    with pytest.raises(InputError, match=says):
        Scenario(KERNELS).run(overrides=BOTH)


@pytest.mark.parametrize(
    ("hosts", "says"),
    [
        ("6.12", 'found "6.12", expected uml:KERNEL'),
        ("uml:", 'found "uml:", expected uml:KERNEL'),
        ("uml:6.12:nobody", 'found "nobody", expected a node of .*: server, ap, sta'),
    ],
)
def test_hosts_that_cannot_be_are_an_error(hosts: str, says: str) -> None:
    scenario = Scenario(KERNELS)
    with pytest.raises(InputError, match=says):
        crosscheck_with_kernels(scenario, [("duration", "4 s")], None, 1, hosts)


@pytest.mark.parametrize(
    ("sets", "says"),
    [
        ([("node.sta.host", '{ kind = "uml" }')], r"node\.sta\.host\.kernel: found nothing"),
        ([("node.sta.host", '{ kind = "uml", kernel = "6.12", offload = "lro" }')], r"node\.sta\.host\.offload"),
        (
            [*HOST, ("node.server.host", "live")],
            r"flow\.0\.(from|to): found \"(sta|server)\", which is a (guest|live host)",
        ),
        ([*HOST], r"flow\.0\.from: found \"sta\", which is a guest, expected both ends modelled, or both guests"),
    ],
)
def test_what_a_guest_cannot_be_is_an_error_of_the_scenario(sets: list[tuple[str, str]], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Scenario(KERNELS).resolve(sets)


def _run(goodput: list[float], srtt: list[float], ping: float) -> dict[str, object]:
    names = [f"up{n}.server" for n in range(len(goodput))]
    return {
        "flows": {
            name: {"protocol": "tcp", "goodput_mbps": one, "retransmissions": 0}
            for name, one in zip(names, goodput, strict=True)
        },
        "pings": {"ping.server": {"median_ms": ping}},
        "sockets": {
            name: {"t_s": [1.0, 2.0, 9.0], "srtt_ms": [500.0, one, 700.0], "cwnd": [10, 20, 30]}
            for name, one in zip(names, srtt, strict=True)
        },
    }


def _rows(modelled: dict[str, object], real: dict[str, object]) -> dict[str, Row]:
    sides = [_all([run], (1.5, 8.0)) for run in (modelled, real)]
    return {row.what: row for row in _compared_with_kernels("cell", *sides)}


def test_of_one_flow_its_own_figures_are_asked() -> None:
    rows = _rows(_run([46.0], [30.0], 20.0), _run([47.0], [34.0], 20.9))
    assert {what: row.within for what, row in rows.items() if row.within is not None} == {
        "goodput up0.server Mbit/s": True,
        "srtt up0.server median ms": False,
        "ping ping.server median ms": True,
    }


def test_of_several_flows_their_sum_and_all_their_samples_are_asked() -> None:
    rows = _rows(_run([10.0, 36.0], [30.0, 32.0], 20.0), _run([24.0, 23.0], [30.0, 31.0], 29.0))
    assert {what: row.within for what, row in rows.items() if row.within is not None} == {
        "goodput of all flows Mbit/s": True,
        "srtt of all flows median ms": True,
        "ping ping.server median ms": False,
    }
    assert rows["goodput of all flows Mbit/s"].virtual == 46.0
    assert rows["srtt of all flows median ms"].virtual == 31.0
