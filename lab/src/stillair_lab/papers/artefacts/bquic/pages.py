"""Figure 2 of the paper on bursty QUIC: load times of eleven pages; and Table II: their content."""

from typing import TYPE_CHECKING

from stillair.results.statistics import Interval
from stillair.results.summary import NOT_MEASURED
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.bquic import table3_variations
from stillair_lab.papers.artefacts.bquic.variants import COLOURS, TITLES
from stillair_lab.papers.artefacts.intervals import along, named, spread
from stillair_lab.papers.measure.measurer import Measurer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SCALE = 1000
_TIME = "mean page load time"


def text(of: Measurer) -> str:
    """A row for each page, smallest first."""
    rows = [
        [
            site,
            *(named(_ms(of, site, proto), 1) for proto in TITLES),
            named(of.of_cell({"site": site}, f"reduction of {_TIME}"), 1),
            *(_loads(of, site, proto) for proto in TITLES),
        ]
        for site in of.experiment.setup["sites"]
    ]
    heading = ["page", *(f"{title} ms" for title in TITLES.values()), "reduction %"]
    own = table([*heading, *(f"{title} loads a run" for title in TITLES.values())], rows)
    return "\n\n".join(part.rstrip() for part in (own, table3_variations.pages(of)) if part)


def picture(of: Measurer) -> "Figure":
    """A group of bars for each page."""
    sites = of.experiment.setup["sites"]
    with style.styled():
        drawn = style.new(7.2, 3.4)
        axes = drawn.add_subplot()
        width = 0.8 / len(TITLES)
        for number, (proto, title) in enumerate(TITLES.items()):
            found = [_ms(of, site, proto) for site in sites]
            places = [at + (number - 0.5) * width for at in range(len(sites))]
            means = [measured.mean if measured else 0.0 for measured in found]
            style.bars(axes, places, means, [spread(m) for m in found], width, COLOURS[proto], title)
        along(axes, sites)
        axes.tick_params(axis="x", labelrotation=30)
        axes.set_ylabel("mean time to load a page, ms")
        axes.set_title(f"{of.experiment.artefact}: pages by their size", loc="left", fontsize=10)
        axes.legend(loc="upper left")
        return drawn


def sizes_text(of: Measurer) -> str:
    """Table II: objects and size of each page, as printed and as simulated."""
    rows = [
        [site["site"], *(str(site[kind]) for kind in ("html", "css", "js", "image", "other", "total", "size_kB"))]
        for site in of.experiment.setup["sites"]
    ]
    return table(["page", "HTML", "CSS", "JS", "images", "other", "objects", "kB"], rows)


def sizes_picture(of: Measurer) -> "Figure":
    """Sizes as bars, with the number of objects."""
    sites = of.experiment.setup["sites"]
    with style.styled():
        drawn = style.new(7.2, 2.8)
        axes = drawn.add_subplot()
        axes.bar(range(len(sites)), [site["size_kB"] for site in sites], color=style.SKY)
        for at, site in enumerate(sites):
            axes.annotate(str(site["total"]), (at, site["size_kB"]), ha="center", va="bottom", fontsize=8)
        along(axes, [site["site"] for site in sites])
        axes.tick_params(axis="x", labelrotation=30)
        axes.set_ylabel("kB (above: objects)")
        axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
        return drawn


def _ms(of: Measurer, site: str, proto: str) -> Interval | None:
    found = of.of_cell({"site": site, "proto": proto}, _TIME)
    return Interval(*(_SCALE * value for value in found)) if found else None


def _loads(of: Measurer, site: str, proto: str) -> str:
    runs = of.result({"site": site, "proto": proto}).runs
    counts = [client["loads"] for run in runs for client in run.get("web", {}).values()]
    return f"{sum(counts) / len(counts):.0f}" if counts else NOT_MEASURED
