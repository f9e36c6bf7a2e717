"""Stores a report: a folder with the page, the claims, the text, and the pictures."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from stillair._native import InputError
from stillair.text import output, source
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.gallery import drawing
from stillair_lab.papers.pages import report as reports
from stillair_lab.papers.pages.page import page
from stillair_lab.papers.pages.report import Report

Pictures = Mapping[str, Mapping[str, bytes]]


def pictures(report: Report) -> dict[str, dict[str, bytes]]:
    """Artefact of each experiment that was run, by name and format; empty without matplotlib."""
    if not style.available():
        return {}
    drawn = {}
    for entry in report.entries:
        if report.drawn(entry):
            of = report.measurer(entry)
            picture = drawing(of).picture(of)
            drawn[entry.experiment.name] = {form: style.save(picture, form) for form in style.FORMATS}
    return drawn


def prepare(folder: Path) -> None:
    """Raises `InputError` if a folder has foreign files with a report's names."""
    try:
        data = source.parsed(source.data(folder / "runs.json", source.most_json()))
        ours = isinstance(data, dict) and {"version", "cells"} <= data.keys()
    except (OSError, ValueError, InputError):
        ours = False
    if not ours:
        output.refuse_others(folder, ("report.html", "claims.json", "report.txt", "runs.json"), "a report")


_RUNS = ".runs"


def runs(folder: Path) -> Path:
    """Folder of finished runs while a report is incomplete."""
    output.prepare(folder / _RUNS)
    return folder / _RUNS


def write(folder: Path, report: Report) -> None:
    """Writes the page, the claims and the text; and for each paper a folder with its part and its pictures.

    Removes the finished runs, which the report no longer needs.
    """
    drawn = pictures(report)
    svgs = {name: forms["svg"] for name, forms in drawn.items()}
    output.write_files(folder, {"report.html": page(report, svgs), **_texts(report)})
    for paper in report.papers():
        own = folder / paper
        output.prepare(own)
        output.write_files(own, _texts(report.of_paper(paper)))
        for name, forms in drawn.items():
            if name.startswith(f"{paper}/"):
                experiment = name.removeprefix(f"{paper}/")
                output.write_bytes(own, {f"{experiment}.{form}": data for form, data in forms.items()})
    stored = folder / _RUNS
    if stored.is_dir():
        for path in stored.glob("*.runs"):
            path.unlink()
        with suppress(OSError):
            stored.rmdir()


def _texts(report: Report) -> dict[str, str]:
    return {
        "claims.json": reports.as_json(report.rows(), indent=1) + "\n",
        "report.txt": reports.text(report),
        "runs.json": reports.provenance(report) + "\n",
    }
