"""Rules of the house that a machine can hold."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = sorted(ROOT.glob("crates/*/Cargo.toml"))
SOURCES = [
    path
    for folder, suffix in (
        ("crates", "rs"),
        ("python", "py"),
        ("tests", "py"),
        ("bench", "py"),
        ("lab", "py"),
        ("lab", "cc"),
        ("web/src", "ts"),
        ("web/src", "tsx"),
        ("web/src", "css"),
        ("web/tests", "mjs"),
    )
    for path in sorted((ROOT / folder).rglob(f"*.{suffix}"))
]


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.parent.name)
def test_every_crate_takes_the_workspace_lints(manifest: Path) -> None:
    assert tomllib.loads(manifest.read_text())["lints"] == {"workspace": True}


@pytest.mark.parametrize(
    ("code", "lint"),
    [
        ("pub fn f() -> u64 { std::time::SystemTime::now().elapsed().unwrap().as_secs() }", "disallowed_methods"),
        ("pub fn f() { std::thread::sleep(std::time::Duration::from_secs(1)); }", "disallowed_methods"),
        ("pub fn f(t: std::time::Instant) -> u64 { t.elapsed().as_secs() }", "disallowed_types"),
        ("pub fn f(m: &std::collections::HashMap<u8, u8>) -> usize { m.len() }", "disallowed_types"),
    ],
)
def test_clippy_refuses_clocks_and_unordered_maps(tmp_path: Path, code: str, lint: str) -> None:
    # The workspace's own lint table and clippy.toml, over one file that breaks a rule.
    lints = re.search(r"^\[workspace\.lints\.rust\].*?(?=^\[profile)", (ROOT / "Cargo.toml").read_text(), re.M | re.S)
    assert lints is not None
    (tmp_path / "Cargo.toml").write_text(
        f'[workspace]\n{lints[0]}\n[package]\nname = "bite"\nedition = "2024"\n[lints]\nworkspace = true\n'
    )
    shutil.copy(ROOT / "clippy.toml", tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").write_text(f"//! Breaks a rule.\n/// Breaks it.\n{code}\n")
    command = ["cargo", "clippy", "--offline", "--quiet", "--target-dir", str(tmp_path / "target")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"clippy::{lint}" in done.stderr.replace("-", "_")


def test_two_places_may_read_a_clock() -> None:
    # That of live runs; and quinn's, whose instants can be made in no other way: no result depends on that reading.
    may = [path for path in ROOT.glob("crates/**/*.rs") if "clippy::disallowed_methods" in path.read_text()]
    places = {"crates/live/src/sys/clock.rs": "clock_gettime(ClockId::", "crates/quinn/src/clock.rs": "::now()"}
    assert {str(path.relative_to(ROOT)) for path in may} == set(places)
    for place, reading in places.items():
        text = (ROOT / place).read_text()
        assert (text.count("clippy::disallowed_methods"), text.count(reading)) == (1, 1)


def test_two_crates_open_sockets_and_call_the_kernel() -> None:
    # Real hosts in real time, and real kernels in virtual time.
    opens = re.compile(
        r"\b(libc::|nix::|os::unix::net|(Udp|Unix)\w*Socket\b|Tcp(Stream|Listener)\b|Unix(Stream|Listener)\b)"
    )
    sources = (path for path in ROOT.glob("crates/**/*.rs") if opens.search(path.read_text()))
    assert {path.relative_to(ROOT).parts[1] for path in sources} == {"live", "uml"}


def test_reading_a_scenario_opens_no_file_by_itself() -> None:
    # What a scenario names comes from a provider; that of a folder is the one place to open it. A capture is written.
    opens = re.compile(r"\bfs::|\bFile::(open|create|options)|\bOpenOptions\b")
    # What live hosts and guests are made of is files of the kernel, and no scenario is read there.
    apart = ("crates/live/", "crates/uml/")
    crates = (path for path in ROOT.glob("crates/*/src/**/*.rs") if not any(of in str(path) for of in apart))
    files = (path for path in crates if path.name != "tests.rs" and path.parent.name != "tests")
    sources = (path for path in files if opens.search(path.read_text()))
    assert sorted(str(path.relative_to(ROOT)) for path in sources) == [
        "crates/cli/src/folder.rs",
        "crates/cli/src/lib.rs",
        "crates/sim/src/api/capture.rs",
        "crates/sim/src/scenario/files.rs",
    ]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 1_000


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_rust_comments_are_no_wider_than_code(path: Path) -> None:
    if path.suffix != ".rs":
        return
    fenced, wide = False, []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not (comment := re.match(r"\s*//[/!]? ?(.*)", line)):
            fenced = False
            continue
        if comment[1].startswith("```"):
            fenced = not fenced
        if len(line) > 110 and not fenced and not comment[1].startswith("|"):
            wide.append(number)
    assert wide == []


PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(path for folder in ("docs", "lab") for path in sorted((ROOT / folder).rglob("*.md"))),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_page_links_to_is_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []
