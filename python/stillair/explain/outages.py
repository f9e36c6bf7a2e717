"""Outages: times in which a scenario step blocks a link, or the path between a station and its AP."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stillair import _native

if TYPE_CHECKING:
    from stillair.runs.scenario import Scenario

Resolved = Mapping[str, Any]

_FULL_BITS = 8 * 1500
_SLOW_S = 1.0
"""A link is down if a full packet takes longer than this."""
_LOST = 0.99
"""A path is down if it loses at least this share of full frames at every rate."""
_WIFI = "wifi_outages"


class Outage(NamedTuple):
    """An outage of one direction of a link, or of the path between a station and its access point."""

    link: str
    """Name of the link; for Wi-Fi, of the two interfaces."""
    place: str
    """Sending interface; for Wi-Fi, the station's."""
    from_ns: int
    until_ns: int
    is_wifi: bool = False

    @property
    def ms(self) -> float:
        """Duration in ms."""
        return (self.until_ns - self.from_ns) / 1e6

    @property
    def times(self) -> str:
        """Start and end, such as `from 5 to 7 s`."""
        return f"from {self.from_ns / 1e9:g} to {self.until_ns / 1e9:g} s"


def with_wifi(resolved: dict[str, Any], scenario: "Scenario", overrides: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Adds the Wi-Fi outages to a resolved scenario, for `outages`.

    They follow from the survey of the scenario after each change of a station's losses or rates. A change is
    a `[[step]]`, or an entry of a list over time such as `snr = ["25 dB", { at = "5 s", snr = "2 dB" }]`.
    """
    found = _joined(list(_wifi(scenario, overrides, resolved)))
    return {**resolved, _WIFI: [one._asdict() for one in found]} if found else resolved


def outages(resolved: Resolved) -> list[Outage]:
    """All outages of a run, by link and time. Includes Wi-Fi outages only if `with_wifi` added them."""
    states = [(0, resolved["links"]), *((step["at_ns"], step["to"]["links"]) for step in resolved.get("steps") or ())]
    down: list[Outage] = []
    for (at, links), end in zip(states, _ends(resolved), strict=True):
        down += [Outage(name, place, at, end) for name, place in _down(links)]
    return [*_joined(down), *(Outage(**one) for one in resolved.get(_WIFI, ()))]


def _ends(resolved: Resolved) -> list[int]:
    """End of each state between steps, in ns."""
    return [*(step["at_ns"] for step in resolved.get("steps") or ()), resolved["duration_ns"]]


def _joined(down: list[Outage]) -> list[Outage]:
    """Sorts and joins outages: a step that changes another key does not split one."""
    joined: list[Outage] = []
    for one in sorted(down):
        if joined and joined[-1][:2] == one[:2] and joined[-1].until_ns == one.from_ns:
            joined[-1] = joined[-1]._replace(until_ns=one.until_ns)
        else:
            joined.append(one)
    return joined


def _down(links: list[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for link in links:
        media = (link["medium"], link.get("medium_back") or link["medium"])
        for place, medium in zip(link["ends"], media, strict=True):
            of = medium.get("line") or medium
            if "rate_bps" in of and of["rate_bps"] * _SLOW_S < _FULL_BITS:
                yield link["name"], place


def _wifi(scenario: "Scenario", overrides: Sequence[tuple[str, str]], resolved: Resolved) -> Iterator[Outage]:
    steps = resolved.get("steps") or ()
    states = [roles(resolved), *(roles(step["to"]) for step in steps)]
    changed = {
        place
        for place, role in states[0].items()
        if len(role.get("snr") or ()) > 1 or any(state.get(place) != role for state in states[1:])
    }
    if not changed:
        return
    starts = [0, *(step["at_ns"] for step in steps)]
    sets = list(overrides)
    made = step_sets(scenario, overrides) if steps else []
    for number, (start, end) in enumerate(zip(starts, _ends(resolved), strict=True)):
        if number:
            sets += made[number - 1]
        for path in _paths(scenario, sets):
            if path["station"] in changed:
                for from_ns, until_ns in _dead(path, start, end):
                    yield Outage(
                        f"{path['ap']} and {path['station']}", path["station"], from_ns, until_ns, is_wifi=True
                    )


def _dead(path: Mapping[str, Any], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Times between `start` and `end` in which a path loses nearly every full frame at every rate."""
    steps = path["snr"] or [{"from_s": 0.0, "least_loss": path["least_loss"]}]
    times = [round(step["from_s"] * 1e9) for step in steps]
    for step, own_start, own_end in zip(steps, times, [*times[1:], end], strict=True):
        if step["least_loss"] >= _LOST and max(own_start, start) < min(own_end, end):
            yield max(own_start, start), min(own_end, end)


def roles(resolved: Resolved) -> dict[str, Mapping[str, Any]]:
    """Resolved settings of each station interface, including rates and losses."""
    return {
        f"{node['name']}.{interface['name']}": interface["medium"]["role"]
        for node in resolved["nodes"]
        for interface in node["interfaces"]
        if interface["medium"].get("role", {}).get("kind") == "station"
    }


def step_sets(scenario: "Scenario", overrides: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Keys that each `[[step]]` sets."""
    import tomllib  # noqa: PLC0415 - only for scenarios with steps

    given: list[Mapping[str, Any]] = tomllib.loads(scenario.text).get("step", [])
    for key, value in overrides:
        if key == "step":
            given = tomllib.loads(f"of = {value}")["of"]
    found = []
    for step in given:
        pairs = (text.partition("=") for text in step["set"])
        found.append([(key.strip(), value.strip()) for key, _, value in pairs])
    return found


def _paths(scenario: "Scenario", sets: Sequence[tuple[str, str]]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = json.loads(_native.survey(scenario.text, scenario.file, [*sets, ("step", "[]")]))[
        "paths"
    ]
    return found


def outage_ms(place: str, resolved: Resolved) -> float:
    """Longest outage of the link or path at an interface, in ms; 0 without an outage."""
    return max((one.ms for one in outages(resolved) if one.place == place), default=0.0)


def of_station(name: str, resolved: Resolved) -> Outage | None:
    """The longest Wi-Fi outage of a station; `None` without an outage."""
    own = (one for one in outages(resolved) if one.is_wifi and one.place.partition(".")[0] == name)
    return max(own, key=lambda one: one.ms, default=None)


def sentence(outage: Outage, resolved: Resolved) -> str:
    """Describes an outage with its start and end. Both directions of a link share a sentence."""
    if outage.is_wifi:
        return f"nothing gets through between {outage.link} {outage.times} (Wi-Fi)"
    same = [one for one in outages(resolved) if (one.link, *one[2:]) == (outage.link, *outage[2:])]
    way = "" if len(same) > 1 else f" from {outage.place}"
    return f"link {outage.link} carries nothing{way} {outage.times}"


def outage_lines(resolved: Resolved, main: Outage | None = None) -> Iterator[str]:
    """A line for each outage except `main`."""
    told = {sentence(main, resolved)} if main else set()
    for one in outages(resolved):
        words = sentence(one, resolved)
        if words not in told:
            told.add(words)
            yield f"Outage: {words}."
