"""The same scenario in virtual time and live, side by side."""

import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stillair._native import InputError
from stillair.runs import live as engine
from stillair.text.table import table

if TYPE_CHECKING:
    from stillair.runs.scenario import Scenario

GOODPUT = 0.05
"""Part by which goodput, airtime and aggregates may differ from virtual time."""
PING = (0.20, 2.0)
"""Part, or ms if that is more, by which the median of a ping may differ."""


@dataclass(frozen=True)
class Row:
    """One figure of a cell, virtual and live: `within` is whether they agree, none where nothing is asked of it."""

    cell: str
    what: str
    virtual: float
    live: float
    within: bool | None


@dataclass(frozen=True)
class Agreement:
    """All figures of all cells, and the cells whose live run came too late to say anything."""

    rows: list[Row]
    late: list[str]

    @property
    def holds(self) -> bool:
        """Whether all figures of which something is asked agree, and no run came too late."""
        return not self.late and all(row.within is not False for row in self.rows)

    def to_json(self) -> str:
        """As JSON."""
        rows = [row.__dict__ for row in self.rows]
        return json.dumps({"holds": self.holds, "late": self.late, "rows": rows})

    def to_text(self) -> str:
        """As a table."""
        words = {True: "agree", False: "DIFFER", None: ""}
        rows = [
            [row.cell, row.what, f"{row.virtual:.2f}", f"{row.live:.2f}", _ratio(row), words[row.within]]
            for row in self.rows
        ]
        text = table(["cell", "figure", "virtual", "live", "live/virtual", ""], rows, words=2)
        late = "".join(f"\nnot valid, as packets came too late: {cell}" for cell in self.late)
        return text + late


def agree(
    scenario: "Scenario",
    overrides: list[tuple[str, str]],
    seed: int | None,
    runs: int,
    late_us: int | None = None,
    tell: Callable[[str], object] = lambda _: None,
) -> Agreement:
    """Runs each combination of the `[sweep]` table in virtual time and live, `runs` times, and compares the means."""
    rows: list[Row] = []
    late: list[str] = []
    for combination in scenario.sweep(overrides):
        chosen = [*overrides, *combination]
        name = ", ".join(f"{key}={value}" for key, value in combination) or scenario.file
        hosts = _live(scenario, chosen)
        tell(f"{name}: virtual time")
        modelled = [*chosen, *((f"node.{host}.host", "model") for host in hosts)]
        # Without a length of its own a scenario with live hosts has no end.
        virtual = json.loads(scenario.run(runs, seed, None, modelled).to_json())["runs"]
        found = []
        for n in range(runs):
            tell(f"{name}: live, run {n + 1} of {runs}")
            request = engine.Request.of(scenario, chosen, seed=seed, late_us=late_us)
            text, status = engine.run(request)
            found.append(json.loads(text)["runs"][0])
            if status == engine.INVALID:
                late.append(name)
        rows.extend(_compared(name, virtual, found))
    return Agreement(rows, late)


def _live(scenario: "Scenario", overrides: list[tuple[str, str]]) -> list[str]:
    nodes = json.loads(scenario.resolve(overrides))["nodes"]
    hosts = [node["name"] for node in nodes if node.get("host") == "live"]
    if not hosts:
        raise InputError(f'{scenario.file}: found no live host, expected host = "live" at the ends that are to be real')
    return hosts


def _compared(cell: str, virtual: list[dict[str, Any]], live: list[dict[str, Any]]) -> Iterator[Row]:
    """The figures that both have, each the mean over the runs."""
    pairs = _figures(virtual), _figures(live)
    for what, a in pairs[0].items():
        b = pairs[1].get(what)
        if b is None:
            # A flow that gave nothing live differs, whatever it was in virtual time.
            yield Row(cell, what, a, 0.0, within=False)
            continue
        within: bool | None = None
        if what.startswith("goodput"):
            within = abs(b - a) <= GOODPUT * a
        elif what.startswith("ping"):
            within = abs(b - a) <= max(PING[0] * a, PING[1])
        yield Row(cell, what, a, b, within)


def _figures(runs: list[dict[str, Any]]) -> dict[str, float]:
    all_: dict[str, list[float]] = {}

    def add(what: str, value: float | None) -> None:
        if value is not None:
            all_.setdefault(what, []).append(value)

    for run in runs:
        for name, flow in run.get("flows", {}).items():
            add(f"goodput {name} Mbit/s", flow["goodput_mbps"])
        for name, ping in run.get("pings", {}).items():
            add(f"ping {name} median ms", ping["median_ms"])
        for name, station in run.get("stations", {}).items():
            add(f"airtime down {name} s", station["airtime_tx_us"] / 1e6)
            add(f"airtime up {name} s", station["airtime_rx_us"] / 1e6)
            add(f"frames a PPDU down {name}", station["mean_aggregate"])
            add(f"frames a PPDU up {name}", station["mean_aggregate_up"])
    return {what: statistics.fmean(values) for what, values in all_.items()}


def _ratio(row: Row) -> str:
    return f"{row.live / row.virtual:.3f}" if row.virtual else "-"
