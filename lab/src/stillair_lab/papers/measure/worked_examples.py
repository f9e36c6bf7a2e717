"""Worked examples: events that a paper prints, handed to the receiver itself, and what became of each frame.

No scenario and no campaign: the events stand in the inventory, or in the plan where the paper tells them in words. The
receiver is a program of the engine's source (`crates/sim/examples/retry_out.rs`); its answers are kept beside the
paper (`worked-examples.json`), and `make test` asks it again.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stillair import InputError
from stillair_lab.papers.claims import paper_registry
from stillair_lab.papers.claims.inventory import Experiment

After = Mapping[str, Any]
"""What became of the frames of one A-MPDU, as the receiver tells it: `up`, `kept`, `lost`, `ignored`, `counts`."""
Events = Sequence[Mapping[str, Any]]

KEPT = "worked-examples.json"
"""In a paper's folder: `examples`, each with `index`, `ampdus` and what came of them, `after`; `index_by_rate`, rows of
from and below in Mbit/s and the index."""


def events(experiment: Experiment, worked: Mapping[str, Any]) -> Events:
    """The A-MPDUs of an example, each with what was `received` and what of it came with a `crc_error`."""
    found: Events = worked.get("ampdus") or experiment.setup.get("events", ())
    return found


def came(ampdus: Events) -> Events:
    """Returns only what the receiver is given of each A-MPDU."""
    return [{key: list(ampdu[key]) for key in ("received", "crc_error")} for ampdu in ampdus]


def replay(index: int, ampdus: Events) -> list[After]:
    """Returns the kept answers of a receiver that gives a frame up at this index."""
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
    """What all papers have kept."""
    found: dict[str, list[Any]] = {"examples": [], "index_by_rate": []}
    for folder in paper_registry.folders().values():
        if (file := folder / KEPT).is_file():
            for key, rows in json.loads(file.read_text(encoding="utf-8")).items():
                found[key] += rows
    return found


def value(name: str, experiment: Experiment, worked: Mapping[str, Any], where: Mapping[str, Any]) -> float:
    """A quantity of an example, of the frame that `where` names by `mpdu`."""
    ampdus = events(experiment, worked)
    return _QUANTITIES[name](replay(int(experiment.setup["index"]), ampdus), ampdus, int(where["mpdu"]))


def delivery(experiment: Experiment, worked: Mapping[str, Any]) -> list[int]:
    """The frames in the order in which they went up."""
    after = replay(int(experiment.setup["index"]), events(experiment, worked))
    return [mpdu for row in after for mpdu in row["up"]]


def table_of_index() -> list[tuple[float, float | None, int | None]]:
    """Where the index changes over the smoothed rate, in Mbit/s: from, below, index."""
    return [(low, below, index) for low, below, index in _kept()["index_by_rate"]]


def _first(after: Sequence[After], key: str, mpdu: int) -> int:
    """The number of the first A-MPDU after which a frame is among these; 0 if it never is."""
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
