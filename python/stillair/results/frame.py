"""Columnar tables for pyarrow, polars, pandas and DuckDB, over the Arrow PyCapsule interface."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from stillair._native import InputError
from stillair.text import extras, markup, output
from stillair.text.table import table

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Kind = Literal["int64", "uint64", "float64", "text", "truth"]
Entry = str | int | float | bool | None
Columns = Mapping[str, Sequence[Entry]]

_MOST_ROWS = 10
_POLARS = {"int64": "Int64", "uint64": "UInt64", "float64": "Float64", "text": "String", "truth": "Boolean"}
_ARROW = {"text": "string", "truth": "bool_"}
_PANDAS = {"int64": "int64", "uint64": "uint64", "float64": "float64", "truth": "bool"}


class Tabular(ABC):
    """A table with typed columns, whose values come in one or several batches."""

    @abstractmethod
    def kinds(self) -> Mapping[str, Kind]:
        """Column names and types, in order."""

    @abstractmethod
    def batches(self) -> Iterator[Columns]:
        """Batches of rows."""

    def __arrow_c_schema__(self) -> object:
        """The schema, for Arrow libraries."""
        return self.arrow_schema().__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The values, for Arrow libraries: one batch at a time, without copies."""
        return self.to_batches().__arrow_c_stream__(requested_schema)

    def arrow_schema(self) -> "pyarrow.Schema":
        """The schema as a pyarrow object."""
        return schema(self.kinds())

    def to_batches(self) -> "pyarrow.RecordBatchReader":
        """The values as a pyarrow stream."""
        columns = self.arrow_schema()
        made = (batch(columns, values) for values in self.batches())
        reader: pyarrow.RecordBatchReader = _arrow().RecordBatchReader.from_batches(columns, made)
        return reader

    def to_arrow(self) -> "pyarrow.Table":
        """The values as a pyarrow table."""
        return self.to_batches().read_all()

    def to_pandas(self) -> "pandas.DataFrame":
        """The values as a pandas DataFrame."""
        kinds = {name: _PANDAS[kind] for name, kind in self.kinds().items() if kind in _PANDAS}
        frame: pandas.DataFrame = extras.need("pandas", "pandas").DataFrame(self.columns())
        return frame.astype(kinds)

    def to_polars(self) -> "polars.DataFrame":
        """The values as a polars DataFrame."""
        module = extras.need("polars", "polars")
        kinds = {name: getattr(module, _POLARS[kind]) for name, kind in self.kinds().items()}
        frame: polars.DataFrame = module.DataFrame(self.columns(), schema=kinds)
        return frame

    def columns(self) -> dict[str, list[Entry]]:
        """All values by column."""
        whole: dict[str, list[Entry]] = {name: [] for name in self.kinds()}
        for values in self.batches():
            for name, column in whole.items():
                column.extend(values[name])
        return whole

    def rows(self) -> Iterator[tuple[Entry, ...]]:
        """All values by row."""
        for values in self.batches():
            yield from zip(*(values[name] for name in self.kinds()), strict=True)

    def save(self, path: str | Path) -> None:
        """Writes a file in the format of its suffix: `.csv` or `.parquet`."""
        path = Path(path)
        if path.name.lower().endswith(".parquet"):
            parquet = extras.need("pyarrow.parquet", "arrow")
            with output.whole(path) as part, parquet.ParquetWriter(part, self.arrow_schema(), compression="zstd") as to:
                for one in self.to_batches():
                    to.write_batch(one)
        elif path.name.lower().endswith(".csv"):
            with output.text_file(path) as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(self.kinds())
                writer.writerows(self.rows())
        else:
            raise InputError(f"{path}: the name must end in .csv or .parquet")


class Frame(Tabular):
    """A table in memory."""

    def __init__(self, title: str, kinds: Mapping[str, Kind], columns: Columns) -> None:
        """Takes columns of equal length, one for each key of `kinds`."""
        self.title = title
        self._kinds = dict(kinds)
        self._columns = {name: columns[name] for name in self._kinds}

    def kinds(self) -> Mapping[str, Kind]:
        """Column names and types, in order."""
        return self._kinds

    def batches(self) -> Iterator[Columns]:
        """All values in one batch."""
        yield self._columns

    def __len__(self) -> int:
        """Number of rows."""
        return len(next(iter(self._columns.values())))

    def __getitem__(self, column: str) -> Sequence[Entry]:
        """A column."""
        return self._columns[column]

    def __repr__(self) -> str:
        """The first rows as text."""
        head = f"{self.title}: {len(self)} rows"
        return f"{head}\n{table(list(self._kinds), self._first())}{self._more()}"

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        shown = markup.grid(list(self._kinds), map(markup.row, self._first()))
        return f"{markup.lines(f'{self.title}: {len(self)} rows')}\n{shown}{markup.lines(self._more())}"

    def _first(self) -> list[list[str]]:
        rows = zip(*(column[:_MOST_ROWS] for column in self._columns.values()), strict=True)
        return [["-" if value is None else str(value) for value in row] for row in rows]

    def _more(self) -> str:
        more = len(self) - _MOST_ROWS
        return f"\n... and {more} more" if more > 0 else ""


def schema(kinds: Mapping[str, Kind], metadata: Mapping[str, str] | None = None) -> "pyarrow.Schema":
    """Column types as a pyarrow schema."""
    arrow = _arrow()
    fields = [(name, getattr(arrow, _ARROW.get(kind, kind))()) for name, kind in kinds.items()]
    made: pyarrow.Schema = arrow.schema(fields, metadata=metadata)
    return made


def batch(columns: "pyarrow.Schema", values: Columns) -> "pyarrow.RecordBatch":
    """Values as a pyarrow record batch."""
    arrow = _arrow()
    arrays = [arrow.array(values[field.name], type=field.type) for field in columns]
    made: pyarrow.RecordBatch = arrow.record_batch(arrays, schema=columns)
    return made


def _arrow() -> "_Arrow":
    return extras.need("pyarrow", "arrow")  # type: ignore[no-any-return]


if TYPE_CHECKING:
    from types import ModuleType as _Arrow
