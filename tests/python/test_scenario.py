import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillair import InputError, Scenario
from stillair.__main__ import status
from stillair.capture import write_capture
from stillair.runs import bundled
from stillair.runs.sweep import Sweep
from stillair.text.toml import to_toml

SHORTEST = bundled.scenario("anomaly-udp")

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


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ({"runs": 0}, "runs: found 0, expected a whole number from 1 to 4294967295"),
        ({"runs": 2**32}, "runs: found 4294967296, "),
        (
            {"runs": 2, "first_run": 2**32 - 2},
            "first_run: found 4294967294, expected a whole number from 0 to 4294967293",
        ),
        ({"first_run": 2**32}, "first_run: found 4294967296, "),
        ({"first_run": -1}, "first_run: found -1, "),
        ({"seed": -1}, "seed: found -1, expected a whole number from 0 to 9223372036854775807"),
        ({"seed": 2**64}, "seed: found 18446744073709551616, "),
        ({"jobs": 0}, "jobs: found 0, expected a whole number from 1 to 1024"),
        ({"jobs": 2**64}, "jobs: found 18446744073709551616, "),
    ],
)
def test_numbers_have_bounds(numbers: dict[str, int], says: str) -> None:
    with pytest.raises(InputError, match=f"^{says}"):
        Scenario("name = 'x'\n").run(**numbers)  # type: ignore[arg-type]
    if "first_run" not in numbers:
        with pytest.raises(InputError, match=f"^{says}"):
            Sweep(SHORTEST, **{key: numbers[key] for key in numbers if key != "jobs"}).run(jobs=numbers.get("jobs"))


@pytest.mark.parametrize(
    ("run", "seed", "snaplen", "says"),
    [
        (2**32, None, 0, "first_run: found 4294967296, "),
        (0, -1, 0, "seed: found -1, "),
        (0, None, 2**32, "snaplen: found 4294967296, "),
    ],
)
def test_numbers_of_a_capture_have_bounds(tmp_path: Path, run: int, seed: int | None, snaplen: int, says: str) -> None:
    with pytest.raises(InputError, match=f"^{says}"):
        write_capture(SHORTEST, (), seed, run, tmp_path / "x.pcapng", snaplen=snaplen)
    assert not list(tmp_path.iterdir())


def test_overrides_reach_the_engine_in_order(engine: Any) -> None:  # noqa: ANN401 - a fixture
    calls = engine()
    Scenario("a = 1\n").run(runs=2, seed=7, jobs=3, first_run=5, overrides={"b": "2", "a": "3"})
    assert calls == [("a = 1\n", "scenario", [("b", "2"), ("a", "3")], 7, 2, 5, 3, None)]


@pytest.mark.parametrize(
    ("keys", "when"),
    [
        ("", ""),
        ('start = "2 s"', "from 2 s"),
        ('start = "2 s"\nstart_spread = "3 s"', "from 2 s + 0 to 3 s (start_spread)"),
        ('start_spread = "3 s"\nstop = "8 s"', "from 0 s + 0 to 3 s (start_spread) to 8 s"),
    ],
)
def test_check_shows_the_spread_of_starts(
    keys: str, when: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    file = tmp_path / "x.toml"
    text = """
    name = "x"
    duration = "10 s"
    link.l = { rate = "10 Mbit/s", delay = "5 ms" }
    node.a = { profile = "linux-6.12", interface.eth0.link = "l" }
    node.b = { profile = "linux-6.12", interface.eth0.link = "l" }
    [[flow]]
    kind = "ping"
    from = "a"
    to = "b"
    """
    file.write_text(f"{text}\n{keys}\n", encoding="utf-8")
    assert status(["check", str(file)]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.lstrip().startswith("ping-0"))
    assert line.split() == ["ping-0", "ping", "a", "b", *when.split()]
