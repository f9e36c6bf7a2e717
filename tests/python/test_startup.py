"""What a command imports before it does anything. Its time depends on the machine: bench/startup.py measures that."""

import subprocess
import sys

import pytest

_PROGRAM = """
import sys
before = set(sys.modules)
from stillair.__main__ import status
code = status(sys.argv[1:])
loaded = {name for name in set(sys.modules) - before if name.partition(".")[0] not in sys.stdlib_module_names}
print(*sorted(loaded), sep="\\n", file=sys.stderr)
sys.exit(code)
"""

_HEAVY = {"asyncio", "email", "http", "importlib.metadata", "multiprocessing", "sqlite3", "ssl", "unittest", "xml"}
"""Of the standard library what takes as long as all the rest."""

_COMMON = {
    "stillair",
    "stillair.__main__",
    "stillair._native",
    "stillair.cli",
    "stillair.cli.app",
    "stillair.cli.common",
    "stillair.cli.common.completion",
    "stillair.runs",
    "stillair.text",
    "stillair.text.signals",
    "stillair.text.nearest",
}
_LAB = {"stillair.cli.extension", "stillair_lab", "stillair_lab.cli"}
_OPTIONS = {"stillair.cli.common.options", "stillair.runs.limits", "stillair.text.memory"}


def loaded(*arguments: str, program: str = _PROGRAM) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "more"),
    [
        (["--version"], set()),
        (["run", "--help"], {"stillair.cli.running", "stillair.cli.common.progress", "stillair.text.terminal"}),
        (
            ["check", "--help"],
            {"stillair.cli.scenarios", "stillair.cli.scenarios.check", "stillair.text.terminal"},
        ),
        (["ss", "--help"], {"stillair.cli.host_state", "stillair.text.terminal"}),
        (
            ["schema"],
            {
                "stillair.cli.scenarios",
                "stillair.cli.scenarios.names",
                "stillair.text.table",
                "stillair.text.terminal",
            },
        ),
        (
            ["paper", "--help"],
            {
                *_LAB,
                "stillair_lab.cli.paper",
                "stillair.cli.common.progress",
                "stillair.text.table",
                "stillair.text.terminal",
            },
        ),
        (
            ["export", "--help"],
            {
                "stillair.cli.publish",
                "stillair.cli.publish.command",
                "stillair.cli.publish.time_range",
                "stillair.text.terminal",
            },
        ),
        (
            ["tune", "--help"],
            {
                "stillair.cli.advice",
                "stillair.cli.advice.tune",
                "stillair.cli.common.progress",
                "stillair.text.terminal",
            },
        ),
        (["validate", "--help"], {*_LAB, "stillair_lab.cli.validate", "stillair.cli.common.progress"}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_a_command_imports_its_own_module_and_click(arguments: list[str], more: set[str]) -> None:
    names = loaded(*arguments)
    assert {name for name in names if name.partition(".")[0] != "click"} - _COMMON - _OPTIONS == more


@pytest.mark.parametrize(
    "arguments",
    [["run", "--help"], ["check", "hidden"], ["new"], ["scenarios"], ["paper", "--help"], ["--help"]],
    ids=" ".join,
)
def test_nothing_heavy_is_imported(arguments: list[str]) -> None:
    program = _PROGRAM.replace(' if name.partition(".")[0] not in sys.stdlib_module_names', "")
    names = loaded(*arguments, program=program)
    assert not names & _HEAVY
    others = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    assert others - {"stillair_lab"} == {"click", "stillair"}
