"""Overrides as Python has them, and where a mistake is."""

import fractions
import pickle
from pathlib import Path

import numpy
import pytest

from stillair import InputError, Scenario
from stillair.runs import bundled
from stillair.runs.overrides import pairs


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("5 Mbit/s", [("a.b", "5 Mbit/s")]),
        (7, [("a.b", "7")]),
        (0.5, [("a.b", "0.5")]),
        (True, [("a.b", "true")]),
        ([1, "x"], [("a.b", '[1, "x"]')]),
        (numpy.int64(7), [("a.b", "7")]),
        (numpy.float32(0.5), [("a.b", "0.5")]),
        (fractions.Fraction(1, 4), [("a.b", "0.25")]),
        ({}, [("a.b", "{}")]),
        ({"c": 1, "d": {"e": "x"}}, [("a.b.c", "1"), ("a.b.d.e", "x")]),
        ({"c.d": 1}, [('a.b."c.d"', "1")]),
        # Options of another kind mean nothing, so that such a table takes the place of what is there.
        ({"kind": "fq_mac", "limit": 3}, [("a.b", '{ kind = "fq_mac", limit = 3 }')]),
    ],
)
def test_values_are_those_of_set(value: object, found: list[tuple[str, str]]) -> None:
    assert pairs({"a.b": value}) == found  # type: ignore[dict-item]
    assert pairs([("a.b", value)]) == found  # type: ignore[list-item]


def test_tables_set_what_dotted_keys_set() -> None:
    scenario = bundled.scenario("anomaly-udp")
    nested = {"duration": "6 s", "node": {"ap": {"interface": {"wlan0": {"scheme": {"kind": "fifo"}}}}}}
    dotted = [("duration", "6 s"), ("node.ap.interface.wlan0.scheme", "fifo")]
    assert scenario.resolve(nested) == scenario.resolve(dotted) != scenario.resolve()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, {"c": object()}, [None]])
def test_what_is_no_value_is_refused_by_its_key(value: object) -> None:
    with pytest.raises(InputError, match="expected text, a finite number") as caught:
        pairs({"a.b": value})  # type: ignore[dict-item]
    assert caught.value.key is not None
    assert caught.value.key.startswith("a.b")


def test_a_mistake_says_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    text = bundled.scenario("anomaly-udp").text
    file.write_text(text + '\n[[flow]]\nkind = "udp"\nfrom = "server"\nto = "nobody"\nrate = "1 Mbit/s"\n')
    with pytest.raises(InputError) as caught:
        Scenario(file).resolve()
    line = len(text.splitlines()) + 5
    assert (caught.value.file, caught.value.line) == (str(file), line)
    assert caught.value.key is not None
    assert caught.value.key.endswith(".to")
    assert str(caught.value).startswith(f"{file}:{line}: {caught.value.key}: ")
    # It comes through a pool of processes as it is.
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own
    assert (again.key, again.line, str(again)) == (caught.value.key, line, str(caught.value))
    with pytest.raises(InputError) as caught:
        bundled.scenario("anomaly-udp").run(overrides={"duration": -1})
    assert (caught.value.file, caught.value.line, caught.value.key) == ("--set", None, "duration")
    with pytest.raises(InputError) as caught:
        bundled.scenario("anomaly-udp").run(runs=0)
    assert caught.value.key == "runs"
    assert (InputError("x").key, InputError("x").line, InputError("x").file) == (None, None, None)
