"""A scenario in virtual time and live, or with modelled hosts and real kernels, side by side."""

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
"""Allowed relative difference of goodput, airtime and aggregates from virtual time."""
PING = (0.20, 2.0)
"""Allowed difference of a ping's median: relative, or in ms if that is larger."""
KERNEL_GOODPUT = 0.03
"""Allowed relative difference of goodput."""
KERNEL_SRTT = 0.10
"""Allowed relative difference of the median srtt."""
KERNEL_PING = (0.10, 1.0)
"""Allowed difference of a ping's median: relative, or in ms if that is larger."""
HOSTS = "uml:"
"""Prefix of `--hosts`, followed by a kernel of `stillair kernel list`, and optionally a colon and node
names."""
TOGETHER = "of all flows"
"""Suffix of figures summed over several TCP flows."""
STEP = "100 ms"
"""Sampling interval of sockets on both sides."""


@dataclass(frozen=True)
class Row:
    """A figure of a combination, virtual and live.

    `within` tells if they agree; `None` if nothing is required.
    """

    cell: str
    what: str
    virtual: float
    live: float
    within: bool | None


@dataclass(frozen=True)
class Agreement:
    """All figures, the combinations with an invalid (late) live run, and the names of the sides."""

    rows: list[Row]
    late: list[str]
    sides: tuple[str, str] = ("virtual", "live")

    @property
    def holds(self) -> bool:
        """Returns true if all required figures agree and no run was late."""
        return not self.late and all(row.within is not False for row in self.rows)

    def to_json(self) -> str:
        """As JSON."""
        rows = [row.__dict__ for row in self.rows]
        return json.dumps({"holds": self.holds, "late": self.late, "sides": self.sides, "rows": rows})

    def to_text(self) -> str:
        """As a table."""
        words = {True: "agree", False: "DIFFER", None: ""}
        rows = [
            [row.cell, row.what, f"{row.virtual:.2f}", f"{row.live:.2f}", _ratio(row), words[row.within]]
            for row in self.rows
        ]
        a, b = self.sides
        text = table(["cell", "figure", a, b, f"{b}/{a}", ""], rows, words=2)
        late = "".join(f"\ninvalid because packets came late: {cell}" for cell in self.late)
        return text + late


def crosscheck(
    scenario: "Scenario",
    overrides: list[tuple[str, str]],
    seed: int | None,
    runs: int,
    late_us: int | None = None,
    tell: Callable[[str], object] = lambda _: None,
) -> Agreement:
    """Runs each combination of the `[sweep]` table `runs` times in virtual time and live, and compares the means."""
    rows: list[Row] = []
    late: list[str] = []
    for combination in scenario.sweep(overrides):
        chosen = [*overrides, *combination]
        name = ", ".join(f"{key}={value}" for key, value in combination) or scenario.file
        hosts = _live(scenario, chosen)
        tell(f"{name}: virtual time")
        modelled = [*chosen, *((f"node.{host}.host", "model") for host in hosts)]
        # With live hosts, a scenario without a duration would not end.
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
        raise InputError(f'{scenario.file}: found no live host, expected host = "live" on the nodes to be real')
    return hosts


def _compared(cell: str, virtual: list[dict[str, Any]], live: list[dict[str, Any]]) -> Iterator[Row]:
    """Figures that both sides have, as means over the runs."""
    pairs = figures(virtual), figures(live)
    for what, a in pairs[0].items():
        b = pairs[1].get(what)
        if b is None:
            # A flow without live data differs, whatever it was in virtual time.
            yield Row(cell, what, a, 0.0, within=False)
            continue
        within: bool | None = None
        if what.startswith("goodput"):
            within = abs(b - a) <= GOODPUT * a
        elif what.startswith("ping"):
            within = abs(b - a) <= max(PING[0] * a, PING[1])
        yield Row(cell, what, a, b, within)


def figures(runs: list[dict[str, Any]]) -> dict[str, float]:
    """Figures to compare, as means over the runs."""
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


def crosscheck_with_kernels(
    scenario: "Scenario",
    overrides: list[tuple[str, str]],
    seed: int | None,
    runs: int,
    hosts: str,
    tell: Callable[[str], object] = lambda _: None,
) -> Agreement:
    """Runs each combination of the `[sweep]` table with the model and with kernels, and compares the means."""
    kernel, named = _named(hosts)
    rows: list[Row] = []
    for combination in scenario.sweep(overrides):
        chosen = [*overrides, *combination]
        name = ", ".join(f"{key}={value}" for key, value in combination) or scenario.file
        kept = json.loads(scenario.resolve(chosen))
        if kept["record"]["ss_ns"] is None:
            chosen.append(("record.ss", STEP))
        tell(f"{name}: modelled")
        modelled = json.loads(scenario.run_text(runs, seed, None, chosen))["runs"]
        real = [*chosen, *_real(scenario.file, kept, kernel, named)]
        tell(f"{name}: kernel {kernel}")
        found = json.loads(scenario.run_text(runs, seed, None, real))["runs"]
        measured = (kept["warm_up_ns"] / 1e9, (kept["duration_ns"] - kept["cool_down_ns"]) / 1e9)
        rows.extend(_compared_with_kernels(name, _all(modelled, measured), _all(found, measured)))
    return Agreement(rows, [], ("modelled", f"kernel {kernel}"))


def _named(hosts: str) -> tuple[str, list[str]]:
    """Parses `--hosts` into the kernel and the nodes."""
    kernel, _, nodes = hosts.removeprefix(HOSTS).partition(":")
    if not hosts.startswith(HOSTS) or not kernel:
        raise InputError(f'--hosts: found "{hosts}", expected uml:KERNEL or uml:KERNEL:NODE,NODE such as uml:6.12')
    return kernel, [node for node in nodes.split(",") if node]


def _real(file: str, kept: dict[str, Any], kernel: str, named: list[str]) -> Iterator[tuple[str, str]]:
    """Overrides that make flow endpoints real: the named nodes, or all with one interface that do not forward."""
    ends = {end.split(".")[0] for flow in kept["flows"] for end in (flow["from"], *flow["to"])}
    nodes = {node["name"]: node for node in kept["nodes"]}
    for name in named:
        if name not in nodes:
            raise InputError(f'--hosts: found "{name}", expected a node of {file}: {", ".join(nodes)}')
    of_them = named or [
        name for name, node in nodes.items() if name in ends and not node["forward"] and len(node["interfaces"]) == 1
    ]
    if not of_them:
        raise InputError(f"{file}: found no flow endpoint with a single interface and without forwarding, expected one")
    for name in of_them:
        [interface, *_] = nodes[name]["interfaces"]
        # A Wi-Fi device supports neither scatter-gather nor checksums, so TCP segments are split and copied
        # above it.
        offload = "tso" if interface["tso"] and "link" in interface["medium"] else "none"
        yield f"node.{name}.host", f'{{ kind = "uml", kernel = "{kernel}", offload = "{offload}" }}'


def _all(runs: list[dict[str, Any]], measured: tuple[float, float]) -> dict[str, float]:
    """Figures to compare of runs with kernels, as means over the runs, including sums over flows."""
    found = figures(runs)
    more: dict[str, list[float]] = {}
    for run in runs:
        goodput = [flow["goodput_mbps"] for flow in run["flows"].values() if flow["protocol"] == "tcp"]
        pooled: list[float] = []
        for name, flow in run["flows"].items():
            if flow.get("retransmissions") is not None:
                more.setdefault(f"retransmissions {name}", []).append(flow["retransmissions"])
        for name, series in (run.get("sockets") or {}).items():
            within = [n for n, t in enumerate(series["t_s"]) if measured[0] <= t <= measured[1]]
            if within:
                srtt = [series["srtt_ms"][n] for n in within]
                pooled += srtt
                more.setdefault(f"srtt {name} median ms", []).append(statistics.median(srtt))
                more.setdefault(f"cwnd {name} mean", []).append(statistics.fmean(series["cwnd"][n] for n in within))
        if len(goodput) > 1:
            more.setdefault(f"goodput {TOGETHER} Mbit/s", []).append(sum(goodput))
            if pooled:
                more.setdefault(f"srtt {TOGETHER} median ms", []).append(statistics.median(pooled))
    return found | {what: statistics.fmean(values) for what, values in more.items()}


def _compared_with_kernels(cell: str, modelled: dict[str, float], real: dict[str, float]) -> Iterator[Row]:
    """Figures that both sides have.

    Of several flows, only the sum is required to agree: its split is chance.
    """
    several = any(TOGETHER in what for what in modelled)
    for what, a in modelled.items():
        b = real.get(what)
        asked = what.startswith("ping") or (what.startswith(("goodput", "srtt")) and (TOGETHER in what or not several))
        if b is None:
            if asked:
                yield Row(cell, what, a, 0.0, within=False)
            continue
        within: bool | None = None
        if asked and what.startswith("goodput"):
            within = abs(b - a) <= KERNEL_GOODPUT * b
        elif asked and what.startswith("ping"):
            within = abs(b - a) <= max(KERNEL_PING[0] * b, KERNEL_PING[1])
        elif asked:
            within = abs(b - a) <= KERNEL_SRTT * b
        yield Row(cell, what, a, b, within)
