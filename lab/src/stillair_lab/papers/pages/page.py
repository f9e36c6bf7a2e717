"""The report as one self-contained page: every artefact, every verdict, the settings of each run."""

import base64
from collections.abc import Mapping, Sequence
from html import escape

from stillair.text import markup
from stillair_lab.papers.artefacts.gallery import drawing
from stillair_lab.papers.claims import judge, kernel_verdicts
from stillair_lab.papers.claims.inventory import Experiment, Paper, papers
from stillair_lab.papers.pages import words
from stillair_lab.papers.pages.registry import Entry
from stillair_lab.papers.pages.report import Report, Row
from stillair_lab.papers.robustness import counts

# Explains the verdicts to readers who do not know the rule.
_MEANINGS = {
    judge.REPRODUCED: "the mean over the runs is within the tolerance",
    judge.NOT_REPRODUCED: "it is not; never calibrated to",
    judge.UNDECIDED: "reproduced at one end of a setting's range only",
    judge.NOT_RUN: "the testbed lacks something it needs",
    judge.NOT_JUDGED: "an input, a calibration or what depends on one, or said of other work",
}
_RULE = (
    "Each claim of a paper becomes a tolerance by one rule, fixed before any run: a number within 25 %, within 50 %"
    " where the paper hedges; a share of the whole within 3 points; a ratio within a quarter of what it is off one; an"
    " order by the means; a formula to the printed digit. The mean over the runs decides. Brackets hold the 95 %"
    " confidence interval over the runs, which decides nothing; a verdict is marginal where it lies on both sides of a"
    " bound of the tolerance. What a paper leaves open was set from the software it used, before looking at a result."
    " A claim can hardly fail if it also holds with the mechanism under test switched off, or for half of 1,000"
    " uniform draws over what its numbers may be at all. The median error is that of all judged values and ratios with"
    " a stated number, |measured - stated| / stated in the cell that decides, where a run decides it."
)


def page(report: Report, pictures: Mapping[str, bytes]) -> str:
    """Returns the page. `pictures` are SVG files by experiment name."""
    rows = report.rows()
    known = {paper.short: paper for paper in papers()}
    # Experiments that were run come first, the rest by name.
    shorts = sorted(report.papers(), key=lambda short: not any(map(report.drawn, report.of_paper(short).entries)))
    sections = [_paper(known[short], report.of_paper(short), pictures) for short in shorts]
    counted = f"{len(rows)} claims of {len(sections)} paper{'s' if len(sections) != 1 else ''}"
    header = (
        "<h1>The papers, judged</h1>\n"
        f'<p class="lead">{counted}, run in virtual time.</p>\n'
        f"{_totals(rows)}{_changed(report)}\n<p>{escape(_RULE)}</p>\n{_contents(report, shorts)}\n"
    )
    return markup.document("Stillair: the papers, judged", header, "".join(sections), markup.lines(report.head()))


def _changed(report: Report) -> str:
    if not report.extra:
        return ""
    return (
        '<p class="card"><b>Changed with --set, so not the papers\' experiments:</b> '
        f"{escape(_pairs(report.extra))}</p>"
    )


def _totals(rows: Sequence[Row]) -> str:
    numbers = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in judge.VERDICTS}
    boxes = "".join(
        f'<div class="total {verdict}"><b>{count}</b>{verdict}<span class="remark">{_MEANINGS[verdict]}</span></div>\n'
        for verdict, count in numbers.items()
        if count or verdict != judge.UNDECIDED
    )
    beside = markup.pre(chr(10).join(counts.words(rows)[1:]), "what the verdicts come to")
    return f'<div class="totals">\n{boxes}</div>\n{_strip(rows)}\n{beside}'


def _strip(rows: Sequence[Row]) -> str:
    """Verdicts as segments of a bar."""
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in judge.VERDICTS}
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    parts = "".join(f'<i class="{verdict}" style="flex:{count}"></i>' for verdict, count in counts.items() if count)
    return f'<div class="strip" role="img" aria-label="{said}" title="{said}">{parts}</div>'


def _contents(report: Report, shorts: Sequence[str]) -> str:
    titles = {paper.short: paper.title for paper in papers()}
    lines = []
    for short in shorts:
        rows = report.of_paper(short).rows()
        lines.append(
            f'<tr><th scope="row"><a href="#{escape(short)}">{escape(titles[short])}</a></th>'
            f"<td>{len(rows)}</td><td>{_counts(rows)}</td>{_beside(rows)}</tr>\n"
        )
    header = ("paper", "claims", "verdicts", "reproduced that can hardly fail", "median error")
    return f'<div class="card">{markup.grid(header, lines, "figures", "papers")}</div>'


def _beside(rows: Sequence[Row]) -> str:
    """Further counts as table cells."""
    found = counts.count(rows)
    error = "" if found.error is None else f"{100 * found.error:.0f} % of {len(found.errors)}"
    return f"<td>{found.non_discriminating}</td><td>{error}</td>"


def _counts(rows: Sequence[Row]) -> str:
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in judge.VERDICTS}
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count) or "no claims"


def _paper(paper: Paper, report: Report, pictures: Mapping[str, bytes]) -> str:
    rows = report.rows()
    ran = [entry for entry in report.entries if report.drawn(entry)]
    rest = [entry for entry in report.entries if entry not in ran]

    def own(entry: Entry) -> list[Row]:
        return [row for row in rows if row["experiment"] == entry.experiment.id]

    cards = "".join(_ran(entry, report, own(entry), pictures) for entry in ran)
    if rest:
        cards += f'<div class="card">\n<h3>Not run</h3>\n{"".join(_rest(entry, own(entry)) for entry in rest)}</div>\n'
    beside = markup.pre(chr(10).join(counts.words(rows)), "what the verdicts come to")
    return (
        f'<section id="{escape(paper.short)}">\n<h2>{escape(paper.title)}</h2>\n'
        f'<p class="by">{escape(", ".join(paper.authors))}, {paper.year}. {escape(paper.venue)}.</p>\n'
        f"{_strip(rows)}\n{beside}{cards}</section>\n"
    )


def _ran(entry: Entry, report: Report, rows: Sequence[Row], pictures: Mapping[str, bytes]) -> str:
    """A card for an experiment that was run."""
    experiment = entry.experiment
    return (
        f'<article class="card" id="{escape(experiment.name)}">\n'
        f'<div class="top"><h3>{escape(experiment.artefact)}</h3>'
        f'<span class="count"><code>{escape(experiment.name)}</code> {_counts(rows)}</span></div>\n'
        f"{_artefact(entry, report, pictures)}{_claims(rows)}{_settings(entry, report)}</article>\n"
    )


def _rest(entry: Entry, rows: Sequence[Row]) -> str:
    """A line for an experiment that was not run, with its claims collapsed."""
    experiment = entry.experiment
    why = f", {escape(entry.status)}" if rows else ""
    return (
        f'<details id="{escape(experiment.name)}"><summary>{escape(experiment.artefact)} '
        f'<span class="count"><code>{escape(experiment.name)}</code> {_counts(rows)}{why}</span></summary>\n'
        f"{_claims(rows)}{_stated(experiment)}{_unstated(experiment)}</details>\n"
    )


def _artefact(entry: Entry, report: Report, pictures: Mapping[str, bytes]) -> str:
    of = report.measurer(entry)
    text = markup.pre(drawing(of).text(of), f"{entry.experiment.artefact} as text")
    picture = pictures.get(entry.experiment.name)
    if picture is None:
        return text
    data = base64.b64encode(picture).decode()
    alt = escape(f"{entry.experiment.artefact}, as measured; the numbers are in the text below")
    return f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}">\n' + markup.details("as text", text)


def _claims(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    head = ["verdict", "claim", "stated", "measured", "tolerance"]
    if any("kernel" in row for row in rows):
        head.append("real kernel")
    return markup.grid(head, map(_claim, rows), "figures", "claims") + "\n"


def _kernel(row: Row) -> str:
    """The real kernel's verdict, with details as a tooltip."""
    if "kernel" not in row:
        return ""
    return f'<td title="{escape(kernel_verdicts.said(row["kernel"]))}">{escape(words.kernel(row))}</td>'


def _claim(row: Row) -> str:
    remark = "; ".join(part for part in (words.remark(row), words.would(row)) if part)
    said = f'<span class="remark">{escape(remark)}</span>' if remark else ""
    hedge = f' <span class="unit">({escape(row["qualifier"])})</span>' if row["qualifier"] else ""
    source = f"{escape(row['id'])} &middot; {escape(row['source'])}"
    return (
        f'<tr id="{escape(row["id"])}"><td class="verdict">{_mark(row)}</td>'
        f'<td>{escape(row["statement"])}<code class="id">{source}</code>{said}</td>'
        f"<td>{escape(words.stated(row))}{hedge}</td><td>{escape(words.measured(row))}</td>"
        f"<td>{escape(words.tolerance(row))}</td>{_kernel(row)}</tr>\n"
    )


def _mark(row: Row) -> str:
    """The verdict, or one for each setting if they differ."""
    found = words.verdict(row).split("/")
    return "<br>".join(f'<span class="mark {verdict}">{verdict}</span>' for verdict in found)


def _settings(entry: Entry, report: Report) -> str:
    """Settings that the paper states, assumptions for the others, and the scenario with its cells."""
    parts = [_stated(entry.experiment), _unstated(entry.experiment)]
    for campaign in entry.campaigns:
        outcome = report.outcomes.get(campaign)
        if outcome and outcome.results:
            cells = _list({
                cell.name: _pairs(list(cell.overrides.items())) or "as it stands" for cell in campaign.cells
            })  # fmt: skip
            under = f", {escape(campaign.under)}" if campaign.under else ""
            parts.append(f"<p><b>Cells</b> of the scenario <code>{escape(campaign.scenario)}</code>{under}</p>{cells}")
            if not campaign.under:
                parts.append(markup.details("the scenario", markup.pre(outcome.text, "the scenario")))
    return markup.details("settings", "".join(parts))


def _stated(experiment: Experiment) -> str:
    return f"<p><b>Stated in the paper</b></p>{_list({'topology': experiment.topology, **experiment.setup})}"


def _unstated(experiment: Experiment) -> str:
    if not experiment.unstated:
        return ""
    rows = (markup.row([open_.setting, open_.take, open_.why]) for open_ in experiment.unstated)
    return f"<p><b>Left open by the paper</b></p>\n{markup.grid(('setting', 'taken', 'why'), rows)}\n"


def _list(values: Mapping[str, object]) -> str:
    return markup.pairs({key: _value(value) for key, value in values.items() if value}) + "\n"


def _value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_value(item) for item in value)
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_value(item)}" for key, item in value.items())
    return str(value)


def _pairs(overrides: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in overrides)
