import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillair import InputError, Scenario
from stillair.toml_text import to_toml

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(TEXT, VALUES, max_size=4))
def test_a_dictionary_survives_as_toml(table: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(table)) == table


def test_what_toml_cannot_hold_is_named() -> None:
    with pytest.raises(TypeError, match=r"flow\.0\.rate: .* found None"):
        to_toml({"flow": [{"rate": None}]})


def test_text_path_and_dictionary_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text('name = "one"\n', encoding="utf-8")
    assert Scenario(file).text == Scenario(str(file)).text == Scenario({"name": "one"}).text
    assert Scenario('name = "one"\n').file == "scenario"
    assert Scenario(file).file == str(file)


@pytest.mark.parametrize(("runs", "jobs"), [(0, 1), (1, 0)])
def test_counts_start_at_one(runs: int, jobs: int) -> None:
    with pytest.raises(InputError, match="found 0, expected 1 or more"):
        Scenario("name = 'x'\n").run(runs=runs, jobs=jobs)


def test_overrides_reach_the_engine_in_order(engine: Any) -> None:  # noqa: ANN401 - a fixture
    calls = engine()
    Scenario("a = 1\n").run(runs=2, seed=7, jobs=3, first_run=5, overrides={"b": "2", "a": "3"})
    assert calls == [("a = 1\n", "scenario", [("b", "2"), ("a", "3")], 7, 2, 5, 3, None)]
