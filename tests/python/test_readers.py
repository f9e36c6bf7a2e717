"""Whatever the bytes of a file are, its reader returns a result or raises `InputError`; all readers are listed."""

import ast
import random
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import readers
from printed import TEXTS
from readers import READERS, Reader
from stillair import InputError
from stillair.runs.imports import kinds, pasted

ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    ".".join(path.relative_to(ROOT / folder).with_suffix("").parts): path
    for folder in ("python", "lab/src")
    for path in (ROOT / folder).rglob("*.py")
}

SLOW = {"pictures": 3, "result": 40, "comparison": 20, "sweep": 20, "unfinished": 20}
"""Number of cases for slow readers, instead of 80."""

STREAMS = {"stillair.runs.imports.captures", "stillair.runs.imports.loads"}
"""Packages that read what `kinds` has opened."""

OWN = {
    "stillair.cli.common.completion": "the shell's own start file",
    "stillair.cli.explore.command": "a file beside a scenario, shown as text",
    "stillair.kernels.store": "kernels of our own cache, passed over if they are damaged",
}
"""Modules that read within the limit and parse no user input."""

UNBOUNDED = {
    "stillair.cli.extension": "entry points of installed packages",
    "stillair.cli.explore.server": "the page of the package, and requests with a bounded length",
    "stillair.explain.faq.questions": "files of the package",
    "stillair.kernels.build": "files of a kernel's tree that was unpacked, and of the package",
    "stillair.kernels.config": "files of a kernel's tree",
    "stillair.kernels.guest": "files of the package",
    "stillair.kernels.sources": "archives, which are hashed piece by piece",
    "stillair_lab.papers.claims.paper_registry": "files of the package",
    "stillair_lab.papers.runs.compressed": "series of our own runs, which this process has packed",
    "stillair_lab.papers.measure.worked_examples": "files of the package",
    "stillair.results.result_folder": "one run at a time, at the place and of the length that its index has",
    "stillair.runs.bundled": "files of the package",
    "stillair.runs.imports.doctor": "files of /sys and /proc",
    "stillair.runs.result_writer": "runs that this process has written, and their first bytes",
    "stillair.text.markup": "a file of the package",
    "stillair.text.memory": "files of /proc and /sys",
    "stillair.text.source": "the reader with the limit",
}
"""Modules that read files themselves, with the reason."""


@pytest.fixture(scope="module")
def seeds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Reader, list[Path]]:
    """Do not change these."""
    reader: Reader = request.param
    return reader, list(reader.seeds(tmp_path_factory.mktemp("seeds")))


every_reader = pytest.mark.parametrize("seeds", READERS, ids=lambda one: one.name, indirect=True)


@every_reader
def test_whole_files_are_read(seeds: tuple[Reader, list[Path]], tmp_path: Path) -> None:
    reader, files = seeds
    for number, file in enumerate(files):
        into = tmp_path / f"{number}"
        into.mkdir()
        copy = into / file.name
        (shutil.copytree if file.is_dir() else shutil.copy)(file, copy)
        try:
            reader.read(copy)
        except InputError as error:
            # A text by itself may be too little for a scenario, and some kinds are read to be named as left out.
            if not (
                file.name.startswith("printed-")
                and re.search("make a scenario from|expected its direction", str(error))
            ):
                raise


@every_reader
def test_a_changed_file_is_read_or_refused(
    seeds: tuple[Reader, list[Path]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    reader, files = seeds

    @settings(max_examples=SLOW.get(reader.name, 80), deadline=None, derandomize=True, database=None)
    @given(st.integers(0, 2**32))
    def holds(seed: int) -> None:
        at_random = random.Random(seed)  # noqa: S311 - a case is made again by it
        path = readers.cases(reader, files, tmp_path_factory.mktemp("case"), at_random)
        try:
            reader.read(path)
        except InputError as error:
            assert str(error)  # noqa: PT017 - if there is one

    holds()


@every_reader
def test_nothing_and_anything_is_read_or_refused(seeds: tuple[Reader, list[Path]], tmp_path: Path) -> None:
    reader, files = seeds
    for number, content in enumerate(
        (b"", b"\n", b"\0" * 100, b"\xff" * 100, b"{", b"[[", b"{}", b"[]", b"null", b"9" * 5_000)
    ):
        into = tmp_path / f"{number}"
        into.mkdir()
        path = into / files[0].name
        if files[0].is_dir():
            shutil.copytree(files[0], path)
        for file in [one for part in reader.parts for one in path.glob(part)] or [path]:
            file.write_bytes(content)
        try:
            reader.read(path)
        except InputError as error:
            assert str(error)  # noqa: PT017 - if there is one


def test_every_kind_that_import_reads_has_a_seed(tmp_path: Path) -> None:
    seen = set[str]()
    of = {reader.name: reader for reader in READERS}
    for file in of["text"].seeds(tmp_path):
        lines = pasted.clean(pasted.decoded(file.read_bytes()))
        for part in pasted.parts(lines, kinds._head):
            kind = kinds._BY_NAME[part.kind] if part.kind else kinds._of_sign(part)
            seen |= {kind.name} if kind else set()
    assert seen == {kind.name for kind in kinds.KINDS}
    assert set(TEXTS) <= seen
    # The others by the same names as in the message that lists them.
    text = "; ".join(f"{kind.name};" for kind in kinds.KINDS)
    others = [name for name in kinds.names().split("; ") if f"{name};" not in text]
    assert others == ["a capture with radiotap", "a Flent file", "a crusader result"]
    assert {"capture", "flent", "crusader"} <= of.keys()


def test_every_module_that_reads_within_the_limit_has_a_reader() -> None:
    using = {name for name, path in MODULES.items() if _uses_source(path)}
    using = {name for name in using if name.rpartition(".")[0] not in STREAMS} - {"stillair.text.source"}
    assert using - OWN.keys() == {module for reader in READERS for module in reader.modules}
    assert OWN.keys() <= using


def test_no_module_reads_a_file_by_itself() -> None:
    assert {name for name, path in MODULES.items() if _opens(path)} == UNBOUNDED.keys()


def _uses_source(path: Path) -> bool:
    imports = (
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)
    )
    return any(node.module == "stillair.text" and any(one.name == "source" for one in node.names) for node in imports)


def _opens(path: Path) -> bool:
    """Returns true if a module opens a file for reading, in any way."""
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    return any(_reads(call) for call in calls)


def _reads(call: ast.Call) -> bool:
    function = call.func
    name = getattr(function, "attr", "") or getattr(function, "id", "")
    of = getattr(getattr(function, "value", None), "id", "")
    if name in ("read_text", "read_bytes", "decompress", "GzipFile", "BZ2File", "fromfile"):
        # A GzipFile that is written has a mode.
        return not any(one.arg == "mode" for one in call.keywords)
    return name == "open" and of not in ("os", "webbrowser") and not _writes(call)


def _writes(call: ast.Call) -> bool:
    modes = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return any(mode[:1] in ("w", "a", "x") for mode in modes)
