"""The Parquet data set of a sweep: a file for every few combinations, byte-identical whoever wrote it.

File names contain the first and last combination, and a hash of the combinations included. An existing file
is therefore complete, and a file without a failed combination has another name.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stillair import __version__
from stillair.results.frame import Columns, Entry, Kind, batch, schema
from stillair.results.report import Figure, figures
from stillair.results.result import Result
from stillair.runs.cache import Combination
from stillair.text import extras, output

FOLDER = "table"

_MOST_FILES = 512
_FORMAT = 1
_AFTER: Mapping[str, Kind] = {
    "run": "uint64",
    "seed": "uint64",
    "group": "text",
    "subject": "text",
    "metric": "text",
    "value": "float64",
}


class Rows:
    """The table of a sweep: a row for each figure of each run, with the overrides of its combination."""

    def __init__(self, combinations: Sequence[Combination]) -> None:
        """Takes all combinations of the sweep, which determine the column types."""
        self._combinations = combinations
        # A swept seed is the seed of the runs, and has a column already.
        self._keys = [key for key, _ in combinations[0].sets if key not in ("cell", *_AFTER)]
        self._values: dict[str, list[Entry]] = {}
        kinds: dict[str, Kind] = {"cell": "uint64"}
        for key in self._keys:
            kinds[key], self._values[key] = _read([dict(of.sets)[key] for of in combinations])
        self.kinds: Mapping[str, Kind] = {**kinds, **_AFTER}

    def of(self, cell: int, result: Result) -> Columns:
        """Rows of one combination."""
        columns: dict[str, list[Entry]] = {name: [] for name in ("run", "seed", *Figure._fields)}
        for run in result.runs:
            found = list(figures(run))
            columns["run"] += [run["run"]] * len(found)
            columns["seed"] += [run["seed"]] * len(found)
            for at, name in enumerate(Figure._fields):
                columns[name] += [figure[at] for figure in found]
        rows = len(columns["run"])
        sets: dict[str, list[Entry]] = {key: [self._values[key][cell]] * rows for key in self._keys}
        return {"cell": [cell] * rows, **sets, **columns}


class DataSet:
    """The Parquet files of a sweep."""

    def __init__(self, folder: Path, combinations: Sequence[Combination]) -> None:
        """`folder` is the sweep's folder. Raises `InputError` if pyarrow is missing."""
        extras.need("pyarrow.parquet", "arrow")
        self._folder = folder / FOLDER
        self._combinations = combinations
        self._rows = Rows(combinations)

    def write(self, chunk: range, results: Sequence[Result | None]) -> None:
        """Writes the file of a chunk from the available combinations, unless it exists."""
        path = self._folder / self._name(chunk, results)
        if not path.exists():
            arrow, parquet = extras.need("pyarrow", "arrow"), extras.need("pyarrow.parquet", "arrow")
            columns = schema(self._rows.kinds, {"stillair": __version__})
            found = ((cell, results[cell]) for cell in chunk)
            made = [batch(columns, self._rows.of(cell, result)) for cell, result in found if result is not None]
            # Snappy: for such small files, setting up zstd takes as long as writing the file.
            with output.whole(path, shared=True) as part:
                parquet.write_table(arrow.Table.from_batches(made, columns), part, compression="snappy")
        for other in self._folder.glob(f"{_stem(chunk)}-*.parquet"):
            if other != path:
                other.unlink(missing_ok=True)

    def prune(self, results: Sequence[Result | None]) -> None:
        """Removes our files that belong to no chunk of this sweep.

        The caller must hold the folder exclusively.
        """
        names = {self._name(chunk, results) for chunk in chunks(len(self._combinations))}
        for path in self._folder.glob("cells-*.parquet"):
            if path.name not in names and re.fullmatch(r"cells-\d{6}-\d{6}-[0-9a-f]{12}\.parquet", path.name):
                path.unlink(missing_ok=True)

    def _name(self, chunk: range, results: Sequence[Result | None]) -> str:
        inside = [self._combinations[cell].fingerprint for cell in chunk if results[cell] is not None]
        what = json.dumps([_FORMAT, self._rows.kinds, inside])
        return f"{_stem(chunk)}-{hashlib.sha256(what.encode()).hexdigest()[:12]}.parquet"


def chunks(combinations: int) -> list[range]:
    """Splits the combinations into equal chunks of neighbours, few enough files to read quickly."""
    each = -(-combinations // _MOST_FILES)
    return [range(first, min(first + each, combinations)) for first in range(0, combinations, each)]


def _stem(chunk: range) -> str:
    return f"cells-{chunk[0]:06}-{chunk[-1]:06}"


def _read(texts: Sequence[str]) -> tuple[Kind, list[Entry]]:
    """Values of a swept key: numbers or booleans if all of them are, else text."""
    if all(re.fullmatch(r"[+-]?\d{1,18}", text) for text in texts):
        return "int64", [int(text) for text in texts]
    if all(re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", text) for text in texts):
        return "float64", [float(text) for text in texts]
    if all(text in ("true", "false") for text in texts):
        return "truth", [text == "true" for text in texts]
    return "text", list(texts)


def joined(rows: Rows, results: Sequence[Result | None]) -> Iterator[Columns]:
    """The whole table in order, one combination per batch."""
    for cell, result in enumerate(results):
        if result is not None:
            yield rows.of(cell, result)
