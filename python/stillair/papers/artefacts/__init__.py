"""The figures and tables of the papers, regenerated: as text for the terminal, as a picture in the paper's form."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stillair.papers.artefacts import airtime, headline, latency, sparse, table1, throughput, tsq
from stillair.papers.measure import Measurer

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Artefact:
    """One figure or table. The picture needs matplotlib, the text nothing."""

    text: Callable[[Measurer], str]
    picture: "Callable[[Measurer], Figure]"


# By the name under which a plan says `draws`.
ARTEFACTS = {
    "table1": Artefact(table1.text, table1.picture),
    "shares": Artefact(airtime.shares_text, airtime.shares_picture),
    "jain": Artefact(airtime.jain_text, airtime.jain_picture),
    "sparse": Artefact(sparse.text, sparse.picture),
    "latency-all": Artefact(latency.all_text, latency.all_picture),
    "latency": Artefact(latency.text, latency.picture),
    "throughput": Artefact(throughput.text, throughput.picture),
    "headline": Artefact(headline.text, headline.picture),
    "tsq-ping": Artefact(tsq.ping_text, tsq.ping_picture),
    "tsq-candles": Artefact(tsq.candles_text, tsq.candles_picture),
    "tsq-time": Artefact(tsq.time_text, tsq.time_picture),
}
