"""Variations of Table III of the paper on bursty QUIC: gains by unstated settings, and other senders."""

from collections.abc import Iterator, Mapping, Sequence

from stillair.results.result import Result
from stillair.results.statistics import interval, ratio_interval
from stillair.results.summary import NOT_MEASURED
from stillair.text.table import table
from stillair_lab.papers.artefacts.bquic.variants import TITLES
from stillair_lab.papers.artefacts.intervals import named
from stillair_lab.papers.measure import quic, samples
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.runs.plan import CellPlan

_OPEN, _SENDERS, _GAPS = "open-", "senders-", "gaps-"
CAMPAIGNS = (_OPEN, _SENDERS)

# A gain counts as reached within this many percentage points, if plain QUIC is within its tolerance.
NEAR_POINTS = 5.0
NEAR_QUIC = 0.25

# A share of short gaps counts as reached within this many percentage points.
NEAR_SHARE = 10.0

# Throughput of the plain variant in Mbit/s, and the gain in per cent.
Found = tuple[float, float]


def gains(of: Measurer) -> str:
    """A row for each setting, a column for each client; empty if not run."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for cell, result in _ran(of, _OPEN):
        client, setting = str(cell.where["case"]).split(": ", 1)
        found.setdefault((setting, client), {})[str(cell.where["proto"])] = _throughput(result)
    if not found:
        return ""
    clients = list(dict.fromkeys(client for _, client in found))
    settings = list(dict.fromkeys(setting for setting, _ in found))
    rows = [["as above", *(_told(of, client, _main(of, client)) for client in clients)]]
    for setting in settings:
        runs = [found.get((setting, client), {}) for client in clients]
        rows.append([setting, *(_told(of, c, _gain(r)) for c, r in zip(clients, runs, strict=True))])
    rows.append(["the paper", *(_as_text(_printed(of, client)) for client in clients)])
    said = (
        "Mbit/s of QUIC and the gain of BQUIC by what the paper leaves open, one setting at a time. * is within "
        f"{NEAR_POINTS:g} points of the paper's gain, with QUIC\nwithin {NEAR_QUIC:.0%} of the paper's."
    )
    return f"{said}\n\n" + table(["", *clients], rows)


def losses(of: Measurer) -> str:
    """Losses of both variants by unstated settings: a row for each setting, a column for each client."""
    found: dict[tuple[str, str], dict[str, float | None]] = {}
    for cell, result in _ran(of, _OPEN):
        client, setting = str(cell.where["case"]).split(": ", 1)
        found.setdefault((setting, client), {})[str(cell.where["proto"])] = _mean(result, "loss_percent")
    clients = list(dict.fromkeys(client for _, client in found))
    rows = [
        [setting, *(_pair(found.get((setting, client), {})) for client in clients)]
        for setting in dict.fromkeys(setting for setting, _ in found)
    ]
    said = "Per cent that QUIC and BQUIC lose, by what the paper leaves open."
    return f"{said}\n\n" + table(["", *clients], rows) if rows else ""


def _pair(values: Mapping[str, float | None]) -> str:
    return ", ".join(NOT_MEASURED if (v := values[proto]) is None else f"{v:.2f}" for proto in TITLES if values)


def senders(of: Measurer) -> str:
    """Throughput of other senders over the same paths, a row each; empty if not run."""
    found = {(str(c.where["sender"]), str(c.where["client"])): result for c, result in _ran(of, _SENDERS)}
    if not found:
        return ""
    clients = list(dict.fromkeys(client for _, client in found))
    own = {
        (title, client): of.result({"client": client, "proto": proto})
        for proto, title in TITLES.items()
        for client in clients
    }
    every = {**own, **found}
    names = dict.fromkeys(sender for sender, _ in every)
    rows = [[name, *(_goodput(every[name, client]) for client in clients)] for name in names]
    return "Mbit/s that the application gets of the same 10 MB by other senders.\n\n" + table(["", *clients], rows)


def spreads(of: Measurer) -> str:
    """Variation of the throughput in 50 ms intervals by unstated settings, for the figure's client."""
    client = (of.own.where or {})["client"]
    found: dict[str, dict[str, float | None]] = {}
    for cell, result in _ran(of, _OPEN):
        case_of, setting = str(cell.where["case"]).split(": ", 1)
        if case_of == client:
            found.setdefault(setting, {})[str(cell.where["proto"])] = _mean(result, "throughput_50ms_sd_mbps")
    if not found:
        return ""
    rows = []
    for setting, values in found.items():
        plain, bursty = (values[proto] for proto in TITLES)
        ratio = f"{bursty / plain:.2f}" if plain and bursty else NOT_MEASURED
        rows.append([setting, *(NOT_MEASURED if v is None else f"{v:.1f}" for v in (plain, bursty)), ratio])
    said = "Standard deviation of the throughput by 50 ms in Mbit/s, by what the paper leaves open."
    return f"{said}\n\n" + table(["", *TITLES.values(), "BQUIC over QUIC"], rows)


def pages(of: Measurer) -> str:
    """Improvement of page load times in per cent with one setting changed.

    A row for each setting, a column for each page.
    """
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for cell, result in _ran(of, _OPEN):
        site, setting = str(cell.where["case"]).split(": ", 1)
        loads = [run["page_load_s"] for run in result.runs]
        found.setdefault((setting, site), {})[str(cell.where["proto"])] = loads
    if not found:
        return ""
    sites = list(dict.fromkeys(site for _, site in found))
    main = [named(of.of_cell({"site": site}, "reduction of mean page load time"), 1) for site in sites]
    rows = [["as above", *main]]
    for setting in dict.fromkeys(setting for setting, _ in found):
        runs = [found[setting, site] for site in sites]
        less = [ratio_interval(one["bquic"], one["quic"]) for one in runs]
        rows.append([setting, *(f"{100 * (1 - ratio.mean):.1f}" for ratio in less)])
    said = "Reduction of the mean time in per cent, with one setting changed for QUIC and BQUIC alike."
    return f"{said}\n\n" + table(["", *sites], rows)


def gaps(of: Measurer) -> str:
    """Short gaps and peaks of QUIC by pacing: a row for each setting, three columns for each client."""
    found = {(str(cell.where["case"]), str(cell.where["client"])): result for cell, result in _ran(of, _GAPS)}
    if not found:
        return ""
    clients = list(dict.fromkeys(client for _, client in found))
    printed = next(c.value for c in of.experiment.claims if c.unit == "%" and c.configuration["proto"] == "quic")
    rows = []
    for setting in dict.fromkeys(setting for setting, _ in found):
        told: list[str] = []
        for client in clients:
            result = found[setting, client]
            short = _mean(result, "gaps_below_100us_percent")
            peaks = [*quic.modes(_histogram(result)), None, None][:2]
            near = short is not None and printed is not None and abs(short - printed) <= NEAR_SHARE
            told += [f"{short:.1f}{'*' if near else ' '}", *("" if at is None else f"{at:.0f}" for at in peaks)]
        rows.append([setting, *told])
    heading = [f"{client} {what}" for client in clients for what in ("< 100 us %", "peak us", "and")]
    said = f"QUIC's gaps by how it paces. * is within {NEAR_SHARE:g} points of the paper's {printed:g} %."
    return f"{said}\n\n" + table(["", *heading], rows)


def _histogram(result: Result) -> list[int]:
    """Gaps of all runs, without those longer than the last bin."""
    flows = [flow for run in result.runs for flow in run["quic"].values()]
    return [sum(bins) for bins in zip(*(flow["gaps"][:-1] for flow in flows), strict=True)]


def _mean(result: Result, key: str) -> float | None:
    found = [quic.of_run(run, key, "mean") for run in result.runs]
    values = [value for value in found if value is not None]
    return interval(values).mean if values else None


def _ran(of: Measurer, kind: str) -> Iterator[tuple[CellPlan, Result]]:
    for campaign in of.own.campaigns:
        outcome = of.outcomes.get(campaign.id)
        if campaign.id.startswith(kind) and outcome and outcome.results:
            yield from ((cell, outcome.results[cell.name]) for cell in campaign.cells)


def _throughput(result: Result) -> list[float]:
    values = [samples.of_run(result, run, "quic.throughput_mbps", "mean") for run in result.runs]
    return [value for value in values if value is not None]


def _main(of: Measurer, client: str) -> Found | None:
    return _gain({proto: _throughput(of.result({"client": client, "proto": proto})) for proto in TITLES})


def _gain(runs: Mapping[str, Sequence[float]]) -> Found | None:
    if not runs:
        return None
    plain, bursty = (runs[proto] for proto in TITLES)
    return interval(plain).mean, 100 * (ratio_interval(bursty, plain).mean - 1)


def _printed(of: Measurer, client: str) -> Found:
    """The printed throughput of plain QUIC and its gain."""
    of_client = [claim for claim in of.experiment.claims if claim.configuration.get("client") == client]
    plain = next(c.value for c in of_client if c.configuration.get("proto") == "quic" and c.unit == "Mbit/s")
    gain = next(c.value for c in of_client if "numerator" in c.configuration)
    if plain is None or gain is None:
        raise ValueError(f"the inventory has no numbers for {client}")
    return plain, 100 * (gain - 1)


def reaches(found: Found, printed: Found) -> bool:
    """Returns true if both the gain and plain QUIC match the paper."""
    return abs(found[1] - printed[1]) <= NEAR_POINTS and abs(found[0] / printed[0] - 1) <= NEAR_QUIC


def _told(of: Measurer, client: str, found: Found | None) -> str:
    return f"{_as_text(found)}{'*' if found and reaches(found, _printed(of, client)) else ' '}"


def _as_text(found: Found | None) -> str:
    return "" if found is None else f"{found[0]:.1f} {found[1]:+.0f} %"


def _goodput(result: Result) -> str:
    values = [value for run in result.runs if (value := quic.goodput(run)) is not None]
    return named(interval(values), 1) if len(values) == len(result.runs) else "not ended"
