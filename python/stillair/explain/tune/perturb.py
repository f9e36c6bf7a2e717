"""Perturbed networks: distances, loads, line rates and delays 20 % smaller and larger, rates by one step."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stillair.explain.tune.parts import Sets
from stillair.runs.scenario import Scenario

FACTORS = (0.8, 1.2)
_MOST_MCS = {"ht": 7, "vht": 9, "he": 11}
_RATE = re.compile(r"(ht|vht|he)(\d+-mcs)(\d+)(.*)")
_QUANTITY = re.compile(r"([0-9.]+) *([A-Za-z/]+)")


class Changed(NamedTuple):
    """A perturbed network, if the scenario has a value to perturb."""

    words: str
    sets: Sets


def of(scenario: Scenario, overrides: Sequence[tuple[str, str]]) -> list[Changed]:
    """Returns all perturbations that apply to the scenario. Keys set by overrides stay fixed."""
    text = tomllib.loads(scenario.text)
    taken = {key for key, _ in overrides}
    made = []
    for words, keys in _KINDS.items():
        for factor in FACTORS:
            sets = tuple((key, value) for key, value in keys(text, factor) if key not in taken)
            if sets:
                made.append(Changed(f"{words} {100 * (factor - 1):+.0f} %", sets))
    for words, step in (("one MCS lower", -1), ("one MCS higher", 1)):
        sets = tuple((key, value) for key, value in _stepped(text, step) if key not in taken)
        if sets:
            made.append(Changed(f"Wi-Fi {words}", sets))
    return made


def _stepped(text: Mapping[str, Any], step: int) -> Iterator[tuple[str, str]]:
    """Fixed station rates moved by one MCS with the same number of streams; rates without such a neighbour stay."""
    for path, interface in _interfaces(text):
        rate = interface.get("rate")
        found = _RATE.fullmatch(rate) if isinstance(rate, str) else None
        if found is None:
            continue
        kind, head, mcs, tail = found[1], found[2], int(found[3]), found[4]
        # In 802.11n the MCS index includes the number of streams.
        first = mcs - mcs % 8 if kind == "ht" else 0
        if first <= mcs + step <= first + _MOST_MCS[kind]:
            yield f"{path}.rate", f"{kind}{head}{mcs + step}{tail}"


def _scaled(value: object, factor: float) -> str | None:
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    return f"{round(float(found[1]) * factor, 6):.12g} {found[2]}" if found else None


def _interfaces(text: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for node, table in text.get("node", {}).items():
        for name, interface in table.get("interface", {}).items():
            yield f"node.{node}.interface.{name}", interface


def _of(tables: Iterator[tuple[str, Mapping[str, Any]]], key: str, factor: float) -> Iterator[tuple[str, str]]:
    for path, table in tables:
        if scaled := _scaled(table.get(key), factor):
            yield f"{path}.{key}", scaled


def _distances(text: Mapping[str, Any], factor: float) -> Iterator[tuple[str, str]]:
    return _of(_interfaces(text), "distance", factor)


def _signals(text: Mapping[str, Any], factor: float) -> Iterator[tuple[str, str]]:
    return _of(_interfaces(text), "snr", factor)


def _loads(text: Mapping[str, Any], factor: float) -> Iterator[tuple[str, str]]:
    return _of(((f"flow.{number}", flow) for number, flow in enumerate(text.get("flow", ()))), "rate", factor)


def _delays(text: Mapping[str, Any], factor: float) -> Iterator[tuple[str, str]]:
    return _of(((f"link.{name}", link) for name, link in text.get("link", {}).items()), "delay", factor)


def _lines(text: Mapping[str, Any], factor: float) -> Iterator[tuple[str, str]]:
    lines = ((name, link) for name, link in text.get("link", {}).items() if link.get("kind") == "access")
    for name, link in lines:
        rate = link.get("rate")
        if isinstance(rate, dict):
            yield from _of(iter([(f"link.{name}.rate", rate)]), "down", factor)
            yield from _of(iter([(f"link.{name}.rate", rate)]), "up", factor)
        elif scaled := _scaled(rate, factor):
            yield f"link.{name}.rate", scaled


_KINDS = {"distances": _distances, "signal": _signals, "load": _loads, "line rate": _lines, "delay": _delays}
