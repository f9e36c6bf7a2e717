"""The figures and tables of the papers, regenerated: as text for the terminal, as a picture in the paper's form.

latency        Figures 1 and 4 of *Ending the Anomaly*
thirty         its Figures 9 and 10
airtime        its Figures 5 and 6
headline       its abstract
replies        ping under load
sparse         its Figure 8
table1         its Table 1
table2         its Table 2
throughput     its Figure 7
web            its Figure 11
quic           Tables I and III of the paper on bursty QUIC
quic_pages     its Figure 2
quic_run       its Figures 3 to 6
quic_open      what stands beside Table III
quic_variants  its two variants
schemes        the four schemes of *Ending the Anomaly*
one_ms         figures of *Towards 1 ms WLAN Latency*
retry_out      Figures 6 to 8 of the retry-out paper
worked         its worked examples
tsq            Figures 4 to 7 of *The New TCP Modules on the Block*
tsq_wifi       its Figure 8
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stillair.papers.artefacts import (
    airtime,
    headline,
    latency,
    one_ms,
    quic,
    quic_pages,
    quic_run,
    retry_out,
    sparse,
    table1,
    table2,
    thirty,
    throughput,
    tsq,
    tsq_wifi,
    web,
    worked,
)
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
    "quic": Artefact(quic.text, quic.picture),
    "quic-clients": Artefact(quic.clients_text, quic.clients_picture),
    "quic-page-sizes": Artefact(quic_pages.sizes_text, quic_pages.sizes_picture),
    "quic-pages": Artefact(quic_pages.text, quic_pages.picture),
    "quic-window": Artefact(quic_run.window_text, quic_run.window_picture),
    "quic-sequence": Artefact(quic_run.sequence_text, quic_run.sequence_picture),
    "quic-gaps": Artefact(quic_run.gaps_text, quic_run.gaps_picture),
    "quic-rate": Artefact(quic_run.rate_text, quic_run.rate_picture),
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
    "tsq-wifi": Artefact(tsq_wifi.text, tsq_wifi.picture),
    "goodput-ping": Artefact(one_ms.points_text, one_ms.points_picture),
    "ping-candles": Artefact(one_ms.candles_text, one_ms.candles_picture),
    "worked-example": Artefact(worked.text, worked.picture),
    "retry-out-index": Artefact(worked.index_text, worked.index_picture),
    "rate-marks": Artefact(retry_out.text, retry_out.picture),
    "rate-region": Artefact(retry_out.region_text, retry_out.region_picture),
    "tsq-time": Artefact(tsq.time_text, tsq.time_picture),
}
