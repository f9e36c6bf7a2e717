"""Result folders that were edited or damaged: each value is looked at before it is used, and the message names it."""

import json
import math
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillair import InputError, Result, Scenario
from stillair.__main__ import status
from stillair.cli.publish import page
from stillair.cli.publish.export import export
from stillair.runs import bundled
from stillair.runs.result_writer import ResultWriter
from stillair.text import extras, shape

RUN, RESULT, RESOLVED = "runs/run-0.json", "result.json", "scenario.resolved.json"
WHOLE = "a whole number from 0 to 18446744073709551615"


def make(folder: Path, scenario: str, *overrides: tuple[str, str]) -> Path:
    """A result of one very short run with all that can be recorded."""
    wanted = [("record.ss", "100 ms"), ("record.queues", "100 ms"), *overrides]
    writer = ResultWriter(folder, bundled.scenario(scenario), wanted, 1)
    bundled.scenario(scenario).run(overrides=wanted, series=True, keep=writer.keep)
    writer.finish()
    return folder


@pytest.fixture(scope="module")
def brief(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be changed."""
    overrides = (("duration", "600 ms"), ("warm_up", "0 s"), ("record.air", "0 s..0.003 s"))
    return make(tmp_path_factory.mktemp("results") / "brief", "anomaly-udp", *overrides)


@pytest.fixture(scope="module")
def quic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be changed."""
    overrides = (("duration", "400 ms"), ("flow.0.bytes", "30 kB"), ("record.quic", "true"))
    return make(tmp_path_factory.mktemp("results") / "quic", "quic-quinn", *overrides)


def put(file: Path, path: str, value: object) -> None:
    """Replaces a value of a JSON file, by its path with dots."""
    data = json.loads(file.read_text())
    into = data
    *before, last = path.split(".")
    for key in before:
        into = into[int(key) if isinstance(into, list) else key]
    into[int(last) if isinstance(into, list) else last] = value
    file.write_text(json.dumps(data))


@pytest.mark.parametrize(
    ("name", "path", "value", "says"),
    [
        (RUN, "series.step_ns", 0, "found 0, expected a whole number from 1 to 18446744073709551615"),
        (RUN, "series.step_ns", -5, "found -5, expected a whole number from 1 to 18446744073709551615"),
        (RUN, "series.step_ns", "x", "found text, expected a whole number from 1 to 18446744073709551615"),
        (RUN, "series.duration_ns", 0, "found 0, expected a whole number from 1 to 18446744073709551615"),
        (RUN, "series.steps", 4, "found 4, expected 3, by step_ns and duration_ns"),
        (RUN, "series.steps", 10**9, "found 1000000000, expected a whole number from 1 to 100000000"),
        (RUN, "series.warm_up_ns", 10**9, "found 1000000000, expected less than duration_ns, with cool_down_ns"),
        (RUN, "series.flows.0", 1, "found 1, expected an object"),
        (RUN, "series.flows.1.name", "udp-0.fast1", 'found "udp-0.fast1" again, expected a name of its own'),
        (RUN, "series.flows.0.name", "\ud800", "found text with an unpaired surrogate, expected text"),
        (RUN, "series.flows.0.bytes", None, "found nothing, expected 3 values, one for each step"),
        (RUN, "series.flows.0.bytes.1", "a", f"found text, expected {WHOLE}"),
        (RUN, "series.flows.0.bytes.1", True, f"found true or false, expected {WHOLE}"),
        (RUN, "series.flows.0.bytes.1", math.nan, f"found nan, expected {WHOLE}"),
        (RUN, "series.flows.0.bytes.1", 10**300, f"found a larger number, expected {WHOLE}"),
        (RUN, "series.flows.3.pings", [[1, None, None]], f"found null, expected {WHOLE}"),
        (RUN, "series.flows.3.pings", [[1, 2]], "found 2 values, expected 3"),
        (RUN, "series.flows.3.pings", [[10**9, 2, 3]], "found a time of 1000000000, expected times within duration_ns"),
        (RUN, "series.drops", [1], "found 1, expected an object"),
        (RUN, "series.drops.0.steps", [[3, 1]], "found step 3, expected steps below 3"),
        (RUN, "series.queues.0.bytes", [1], "found 1 values, expected 3, one for each step"),
        (RESULT, "runs.0.seed", -1, f"found -1, expected {WHOLE}"),
        (RESULT, "runs.0.run", 2**32, "found 4294967296, expected a whole number from 0 to 4294967295"),
        (RESULT, "runs.0.stations.fast1", 7, "found 7, expected an object"),
        (RESULT, "runs.0.stations.fast1.airtime_share", "x", "found text, expected a number"),
        (RESULT, "runs.0.drops", [1], "found 1, expected an object"),
        (RESULT, "runs.0.queues.queues.0.bytes", [1], "found 1 values, expected 6, one for each of samples"),
        (RESULT, "runs.0.queues.interval_ns", 0, "found 0, expected a whole number from 1 to 18446744073709551615"),
        (RESULT, "runs.0.exchanges.kind", [], "found 0 values, expected "),
        (RESULT, "runs.0.exchanges.channels", [], "found 0 values, expected 4 as of interfaces"),
        (RESULT, "runs.0.exchanges.from.0", 99, "found 99, expected a number below 4, one for each of interfaces"),
        (RESOLVED, "nodes", [], "found none, expected at least one"),
        (RESOLVED, "nodes.0.interfaces.0", 7, "found 7, expected an object"),
        (RESOLVED, "nodes.0.profile.name", 7, "found 7, expected text"),
        (RESOLVED, "nodes.0.profile.tcp", None, "found null, expected an object"),
    ],
)
def test_the_message_names_file_and_key(
    brief: Path,
    tmp_path: Path,
    name: str,
    path: str,
    value: object,
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(brief, folder)
    put(folder / name, path, value)
    assert status(["export", str(folder), "--flent", "-o", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"stillair: {folder / name}: {path}")
    assert says in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["damaged"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1]", "0: found 1, expected a list"),
        ('[["a", 1]]', "0.1: found 1, expected text"),
        ('[["a", "b", "c"]]', "0: found 3 values, expected 2"),
        ("{}", "found an object, expected a list"),
    ],
)
def test_overrides_are_pairs_of_text(
    brief: Path, tmp_path: Path, text: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(brief, folder)
    (folder / "overrides.json").write_text(text)
    assert status(["export", str(folder), "--pcap", "-o", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"stillair: {folder / 'overrides.json'}: {says}\n"


@pytest.mark.parametrize("name", [RUN, RESULT, RESOLVED])
@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' * 100_000, "9" * 5000])
def test_what_python_cannot_read_is_bad_input(
    brief: Path, tmp_path: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(brief, folder)
    (folder / name).write_text(text)
    assert status(["export", str(folder), "--csv", "-o", str(tmp_path / "x.csv")]) == 2
    assert capsys.readouterr().err == (
        f"stillair: {folder / name}: is not what this program writes: too deep, or a number too long\n"
    )


def test_what_is_almost_too_deep_is_bad_input(brief: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(brief, folder)
    deep: Any = 1
    for _ in range(700):
        deep = [deep]
    put(folder / RESULT, "runs.0.more", deep)
    with pytest.raises(InputError, match=r"result\.json: is not what this program writes: too deep"):
        Result.load(folder)


def test_a_run_is_there_once(brief: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(brief, folder)
    runs = json.loads((folder / RESULT).read_text())["runs"]
    put(folder / RESULT, "runs", runs * 2)
    with pytest.raises(InputError, match=r"result\.json: runs\.1\.run: found 0 again, expected unique numbers"):
        Result.load(folder)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"quic.client": 7}, "quic.client: found 7, expected an object"),
        ({"quic.client": {"traces": 7}}, "quic.client.traces: found 7, expected an object"),
        ({"quic.client": {"traces": {"sent_t_s": [1]}}}, "quic.client.traces.sent_number"),
    ],
)
def test_damaged_traces_of_quic(quic: Path, tmp_path: Path, change: object, key: str) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(quic, folder)
    put(folder / RESULT, "runs.0.quic", change)
    with pytest.raises(InputError, match=rf"result\.json: .*runs\.0\.quic\.{re.escape(key)}"):
        export("qlog", folder, tmp_path, None, None)


def test_numbers_that_nobody_reads_are_numbers_too(quic: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(quic, folder)
    data = json.loads((folder / RESULT).read_text())
    data["runs"][0]["quic"]["quic.client"]["traces"]["slow_start"][0] = math.inf
    (folder / RESULT).write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"quic\.client\.traces\.slow_start\.0: found inf, expected a number"):
        Result.load(folder)


@pytest.mark.parametrize(
    ("name", "path", "says"),
    [
        (RESOLVED, "nodes.0.name", r"flows\.0\.from: found \"\w+\""),
        (RUN, "series.flows.0.to", r"flows\.0\.to: found \"nobody\""),
        (RUN, "series.flows.0.station", r"flows\.0\.station: found \"nobody\""),
    ],
)
def test_a_flow_is_between_nodes_of_the_scenario(brief: Path, tmp_path: Path, name: str, path: str, says: str) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(brief, folder)
    put(folder / name, path, "nobody")
    with pytest.raises(InputError, match=rf"{says}, expected a node of scenario\.resolved\.json"):
        export("flent", folder, tmp_path, None, None)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    """The way to every value, of lists the first one only."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, list) and value:
        yield from leaves(value[0], (*path, 0))


BAD = st.sampled_from(
    [None, True, -1, 0, 1.5, math.nan, math.inf, 10**30, "x", "\ud800", [], [1], [None], {}, {"a": 1}, 2**63]
)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), bad=BAD, name=st.sampled_from([RUN, RESULT, RESOLVED]))
def test_no_damage_is_a_traceback(
    brief: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, bad: object, name: str
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    shutil.copytree(brief, folder, dirs_exist_ok=True)
    value = json.loads((folder / name).read_text())
    *before, last = data.draw(st.sampled_from(list(leaves(value))[1:]))
    into = value
    for key in before:
        into = into[key]
    into[last] = bad
    (folder / name).write_text(json.dumps(value))
    acts: list[Callable[[], object]] = [
        lambda: export("csv", folder, folder / "x.csv", None, None),
        lambda: export("flent", folder, folder, None, None),
        lambda: Result.load(folder).to_json(),
        lambda: page.write(folder, folder / "x.html"),
    ]
    for act in acts:
        try:
            # Pictures take seconds.
            with mock.patch.object(extras, "there", return_value=False):
                act()
        except InputError as error:
            # A name that no longer is another's may be met at that.
            assert str(error).startswith(f"{folder}/")  # noqa: PT017 - if there is one


def test_shapes_are_those_of_every_kind_of_run(brief: Path, quic: Path) -> None:
    for folder in (brief, quic):
        for measured in Result.load(folder).runs_with_series():
            assert measured.series.steps > 0


def test_columns_are_equally_long() -> None:
    fits = shape.columns({"a": shape.number, "b": shape.text})
    shape.check({"a": [1, 2.5], "b": ["x", "y"], "c": 7}, fits, "file")
    with pytest.raises(InputError, match=r"^file: b: found 1 values, expected 2 as of a$"):
        shape.check({"a": [1, 2], "b": ["x"]}, fits, "file")
    with pytest.raises(InputError, match=r'^file: the key "b" is missing$'):
        shape.check({"a": [1, 2]}, fits, "file")


def test_an_engines_report_is_checked_too() -> None:
    scenario = Scenario(bundled.scenario("anomaly-udp").text)
    report = scenario.run(overrides={"duration": "200 ms", "warm_up": "0 s"}, series=True)
    with pytest.raises(InputError, match=r'^run: the key "series\.step_ns" is missing$'):
        Result(report.to_dict() | {"runs": [report.runs[0] | {"series": {}}]}).run_with_series(0)
