"""Figures 3 and 4 and Table I of the retry-out paper: how a receiver handles corrupted frames."""

from typing import TYPE_CHECKING

from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.measure import worked_examples
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.measure.worked_examples import After, Events

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Fates of a frame in an A-MPDU, in the order in which they are checked.
_FATES = {
    "up": ("goes up", style.GREEN),
    "ignored": ("ignored", style.PURPLE),
    "kept": ("kept", style.SKY),
    "lost": ("broken, marked lost", style.VERMILION),
    "broken": ("broken", style.ORANGE),
}


def text(of: Measurer) -> str:
    """Content and fate of each A-MPDU, frame by frame."""
    ampdus, after = _example(of)
    lines = [
        [
            str(n),
            _numbers(came["received"]),
            _numbers(came["crc_error"]),
            *(_numbers(row[k]) for k in _SHOWN),
            _counts(row),
        ]
        for n, (came, row) in enumerate(zip(ampdus, after, strict=True), 1)
    ]
    heading = ["A-MPDU", "received", "broken", *_SHOWN, "retransmissions"]
    return f"Index {of.experiment.setup['index']}; retransmissions as estimated.\n\n" + table(heading, lines)


def picture(of: Measurer) -> "Figure":
    """The same with a row for each A-MPDU and a column for each frame."""
    ampdus, after = _example(of)
    frames = sorted({mpdu for came in ampdus for mpdu in came["received"]})
    with style.styled():
        drawn = style.new(1.4 + 0.55 * len(frames) + 1.6, 0.9 + 0.42 * len(ampdus))
        axes = drawn.add_subplot()
        named: set[str] = set()
        for n, (came, row) in enumerate(zip(ampdus, after, strict=True), 1):
            for mpdu in sorted({*came["received"], *row["up"]}):
                label, colour = _FATES[_fate(mpdu, came["crc_error"], row)]
                axes.bar(mpdu, 0.8, width=0.9, bottom=n - 0.4, color=colour, label="" if label in named else label)
                named.add(label)
                count = row["counts"].get(str(mpdu))
                said = str(mpdu) if count is None else f"{mpdu} ({count})"
                axes.text(mpdu, n, said, ha="center", va="center", fontsize=8, color=style.ink_on(colour))
        axes.set_ylim(len(ampdus) + 0.6, 0.4)
        axes.set_yticks(range(1, len(ampdus) + 1))
        axes.set_xticks(frames)
        axes.grid(visible=False)
        axes.set_ylabel("A-MPDU")
        axes.set_xlabel("MPDU (estimated retransmissions)")
        axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
        return drawn


def index_text(of: Measurer) -> str:  # noqa: ARG001 - the table is the code's own
    """Table I: the access point's index by smoothed rate."""
    rows = [
        [f"{low:g}", "" if high is None else f"{high:g}", _index(index)]
        for low, high, index in worked_examples.table_of_index()
    ]
    return table(["from Mbit/s", "below", "index"], rows)


def index_picture(of: Measurer) -> "Figure":
    """Table I as a line."""
    with style.styled():
        drawn = style.new(4.2, 2.6)
        axes = drawn.add_subplot()
        for low, high, index in worked_examples.table_of_index():
            if index is not None and high is not None:
                axes.hlines(index, low, high, color=style.BLUE, linewidth=2.5)
        axes.set_xlim(0, 150)
        axes.set_ylim(0, 10)
        axes.set_xlabel("smoothed data rate, Mbit/s")
        axes.set_ylabel("retry-out index")
        axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
        return drawn


_CAME = ("received", "crc_error")
_SHOWN = ("up", "kept", "lost", "ignored")


def _example(of: Measurer) -> tuple[Events, list[After]]:
    ampdus = worked_examples.events(of.experiment, of.own.worked or {})
    return ampdus, worked_examples.replay(int(of.experiment.setup["index"]), ampdus)


def _fate(mpdu: int, broken: list[int], row: After) -> str:
    # A frame that waited is delivered in the row of the frame that it waited for.
    if mpdu in broken:
        return "lost" if mpdu in row["lost"] else "broken"
    return next(fate for fate in ("up", "ignored", "kept") if mpdu in row[fate])


def _numbers(mpdus: list[int]) -> str:
    return " ".join(map(str, mpdus)) or "-"


def _counts(row: After) -> str:
    return ", ".join(f"{mpdu}: {count}" for mpdu, count in row["counts"].items()) or "-"


def _index(index: int | None) -> str:
    return "none" if index is None else str(index)
