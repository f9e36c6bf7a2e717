"""Real kernels in virtual time, as far as that goes without one. `cargo test -p stillair-uml` runs them."""

import sys
from pathlib import Path

import pytest

from stillair._native import InputError
from stillair.runs.agree import agree_with_kernels
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
    says = r"node\.server\.host\.kernel: no kernel 6\.12 is built .*'stillair kernel build 6\.12' makes it"
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
        agree_with_kernels(scenario, [("duration", "4 s")], None, 1, hosts)


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
