"""The published schema and reference: made from what the reader reads by, and of use."""

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from stillair import InputError, Scenario, _native
from stillair.__main__ import status

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / "python" / "stillair" / "schema" / "scenario.schema.json"
GOOD = ROOT / "crates" / "sim" / "tests" / "scenario" / "good.toml"
SHIPPED = sorted((ROOT / "scenarios").rglob("*.toml"))
EXAMPLE = (ROOT / "docs" / "scenario.md").read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]

VALIDATOR = Draft7Validator(json.loads(STORED.read_text(encoding="utf-8")))


def test_the_stored_files_are_what_the_code_makes() -> None:
    assert STORED.read_text(encoding="utf-8") == _native.schema(), "run: make describe"
    assert (ROOT / "docs" / "scenario.md").read_text(encoding="utf-8") == _native.reference(), "run: make describe"


def test_the_schema_is_one_and_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    Draft7Validator.check_schema(VALIDATOR.schema)
    assert status(["schema"]) == 0
    assert capsys.readouterr().out == STORED.read_text(encoding="utf-8")
    assert status(["schema", "--reference"]) == 0
    assert capsys.readouterr().out.startswith("# The scenario file\n")


@pytest.mark.parametrize("path", [*SHIPPED, GOOD], ids=lambda path: str(path.relative_to(ROOT)))
def test_scenarios_of_the_project_are_valid(path: Path) -> None:
    errors = list(VALIDATOR.iter_errors(tomllib.loads(path.read_text(encoding="utf-8"))))
    assert errors == []
    Scenario(path).resolve()


def test_the_worked_example_is_valid_and_runs() -> None:
    assert list(VALIDATOR.iter_errors(tomllib.loads(EXAMPLE))) == []
    result = Scenario(EXAMPLE).run(overrides={"duration": "2.2 s"})
    assert set(result.runs[0]["stations"]) == {"near", "far"}
    assert len(Scenario(EXAMPLE).sweep()) == 4


def malformed() -> list[Any]:
    """The mistakes that the reader is tested with, as far as they are TOML, by what the reader says."""
    table = tomllib.loads((GOOD.parent / "malformed.toml").read_text(encoding="utf-8"))
    good = GOOD.read_text(encoding="utf-8")
    cases = []
    for case in table["case"]:
        if "change" in case:
            try:
                document = tomllib.loads(good.replace(*case["change"], 1))
            except tomllib.TOMLDecodeError:
                continue
            cases.append(pytest.param(document, case["says"], id=case["says"].partition(": ")[2][:60]))
    return cases


# What only a look at several keys, at a number or at a name of the scenario can tell.
_BEYOND = (
    "whole number of nano", "shorter than duration", "to be one of", "at most", "above zero", "name that", "its own",
    "exactly two", "around the mean", "begin with rate", "begin with uplink_rate", "without uplink_rate", "no wider",
    "to which no way", "forward = true", "as in to",
    "before the end", "after start", "other than from", "each receiver once", "role = ", "channel, expected", "one of ",
    "is like", "not like", "on another channel", "over a device", "to four rates", "cwmin", "has", "expected \"",
    "IPv4", "bytes", "the sweep", "a node", "found no such", "in a sweep", "one value", "none to refer to",
    "hostapd takes", "at least", "units of 32 us", "whole number of bits", "another node", "with itself",
    "swept already", "of its streams", "at and snr", "one probability for each", "one for each rate", " in line ",
    "before that of the entry before", "as all data at 6 GHz", "it is not known how loud", "a time longer than on",
    "to the longest PPDU of HT", "each sender once", "does not support",
)  # fmt: skip


@pytest.mark.parametrize(("document", "says"), malformed())
def test_the_schema_finds_what_one_key_alone_can_tell(document: dict[str, Any], says: str) -> None:
    if VALIDATOR.is_valid(document):
        assert any(words in says for words in _BEYOND), says


def objects(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:  # noqa: ANN401
    """Paths of all tables in a document."""
    found = [path] if isinstance(value, dict) else []
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        if key != "sweep":
            found += objects(child, (*path, key))
    return found


def test_a_key_that_neither_knows_is_refused_by_both_in_every_table() -> None:
    good = tomllib.loads(GOOD.read_text(encoding="utf-8"))
    tables = [path for path in objects(good) if path not in {("channel",), ("link",), ("node",)}]
    tables = [path for path in tables if path[-1:] != ("interface",)]
    assert len(tables) >= 15
    for path in tables:
        document = copy.deepcopy(good)
        table: Any = document
        for key in path:
            table = table[key]
        table["stranger"] = 1
        assert not VALIDATOR.is_valid(document), path
        with pytest.raises(InputError, match="stranger: found an unknown key"):
            Scenario(document).resolve()
