"""`stillair bisect`: finds the kernel version that changed a figure."""

import json
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from stillair._native import InputError, __version__
from stillair.cli.common import options
from stillair.cli.common.progress import runs_progress
from stillair.text import terminal

if TYPE_CHECKING:
    from stillair.cli.compare.rows import Row
    from stillair.cli.compare.versions import Found
    from stillair.runs.scenario import Scenario

_RUNS = 5
_MOST_SETTINGS = 30
_WHOLE = 1.2
"""A step larger than this share of the whole change was partly reverted by other steps."""


@click.command()
@options.file
@click.option(
    "--figure",
    metavar="FLOW.FIGURE",
    required=True,
    help="Name as in 'stillair compare': upload.goodput, 'total goodput', 'client ping p95'.",
)
@click.option(
    "--kernels", metavar="A,B[,...]", help="Real kernels that were built, in their order ('stillair kernel list')."
)
@click.option(
    "--profiles",
    metavar="A,B[,...]|A..B",
    show_default="all of Linux",
    help="Modelled kernels, in their order: linux-5.10..linux-6.18.",
)
@click.option(
    "--node",
    "nodes",
    metavar="NODE",
    multiple=True,
    show_default="all that have one",
    help="A node whose kernel is changed. Repeatable.",
)
@options.set_
@click.option(
    "--runs",
    type=options.whole(1, options.MOST_RUNS),
    metavar="N",
    default=_RUNS,
    help="Repetitions under each version, with the same seeds.",
)
@options.seed
@options.jobs
@click.option(
    "--least",
    type=options.Number(0, 1000),
    metavar="PERCENT",
    default=1.0,
    help="Smallest change that counts.",
)
@click.option("--all", "every", is_flag=True, help="Measure every version, and report every step.")
@options.as_json
def bisect(
    file: str,
    figure: str,
    kernels: str | None,
    profiles: str | None,
    nodes: tuple[str, ...],
    set_: tuple[str, ...],
    runs: int,
    seed: int | None,
    jobs: int | None,
    least: float,
    every: bool,
    as_json: bool,
) -> None:
    """Find the kernel version that changed a figure.

    A scenario is run under the oldest version and the newest. If the figure differs by more than chance, the versions
    between are bisected until two neighbours are left. For modelled kernels the settings that differ between these two
    are printed.
    """
    from stillair.cli.compare import versions  # noqa: PLC0415 - loaded on use
    from stillair.cli.compare.sides import Side  # noqa: PLC0415

    if kernels is not None and profiles is not None:
        raise InputError("--kernels: found together with --profiles; give one of the two")
    scenario, overrides = options.scenario(file), options.overrides(set_)
    names = _kernels(kernels) if kernels is not None else _profiles(profiles)
    if len(names) < 2:
        raise InputError(f"--{'profiles' if kernels is None else 'kernels'}: found one version, expected at least two")
    changed = _nodes(scenario, overrides, nodes, real=kernels is not None)

    guests = _guests(scenario, overrides) if kernels is not None else set()

    def under(version: str) -> list[tuple[str, str]]:
        text = json.dumps(version)
        if kernels is None:
            return [*overrides, *((f"node.{node}.profile", text) for node in changed)]
        # A guest node keeps its other host settings.
        of = {
            node: (("host.kernel", text) if node in guests else ("host", f'{{ kind = "uml", kernel = {text} }}'))
            for node in changed
        }
        return [*overrides, *((f"node.{node}.{key}", value) for node, (key, value) in of.items())]

    # Reject unsupported versions before the first run.
    resolved = {version: scenario.resolve(under(version)) for version in names}
    rounds = len(names) if every else 2 + math.ceil(math.log2(max(len(names) - 1, 1)))
    done = 0
    with runs_progress(runs * rounds, quiet=as_json) as watched:

        def measure(version: str) -> Side:
            nonlocal done
            base = done
            tell = watched.progress
            heard = (lambda made: tell(base + made)) if tell else None
            result = scenario.run(runs, seed, jobs, under(version), progress=heard)
            done += runs
            return Side(version, result)

        found = versions.search(names, measure, figure, least / 100, every)
    told = [(old.title, new.title, row) for old, new, row in found.moved] if found.has_moved else []
    apart = [versions.settings(resolved[old], resolved[new]) if kernels is None else [] for old, new, _ in told]
    if as_json:
        print(_json(found, apart, changed))
    else:
        print(_text(found, apart, changed, runs, len(names), every=every, least=least, real=kernels is not None))


def _kernels(text: str) -> list[str]:
    """Returns the built kernels of a comma-separated list."""
    from stillair.kernels import store  # noqa: PLC0415 - only used here

    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        try:
            store.find(name)
        except InputError as error:
            raise InputError(f"--kernels: {error}") from None
    return _once("--kernels", names)


def _profiles(text: str | None) -> list[str]:
    """Returns modelled kernels: a list, or all Linux releases between two."""
    from stillair.kernels import profiles  # noqa: PLC0415 - only used here
    from stillair.text.nearest import hint  # noqa: PLC0415

    known = list(profiles.known().values())
    if text is None:
        return known
    first, dots, last = text.partition("..")
    names = [first.strip(), last.strip()] if dots else [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise InputError(f'--profiles: found "{name}", expected one of {", ".join(known)}{hint(name, known)}')
    if not dots:
        return _once("--profiles", names)
    low, high = (known.index(name) for name in names)
    if low > high:
        raise InputError(f"--profiles: found {text}, expected the older one first")
    return known[low : high + 1]


def _once(option: str, names: list[str]) -> list[str]:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{option}: found {twice} twice")
    return names


def _nodes(
    scenario: "Scenario", overrides: Sequence[tuple[str, str]], asked: Sequence[str], *, real: bool
) -> list[str]:
    """Returns the nodes whose kernel is changed."""
    import tomllib  # noqa: PLC0415 - only used here

    from stillair.text.nearest import hint  # noqa: PLC0415

    resolved: dict[str, Any] = json.loads(scenario.resolve(overrides))
    there = [node["name"] for node in resolved["nodes"]]
    for node in asked:
        if node not in there:
            raise InputError(f'--node: found "{node}", expected one of {", ".join(there)}{hint(node, there)}')
    if asked:
        return list(asked)
    written = tomllib.loads(scenario.text).get("node", {})
    if real:
        guests = _guests(scenario, overrides)
        found = [name for name in there if name in guests]
        if not found:
            raise InputError(
                f'--node: found none, and no node of the scenario has host = {{ kind = "uml" }}; give one of'
                f" {', '.join(there)}"
            )
        return found
    found = [name for name in there if _profile(written, name).startswith("linux-")]
    if not found:
        raise InputError(f"--node: found none, and no node has a profile of Linux; give one of {', '.join(there)}")
    return found


def _guests(scenario: "Scenario", overrides: Sequence[tuple[str, str]]) -> set[str]:
    """Returns the nodes that run real kernels."""
    resolved: dict[str, Any] = json.loads(scenario.resolve(overrides))
    return {node["name"] for node in resolved["nodes"] if isinstance(node.get("host"), dict)}


def _profile(written: dict[str, Any], name: str) -> str:
    return str(_key(written, name, "profile") or "")


def _key(written: dict[str, Any], name: str, key: str) -> Any:  # noqa: ANN401 - any value of the file
    """Looks up a key of a node, or of the node that it inherits from."""
    seen = set[str]()
    while name in written and name not in seen:
        seen.add(name)
        if key in written[name]:
            return written[name][key]
        name = str(written[name].get("inherits", ""))
    return None


Apart = Sequence[tuple[str, Any, Any]]


def _text(
    found: "Found",
    apart: Sequence[Apart],
    changed: Sequence[str],
    runs: int,
    total: int,
    *,
    every: bool,
    least: float,
    real: bool,
) -> str:
    from stillair.cli.compare.rendering import relation, value  # noqa: PLC0415 - only used here
    from stillair.text.table import table  # noqa: PLC0415

    row = found.row
    unit = f" {row.quantity.unit}" if row.quantity.unit else ""
    rows = [
        (side.title, value(row, at), relation(row.ratios[at - 1]) if at else "")
        for at, side in enumerate(found.measured)
    ]
    header = ("kernel" if real else "profile", f"{row.name}{unit}", f"against {found.measured[0].title}")
    shown = [[terminal.harmless(cell) for cell in line] for line in rows]
    parts = [table([terminal.harmless(cell) for cell in header], shown, width=terminal.width())]
    parts.append(
        f"Changed on {', '.join(changed)}; {'one run' if runs == 1 else f'means over {runs} runs'} under each."
    )
    if not found.has_moved:
        old, new, _ = found.moved[0]
        parts.append(f"{row.name} does not change by {least:g} % or more between {old.title} and {new.title}.")
        if len(found.measured) < total:
            parts.append("It may have changed and changed back in between: --all measures every version.")
    for (old, new, step), settings in zip(found.moved if found.has_moved else [], apart, strict=True):
        share = _share(row, step)
        of_all = "" if share is None or every else f", {100 * share:.0f} % of the whole change"
        said = f"{new.title} changed it: {_said(step, relation)} against {old.title}{of_all}."
        parts.append(terminal.painted(said, terminal.BOLD, sys.stdout))
        if share is not None and share < 0.5 and not every:
            parts.append("Less than half: other versions changed it too; --all shows them.")
        if share is not None and share > _WHOLE and not every:
            parts.append("More than the whole: a later version changed it back in part; --all shows which.")
        if settings:
            parts.append("Settings that differ between the two:")
            parts += [f"  {key}: {json.dumps(a)} -> {json.dumps(b)}" for key, a, b in settings[:_MOST_SETTINGS]]
            if len(settings) > _MOST_SETTINGS:
                parts.append(f"  ... and {len(settings) - _MOST_SETTINGS} more; --json has all")
    return "\n".join(parts)


def _said(step: "Row", relation: Any) -> str:  # noqa: ANN401 - a function of what may be none
    ratio = step.ratios[0]
    if ratio is not None:
        return str(relation(ratio))
    old, new = (value.mean if value else 0 for value in step.values)
    return f"from {old:g} to {new:g}"


def _share(whole: "Row", step: "Row") -> float | None:
    """Returns a step's share of the whole change from the oldest to the newest version."""
    first, last = whole.values[0], whole.values[-1]
    old, new = step.values
    if first is None or last is None or old is None or new is None or first.mean == last.mean:
        return None
    return (new.mean - old.mean) / (last.mean - first.mean)


def _json(found: "Found", apart: Sequence[Apart], changed: Sequence[str]) -> str:
    from stillair.cli.compare.rendering import ends, ratio_object  # noqa: PLC0415 - only used here

    row = found.row
    measured = [
        {
            "version": side.title,
            "value": ends(row.values[at], row.counts[at], row.runs[at]),
            "to_oldest": ratio_object(row.ratios[at - 1]) if at else None,
        }
        for at, side in enumerate(found.measured)
    ]
    moved = [
        {
            "from": old.title,
            "to": new.title,
            "ratio": ratio_object(step.ratios[0]),
            "settings": [{"key": key, "from": a, "to": b} for key, a, b in settings],
        }
        for (old, new, step), settings in zip(found.moved if found.has_moved else [], apart, strict=True)
    ]
    whole = {
        "version": __version__,
        "figure": row.name,
        "unit": row.quantity.unit,
        "nodes": list(changed),
        "measured": measured,
        "moved": moved,
    }
    return json.dumps(whole, ensure_ascii=False, allow_nan=False)
