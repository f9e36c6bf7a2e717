"""A comparison as a picture: bars with intervals for each quantity, a colour for each side."""

import math
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from stillair._native import InputError
from stillair.cli.compare.rows import Row
from stillair.cli.compare.sides import Side
from stillair.runs.metrics.quantities import Quantity
from stillair.text import extras, output

SUFFIXES = (".png", ".svg", ".pdf")
_MOST_PANELS = 6
_MOST_BARS = 16


def check(path: Path, *, force: bool = False) -> None:
    """Rejects an unusable path before any run starts."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: the name must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    output.check(path)
    output.refuse_present([path], force)
    extras.need("matplotlib", "plot")


def write(path: Path, sides: Sequence[Side], rows: Sequence[Row]) -> str:
    """Draws the picture. Returns a note about rows that were left out, or an empty string."""
    by_quantity: dict[Quantity, list[Row]] = {}
    for row in rows:
        by_quantity.setdefault(row.quantity, []).append(row)
    panels = list(by_quantity.items())[:_MOST_PANELS]
    if not panels:
        raise InputError(f"{path}: nothing to draw: no quantity was measured")
    output.write_bytes(path.parent, {path.name: _drawn(path.suffix.lower()[1:], sides, panels)})
    left = len(by_quantity) - len(panels)
    cut = any(len(own) > _MOST_BARS for _, own in panels)
    told = [f"the first {_MOST_PANELS} of {len(by_quantity)} quantities"] if left else []
    told += [f"the first {_MOST_BARS} of each"] if cut else []
    return f"{' and '.join(told)} are drawn; --only 'PATTERN' chooses" if told else ""


def _drawn(kind: str, sides: Sequence[Side], panels: Sequence[tuple[Quantity, list[Row]]]) -> bytes:
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and slow to load
    from matplotlib.patches import Patch  # noqa: PLC0415

    from stillair.plot.style import HATCHES, colour, style  # noqa: PLC0415

    columns = min(2, len(panels))
    lines = math.ceil(len(panels) / columns)
    with style():
        figure = Figure(figsize=(4.2 * columns, 2.8 * lines + 0.6), layout="constrained")
        grid = figure.subplots(lines, columns, squeeze=False)
        every = [axes for line in grid for axes in line]
        for axes, (quantity, rows) in zip(every, panels, strict=False):
            shown = rows[:_MOST_BARS]
            width = 0.8 / len(sides)
            for number in range(len(sides)):
                for at, row in enumerate(shown):
                    value = row.values[number]
                    if value is not None:
                        place = at + (number - (len(sides) - 1) / 2) * width
                        spread = [[value.mean - value.low], [value.high - value.mean]]
                        axes.bar(
                            place,
                            value.mean,
                            width * 0.92,
                            color=colour(number),
                            hatch=HATCHES[number % len(HATCHES)],
                            edgecolor="white",
                            yerr=spread if value.high > value.low else None,
                            capsize=3,
                        )
            long = sum(len(row.of) for row in shown) > 30
            turned = {"rotation": 30, "ha": "right"} if long else {}
            axes.set_xticks(range(len(shown)), [row.of or "all" for row in shown], **turned)
            axes.set_ylabel(f"{quantity.words} ({quantity.unit})" if quantity.unit else quantity.words)
            axes.grid(visible=False, axis="x")
        for axes in every[len(panels) :]:
            axes.set_visible(False)
        keys = [
            Patch(facecolor=colour(number), edgecolor="white", hatch=HATCHES[number % len(HATCHES)])
            for number in range(len(sides))
        ]
        figure.legend(keys, [side.title for side in sides], loc="outside upper center", ncols=min(4, len(sides)))
        # Without a date, the same picture gives the same file.
        dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
        held = BytesIO()
        figure.savefig(held, format=kind, metadata=dates[kind])
        return held.getvalue()
