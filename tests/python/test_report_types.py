"""The types of a report match the engine's report, key by key."""

import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Union, get_args, get_origin, get_type_hints, is_typeddict

import pandas
import polars
import pyarrow
import pytest

from stillair import Picture, Result, Scenario, SweepResult
from stillair.results.frame import Frame
from stillair.results.report import Run, Summary, Whole, figures
from stillair.results.tidy import Measured
from stillair.runs import bundled
from stillair.runs.overrides import Value

RECORD = {"record": {"ss": "1 s", "queues": "1 s", "air": "2 s..2.01 s", "sojourn": True}}

# Together these have every possible key of a report, except for external hosts, which need a driver.
SCENARIOS = {
    "anomaly-udp": {"duration": "6 s", **RECORD},
    "anomaly-tcp": {"duration": "6 s", **RECORD},
    "anomaly-voip": {"duration": "7 s"},
    "anomaly-web": {"duration": "7 s"},
    "quic-quinn": {"duration": "3 s"},
    "snr": {"duration": "6 s"},
    "responsiveness": {"duration": "6 s"},
}


def misfits(value: object, hint: object, at: str = "run") -> list[str]:  # noqa: PLR0911 - a case each
    """Where a value is not of its type."""
    origin, inner = get_origin(hint), get_args(hint)
    if is_typeddict(hint):
        assert isinstance(hint, type)
        if not isinstance(value, Mapping):
            return [f"{at}: no object"]
        hints, required = get_type_hints(hint), vars(hint)["__required_keys__"]
        found = [f"{at}.{key}: not in the type" for key in value.keys() - hints.keys()]
        found += [f"{at}.{key}: missing" for key in required - value.keys()]
        return found + [
            miss for key in value.keys() & hints.keys() for miss in misfits(value[key], hints[key], f"{at}.{key}")
        ]
    if origin in (Union, types.UnionType):
        return [] if any(not misfits(value, one, at) for one in inner) else [f"{at}: {value!r:.60} is not {hint}"]
    if origin is dict and isinstance(value, dict):
        return [miss for key, of in value.items() for miss in misfits(of, inner[1], f"{at}.{key}")]
    if origin in (list, Sequence) and isinstance(value, list):
        return [miss for of in value[:50] for miss in misfits(of, inner[0], f"{at}[]")]
    if origin is tuple and isinstance(value, list) and len(value) == len(inner):
        return [miss for of, one in zip(value, inner, strict=True) for miss in misfits(of, one, f"{at}()")]
    if hint is type(None) or hint is None:
        return [] if value is None else [f"{at}: not null"]
    if hint is float and type(value) is int:
        return []
    return [] if isinstance(hint, type) and isinstance(value, hint) else [f"{at}: {value!r:.60} is not {hint}"]


def test_a_misfit_is_found() -> None:
    drop = get_type_hints(Run)["drops"]
    assert misfits([{"place": 1, "reason": "x", "more": 0}], drop) == [
        "run[].more: not in the type", "run[].packets: missing", "run[].place: 1 is not <class 'str'>"
    ]  # fmt: skip
    assert misfits(None, float | None) == []
    assert misfits("x", float | None) == ["run: 'x' is not float | None"]


@pytest.mark.parametrize("name", SCENARIOS)
def test_reports_have_their_types(name: str) -> None:
    result = bundled.scenario(name).run(runs=2, overrides=SCENARIOS[name])
    assert misfits(result.runs[0], Run) == []
    assert misfits(result.summary(), Summary, "over_runs") == []
    assert misfits(result.to_dict(), Whole, "whole") == []
    for run in result.runs:
        for figure in figures(run):
            assert type(figure.value) is float


def test_the_scenarios_above_have_every_key() -> None:
    seen: set[str] = set()
    for name, overrides in SCENARIOS.items():
        seen |= bundled.scenario(name).run(overrides=overrides).runs[0].keys()
    assert typing.get_type_hints(Run).keys() - seen == {"hosts"}


def parts(hint: object) -> set[str]:
    """Names of a type and of all its parts."""
    inner = list(get_type_hints(hint).values()) if is_typeddict(hint) else [*get_args(hint)]
    flat = [one for of in inner for one in (of if isinstance(of, list) else [of])]
    return {str(hint)}.union(*(parts(one) for one in flat))


@pytest.mark.parametrize(
    "kind", [Result, Scenario, SweepResult, Frame, Picture, Measured], ids=lambda kind: kind.__name__
)
def test_nothing_that_a_user_gets_is_of_any_type(kind: type) -> None:
    # Names that are imported for types alone.
    names = {
        "pandas": pandas,
        "polars": polars,
        "pyarrow": pyarrow,
        "Picture": Picture,
        "Value": Value,
        "Result": Result,
    }
    methods = [value for name, value in inspect.getmembers(kind) if not name.startswith("_") and callable(value)]
    for one in (kind, *methods):
        for name, hint in get_type_hints(one, localns=names).items():
            assert "typing.Any" not in parts(hint), (one, name)


def test_figures_are_the_numbers_of_a_report() -> None:
    run = bundled.scenario("anomaly-udp").run(overrides={"duration": "6 s", **RECORD}).runs[0]
    found = {figure[:3]: figure.value for figure in figures(run)}
    assert found["", "", "goodput_total_mbps"] == run["goodput_total_mbps"]
    assert found["stations", "slow", "goodput_mbps"] == run["stations"]["slow"]["goodput_mbps"]
    assert ("stations", "slow", "udp_ping_median_ms") not in found
    assert found["air", "wifi", "data_us"] == run["air"]["wifi"]["data_us"]
    assert found["packets", "", "created"] == run["packets"]["created"]
    assert found["drops", "ap.wlan0 mac", "codel"] == next(d["packets"] for d in run["drops"] if d["reason"] == "codel")
    assert {group for group, _, _ in found} == {"", "stations", "flows", "pings", "air", "qdiscs", "packets", "drops"}
