"""Product and evidence: `stillair` knows of `stillair-lab` only that it may announce commands."""

import importlib
import re
import subprocess
import tomllib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

from stillair.__main__ import status
from stillair.cli import app, extension

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "lab" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ANNOUNCED = PROJECT["entry-points"][extension.GROUP]
FROM_ELSEWHERE = [name for name, module in app._COMMANDS.items() if not module]
PRODUCT = ("python/stillair", "crates", "adapters", "examples", "scenarios", "web/src", "web/labs", "Cargo.toml")
# Where commands are found.
MAY_NAME = {"python/stillair/cli/extension.py"}
_LAB = re.compile(r"stillair[-_]lab|\blab/")


def tracked(*places: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z", *places], cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S607
    return [name for name in listed.decode().split("\0") if name]


def test_the_product_names_the_lab_in_one_place() -> None:
    files = [ROOT / name for name in tracked(*PRODUCT)]
    assert len(files) > 1000
    found = {
        str(path.relative_to(ROOT))
        for path in files
        if path.is_file() and _LAB.search(path.read_text(encoding="utf-8", errors="replace"))
    }
    assert found == MAY_NAME
    own = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert not _LAB.search(f"{own['project']} {own['tool']['maturin']}")


def test_the_product_has_no_file_of_the_lab() -> None:
    names = tracked("python")
    assert [name for name in names if re.search(r"/(papers|validate|results)/.*\.(json|toml|csv|svg)$", name)] == []
    assert not (ROOT / "python" / "stillair" / "papers").exists()
    assert not (ROOT / "python" / "stillair" / "validate").exists()


def test_the_lab_announces_each_command_from_elsewhere() -> None:
    assert list(ANNOUNCED) == FROM_ELSEWHERE == list(extension._KNOWN)
    for name, place in ANNOUNCED.items():
        loaded = EntryPoint(name, place, extension.GROUP).load()
        assert (loaded.help or "").partition("\n")[0] == extension._KNOWN[name]


def test_both_packages_are_of_one_version() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    assert PROJECT["version"] == version
    assert f"stillair[plot]=={version}" in PROJECT["dependencies"]
    assert (ROOT / "lab" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_settings_that_the_page_has_are_those_of_the_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "lab" / "scripts"))
    script = importlib.import_module("page_settings")
    assert script.FILE.read_text(encoding="utf-8") == script.text(), "lab/scripts/page_settings.py --write renews it"
    assert len(script.campaigns()) > 30


def announce(monkeypatch: pytest.MonkeyPatch, **announced: str) -> None:
    monkeypatch.setattr(extension, "announced", lambda: announced)


@pytest.mark.parametrize("group", [extension.GROUP, "console_scripts", "gui_scripts", "pytest11", "no.such"])
def test_entry_points_are_those_of_the_standard_library(group: str) -> None:
    found = {point.name: point.value.partition("[")[0].strip() for point in entry_points(group=group)}
    assert dict(extension.announced(group)) == found
    assert bool(found) == (group not in ("gui_scripts", "no.such"))


def test_entry_points_are_read_as_they_may_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "other-1.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[a]\nx = m:x\n\n[b]\n# y = m:y\nz=m.n:z [extra]\n[c]\nx = m:no\n")
    (tmp_path / "broken-1.dist-info").mkdir()
    (tmp_path / "broken-1.dist-info" / "entry_points.txt").write_bytes(b"[b]\n\xff = m:x\n")
    (tmp_path / "plain-1.dist-info").mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path), str(tmp_path / "missing")])
    assert [dict(extension.announced.__wrapped__(group)) for group in "abc"] == [
        {"x": "m:x"}, {"z": "m.n:z"}, {"x": "m:no"}
    ]  # fmt: skip


@pytest.mark.parametrize("rest", [[], ["--help"], ["all", "-o", "folder"], ["wifi", "--only", "x"]], ids=" ".join)
@pytest.mark.parametrize("name", FROM_ELSEWHERE)
def test_without_the_lab_a_command_says_how_to_get_it(
    name: str, rest: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    announce(monkeypatch)
    assert status([name, *rest]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"stillair: {name}: is in the package stillair-lab: 'pip install stillair-lab', or 'pip install ./lab' in a"
        " checkout\n"
    )


def test_the_help_page_is_the_same_with_and_without_the_lab(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["--help"]) == 0
    whole = capsys.readouterr().out
    assert all(f"  {name} " in whole for name in FROM_ELSEWHERE)
    announce(monkeypatch)
    assert status(["--help"]) == 0
    assert capsys.readouterr().out == whole


def test_any_package_may_announce_a_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    announce(monkeypatch, survey="stillair.cli.advice.faq:faq")
    assert status(["--help"]) == 0
    assert "  survey " in capsys.readouterr().out
    assert status(["survey", "--help"]) == 0
    assert status(["surveys"]) == 2
    assert "Did you mean 'survey'?" in capsys.readouterr().err
    announce(monkeypatch, survey="stillair.cli.advice.faq:options")
    assert status(["survey"]) == 2
    assert "found module, expected a click.Command" in capsys.readouterr().err


def test_an_announced_command_takes_no_name_of_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    announce(monkeypatch, run="stillair.cli.advice.faq:faq")
    assert status(["run", "--help"]) == 0
    assert app.app.get_command(None, "run").name == "run"  # type: ignore[arg-type, union-attr]
