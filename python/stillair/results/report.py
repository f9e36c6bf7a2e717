"""What the engine reports of a run, key by key, and the same as rows.

These are dictionaries, as `stillair run --json` has them; keys may be added. Units stand in the names; shares go from 0
to 1. What was not measured is none. A key that is not required is left out where there is nothing of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, NotRequired, Protocol, TypedDict, cast


class Station(TypedDict):
    """What a station had after the warm-up."""

    goodput_mbps: float
    airtime_share: float | None
    mean_aggregate: float | None
    mean_aggregate_up: float | None
    mean_rate_up_mbps: float | None
    ping_median_ms: float | None
    ping_p95_ms: float | None
    ping_p99_ms: float | None
    ping_mean_ms: float | None
    udp_ping_median_ms: float | None
    udp_ping_p95_ms: float | None
    udp_ping_p99_ms: float | None
    airtime_tx_us: float
    airtime_rx_us: float


_Flow = TypedDict("_Flow", {"protocol": str, "from": str, "to": str})


class Flow(_Flow):
    """A flow that carries data: UDP, TCP, QUIC or a call. The last keys are TCP's alone."""

    goodput_mbps: float
    due: NotRequired[int | None]
    packets: int | None
    lost: int | None
    skipped: NotRequired[int | None]
    unsent: NotRequired[int | None]
    under_way: NotRequired[int | None]
    loss: float | None
    longest_gap_ms: NotRequired[float | None]
    delay_p50_ms: float | None
    delay_p95_ms: float | None
    delay_p99_ms: float | None
    retransmissions: NotRequired[int]
    timeouts: NotRequired[int]
    tlp_probes: NotRequired[int]
    delivered: NotRequired[int]
    bytes_acked: NotRequired[int]
    minrtt_ms: NotRequired[float | None]


class Ping(TypedDict):
    """A ping: what became of the requests sent in the time that is measured, and the replies that came in it.

    A request of which neither the reply nor a drop was seen before the end of the run is neither received nor lost.
    """

    sent: int
    received: int
    lost: int
    loss: float | None
    replies: int
    median_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    mean_ms: float | None
    longest_ms: NotRequired[float | None]
    """Not in results of older versions."""


class Call(TypedDict):
    """A call: its packets that were due in the measured time. `late` is a share of these, as `loss` is."""

    due: NotRequired[int]
    packets: int
    lost: int
    skipped: NotRequired[int]
    under_way: NotRequired[int]
    gaps: int
    loss: float
    late: NotRequired[float]
    playout_ms: NotRequired[float | None]
    delay_ms: float | None
    jitter_ms: float | None
    mos: float
    mos_flent_1_2: float


class Page(TypedDict):
    """A web page that was loaded again and again."""

    loads: int
    mean_s: float | None
    median_s: float | None
    p95_s: float | None
    p99_s: float | None
    unfinished_s: float | None


class Quic(TypedDict):
    """A transfer over QUIC."""

    done: bool
    established_s: float | None
    transfer_s: float | None
    measured_s: float | None
    throughput_mbps: float | None
    goodput_mbps: float | None
    datagrams: int
    datagrams_received: int
    datagrams_under_way: int
    datagrams_back: int
    loss_percent: float | None
    declared_lost: int
    spurious: int | None
    timeouts: int | None
    acks_sent: int | None
    min_rtt_ms: float | None
    srtt_ms: float | None
    slow_start_exit_s: float | None
    slow_start_exit_cwnd_bytes: int | None
    cwnd_bytes: int | None
    gaps_below_100us_percent: float | None
    gaps: list[int]
    throughput_50ms_mbps: list[float]
    throughput_50ms_mean_mbps: float | None
    throughput_50ms_sd_mbps: float | None
    traces: NotRequired[dict[str, list[int] | list[float] | list[str] | list[bool]]]


class Traffic(TypedDict):
    """What an external host sent or got."""

    packets: int
    bytes: int
    lost: int
    delay_p50_ms: float | None
    delay_p95_ms: float | None
    delay_p99_ms: float | None


Host = TypedDict("Host", {"from": Traffic, "to": Traffic})
"""An external host."""


class Drop(TypedDict):
    """Packets dropped at one place for one reason, over the whole run."""

    place: str
    reason: str
    packets: int


class Rate(TypedDict):
    """A rate as rate control knows it at the end of the run, under the names of `rc_stats`."""

    mode: str
    rate: str
    best: str
    avg_tp_mbps: float
    avg_prob_percent: float
    retry: int
    suc: int
    att: int
    success: int
    attempts: int


class Losses(TypedDict):
    """What noise took on a link, over the whole run, and PPDUs begun amid a frame that their sender does not hear."""

    mpdus_broken: int
    ppdus_unheard: int
    answers_lost: int
    mpdus_twice: int
    begun_amid: int


class Packets(TypedDict):
    """Where all packets of the whole run are: created = delivered + consumed + merged + dropped + inside."""

    created: int
    delivered: int
    consumed: int
    merged: int
    dropped: int
    inside: int


class Socket(TypedDict):
    """The samples of a TCP sender as `[record] ss` asks for them: columns of equal length under the names of `ss`."""

    t_s: list[float]
    state: list[str]
    srtt_ms: list[float]
    rttvar_ms: list[float]
    minrtt_ms: list[float | None]
    rto_ms: list[float]
    cwnd: list[int]
    ssthresh: list[int]
    unacked: list[int]
    sacked: list[int]
    lost: list[int]
    retrans: list[int]
    retrans_total: list[int]
    ca_state: list[str]
    pacing_mbps: list[float]
    delivery_mbps: list[float]
    app_limited: list[bool]
    bytes_acked: list[int]
    notsent: list[int]
    snd_wnd: list[int]
    wmem_alloc: list[int]
    sndbuf: list[int]
    wmem_queued: list[int]
    segs_in: list[int]
    data_segs_out: list[int]
    delivered_ce: list[int]


class QueueSamples(TypedDict):
    """What waited in a layer of an interface."""

    interface: str
    layer: str
    packets: list[int]
    bytes: list[int]


class QueuesReport(TypedDict):
    """What `[record] queues` asks for."""

    interval_ns: int
    samples: int
    queues: list[QueueSamples]


_Ends = TypedDict("_Ends", {"from": list[int], "to": list[int | None]})


class Exchanges(_Ends):
    """What `[record] air` asks for: columns of equal length; ends are places in `interfaces`."""

    from_ns: int
    until_ns: int
    interfaces: list[str]
    access_points: list[bool]
    channels: list[str]
    start_ns: list[int]
    airtime_ns: list[int]
    end_ns: list[int]
    ac: list[str]
    kind: list[str]
    frames: list[int]
    received: list[int]
    attempt: list[int]
    collided: list[bool]
    acknowledged: list[bool]
    rate_bps: list[int]


class Probes(TypedDict):
    """Times of the probes of a test of responsiveness that timed the same thing."""

    count: int
    trimmed_mean_ms: float
    median_ms: float
    p95_ms: float
    p99_ms: float


class Responsiveness(TypedDict):
    """A test of responsiveness: round trips per minute by each published way to compute them, and how sure they are."""

    rpm: float | None
    foreign_rpm: float | None
    loaded_rpm: float | None
    rpm_draft_02: float | None
    rpm_draft_01: float | None
    rpm_goresponsiveness: float | None
    rpm_goresponsiveness_p90: float | None
    confidence: str
    goodput_confidence: str
    goodput_mbps: float
    connections: int
    took_s: float
    unanswered: int
    probes: dict[str, Probes]


class SojournHistogram(TypedDict):
    """Packets by their delay, from the shortest on, each bucket with where their time went."""

    cells: list[list[int]]
    packets: list[int]
    delay_ns: list[int]
    parts_ns: list[list[int]]
    places: list[tuple[str, int]]
    places_ns: list[list[int]]


class SojournStep(TypedDict):
    """A packet was in a layer, at an interface or at none, for causes."""

    layer: str
    interface: str | None
    from_ns: int
    until_ns: int
    causes_ns: dict[str, int]


class SlowestPacket(TypedDict):
    """The slowest packet of a flow, and where it was."""

    sent_ns: int
    delay_ns: int
    steps: list[SojournStep]


class Dropped(TypedDict):
    """Packets of a flow that were dropped at one place for one reason."""

    place: str
    reason: str
    packets: int


class Delivery(TypedDict):
    """Packets of a flow that entered the network, arrived and were dropped."""

    sent: int
    received: int
    last_sent_ns: int | None
    last_received_ns: int | None
    sent_since: int
    drops: list[Dropped]


class Sojourn(TypedDict):
    """Where the time of packets went, in layers and for causes whose names `cells` count."""

    sample: int
    layers: list[str]
    causes: list[str]
    flows: dict[str, SojournHistogram]
    slowest: dict[str, SlowestPacket]
    stations: dict[str, dict[str, SojournHistogram]]
    delivery: dict[str, Delivery]


class Run(TypedDict):
    """A run, as the engine reports it: the contract of `stillair run --json`."""

    run: int
    seed: int
    trace_hash: str
    goodput_total_mbps: float
    jain_airtime: float | None
    stations: dict[str, Station]
    mos: NotRequired[float]
    mos_flent_1_2: NotRequired[float]
    voip: NotRequired[dict[str, Call]]
    page_load_s: NotRequired[float]
    web: NotRequired[dict[str, Page]]
    responsiveness: NotRequired[dict[str, Responsiveness]]
    quic: NotRequired[dict[str, Quic]]
    flows: NotRequired[dict[str, Flow]]
    pings: NotRequired[dict[str, Ping]]
    hosts: NotRequired[dict[str, Host]]
    sockets: NotRequired[dict[str, Socket]]
    drops: list[Drop]
    air: dict[str, dict[str, float]]
    qdiscs: dict[str, dict[str, object]]
    rc_stats: NotRequired[dict[str, list[Rate]]]
    losses: NotRequired[dict[str, Losses]]
    packets: Packets
    exchanges: NotRequired[Exchanges]
    queues: NotRequired[QueuesReport]
    sojourn: NotRequired[Sojourn]


class Mean(TypedDict):
    """A mean over runs with the ends of its 95 % confidence interval, which are `None` if only one run has the figure.

    `runs` and `all_runs` are only present if some runs do not have the figure.
    """

    mean: float
    low: float | None
    high: float | None
    runs: NotRequired[int]
    all_runs: NotRequired[int]


class DropMean(TypedDict):
    """Packets dropped at one place for one reason, over runs."""

    place: str
    reason: str
    packets: Mean


Means = dict[str, dict[str, Mean | None]]
"""By name, and of each by key."""


class Summary(TypedDict, total=False):
    """The keys of a run, each over all runs."""

    goodput_total_mbps: Mean | None
    jain_airtime: Mean | None
    stations: Means
    mos: Mean | None
    mos_flent_1_2: Mean | None
    voip: Means
    page_load_s: Mean | None
    web: Means
    responsiveness: dict[str, dict[str, object]]
    quic: Means
    flows: Means
    pings: Means
    hosts: dict[str, Means]
    sockets: dict[str, object]
    drops: list[DropMean]
    air: Means
    qdiscs: dict[str, dict[str, object]]
    rc_stats: dict[str, None]
    losses: Means
    packets: dict[str, Mean | None]


class Whole(TypedDict):
    """The object that `stillair run --json` prints."""

    version: str
    scenario: str
    notes: NotRequired[list[str]]
    runs: Sequence[Run]
    over_runs: Summary


class Reported(Protocol):
    """What has runs of one scenario."""

    scenario: str
    runs: Sequence[Run]
    planned: int

    def summary(self, ci: float = 0.95) -> Summary:
        """The keys of a run, each over all runs."""


class Figure(NamedTuple):
    """One number of a run: `stations`, `fast1`, `goodput_mbps`, 40.8. Group and subject may be empty."""

    group: str
    subject: str
    metric: str
    value: float


_NO_FIGURES = ("run", "seed", "trace_hash", "series", "sockets", "exchanges", "queues", "sojourn", "rc_stats", "drops")


def figures(run: Run) -> Iterator[Figure]:
    """All numbers of a run but for samples and rates; truths are 0 and 1, what was not measured has no row."""
    for key, value in cast("Mapping[str, object]", run).items():
        if key in _NO_FIGURES:
            continue
        if not isinstance(value, Mapping):
            yield from _numbers("", "", key, value)
            continue
        for subject, of in value.items():
            if isinstance(of, Mapping):
                for metric, number in of.items():
                    yield from _numbers(key, subject, metric, number)
            else:
                yield from _numbers(key, "", subject, of)
    for drop in run["drops"]:
        yield Figure("drops", drop["place"], drop["reason"], float(drop["packets"]))


def _numbers(group: str, subject: str, metric: str, value: object) -> Iterator[Figure]:
    if isinstance(value, Mapping):
        for inner, of in value.items():
            yield from _numbers(group, subject, f"{metric}.{inner}", of)
    elif isinstance(value, int | float):
        yield Figure(group, subject, metric, float(value))
