"""Series of a run by step, in the engine's integers: nanoseconds, bytes, packets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stillair._native import InputError
from stillair.text import shape


@dataclass(frozen=True)
class Ping:
    """A ping reply: arrival time, round-trip time, and sequence number."""

    at_ns: int
    rtt_ns: int
    seq: int


@dataclass(frozen=True)
class Test:
    """A Flent test: its name, the hosts, its load, and the pings before and after the load."""

    name: str
    sender: str
    receiver: str
    length_ns: int
    delay_ns: int
    streams: int | None


@dataclass(frozen=True)
class Voice:
    """A packet of a call: arrival time, delay, and sequence number."""

    at_ns: int
    delay_ns: int
    seq: int


@dataclass(frozen=True)
class VoiceStep:
    """A call in one step: means in ms, jitter between consecutive packets, and missing packets."""

    delay_ms: float | None
    jitter_ms: float | None
    lost: int


@dataclass(frozen=True)
class Load:
    """A page load: completion time, duration, and its number."""

    at_ns: int
    took_ns: int
    seq: int


@dataclass(frozen=True)
class Probe:
    """A responsiveness probe: time of the answer, duration, and kind.

    The kind is `tcp`, `tls`, `http` on a new connection, `foreign` for these together, or `loaded`.
    """

    at_ns: int
    took_ns: int
    timed: str


@dataclass(frozen=True)
class Flow:
    """A flow and its received data.

    Pings have `pings`; other flows have payload `bytes` per step, and `voip`, `loads` or `probes` depending
    on their kind.
    """

    name: str
    kind: str
    sender: str
    receiver: str
    station: str | None
    tos: int
    dscp: int
    ac: str
    bytes: list[int] | None
    pings: list[Ping] | None
    voip: list[Voice] | None = None
    loads: list[Load] | None = None
    probes: list[Probe] | None = None
    flent: str | None = None
    """Flent's name of its series, for flows of a Flent test."""


@dataclass(frozen=True)
class StationSteps:
    """A station's data frames of one access category per step; "down" is towards the station.

    Airtime includes all attempts. A PPDU counts once, at its first attempt.
    """

    name: str
    ac: str
    airtime_down_ns: list[int]
    airtime_up_ns: list[int]
    ppdus_down: list[int]
    ppdus_up: list[int]
    mpdus_down: list[int]
    mpdus_up: list[int]


@dataclass(frozen=True)
class Drops:
    """Packets dropped at one place for one reason: pairs of step and count."""

    place: str
    reason: str
    steps: list[tuple[int, int]]


@dataclass(frozen=True)
class Queue:
    """Occupancy of one layer of an interface at the end of each step.

    Layers: `socket` (written by applications and not yet sent by TCP), `qdisc`, `driver` (including MAC
    queues), `hardware` (a radio's aggregates, a wired device's ring), `wire` (in transit), `reorder`
    (received, waiting for reordering or for an interrupt). Bytes include the Ethernet header, except for data
    in sockets.
    """

    interface: str
    layer: str
    packets: list[int]
    bytes: list[int]


_COLUMNS = ("airtime_down_ns", "airtime_up_ns", "ppdus_down", "ppdus_up", "mpdus_down", "mpdus_up")

_COUNT = shape.whole()
_STEPS = shape.each(_COUNT)
_MOST_STEPS = 100_000_000
"""Longest run, a million seconds. A larger value is a mistake and would exhaust memory."""

_FLOW = shape.record(
    {
        **dict.fromkeys(("name", "kind", "from", "to", "ac"), shape.text),
        **dict.fromkeys(("tos", "dscp"), shape.whole(most=255)),
        "station": shape.maybe(shape.text),
    },
    {
        "bytes": shape.maybe(_STEPS),
        **dict.fromkeys(("pings", "voip", "loads"), shape.maybe(shape.each(shape.row(_COUNT, _COUNT, _COUNT)))),
        "probes": shape.maybe(shape.each(shape.row(_COUNT, _COUNT, shape.text))),
        "flent": shape.maybe(shape.text),
    },
)

SHAPE = shape.record(
    {
        "step_ns": shape.whole(1),
        "steps": shape.whole(1, _MOST_STEPS),
        "duration_ns": shape.whole(1),
        "warm_up_ns": _COUNT,
        "flows": shape.each(_FLOW),
        "stations": shape.each(shape.record({"name": shape.text, "ac": shape.text, **dict.fromkeys(_COLUMNS, _STEPS)})),
        "drops": shape.each(
            shape.record({"place": shape.text, "reason": shape.text, "steps": shape.each(shape.row(_COUNT, _COUNT))})
        ),
        "queues": shape.each(
            shape.record({"interface": shape.text, "layer": shape.text, "packets": _STEPS, "bytes": _STEPS})
        ),
    },
    {
        "cool_down_ns": _COUNT,
        "test": shape.record(
            {
                **dict.fromkeys(("name", "from", "to"), shape.text),
                **dict.fromkeys(("length_ns", "delay_ns"), _COUNT),
                "streams": shape.maybe(_COUNT),
            }
        ),
    },
)
"""Series of a run as reported by the engine."""


class Series:
    """Series of one run. Steps start at time 0; the last one may be shorter."""

    def __init__(self, data: Mapping[str, Any], where: str = "run") -> None:
        """Checks and reads the engine's report.

        Raises `InputError` with `where` and the key if it is malformed.
        """
        shape.check(data, SHAPE, where, "series")
        self._where = where
        self.step_ns: int = data["step_ns"]
        self.steps: int = data["steps"]
        self.duration_ns: int = data["duration_ns"]
        self.warm_up_ns: int = data["warm_up_ns"]
        self.cool_down_ns: int = data.get("cool_down_ns", 0)
        steps = -(-self.duration_ns // self.step_ns)
        if self.steps != steps:
            raise self._wrong("steps", self.steps, f"{steps}, by step_ns and duration_ns")
        self.test = _test(data["test"]) if "test" in data else None
        self.flows = [self._flow(flow, f"flows.{n}") for n, flow in enumerate(data["flows"])]
        self.stations = [
            StationSteps(s["name"], s["ac"], *(self._steps(s[key], f"stations.{n}.{key}") for key in _COLUMNS))
            for n, s in enumerate(data["stations"])
        ]
        self.drops = [Drops(d["place"], d["reason"], [(s, n) for s, n in d["steps"]]) for d in data["drops"]]
        self.queues = [
            Queue(
                q["interface"],
                q["layer"],
                *(self._steps(q[key], f"queues.{n}.{key}") for key in ("packets", "bytes")),
            )
            for n, q in enumerate(data["queues"])
        ]
        self._check()

    def _check(self) -> None:
        """Raises `InputError` for inconsistent values."""
        if self.warm_up_ns + self.cool_down_ns >= self.duration_ns:
            raise self._wrong("warm_up_ns", self.warm_up_ns, "less than duration_ns, with cool_down_ns")
        again = shape.repeated(flow.name for flow in self.flows)
        if again is not None:
            raise self._wrong(f"flows.{again}.name", f'"{self.flows[again].name}" again', "a name of its own")
        for n, flow in enumerate(self.flows):
            for key, samples in (
                ("pings", flow.pings),
                ("voip", flow.voip),
                ("loads", flow.loads),
                ("probes", flow.probes),
            ):
                times: list[int] = [sample.at_ns for sample in samples or ()]
                if times and max(times) > self.duration_ns:
                    raise self._wrong(f"flows.{n}.{key}", f"a time of {max(times)}", "times within duration_ns")
        for n, drops in enumerate(self.drops):
            last = max((step for step, _ in drops.steps), default=0)
            if last >= self.steps:
                raise self._wrong(f"drops.{n}.steps", f"step {last}", f"steps below {self.steps}")

    def _wrong(self, key: str, found: object, expected: str) -> InputError:
        return InputError(f"{self._where}: series.{key}: found {found}, expected {expected}")

    def end_ns(self, step: int) -> int:
        """End of a step."""
        return min((step + 1) * self.step_ns, self.duration_ns)

    def length_ns(self, step: int) -> int:
        """Length of a step."""
        return self.end_ns(step) - step * self.step_ns

    def measured_ns(self) -> tuple[int, int]:
        """Start and end of the measured time."""
        return self.warm_up_ns, self.duration_ns - self.cool_down_ns

    def measured_steps(self) -> slice:
        """Steps that lie entirely in the measured time."""
        since, until = self.measured_ns()
        # The last step may be shorter.
        end = self.steps if until == self.duration_ns else until // self.step_ns
        return slice(-(-since // self.step_ns), end)

    def mbps(self, flow: Flow) -> list[float]:
        """UDP payload of a flow received in each step, in Mbit/s."""
        # A single integer division, rounded once, gives the same result on every machine.
        return [n * 8000 / self.length_ns(step) for step, n in enumerate(flow.bytes or [])]

    def ping_ms(self, flow: Flow) -> list[float | None]:
        """Mean round-trip time of the replies in each step, in ms; `None` without replies."""
        total, count = [0] * self.steps, [0] * self.steps
        for ping in flow.pings or []:
            step = min(ping.at_ns // self.step_ns, self.steps - 1)
            total[step] += ping.rtt_ns
            count[step] += 1
        return [ns / (n * 1_000_000) if n else None for ns, n in zip(total, count, strict=True)]

    def load_ms(self, flow: Flow) -> list[float | None]:
        """Mean duration of the page loads that ended in each step, in ms; `None` without loads."""
        took: list[list[int]] = [[] for _ in range(self.steps)]
        for load in flow.loads or []:
            took[min(load.at_ns // self.step_ns, self.steps - 1)].append(load.took_ns)
        return [_mean_ms(step) for step in took]

    def voice(self, flow: Flow) -> list[VoiceStep]:
        """Figures of a call in each step. A gap between packets counts in the step of the second."""
        steps: list[tuple[list[int], list[int], list[int]]] = [([], [], []) for _ in range(self.steps)]
        highest: int | None = None
        before = 0
        for packet in flow.voip or []:
            if packet.seq == highest:
                continue
            delays, jitters, lost = steps[min(packet.at_ns // self.step_ns, self.steps - 1)]
            delays.append(packet.delay_ns)
            if highest is not None:
                jitters.append(abs(packet.delay_ns - before))
                # A late packet was counted as lost when its successor arrived.
                lost.append(packet.seq - highest - 1 if packet.seq > highest else -1)
            highest = packet.seq if highest is None else max(highest, packet.seq)
            before = packet.delay_ns
        return [VoiceStep(_mean_ms(delays), _mean_ms(jitters), sum(lost)) for delays, jitters, lost in steps]

    def _flow(self, flow: Mapping[str, Any], key: str) -> Flow:
        values, pings, voip, loads, probes = (flow.get(key) for key in ("bytes", "pings", "voip", "loads", "probes"))
        if values is None and flow["kind"] in ("tcp", "udp"):
            raise self._wrong(f"{key}.bytes", "nothing", f"{self.steps} values, one for each step")
        return Flow(
            name=flow["name"],
            kind=flow["kind"],
            sender=flow["from"],
            receiver=flow["to"],
            station=flow["station"],
            tos=flow["tos"],
            dscp=flow["dscp"],
            ac=flow["ac"],
            bytes=None if values is None else self._steps(values, f"{key}.bytes"),
            pings=None if pings is None else [Ping(*ping) for ping in pings],
            voip=None if voip is None else [Voice(*packet) for packet in voip],
            loads=None if loads is None else [Load(*load) for load in loads],
            probes=None if probes is None else [Probe(*probe) for probe in probes],
            flent=flow.get("flent"),
        )

    def _steps(self, values: list[int], key: str) -> list[int]:
        if len(values) != self.steps:
            raise self._wrong(key, f"{len(values)} values", f"{self.steps}, one for each step")
        return values


def _test(data: Mapping[str, Any]) -> Test:
    return Test(data["name"], data["from"], data["to"], data["length_ns"], data["delay_ns"], data["streams"])


def _mean_ms(ns: list[int]) -> float | None:
    return sum(ns) / (len(ns) * 1_000_000) if ns else None
