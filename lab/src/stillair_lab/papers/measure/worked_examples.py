"""Worked examples: events printed in a paper, replayed by the receiver, with the fate of each frame.

They need no scenario or campaign. The events are in the inventory, or in the plan if the paper describes them
in words. The receiver is a program of the engine's source (`crates/sim/examples/retry_out.rs`). Its answers
are stored with the paper (`worked-examples.json`), and `make test` checks them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stillair import InputError
from stillair_lab.papers.claims import paper_registry
from stillair_lab.papers.claims.inventory import Experiment

After = Mapping[str, Any]
"""Fates of the frames of an A-MPDU, from the receiver: `up`, `kept`, `lost`, `ignored`, `counts`."""
Events = Sequence[Mapping[str, Any]]

KEPT = "worked-examples.json"
"""File in a paper's folder: `examples`, each with `index`, `ampdus` and the outcome `after`; `index_by_rate`,
rows of lower and upper bound in Mbit/s and the index."""


def events(experiment: Experiment, worked: Mapping[str, Any]) -> Events:
    """A-MPDUs of an example, each with the frames `received`, and those among them with a `crc_error`."""
    found: Events = worked.get("ampdus") or experiment.setup.get("events", ())
    return found


def came(ampdus: Events) -> Events:
    """Returns only the receiver's input for each A-MPDU."""
    return [{key: list(ampdu[key]) for key in ("received", "crc_error")} for ampdu in ampdus]


def replay(index: int, ampdus: Events) -> list[After]:
    """Returns the stored answers of a receiver that gives up a frame at this index."""
    given = came(ampdus)
    for one in _kept()["examples"]:
        if (one["index"], one["ampdus"]) == (index, given):
            after: list[After] = one["after"]
            return after
    raise InputError(
        f"index {index}: found no kept answer of the receiver to these {len(given)} A-MPDUs;"
        " lab/scripts/worked_examples.py --write keeps one"
    )


@paper_registry.remembered
def _kept() -> Mapping[str, Any]:
    """The stored answers of all papers."""
    found: dict[str, list[Any]] = {"examples": [], "index_by_rate": []}
    for folder in paper_registry.folders().values():
        if (file := folder / KEPT).is_file():
            for key, rows in json.loads(file.read_text(encoding="utf-8")).items():
                found[key] += rows
    return found


def value(name: str, experiment: Experiment, worked: Mapping[str, Any], where: Mapping[str, Any]) -> float:
    """A quantity of an example, for the frame that `where` names by `mpdu`."""
    ampdus = events(experiment, worked)
    return _QUANTITIES[name](replay(int(experiment.setup["index"]), ampdus), ampdus, int(where["mpdu"]))


def delivery(experiment: Experiment, worked: Mapping[str, Any]) -> list[int]:
    """Frames in the order of delivery."""
    after = replay(int(experiment.setup["index"]), events(experiment, worked))
    return [mpdu for row in after for mpdu in row["up"]]


def table_of_index() -> list[tuple[float, float | None, int | None]]:
    """Index by smoothed rate in Mbit/s: lower bound, upper bound, index."""
    return [(low, below, index) for low, below, index in _kept()["index_by_rate"]]


def _first(after: Sequence[After], key: str, mpdu: int) -> int:
    """Number of the first A-MPDU after which a frame is in this list; 0 if never."""
    return next((n for n, row in enumerate(after, 1) if mpdu in row[key]), 0)


def _errors_until_lost(after: Sequence[After], ampdus: Events, mpdu: int) -> float:
    lost = _first(after, "lost", mpdu)
    return sum(mpdu in ampdu["crc_error"] for ampdu in ampdus[:lost])


def _passed_up(after: Sequence[After], _: Events, mpdu: int) -> float:
    return sum(mpdu in row["up"] for row in after)


def _last_count(after: Sequence[After], _: Events, mpdu: int) -> float:
    counts = [int(row["counts"][str(mpdu)]) for row in after if str(mpdu) in row["counts"]]
    return counts[-1]


_QUANTITIES: Mapping[str, Callable[[Sequence[After], Events, int], float]] = {
    "errors-until-lost": _errors_until_lost,
    "passed-up": _passed_up,
    "lost-after": lambda after, _, mpdu: _first(after, "lost", mpdu),
    "ignored-after": lambda after, _, mpdu: _first(after, "ignored", mpdu),
    "last-count": _last_count,
}
