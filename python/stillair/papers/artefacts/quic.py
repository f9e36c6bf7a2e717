"""The tables and figures of the paper on bursty QUIC: what each cell gives, and bars of its throughput."""

from typing import TYPE_CHECKING

from stillair.papers import samples, style
from stillair.papers.measure import Measurer
from stillair.statistics import Interval, interval
from stillair.summary import figure
from stillair.table import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A quantity of the flows over QUIC, its heading, and its digits.
_SHOWN = (
    ("throughput_mbps", "Mbit/s", 2),
    ("loss_percent", "loss %", 3),
    ("srtt_ms", "srtt ms", 1),
    ("slow_start_exit_s", "slow start s", 3),
    ("gaps_below_100us_percent", "gaps < 100 us %", 1),
    ("throughput_50ms_sd_mbps", "sd in 50 ms", 2),
)


def _cells(of: Measurer) -> list[tuple[str, dict[str, Interval | None]]]:
    """All cells that were run, with their quantities over the runs."""
    found = []
    for campaign in of.own.campaigns:
        outcome = of.outcomes.get(campaign.id)
        for name, result in (outcome.results or {}).items() if outcome else ():
            values: dict[str, Interval | None] = {}
            for key, _, _ in _SHOWN:
                runs = [samples.of_run(result, run, f"quic.{key}", "mean") for run in result.runs]
                known = [value for value in runs if value is not None]
                values[key] = interval(known) if known else None
            found.append((name, values))
    return found


def text(of: Measurer) -> str:
    """A row for each cell."""
    rows = [
        [name, *(figure(found._asdict() if (found := values[key]) else None, 1, digits) for key, _, digits in _SHOWN)]
        for name, values in _cells(of)
    ]
    return table(["", *(heading for _, heading, _ in _SHOWN)], rows)


def picture(of: Measurer) -> "Figure":
    """Throughput of each cell."""
    cells = [(name, values["throughput_mbps"]) for name, values in _cells(of)]
    known = [(name, value) for name, value in cells if value is not None]
    with style.styled():
        drawn = style.new(7.0, 0.8 + 0.25 * len(known))
        axes = drawn.subplots()
        axes.barh(range(len(known)), [value.mean for _, value in known])
        axes.set_yticks(range(len(known)), [name for name, _ in known])
        axes.invert_yaxis()
        axes.set_xlabel("UDP payload, Mbit/s")
    return drawn
