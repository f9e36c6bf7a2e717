"""A result as one self-contained HTML page: tables, pictures, and the scenario that was run."""

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

# Length of recorded air time to draw. More boxes would run into one.
_ON_AIR_NS = 20_000_000

# Counters of every discipline; the others are specific to one kind.
_COUNTERS = (("bytes", "bytes"), ("packets", "packets"), ("drops", "dropped"), ("overlimits", "over limits"))
_LEFT_OUT = ("kind", "requeues", "backlog_packets", "backlog_bytes", *(key for key, _ in _COUNTERS))


class Read(Result):
    """Caches the most recently loaded run; consecutive plots start with the same one."""

    _last: Measured | None = None

    def run_with_series(self, run: int) -> Measured:
        """Returns a run by number, with its series."""
        if self._last is None or self._last.summary["run"] != run:
            self._last = super().run_with_series(run)
        return self._last


def write(path: Path, target: Path | None, *, force: bool = False) -> Path:
    """Writes the page of a result folder and returns its path. The default is a file in the current folder.

    An existing file is only replaced with `force`.
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
    """Returns the page of a result with series.

    `name` is the folder's name, `scenario` the text of its file.
    """
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
    """Returns the text of `explain` without changes, or an empty string without sojourn times."""
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
    return _card("Delay of packets by layer and cause", pre(said, "why packets are late"))


def _lost(over: Mapping[str, Any]) -> str:
    """Cards for dropped packets and for the use of each channel's airtime."""
    drops = summaries.drops(over)
    parts = [_card(drops.title, _table(drops) if drops.rows else f"<p>{summaries.NO_DROPS}</p>")]
    for name, uses in summaries.air(over).items():
        title = f"Air of {name}"
        parts.append(_card(title, grid(("use", "time"), map(row, uses), "figures", title)))
    return "".join(parts)


def _disciplines(result: Result, over: Mapping[str, Any]) -> str:
    """Counters of the queueing disciplines. The kind is taken from the first run."""
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
    """Counters specific to a discipline's kind; those of cake's tins are named `TIN.KEY`."""
    for key, value in counted.items():
        if key == "tins":
            yield from ((f"{tin}.{name}", of) for tin, own in value.items() for name, of in own.items() if of)
        elif key not in _LEFT_OUT and value:
            yield key, value


def _settings(result: Result, scenario: str, overrides: Sequence[tuple[str, str]]) -> str:
    """The scenario file, its overrides, and facts about the runs."""
    seeds = ", ".join(str(seed) for seed in sorted({run["seed"] for run in result.runs}))
    runs = _counted([run["run"] for run in result.runs])
    facts = {"scenario": result.scenario, "version": result.version, "seed": seeds, "runs": runs}
    changed = grid(("key", "set to"), map(row, overrides), name="set") if overrides else "<p>nothing</p>"
    inside = f"<h3>Set in its place</h3>\n{changed}\n<h3>As given</h3>\n{pre(scenario, 'the scenario')}"
    return _card("What was run", f"{pairs(facts, 'what was run')}\n{details('the scenario', inside)}")


def _counted(numbers: Sequence[int]) -> str:
    """Number of runs, and the run numbers: `3, numbered 0 to 2`."""
    if len(numbers) == 1:
        return f"1, numbered {numbers[0]}"
    gapless = list(numbers) == list(range(numbers[0], numbers[0] + len(numbers)))
    return f"{len(numbers)}, numbered {f'{numbers[0]} to {numbers[-1]}' if gapless else ', '.join(map(str, numbers))}"


def _pictures(name: str, result: Result) -> str:
    """Every plot that has data."""
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
    """Turns an SVG file into a page element: drops the file header, and makes ids unique within the page."""
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'(?<= id=")|(?<=href="#)|(?<=url\(#)', f"{plotted}-", svg)
    # Restrict matplotlib's global style rule to this picture.
    svg = svg.replace("*{stroke-linejoin", f"#{plotted} svg *{{stroke-linejoin")
    svg = _coloured(_rounded(svg))
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(said)}"', 1)


def _rounded(svg: str) -> str:
    """Rounds coordinates to 0.01 pt."""
    return re.sub(r"(?<=[0-9])(\.[0-9]{2})[0-9]+(?=[ \"\n])", r"\1", svg)


# Colours replaced in dark mode: text and grid lines. White text stays, as it is on coloured boxes.
_INKS = {"#000000": "--ink", "#222222": "--ink", "#d9d9d9": "--grid", "#ffffff": "--paper", "#616e7c": "--faint"}


def _coloured(svg: str) -> str:
    """Replaces the colours of text, axes and edges by the page's CSS variables."""
    shapes = re.compile(rf"((?:fill|stroke): )({'|'.join(_INKS)})")
    parts = re.split(r"(<text.*?>)", svg, flags=re.DOTALL)
    return "".join(
        part if at % 2 else shapes.sub(lambda found: f"{found[1]}var({_INKS[found[2]]})", part)
        for at, part in enumerate(parts)
    )
