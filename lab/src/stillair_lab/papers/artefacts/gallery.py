"""All figures and tables by the name that a plan `draws`, from data or from Python."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stillair._native import InputError
from stillair_lab.papers.artefacts import retry_out, tsq, worked_examples
from stillair_lab.papers.artefacts.anomaly import (
    airtime,
    headline,
    latency,
    sparse,
    table1,
    table2,
    thirty,
    throughput,
    web,
)
from stillair_lab.papers.artefacts.bquic import pages, tables, transfer
from stillair_lab.papers.artefacts.kinds.bars import Bars
from stillair_lab.papers.artefacts.kinds.candles import Candles
from stillair_lab.papers.artefacts.kinds.curves import Curves
from stillair_lab.papers.artefacts.kinds.points import Points
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.runs import tagged

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Artefact:
    """A figure or table. The picture requires matplotlib."""

    text: Callable[[Measurer], str]
    picture: "Callable[[Measurer], Figure]"


KINDS: Mapping[str, type[Bars | Candles | Curves | Points]] = {
    "bars": Bars,
    "candles": Candles,
    "curves": Curves,
    "points": Points,
}


def drawing(of: Measurer) -> Artefact:
    """Returns the artefact of an experiment."""
    name = of.own.draws
    if name not in of.plan.figures:
        if name not in ARTEFACTS:
            known = ", ".join([*of.plan.figures, *ARTEFACTS])
            raise InputError(f'{of.experiment.name}: draws: found "{name}", expected one of {known}')
        return ARTEFACTS[name]
    figure = tagged.read(f'{of.experiment.paper}: figure "{name}"', KINDS, of.plan.figures[name])
    return Artefact(figure.text, figure.picture)


# Artefacts in Python, by the name in a plan's `draws`.
ARTEFACTS = {
    "quic": Artefact(tables.text, tables.picture),
    "quic-clients": Artefact(tables.clients_text, tables.clients_picture),
    "quic-page-sizes": Artefact(pages.sizes_text, pages.sizes_picture),
    "quic-pages": Artefact(pages.text, pages.picture),
    "quic-window": Artefact(transfer.window_text, transfer.window_picture),
    "quic-sequence": Artefact(transfer.sequence_text, transfer.sequence_picture),
    "quic-gaps": Artefact(transfer.gaps_text, transfer.gaps_picture),
    "quic-rate": Artefact(transfer.rate_text, transfer.rate_picture),
    "table1": Artefact(table1.text, table1.picture),
    "shares": Artefact(airtime.shares_text, airtime.shares_picture),
    "jain": Artefact(airtime.jain_text, airtime.jain_picture),
    "sparse": Artefact(sparse.text, sparse.picture),
    "latency-all": Artefact(latency.all_text, latency.all_picture),
    "latency": Artefact(latency.text, latency.picture),
    "throughput": Artefact(throughput.text, throughput.picture),
    "thirty-airtime": Artefact(thirty.airtime_text, thirty.airtime_picture),
    "thirty-throughput": Artefact(thirty.throughput_text, thirty.throughput_picture),
    "thirty-latency": Artefact(thirty.latency_text, thirty.latency_picture),
    "voip": Artefact(table2.text, table2.picture),
    "web": Artefact(web.text, web.picture),
    "headline": Artefact(headline.text, headline.picture),
    "tsq-ping": Artefact(tsq.ping_text, tsq.ping_picture),
    "tsq-candles": Artefact(tsq.candles_text, tsq.candles_picture),
    "worked-example": Artefact(worked_examples.text, worked_examples.picture),
    "retry-out-index": Artefact(worked_examples.index_text, worked_examples.index_picture),
    "rate-marks": Artefact(retry_out.text, retry_out.picture),
    "rate-region": Artefact(retry_out.region_text, retry_out.region_picture),
    "tsq-time": Artefact(tsq.time_text, tsq.time_picture),
}
