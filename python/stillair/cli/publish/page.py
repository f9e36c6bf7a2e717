"""A result as one page that works offline: its tables, its pictures, and the scenario that was run."""

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from stillair import plot
from stillair._native import InputError
from stillair.explain import access, findings, outages
from stillair.explain import page as explained
from stillair.plot.data import Titled, UndrawnError
from stillair.results import exchanges, result_folder
from stillair.results import summary as summaries
from stillair.results.result import Result
from stillair.results.summary import Table, figure
from stillair.results.tidy import Measured
from stillair.runs.scenario import Scenario
from stillair.text import extras, markup, output, shape
from stillair.text.markup import details, grid, pairs, pre, row, scroll

SUFFIX = ".html"

# Of what was recorded on the air, so much is drawn: more boxes than fit would be seen as one.
_ON_AIR_NS = 20_000_000

# What every discipline counts; of the rest, what is its own.
_COUNTERS = (("bytes", "bytes"), ("packets", "packets"), ("drops", "dropped"), ("overlimits", "over limits"))
_LEFT_OUT = ("kind", "requeues", "backlog_packets", "backlog_bytes", *(key for key, _ in _COUNTERS))


class Read(Result):
    """A result that keeps the run that it has read last: one picture after the other begins with the same one."""

    _last: Measured | None = None

    def run_with_series(self, run: int) -> Measured:
        """A run, by its number, with its series."""
        if self._last is None or self._last.summary["run"] != run:
            self._last = super().run_with_series(run)
        return self._last


def write(path: Path, target: Path | None, *, force: bool = False) -> Path:
    """Writes the page of a result folder and gives its path; beside where it is called, unless `target` says.

    A file that is there is replaced with `force` alone.
    """
    result = Read.load(path)
    name = path.resolve().name
    file = target or Path(f"{name}{SUFFIX}")
    output.check_kind(file, SUFFIX, "a report")
    output.refuse_present([file], force)
    text, overrides = result_folder.scenario(path), result_folder.overrides(path)
    output.write_files(file.parent, {file.name: page(name, result, text, overrides)})
    return file


def page(name: str, result: Result, scenario: str, overrides: Sequence[tuple[str, str]]) -> str:
    """The page of a result with series, under the name of its folder, with the text of its scenario."""
    over = result.summary()
    header = (
        f"<h1>{escape(name)}</h1>\n"
        f'<p class="lead">{escape(summaries.head(result))}</p>\n<p>{escape(summaries.totals(over))}</p>\n'
        + "".join(f"<p><b>Note:</b> {escape(note)}</p>\n" for note in result.notes)
    )
    parts = [
        _tables([summaries.stations(over), *summaries.traffic(result)]),
        _explained(result, scenario, overrides),
        _pictures(name, result),
        _lost(over),
        _disciplines(result, over),
        _settings(result, scenario, overrides),
    ]
    return markup.document(f"{name}: Stillair", header, "".join(parts), escape(f"stillair {result.version}"))


def _card(title: str, inside: str) -> str:
    return f'<section class="card">\n<h2>{escape(title)}</h2>\n{inside}\n</section>\n'


def _table(of: Table) -> str:
    return grid(of.header, map(row, of.rows), "figures", of.title)


def _tables(tables: Sequence[Table]) -> str:
    return "".join(_card(of.title, _table(of)) for of in tables if of.rows)


def _explained(result: Result, text: str, overrides: Sequence[tuple[str, str]]) -> str:
    """The text of `explain`, without changes, if the result has sojourn times; empty without them."""
    if result.resolved is None or not any(run.get("sojourn") for run in result.runs):
        return ""
    resolved = json.loads(result.resolved)
    folder = result.folder or Path()
    shape.check(resolved, access.RESOLVED, folder / "scenario.resolved.json")
    for run in result.runs:
        shape.check(run, access.RUN, folder / "result.json", f"runs.{run['run']}")
    # A scenario of another version may no longer be readable.
    with contextlib.suppress(InputError):
        resolved = outages.with_wifi(resolved, Scenario(text), overrides)
    found = findings.subjects(result.runs, resolved)
    said = explained.text(result.scenario, result.runs, found, None, resolved)
    return _card("Where the time of packets goes", pre(said, "why packets are late"))


def _lost(over: Mapping[str, Any]) -> str:
    """Packets that were dropped, and the time of the air."""
    drops = summaries.drops(over)
    parts = [_card(drops.title, _table(drops) if drops.rows else f"<p>{summaries.NO_DROPS}</p>")]
    for name, uses in summaries.air(over).items():
        title = f"Air of {name}"
        parts.append(_card(title, grid(("use", "time"), map(row, uses), "figures", title)))
    return "".join(parts)


def _disciplines(result: Result, over: Mapping[str, Any]) -> str:
    """Counters of the queueing disciplines. Their kind is that of the first run."""
    counted = over.get("qdiscs") or {}
    kinds = result.runs[0].get("qdiscs", {})
    rows = []
    for name, of in counted.items():
        own = [f"{key} {figure(value, digits=0)}" for key, value in _own(of)]
        kind = str(kinds.get(name, {}).get("kind", summaries.NOT_MEASURED))
        rows.append(row([name, kind, *(figure(of.get(key), digits=0) for key, _ in _COUNTERS), ", ".join(own)]))
    if not rows:
        return ""
    heading = ("discipline", "kind", *(heading for _, heading in _COUNTERS), "its own counters")
    title = "Queueing disciplines"
    return _card(title, details(f"{len(rows)} disciplines", grid(heading, rows, "figures", title)))


def _own(counted: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Counters of one kind of discipline, and those of cake's tins as `TIN.KEY`."""
    for key, value in counted.items():
        if key == "tins":
            yield from ((f"{tin}.{name}", of) for tin, own in value.items() for name, of in own.items() if of)
        elif key not in _LEFT_OUT and value:
            yield key, value


def _settings(result: Result, scenario: str, overrides: Sequence[tuple[str, str]]) -> str:
    """The scenario as it was given, with what was set in its place."""
    seeds = ", ".join(str(seed) for seed in sorted({run["seed"] for run in result.runs}))
    runs = _counted([run["run"] for run in result.runs])
    facts = {"scenario": result.scenario, "version": result.version, "seed": seeds, "runs": runs}
    changed = grid(("key", "set to"), map(row, overrides), name="set") if overrides else "<p>nothing</p>"
    inside = f"<h3>Set in its place</h3>\n{changed}\n<h3>As given</h3>\n{pre(scenario, 'the scenario')}"
    return _card("What was run", f"{pairs(facts, 'what was run')}\n{details('the scenario', inside)}")


def _counted(numbers: Sequence[int]) -> str:
    """How many runs, and their numbers, which a seed goes with: `3, numbered 0 to 2`."""
    if len(numbers) == 1:
        return f"1, numbered {numbers[0]}"
    gapless = list(numbers) == list(range(numbers[0], numbers[0] + len(numbers)))
    return f"{len(numbers)}, numbered {f'{numbers[0]} to {numbers[-1]}' if gapless else ', '.join(map(str, numbers))}"


def _pictures(name: str, result: Result) -> str:
    """Each plot that has something to show."""
    if not extras.there("matplotlib"):
        return "<p>No pictures: matplotlib is not installed.</p>\n"
    figures = []
    for plotted, of in plot.PLOTS.items():
        try:
            drawn, thinned = plot.inline(plotted, [Titled(name, result)], _window(plotted, result))
        except UndrawnError:
            continue
        said = f"{of.description[0].upper()}{of.description[1:]}"
        wide = ' class="wide"' if plotted == plot.TIMELINE else ""
        caption = f"{escape(said)}. {escape(thinned)}" if thinned else escape(said)
        figures.append(
            f'<figure id="{plotted}"{wide}>\n{scroll(said, _inline(drawn, plotted, said))}\n'
            f"<figcaption>{caption}</figcaption>\n</figure>\n"
        )
    return _card("Pictures", f'<div class="pictures">\n{"".join(figures)}</div>') if figures else ""


def _window(plotted: str, result: Result) -> tuple[int, int] | None:
    found = exchanges.of_run(result.runs[0]) if plotted == plot.TIMELINE else None
    return (found.from_ns, min(found.until_ns, found.from_ns + _ON_AIR_NS)) if found else None


def _inline(svg: str, plotted: str, said: str) -> str:
    """A picture as a part of the page: without what only a file has, and with ids that no other picture has."""
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'(?<= id=")|(?<=href="#)|(?<=url\(#)', f"{plotted}-", svg)
    # matplotlib's one rule for all elements would be one for the whole page.
    svg = svg.replace("*{stroke-linejoin", f"#{plotted} svg *{{stroke-linejoin")
    svg = _coloured(_rounded(svg))
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(said)}"', 1)


def _rounded(svg: str) -> str:
    """Coordinates to a hundredth of a point."""
    return re.sub(r"(?<=[0-9])(\.[0-9]{2})[0-9]+(?=[ \"\n])", r"\1", svg)


# What a page in the dark shows in other colours: ink and the lines behind the data. White text stands on colours.
_INKS = {"#000000": "--ink", "#222222": "--ink", "#d9d9d9": "--grid", "#ffffff": "--paper", "#616e7c": "--faint"}


def _coloured(svg: str) -> str:
    """The colours of text, axes and edges as those of the page, whichever it has."""
    shapes = re.compile(rf"((?:fill|stroke): )({'|'.join(_INKS)})")
    parts = re.split(r"(<text.*?>)", svg, flags=re.DOTALL)
    return "".join(
        part if at % 2 else shapes.sub(lambda found: f"{found[1]}var({_INKS[found[2]]})", part)
        for at, part in enumerate(parts)
    )
