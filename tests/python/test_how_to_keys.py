"""The keys that a how-to page names work as they are printed."""

import re
from pathlib import Path

import pytest

from stillair.runs import bundled

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "compare-queues.md").read_text(encoding="utf-8")
VALUES = {
    "node.router.interface.wan.shaper": "off",
    "node.router.interface.wan.qdisc": "fq_codel",
    "node.router.interface.wlan0.scheme": "mac80211",
    "flow.0.congestion_control": "bbr",
}


@pytest.mark.parametrize("key", [*VALUES])
def test_keys_of_the_table_are_those_of_home(key: str) -> None:
    assert f"| `{key}`" in PAGE
    sets = [(key, VALUES[key])]
    if key.endswith("wan.qdisc"):
        sets.insert(0, ("node.router.interface.wan.shaper", "off"))
    assert bundled.scenario("home").resolve(sets)


def test_settings_that_are_printed_are_taken() -> None:
    printed = [found[1] for found in re.finditer(r"stillair compare home --set '?([^'\n]+?)'?(?: --only.*)?\n", PAGE)]
    assert len(printed) == 2
    for one in printed:
        sets = [part.strip().split("=", 1) for part in one.split(";")]
        assert bundled.scenario("home").resolve([(key, value) for key, value in sets])
