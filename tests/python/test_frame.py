"""Tables that other libraries read as they stand, and results as a notebook shows them."""

import csv
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pytest
from pyarrow import parquet

from stillair import InputError, Picture, Result, run_sweep
from stillair.results.frame import Frame
from stillair.runs import bundled
from stillair.runs.cache import Combination
from stillair.runs.dataset import Rows
from stillair.runs.overrides import as_set

OVERRIDES = {"duration": "6 s"}


@pytest.fixture(scope="module")
def result() -> Result:
    record = {"record": {"ss": "500 ms", "queues": "500 ms", "air": "5.5 s..5.51 s"}}
    return bundled.scenario("anomaly-tcp").run(runs=2, overrides=OVERRIDES | record, series=True)


@pytest.fixture
def frame() -> Frame:
    kinds = {"n": "int64", "seed": "uint64", "x": "float64", "name": "text", "on": "truth"}
    columns = {"n": [-1, 2], "seed": [2**64 - 1, 0], "x": [0.5, None], "name": ["a", "<b>"], "on": [True, False]}
    return Frame("sample", kinds, columns)  # type: ignore[arg-type]


def test_every_library_reads_the_same(frame: Frame) -> None:
    rows = [(-1, 2**64 - 1, 0.5, "a", True), (2, 0, None, "<b>", False)]
    assert list(frame.rows()) == rows
    table = pyarrow.table(frame)
    assert list(zip(*table.to_pydict().values(), strict=True)) == rows
    assert [str(field.type) for field in table.schema] == ["int64", "uint64", "double", "string", "bool"]
    assert pyarrow.schema(frame) == table.schema
    assert polars.DataFrame(frame).rows() == rows
    assert frame.to_polars().equals(polars.DataFrame(frame))
    assert frame.to_polars().schema == polars.from_arrow(table).schema
    read = pandas.DataFrame.from_arrow(frame)
    assert read["n"].tolist() == [-1, 2]
    assert frame.to_pandas().dtypes.astype(str).tolist() == ["int64", "uint64", "float64", "str", "bool"]
    assert frame.to_pandas()["seed"].tolist() == read["seed"].tolist() == [2**64 - 1, 0]
    assert duckdb.sql('select name, n from frame where "on" order by n').fetchall() == [("a", -1)]


def test_arrow_takes_the_columns_without_a_copy(frame: Frame) -> None:
    reader = pyarrow.RecordBatchReader.from_stream(frame)
    (batch,) = list(reader)
    address = batch.column(0).buffers()[1].address
    again = polars.from_arrow(batch)
    assert isinstance(again, polars.DataFrame)
    assert again["n"].to_arrow().buffers()[1].address == address


def test_a_frame_is_written_and_read_back(tmp_path: Path, frame: Frame) -> None:
    frame.save(tmp_path / "a.parquet")
    assert parquet.read_table(tmp_path / "a.parquet").equals(frame.to_arrow())
    frame.save(tmp_path / "a.csv")
    assert list(csv.reader((tmp_path / "a.csv").open()))[1] == ["-1", str(2**64 - 1), "0.5", "a", "True"]
    with pytest.raises(InputError, match="must end in"):
        frame.save(tmp_path / "a.xls")


def test_a_frame_shows_itself(frame: Frame) -> None:
    head, names, *rows = repr(frame).splitlines()
    assert (head, names.split()) == ("sample: 2 rows", ["n", "seed", "x", "name", "on"])
    assert rows[1].split() == ["2", "0", "-", "<b>", "False"]
    assert "<td>&lt;b&gt;</td>" in frame._repr_html_()
    assert repr(Frame("long", {"n": "int64"}, {"n": range(12)})).endswith("... and 2 more")
    assert len(repr(Frame("none", {"n": "int64"}, {"n": []})).splitlines()) >= 2


def test_the_tidy_table_is_that_of_the_files(tmp_path: Path, result: Result) -> None:
    result.save(tmp_path / "a.csv")
    rows = list(csv.reader((tmp_path / "a.csv").open()))
    assert rows[0] == list(result.kinds())
    assert [[str(value) for value in row] for row in result.rows()] == rows[1:]
    result.save(tmp_path / "a.parquet")
    assert parquet.read_table(tmp_path / "a.parquet").replace_schema_metadata(None).equals(pyarrow.table(result))
    assert polars.DataFrame(result).equals(result.to_polars())
    # A batch of each run: the whole is never in memory at once.
    assert len(list(result.to_batches())) == 2


def test_samples_are_tables(result: Result) -> None:
    sockets = result.sockets()
    assert list(sockets.kinds())[:5] == ["run", "scenario", "seed", "flow", "t_s"]
    first = next(iter(result.runs[0]["sockets"].items()))
    assert [row[:5] for row in sockets.rows()][: len(first[1]["t_s"])] == [
        (0, result.scenario, 1, first[0], t) for t in first[1]["t_s"]
    ]
    assert sockets["cwnd"][: len(first[1]["t_s"])] == first[1]["cwnd"]
    queues = polars.DataFrame(result.queues())
    assert queues.filter((polars.col("run") == 1) & (polars.col("t_s") == 6.0)).height > 0
    exchanges = polars.DataFrame(result.exchanges())
    assert set(exchanges["kind"]) <= {"single", "aggregate", "bar", "management", "beacon"}
    assert exchanges.height == sum(len(run["exchanges"]["start_ns"]) for run in result.runs)
    replies = sum(len(flow.pings or ()) for one in result.runs_with_series() for flow in one.series.flows)
    assert len(result.pings()) == replies > 0
    figures = polars.DataFrame(result.figures())
    one = figures.filter((polars.col("metric") == "goodput_total_mbps") & (polars.col("run") == 1))
    assert one["value"].to_list() == [result.runs[1]["goodput_total_mbps"]]


def test_what_was_not_sampled_is_an_error() -> None:
    plain = bundled.scenario("anomaly-udp").run(overrides=OVERRIDES)
    for name, key in (("sockets", "ss"), ("queues", "queues"), ("exchanges", "air")):
        with pytest.raises(InputError, match=rf"record\.{key}: nothing was sampled"):
            getattr(plain, name)()
    with pytest.raises(InputError, match="the result has no series"):
        pyarrow.table(plain)


def test_a_result_shows_itself(result: Result) -> None:
    assert repr(result).startswith("<Result of anomaly-tcp: 2 runs, seed 1; means with 95 % confidence intervals")
    html = result._repr_html_()
    assert "goodput Mbit/s</th>" in html
    assert ">fast1</" in html


def test_a_result_draws_itself(tmp_path: Path, result: Result) -> None:
    picture = result.plot("airtime")
    assert isinstance(picture, Picture)
    assert picture._repr_html_().startswith("<svg ")
    picture.save(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[1:4] == b"PNG"
    assert "<svg" in result.plot("airtime-timeline", window=(5.5, 5.505)).svg()
    assert repr(picture) == "<Picture of anomaly-tcp: each station's share of the airtime, as bars>"
    with pytest.raises(InputError, match='plot: found "pie"'):
        result.plot("pie")
    with pytest.raises(InputError, match="window: airtime shows the whole run"):
        result.plot("airtime", window=(0, 1))


def test_a_sweep_is_a_table() -> None:
    rates = {"flow.0.rate": ["5 Mbit/s", "20 Mbit/s"], "flow.1.start": ["0 s", "1 s"], "seed": "1..2"}
    table = run_sweep(bundled.scenario("anomaly-udp"), rates, overrides=OVERRIDES)
    read = polars.DataFrame(table)
    assert read.columns == ["cell", "flow.0.rate", "flow.1.start", "run", "seed", "group", "subject", "metric", "value"]
    goodput = read.filter(polars.col("metric") == "goodput_total_mbps")
    assert goodput["value"].to_list() == [cell.result.runs[0]["goodput_total_mbps"] for cell in table]
    assert goodput["seed"].to_list() == [1, 2] * 4
    assert duckdb.sql('select count(distinct cell) from "table"').fetchall() == [(8,)]
    assert pyarrow.table(table).equals(table.to_arrow())
    assert "no effect" not in table._repr_html_()
    assert "rate</th>" in table._repr_html_()


@pytest.mark.parametrize(
    ("values", "kind"), [([1, 2], "int64"), ([1.5, 2], "float64"), ([True, False], "truth"), (["8 ms", 1], "text")]
)
def test_a_swept_key_is_a_column_of_its_kind(values: list[object], kind: str) -> None:
    sets = [Combination((("key", as_set("key", value)),), "") for value in values]  # type: ignore[arg-type]
    assert Rows(sets).kinds["key"] == kind
