"""Tables I and III of the paper on bursty QUIC: figures of each cell, and throughput bars compared with the paper's."""

from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING

from stillair.results.statistics import Interval, bounds, interval
from stillair.results.summary import figure
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.bquic import table3_variations
from stillair_lab.papers.artefacts.bquic.variants import COLOURS, TITLES
from stillair_lab.papers.artefacts.intervals import along, spread
from stillair_lab.papers.measure import samples
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.runs.plan import CellPlan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A quantity of the QUIC flows, its heading, and its digits.
_SHOWN = (
    ("throughput_mbps", "Mbit/s", 2),
    ("loss_percent", "loss %", 3),
    ("srtt_ms", "srtt ms", 1),
    ("slow_start_exit_s", "slow start s", 3),
    ("gaps_below_100us_percent", "gaps < 100 us %", 1),
    ("throughput_50ms_sd_mbps", "sd in 50 ms", 2),
)
_THROUGHPUT = "mean throughput"


def text(of: Measurer) -> str:
    """A row for each cell, then gains by unstated settings, and other senders over the same paths."""
    rows = [
        [name, *(figure(found._asdict() if (found := values[key]) else None, 1, digits) for key, _, digits in _SHOWN)]
        for name, values in _cells(of)
    ]
    own = table(["", *(heading for _, heading, _ in _SHOWN)], rows)
    return "\n\n".join(
        part.rstrip()
        for part in (own, table3_variations.gains(of), table3_variations.losses(of), table3_variations.senders(of))
        if part
    )


def picture(of: Measurer) -> "Figure":
    """Throughput of each client with both variants; diamonds mark the paper's."""
    clients = _clients(of)
    with style.styled():
        drawn = style.new(1.6 + 0.9 * len(clients), 3.4)
        axes = drawn.add_subplot()
        width = 0.8 / len(TITLES)
        for number, (proto, title) in enumerate(TITLES.items()):
            found = [of.of_cell({"client": client, "proto": proto}, _THROUGHPUT) for client in clients]
            places = [at + (number - 0.5) * width for at in range(len(clients))]
            means = [measured.mean if measured else 0.0 for measured in found]
            style.bars(axes, places, means, [spread(m) for m in found], width, COLOURS[proto], title)
            printed = _printed(of, clients, proto)
            label = "" if number else "the paper"
            axes.plot(places, printed, "D", color="white", markeredgecolor=style.INK, markersize=4.5, label=label)
        along(axes, clients)
        axes.set_ylabel("UDP payload, Mbit/s")
        axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3)
        return drawn


def clients_text(of: Measurer) -> str:
    """Table I: hops of each client, as printed and as simulated."""
    hops = {claim.configuration["client"]: claim.value for claim in of.experiment.claims}
    rows = [
        [client, f"{hops[client]:g}", _cell(of, client).overrides["flow.0.to"].removeprefix("rp")]
        for client in _clients(of)
    ]
    return table(["client", "hops, paper", "hops here"], rows)


def clients_picture(of: Measurer) -> "Figure":
    """Hops by client."""
    clients = _clients(of)
    hops = [int(_cell(of, client).overrides["flow.0.to"].removeprefix("rp")) for client in clients]
    with style.styled():
        drawn = style.new(4.6, 2.6)
        axes = drawn.add_subplot()
        axes.bar(range(len(clients)), hops, width=0.6, color=style.SKY)
        along(axes, clients)
        axes.set_ylabel("wireless hops to the gateway")
        axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
        return drawn


def _clients(of: Measurer) -> list[str]:
    cells = [cell.where for campaign in of.own.campaigns[:1] for cell in campaign.cells]
    return list(dict.fromkeys(str(where["client"]) for where in cells if "client" in where))


def _cell(of: Measurer, client: str) -> CellPlan:
    return next(cell for cell in of.own.campaigns[0].cells if cell.where.get("client") == client)


def _printed(of: Measurer, clients: Sequence[str], proto: str) -> list[float]:
    said = {
        claim.configuration.get("client"): claim.value
        for claim in of.experiment.claims
        if claim.metric == _THROUGHPUT and claim.configuration.get("proto") == proto
    }
    # Values that the paper does not print are not drawn.
    return [value if (value := said.get(client)) is not None else nan for client in clients]


def _cells(of: Measurer) -> list[tuple[str, dict[str, Interval | None]]]:
    """Cells of the experiment and of each single change, with their quantities over the runs."""
    found = []
    for campaign in of.own.campaigns:
        if campaign.id.startswith(table3_variations.CAMPAIGNS):
            continue
        outcome = of.outcomes.get(campaign.id)
        for name, result in (outcome.results or {}).items() if outcome else ():
            values: dict[str, Interval | None] = {}
            for key, _, _ in _SHOWN:
                runs = [samples.of_run(result, run, f"quic.{key}", "mean") for run in result.runs]
                known = [value for value in runs if value is not None]
                values[key] = interval(known, within=bounds(key)) if known else None
            found.append((name, values))
    return found
