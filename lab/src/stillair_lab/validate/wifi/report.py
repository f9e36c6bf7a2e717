"""The comparisons as text: by configuration, counts by quantity and by configuration, and the failed ones."""

from collections.abc import Sequence

from stillair.text.table import figure, table
from stillair_lab.validate.compare import OUTSIDE, WITHIN
from stillair_lab.validate.wifi.bounds import QUANTITIES
from stillair_lab.validate.wifi.compare import NOT_JUDGED, Row


def text(rows: Sequence[Row]) -> str:
    """The whole report."""
    names = list(dict.fromkeys(row.configuration for row in rows))
    parts = [_configuration(name, [row for row in rows if row.configuration == name]) for name in names]
    parts.append(summary(rows))
    return "\n\n".join(parts)


def summary(rows: Sequence[Row]) -> str:
    """Counts, and the failed comparisons."""
    names = list(dict.fromkeys(row.configuration for row in rows))
    by_quantity = [_counted(name, [row for row in rows if row.quantity == name]) for name in QUANTITIES]
    by_name = [_counted(name, [row for row in rows if row.configuration == name]) for name in names]
    parts = [_totals("quantity", by_quantity), _totals("configuration", by_name)]
    missed = [row for row in rows if row.verdict == OUTSIDE]
    if missed:
        header = ["missed", "", "", "kernel", "model", "model / kernel"]
        cells = [
            [f"{row.configuration} {row.unit}", row.quantity, "", _value(row.kernel), _value(row.model), _ratio(row)]
            for row in missed
        ]
        parts.append(table(header, cells))
    reasons = list(dict.fromkeys(row.why for row in rows if row.why))
    parts += [f"{len(own)} not judged: {why}" for why in reasons if (own := [row for row in rows if row.why == why])]
    _, within, outside, share = _counted("", rows)
    judged = sum(row.verdict != NOT_JUDGED for row in rows)
    parts.append(
        f"{judged} comparisons in {len(names)} configurations: {within} within, {outside} outside, {share} within"
    )
    return "\n\n".join(parts)


def _configuration(name: str, own: Sequence[Row]) -> str:
    cells = [
        [
            f"{row.unit}: {row.quantity}", _value(row.kernel), "" if row.spread is None else f"±{figure(row.spread)}",
            _value(row.model), figure(row.low), figure(row.high), row.verdict,
        ]
        for row in own
    ]  # fmt: skip
    return f"{name}\n{table(['', 'kernel', '', 'model', 'from', 'to', ''], cells, indent='  ')}"


def _totals(title: str, lines: Sequence[Sequence[str]]) -> str:
    return table([title, WITHIN, OUTSIDE, "%"], [line for line in lines if line[1:3] != ["0", "0"]])


def _counted(name: str, rows: Sequence[Row]) -> list[str]:
    within, outside = (sum(row.verdict == verdict for row in rows) for verdict in (WITHIN, OUTSIDE))
    share = f"{100 * within / (within + outside):.0f} %" if within + outside else "-"
    return [name, str(within), str(outside), share]


def _value(value: float | str | None) -> str:
    return value if isinstance(value, str) else figure(value)


def _ratio(row: Row) -> str:
    if isinstance(row.kernel, float) and isinstance(row.model, float) and row.kernel:
        return f"{row.model / row.kernel:.2f}"
    return "-"
