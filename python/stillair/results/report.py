"""The engine's report of a run, key by key, and as rows.

The types describe the dictionaries of `stillair run --json`; later versions may add keys. Names include the
unit; shares are from 0 to 1. Unmeasured values are `None`. Optional keys are absent if they do not apply.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, NotRequired, Protocol, TypedDict, cast


class Station(TypedDict):
    """Measurements of a station after the warm-up."""

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
    """A flow with data: UDP, TCP, QUIC or a call. The last keys are only present for TCP."""

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
    """A ping: the fate of requests sent in the measured time, and the replies received in it.

    A request with neither a reply nor a drop before the end of the run counts neither as received nor as
    lost.
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
    """Missing in results of older versions."""


class Call(TypedDict):
    """A call: packets due in the measured time. `late` is a share of these, as is `loss`."""

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
    """A web page that is loaded repeatedly."""

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
    """Traffic sent or received by an external host."""

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
    """Rate control's state of a rate at the end of the run, named as in `rc_stats`."""

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
    """Noise losses of a link over the whole run, and PPDUs started during a frame that their sender cannot sense."""

    mpdus_broken: int
    ppdus_unheard: int
    answers_lost: int
    mpdus_twice: int
    begun_amid: int


class Packets(TypedDict):
    """Packet accounting over the whole run: created = delivered + consumed + merged + dropped + inside."""

    created: int
    delivered: int
    consumed: int
    merged: int
    dropped: int
    inside: int


class Socket(TypedDict):
    """Samples of a TCP sender recorded with `[record] ss`: columns of equal length, named as in `ss`."""

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
    """Samples of a layer of an interface."""

    interface: str
    layer: str
    packets: list[int]
    bytes: list[int]


class QueuesReport(TypedDict):
    """Samples recorded with `[record] queues`."""

    interval_ns: int
    samples: int
    queues: list[QueueSamples]


_Ends = TypedDict("_Ends", {"from": list[int], "to": list[int | None]})


class Exchanges(_Ends):
    """Exchanges recorded with `[record] air`: columns of equal length; `from` and `to` index `interfaces`."""

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
    """Times of a responsiveness test's probes of one kind."""

    count: int
    trimmed_mean_ms: float
    median_ms: float
    p95_ms: float
    p99_ms: float


class Responsiveness(TypedDict):
    """A responsiveness test: round trips per minute by each published formula, with their confidence."""

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
    """Packets by delay, shortest first; each bucket has its time by layer and cause."""

    cells: list[list[int]]
    packets: list[int]
    delay_ns: list[int]
    parts_ns: list[list[int]]
    places: list[tuple[str, int]]
    places_ns: list[list[int]]


class SojournStep(TypedDict):
    """Time of a packet in a layer, at an interface or at none, by cause."""

    layer: str
    interface: str | None
    from_ns: int
    until_ns: int
    causes_ns: dict[str, int]


class SlowestPacket(TypedDict):
    """The slowest packet of a flow, with its path."""

    sent_ns: int
    delay_ns: int
    steps: list[SojournStep]


class Dropped(TypedDict):
    """Packets of a flow that were dropped at one place for one reason."""

    place: str
    reason: str
    packets: int


class Delivery(TypedDict):
    """Packets of a flow that entered the network, arrived, or were dropped."""

    sent: int
    received: int
    last_sent_ns: int | None
    last_received_ns: int | None
    sent_since: int
    drops: list[Dropped]


class Sojourn(TypedDict):
    """Packet delay by layer and cause; `cells` index the names of both."""

    sample: int
    layers: list[str]
    causes: list[str]
    flows: dict[str, SojournHistogram]
    slowest: dict[str, SlowestPacket]
    stations: dict[str, dict[str, SojournHistogram]]
    delivery: dict[str, Delivery]


class Run(TypedDict):
    """A run's report: the interface of `stillair run --json`."""

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
    """Mean over runs with its 95 % confidence interval, whose ends are `None` if only one run has the figure.

    `runs` and `all_runs` are only present if some runs lack the figure.
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
"""Means by name and key."""


class Summary(TypedDict, total=False):
    """Keys of a run, as means over all runs."""

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
    """Has the runs of one scenario."""

    scenario: str
    runs: Sequence[Run]
    planned: int

    def summary(self, ci: float = 0.95) -> Summary:
        """Keys of a run, as means over all runs."""


class Figure(NamedTuple):
    """A figure of a run, such as `stations`, `fast1`, `goodput_mbps`, 40.8.

    Group and subject may be empty.
    """

    group: str
    subject: str
    metric: str
    value: float


_NO_FIGURES = ("run", "seed", "trace_hash", "series", "sockets", "exchanges", "queues", "sojourn", "rc_stats", "drops")


def figures(run: Run) -> Iterator[Figure]:
    """All figures of a run except samples and rates.

    Booleans become 0 and 1; unmeasured values are left out.
    """
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
