"""The published tree: absolute links, project URLs, and README commands that run."""

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
AT = "https://example.org/owner/name"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("written", "published"),
    [
        ("[a](docs/a.md)", f"[a]({AT}/blob/HEAD/docs/a.md)"),
        ("[a](docs/a.md#b)", f"[a]({AT}/blob/HEAD/docs/a.md#b)"),
        ("![a](docs/a.svg)", f"![a]({AT}/raw/HEAD/docs/a.svg)"),
        ("[a](https://b.example/c)", "[a](https://b.example/c)"),
        ("[a](#b)", "[a](#b)"),
    ],
)
def test_links_become_absolute(written: str, published: str) -> None:
    assert script("publish_tree").absolute(written, AT) == published


def test_the_readme_has_no_relative_link_left() -> None:
    text = script("publish_tree").absolute((ROOT / "README.md").read_text(encoding="utf-8"), AT)
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(links) > 20
    assert [link for link in links if not link.startswith("https://")] == []


def test_the_project_gets_its_addresses() -> None:
    project = tomllib.loads(script("publish_tree").with_urls((ROOT / "pyproject.toml").read_text(encoding="utf-8"), AT))
    assert project["project"]["urls"]["Repository"] == AT
    assert project["project"]["scripts"] == {"stillair": "stillair.__main__:main"}
    for file in project["project"]["license-files"]:
        assert (ROOT / file).stat().st_size > 0


def test_the_version_has_its_words_in_the_changelog() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_commands_of_the_readme_are_found() -> None:
    module = script("readme_commands")
    found = module.commands()
    assert {"stillair paper", "stillair report results/seven", "stillair tc scenarios/bench/wired-4.toml"} <= set(found)
    # What is run with less is a command of the README.
    assert set(module.SHORTER) <= set(found)
    assert len(module.blocks("python")) == 4
