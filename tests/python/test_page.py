"""`stillair report`: a result as one page, whole in itself."""

import json
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from stillair import Result, plot
from stillair.__main__ import status
from stillair.results.summary import drops, stations, summary
from stillair.runs import bundled
from stillair.text import extras

# Elements that have no end.
_VOID = {"meta", "br", "img", "hr", "link", "input"}


class Reader(HTMLParser):
    """Follows the elements of a page, and collects its texts, its ids and what it refers to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.cells: list[str] = []
        self.captions: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._attributes(attrs)
        if tag not in _VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # SVG has these, HTML only where nothing follows.
        assert tag in _VOID or "svg" in self.open, tag
        self._attributes(attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data
        if self.open and self.open[-1] == "figcaption":
            self.captions.append(data)

    def _attributes(self, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id":
                self.ids.append(value or "")
            elif key in ("href", "xlink:href", "src"):
                self.links.append(value or "")


def made(folder: Path, file: Path) -> str:
    assert status(["report", str(folder), "-o", str(file)]) == 0
    return file.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return made(kept, tmp_path_factory.mktemp("page") / "x.html")


def test_a_page_is_well_formed_and_has_each_id_once(page: str) -> None:
    found = Reader(page)
    assert found.open == []
    assert len(found.ids) == len(set(found.ids)) > 100
    assert {"timeseries", "airtime"} <= set(found.ids)


def test_a_page_refers_to_nothing_outside(page: str) -> None:
    found = Reader(page)
    # An image within a picture is part of the page.
    links = [link for link in found.links if not link.startswith("data:image/png;base64,")]
    assert all(link.startswith("#") and link[1:] in found.ids for link in links)
    assert set(re.findall(r"url\(#([^)]*)\)", page)) <= set(found.ids)
    assert "url(" not in page.replace("url(#", "")
    assert "://" not in page
    assert "<script" not in page
    assert "@import" not in page


def test_a_page_has_every_number_of_the_summary(kept: Path, page: str) -> None:
    result = Result.load(kept)
    found = Reader(page)
    over = result.summary()
    tables = (stations(over), drops(over))
    assert {name for name, *_ in tables[0].rows} == {"fast1", "fast2", "slow"}
    for table in tables:
        cells = [cell for row in (table.header, *table.rows) for cell in row]
        assert any(found.cells[at : at + len(cells)] == cells for at in range(len(found.cells)))
    words = summary(result).replace(":", " ").split()
    numbers = {word.strip(",;%") for word in words if any(letter.isdigit() for letter in word)}
    assert len(numbers) > 20
    assert [number for number in numbers if number not in found.text] == []
    assert f"stillair {result.version}" in found.text


def test_a_page_shows_what_can_be_drawn_with_a_caption_each(page: str) -> None:
    found = Reader(page)
    drawn = [name for name in plot.PLOTS if name not in ("sockets", "sojourn", "sojourn_p99", plot.TIMELINE)]
    assert [caption.lower() for caption in found.captions] == [plot.PLOTS[name].description for name in drawn]
    assert page.count("<svg") == len(drawn)


def test_a_page_has_the_scenario_and_what_was_set(kept: Path, page: str) -> None:
    found = Reader(page)
    assert (kept / "scenario.toml").read_text(encoding="utf-8") in found.text
    at = found.cells.index("duration")
    assert found.cells[at + 1] == "3 s"
    # Closed, until somebody asks.
    assert "<details><summary>the scenario</summary>" in page
    assert "<details open" not in page


def test_runs_are_counted_and_numbered(page: str) -> None:
    found = Reader(page)
    assert found.cells[found.cells.index("runs") + 1] == "2, numbered 0 to 1"


def test_headings_and_headers_of_tables_say_what_they_are(page: str) -> None:
    assert re.findall("<h([1-6])>", page)[0] == "1"
    levels = [int(level) for level in re.findall("<h([1-6])", page)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert "<th>" not in page
    assert set(re.findall("<th ([^>]*)>", page)) == {'scope="col"', 'scope="row"'}


def test_disciplines_are_counted_over_the_runs(kept: Path, page: str) -> None:
    found = Reader(page)
    result = Result.load(kept)
    for name, counted in result.runs[0]["qdiscs"].items():
        at = found.cells.index(name)
        assert found.cells[at + 1] == counted["kind"]
        mean = sum(run["qdiscs"][name]["packets"] for run in result.runs) / len(result.runs)
        assert found.cells[at + 3].split(" ")[0] == f"{mean:.0f}"


def test_the_same_result_makes_the_same_bytes(kept: Path, page: str, tmp_path: Path) -> None:
    assert made(kept, tmp_path / "again.html") == page


def test_calls_pages_sockets_and_the_air_are_there_if_they_were_measured(tmp_path: Path) -> None:
    voip = bundled.scenario("anomaly-voip").file
    sets = ["duration=8 s", "warm_up=6 s", "record.ss=100 ms", "record.air=7 s..7.1 s"]
    folder = tmp_path / "calls"
    assert status(["run", str(voip), "-o", str(folder), *(part for one in sets for part in ("--set", one))]) == 0
    page = made(folder, tmp_path / "calls.html")
    found = Reader(page)
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    assert "MOS" in found.cells
    assert {"sockets", plot.TIMELINE} <= set(found.ids)
    titles = re.findall("<h2>(.*?)</h2>", page)
    assert titles == ["Stations", *titles[1:-4], "Drops", "Air of wifi", "Queueing disciplines", "What was run"]
    assert "Calls" in titles


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pictures, which take seconds."""
    monkeypatch.setattr(extras, "there", lambda _: False)


@pytest.mark.usefixtures("plain")
def test_names_are_texts_and_no_elements(kept: Path, tmp_path: Path) -> None:
    odd = tmp_path / "<b>bold & odd"
    shutil.copytree(kept, odd)
    found = Reader(made(odd, tmp_path / "odd.html"))
    assert "b" not in found.open
    assert "<b>bold & odd" in found.text


@pytest.mark.usefixtures("plain")
def test_without_matplotlib_a_page_says_that_it_has_no_pictures(kept: Path, tmp_path: Path) -> None:
    page = made(kept, tmp_path / "plain.html")
    assert "<svg" not in page
    assert "No pictures: matplotlib is not installed." in Reader(page).text


@pytest.mark.usefixtures("plain")
def test_a_page_has_the_name_of_its_folder(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert status(["report", str(kept)]) == 0
    assert capsys.readouterr().out == "kept.html\n"
    assert "<h1>kept</h1>" in (tmp_path / "kept.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["result.json", "f.toml", "page"])
def test_a_file_of_another_kind_is_not_written_over(
    kept: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text("mine")
    assert status(["report", str(kept), "-o", str(tmp_path / name)]) == 2
    said = f"{tmp_path / name}: the name of a report must end in .html"
    assert capsys.readouterr().err == f"stillair: {said}\n"
    assert (tmp_path / name).read_text() == "mine"


def no_folder(folder: Path) -> str:
    shutil.rmtree(folder)
    return f"{folder}: no such folder; give the folder that 'stillair run -o' wrote"


def no_result(folder: Path) -> str:
    shutil.rmtree(folder)
    folder.mkdir()
    return f"{folder / 'result.json'}: missing: {folder} is not a result folder"


def no_scenario(folder: Path) -> str:
    (folder / "scenario.toml").unlink()
    return f"{folder / 'scenario.toml'}: cannot be read: No such file or directory"


def no_run(folder: Path) -> str:
    (folder / "runs" / "run-1.json").unlink()
    return f"{folder / 'runs' / 'run-1.json'}: missing"


@pytest.mark.parametrize("damage", [no_folder, no_result, no_scenario, no_run])
def test_what_is_no_result_is_told_in_one_line(
    kept: Path,
    tmp_path: Path,
    damage: Callable[[Path], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(kept, folder)
    said = damage(folder)
    assert status(["report", str(folder), "-o", str(tmp_path / "x.html")]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"stillair: {said}\n")
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        (
            "qdiscs",
            '{"ap.eth0": {"drops": {"a": 1}}}',
            "runs.0.qdiscs.ap.eth0.drops: found an object, expected a value",
        ),
        ("pings", "[]", "runs.0.pings: found a list, expected an object"),
        ("air", '{"wifi": {"data_us": "x"}}', "runs.0.air.wifi.data_us: found text, expected a number"),
        ("goodput_total_mbps", '"x"', "runs.0.goodput_total_mbps: found text, expected a number"),
    ],
)
def test_a_damaged_summary_is_told_in_one_line(
    kept: Path, tmp_path: Path, key: str, value: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(kept, folder)
    file = folder / "result.json"
    data = json.loads(file.read_text())
    data["runs"][0][key] = json.loads(value)
    file.write_text(json.dumps(data))
    assert status(["report", str(folder), "-o", str(tmp_path / "x.html")]) == 2
    assert capsys.readouterr().err == f"stillair: {file}: {said}\n"
