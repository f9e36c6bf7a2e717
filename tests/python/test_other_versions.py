"""Result folders of another version, which lack what causes are found by: `report` says what, others do without it."""

import json
import shutil
from pathlib import Path

import pytest

import readers
from stillair.__main__ import status


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result whose packets were followed. Not to be changed."""
    return readers.result_folder(tmp_path_factory.mktemp("results") / "kept", "home", **{"record.sojourn": "true"})


@pytest.mark.parametrize(
    ("name", "path", "says"),
    [
        ("scenario.resolved.json", ("channels",), 'the key "channels" is missing'),
        ("scenario.resolved.json", ("links",), 'the key "links" is missing'),
        ("scenario.resolved.json", ("flows",), 'the key "flows" is missing'),
        ("scenario.resolved.json", ("duration_ns",), 'the key "duration_ns" is missing'),
        ("scenario.resolved.json", ("nodes", 0, "forward"), 'the key "nodes.0.forward" is missing'),
        ("scenario.resolved.json", ("links", 0, "ends"), 'the key "links.0.ends" is missing'),
        ("scenario.resolved.json", ("links", 0, "medium_back", "line"), "links.0.medium_back.line"),
        ("scenario.resolved.json", ("flows", 0, "stop_ns"), 'the key "flows.0.stop_ns" is missing'),
        ("result.json", ("runs", 0, "flows", "tcp-0.server", "protocol"), "tcp-0.server.protocol"),
        ("result.json", ("runs", 0, "flows", "tcp-0.server", "goodput_mbps"), "goodput_mbps"),
    ],
)  # fmt: skip
def test_a_report_says_what_is_missing(
    kept: Path,
    tmp_path: Path,
    name: str,
    path: tuple[str | int, ...],
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "other"
    shutil.copytree(kept, folder)
    data = into = json.loads((folder / name).read_text())
    for key in path[:-1]:
        into = into[key]
    del into[path[-1]]
    (folder / name).write_text(json.dumps(data))
    assert status(["report", str(folder), "-o", str(tmp_path / "x.html")]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"stillair: {folder / name}: ")
    assert says in error
    assert error.count("\n") == 1
    assert not (tmp_path / "x.html").exists()
    assert status(["export", str(folder), "--csv", "-o", str(tmp_path / "x.csv")]) == 0
