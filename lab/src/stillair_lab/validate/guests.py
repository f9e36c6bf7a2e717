"""The files' runs with real kernels at both ends; the router and the interfaces' queues are modelled."""

import json
import re
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from stillair._native import RunError
from stillair.runs.scenario import Scenario
from stillair.text.table import figure, table
from stillair_lab.validate import scenario
from stillair_lab.validate.kernel_file import WARM_UP_S, KernelFile

GOODPUT = 0.01
"""Allowed relative difference of goodput."""
DELAY = 0.10
"""Allowed relative difference of mean srtt and median ping, or a packet's time at the bottleneck if that is
more."""

_ENDS = ("C", "S")
_PACKET_BYTES = 1514
_FIRST = 'start = "20 ms"'
_ONE = "ip link set dev eth0 gso_max_segs 1"
# HZ of kernels built by `stillair kernel build`.
_HZ = 250


@dataclass(frozen=True)
class Row:
    """A figure of a file, and of a run with guests."""

    file: str
    quantity: str
    kernel: float
    guests: float
    bound: float
    """Allowed difference."""

    @property
    def within(self) -> bool:
        """Returns true if the difference is within the bound."""
        return abs(self.guests - self.kernel) <= self.bound


def lacks(file: KernelFile) -> str:
    """Part of a file's set-up that guests cannot reproduce; empty if they can reproduce all."""
    if file.config.hz not in (None, _HZ):
        return f"HZ is {file.config.hz}: a guest has {_HZ}"
    return ""


def guests(file: KernelFile) -> Scenario:
    """A file's scenario without keys that have no effect on a guest.

    Flows start after the guest has executed its orders.

    The header room (`max_header`) is the profile's: 6.12 charges other memory sizes than the files' 6.1.
    """
    text = re.sub(r"(?m)^(max_header|tso) = .*\n", "", scenario.text(file))
    made = Scenario(text.replace('start = "0 ms"', _FIRST).replace('start = "0 s"', _FIRST))
    made.file = str(file.path)
    return made


def hosts(file: KernelFile, kernel: str) -> list[tuple[str, str]]:
    """Overrides that make both ends guests. If a file has one segment per packet, TCP is limited to that."""
    offload, run = ("tso", "") if file.config.gso else ("none", f', run = [{{ at = "0 s", command = "{_ONE}" }}]')
    host = f'{{ kind = "uml", kernel = "{kernel}", offload = "{offload}"{run} }}'
    return [(f"node.{name}.host", host) for name in _ENDS]


@dataclass(frozen=True)
class Ran:
    """Results of a file."""

    rows: list[Row]
    trace_hash: str


def run(file: KernelFile, kernel: str) -> Ran:
    """Figures of a file, compared with those of a run with guests."""
    result = json.loads(guests(file).run_text(1, None, None, hosts(file, kernel)))
    one = result["runs"][0]
    return Ran(rows(file, one), one["trace_hash"])


def rows(file: KernelFile, ran: Mapping[str, Any]) -> list[Row]:
    """Figures of the file with their bounds; the guests' are from the same second on."""
    delays = [
        srtt
        for socket in ran["sockets"].values()
        for t, srtt in zip(socket["t_s"], socket["srtt_ms"], strict=True)
        if t >= WARM_UP_S and srtt
    ]
    if not delays:
        raise RunError(f"{file.path}: no socket of a guest has a round-trip time")
    found = {
        "goodput Mbit/s": (("goodput_mbps",), sum(flow["goodput_mbps"] for flow in ran["flows"].values())),
        "mean srtt ms": (("tcp_srtt_ms", "mean"), statistics.fmean(delays)),
        "median ping ms": (
            ("ping_ms", "median"),
            (ran["pings"] or {}).get(scenario.reported("ping"), {}).get("median_ms"),
        ),
    }
    goodput = file.number("summary", "from_2s", "goodput_mbps")
    # The bottleneck is saturated in all files, so its packets leave at the rate of the goodput.
    packet = 0.0 if not goodput else _PACKET_BYTES * 8 / (goodput * 1000)
    made = []
    for name, (keys, value) in found.items():
        kernel = file.number("summary", "from_2s", *keys)
        if kernel is None or value is None:
            continue
        bound = GOODPUT * kernel if name.startswith("goodput") else max(DELAY * kernel, packet)
        made.append(Row(file.name, name, kernel, value, bound))
    return made


def text(ran: Mapping[str, Ran], left_out: Mapping[str, str], kernel: str) -> str:
    """A table of all figures, the trace hash of each run, and the files not run, with the reason."""
    found = [row for one in ran.values() for row in one.rows]
    lines = [
        [row.file, row.quantity, figure(row.kernel), figure(row.guests), figure(row.bound), _word(row)] for row in found
    ]
    parts = [table(["file", "", "file's kernel", f"guests {kernel}", "may differ by", ""], lines)] if lines else []
    within = sum(row.within for row in found)
    parts.append(f"{len(found)} figures of {len(ran)} files: {within} within, {len(found) - within} outside")
    parts += [f"{name}: trace {one.trace_hash}" for name, one in ran.items()]
    parts += [f"{name}: not run: {why}" for name, why in left_out.items()]
    return "\n".join(parts)


def as_json(ran: Mapping[str, Ran], left_out: Mapping[str, str], kernel: str) -> str:
    """The same as a JSON object."""
    figures = [asdict(row) | {"within": row.within} for one in ran.values() for row in one.rows]
    hashes = {name: one.trace_hash for name, one in ran.items()}
    return json.dumps({"kernel": kernel, "figures": figures, "trace_hashes": hashes, "not_run": dict(left_out)})


def _word(row: Row) -> str:
    return "within" if row.within else "OUTSIDE"
