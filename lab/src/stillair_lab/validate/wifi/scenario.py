"""Scenario of a measured kernel run: a server, an access point and its stations."""

from collections.abc import Iterable, Mapping, Sequence

from stillair.kernels import profiles
from stillair.runs.scenario import Scenario
from stillair.text.toml import to_toml
from stillair_lab.validate.tc import scenario_values as units
from stillair_lab.validate.wifi.measured import MCS, MINSTREL, Driver, Flow, Measurement, Setup

SAMPLED_MS = 200
"""Sampling interval of sockets, as in the kernel's runs."""

# HZ of every profile.
_PROFILES_HZ = 250
# linux: net/mac80211/main.c ieee80211_alloc_hw_nm, include/net/fq_impl.h fq_init (6.12) - defaults, which
# need no key.
_USUAL_QUEUES = {"fq_flows_cnt": 4096, "fq_memory_limit": 4 << 20, "fq_limit": 8192, "fq_quantum": 300}
_QUEUE_KEYS = {
    "fq_flows_cnt": "flows", "fq_memory_limit": "memory_limit", "fq_limit": "limit", "fq_quantum": "fq_quantum",
}  # fmt: skip
_USUAL_AQL = {"low_us": 5000, "high_us": 12000, "threshold_us": 24000}
_AQL_KEYS = {"low_us": "aql_low", "high_us": "aql_high", "threshold_us": "aql_threshold"}
# The two ends of a veth pair, each with netem. Only the server's has a rate, so the frames of a station's
# aggregate reach the server at the same time.
_SERVERS_NETEM = {"kind": "netem", "delay": "250 us", "rate": "1 Gbit/s", "limit": 100_000}
_ACCESS_POINTS_NETEM = {"kind": "netem", "delay": "250 us", "limit": 100_000}
# Measured as sk_rmem_alloc: the driver copies a frame including the buffer that its sender's mac80211 had
# enlarged, which in stations holds two segments. Frames sent by stations are split into buffers of their own
# size.
_STATIONS_BUFFER = 4352
# linux: net/mac80211/tx.c ieee80211_skb_resize, net/core/skbuff.c pskb_expand_head (6.12) - forwarded packets
# lack room for the 802.11 header, so the access point allocates a larger buffer, which the memory limit of
# the MAC's queues counts.
_FORWARDED_BUFFER = 4352

# lab/scripts/mac80211/simwifi.c - draws a back-off only after a transmission; a frame that finds the channel
# busy is sent at the next end of AIFS.
_RADIO: dict[str, object] = {"busy_backoff": False}
LEAD_S = 1
"""Lead time of simulated runs before the start of the kernel's."""
# Measured at connect(): programs started at the same time run one after the other, 70 to 120 us apart.
_A_PROCESS_S = 100e-6


def scenario(of: Measurement) -> Scenario:
    """Returns a file's run as a scenario."""
    made = Scenario(text(of))
    # Messages name the file; the line is that of the text returned by `text`.
    made.file = f"{of.path} (as a scenario)"
    return made


def station(number: int) -> str:
    """Name of a station's node."""
    return f"sta{number}"


def flow_name(flow: Flow, number: int = 0) -> str:
    """Name of a flow; `number` selects one of several connections."""
    return f"{flow.kind}-{station(flow.station)}-{number}"


def reported(flow: Flow, number: int = 0) -> str:
    """Name of a flow in a run's report, which includes the destination node."""
    return f"{flow_name(flow, number)}.{_ends(flow)[1]}"


def text(of: Measurement) -> str:
    """The scenario as readable TOML."""
    setup, config = of.setup, of.setup.config
    times = {"duration": units.of_seconds(LEAD_S + config.seconds), "warm_up": units.of_seconds(LEAD_S + config.warm)}
    parts = [to_toml({"name": f"mac80211-{of.name}"} | times)]
    parts.append(_table("channel.wifi", {"band": "5 GHz", "width": "20 MHz"} | _RADIO))
    parts += _server(setup)
    parts += _access_point(setup)
    for number in range(1, config.stations + 1):
        parts += _station(setup, number)
    parts.append(_table("link.lan", {"kind": "veth"}))
    parts.append(_table("record", {"ss": f"{SAMPLED_MS} ms"}))
    parts += [_table("[flow]", _first_pings(number)) for number in range(1, config.stations + 1)]
    for place, flow in enumerate(config.flows):
        start = LEAD_S + flow.start_s + place * _A_PROCESS_S
        parts += [_table("[flow]", one) for one in _flows(setup, flow, start)]
    return "\n".join(parts)


def _server(setup: Setup) -> Iterable[str]:
    yield _table("node.server", _host(setup))
    yield _table("node.server.tcp", _tcp(setup))
    yield _table("node.server.sysctl", setup.config.sysctl)
    wired = {"link": "lan", "address": "10.0.0.2", "tso": False, "gro": False, "qdisc": _SERVERS_NETEM}
    yield _table("node.server.interface.eth0", wired)


def _access_point(setup: Setup) -> Iterable[str]:
    yield _table("node.ap", _host(setup) | {"forward": True})
    wired = {
        "link": "lan", "address": "10.0.0.1", "tso": False, "gro": False, "rx_buffer": _FORWARDED_BUFFER,
        "qdisc": _ACCESS_POINTS_NETEM,
    }  # fmt: skip
    yield _table("node.ap.interface.eth0", wired)
    # mac80211_hwsim lacks such hardware.
    radio = {
        "channel": "wifi", "role": "ap", "address": "10.0.1.1", "retry_limit": setup.driver.retries,
        "destination_filter": "none",
    }  # fmt: skip
    yield _table("node.ap.interface.wlan0", radio)
    scheme = _scheme(setup)
    # Flags and weights were only set at the access point.
    if not setup.config.charge_tx:
        scheme["charge_tx"] = False
    if not setup.config.charge_rx:
        scheme["charge_rx"] = False
    yield _table("node.ap.interface.wlan0.scheme", scheme)


def _station(setup: Setup, number: int) -> Iterable[str]:
    driver, weights, name = setup.driver, setup.config.weights, station(number)
    yield _table(f"node.{name}", _host(setup))
    yield _table(f"node.{name}.tcp", _tcp(setup) | {"wifi_pacing_shift": driver.pacing_shift})
    yield _table(f"node.{name}.sysctl", setup.config.sysctl)
    radio: dict[str, object] = {
        "channel": "wifi", "role": "station", "ap": "ap.wlan0", "address": f"10.0.1.{10 + number}",
        "retry_limit": driver.retries, "rx_buffer": _STATIONS_BUFFER,
    }  # fmt: skip
    mcs = driver.mcs[number]
    if mcs == MINSTREL:
        radio["rate"] = "minstrel_ht"
    else:
        radio["rate"] = f"ht20-mcs{mcs}-{'sgi' if driver.sgi else 'lgi'}"
        radio["retry_chain"] = [{"rate": f"mcs{mcs}", "tries": 10}]
    losses = _losses(setup, number)
    if losses:
        radio["error_rate"] = losses
    if number <= len(weights):
        radio["airtime_weight"] = weights[number - 1]
    yield _table(f"node.{name}.interface.wlan0", radio)
    yield _table(f"node.{name}.interface.wlan0.scheme", _scheme(setup))


def _losses(setup: Setup, number: int) -> float | list[dict[str, object]]:
    """Probability of a broken MPDU in both directions; by rate if the station may use several or the table changes."""
    driver = setup.driver
    first, *later = [_chances(driver, number, table) for table in (driver.loss_by_mcs, *_tables(setup))]
    mcs = driver.mcs[number]
    used = range(MCS) if mcs == MINSTREL else [mcs]
    if not later and mcs != MINSTREL:
        return first[mcs]
    if not any(any(chances) for chances in (first, *later)):
        return 0.0
    made: list[dict[str, object]] = [{"rates": f"mcs{rate}", "probability": first[rate]} for rate in used]
    for step, chances in zip(setup.config.steps, later, strict=True):
        at = units.of_seconds(LEAD_S + step.at_s)
        made += [{"rates": f"mcs{rate}", "probability": chances[rate], "at": at} for rate in used]
    return made


def _tables(setup: Setup) -> list[tuple[int, ...]]:
    return [step.loss_by_mcs for step in setup.config.steps]


def _chances(driver: Driver, number: int, table: Sequence[int]) -> list[float]:
    own = driver.loss_by_station.get(number, 0)
    return [min(1.0, (own + by_mcs) / 1000) for by_mcs in table]


def _host(setup: Setup) -> dict[str, object]:
    return {"profile": profiles.profile(setup.kernel)}


def _tcp(setup: Setup) -> dict[str, object]:
    # The measured kernel had neither IPv6 nor tunnels nor mesh.
    tcp: dict[str, object] = {"max_header": 256}
    if setup.hz not in (None, _PROFILES_HZ):
        tcp["hz"] = setup.hz
    return tcp


def _scheme(setup: Setup) -> dict[str, object]:
    driver, config = setup.driver, setup.config
    made: dict[str, object] = {"kind": "mac80211", "aql": driver.aql, "hw_aggregates": driver.depth}
    for name, key in _AQL_KEYS.items():
        if name in config.aql_limits and config.aql_limits[name] != _USUAL_AQL[name]:
            made[key] = units.time(config.aql_limits[name] * 1000)
    for name, key in _QUEUE_KEYS.items():
        if name in config.queues and config.queues[name] != _USUAL_QUEUES[name]:
            made[key] = config.queues[name]
    return made


def _ends(flow: Flow) -> tuple[str, str]:
    name = station(flow.station)
    return (name, "server") if flow.kind == "tcp_up" else ("server", name)


def _flows(setup: Setup, flow: Flow, start_s: float) -> Iterable[dict[str, object]]:
    sender, receiver = _ends(flow)
    ends: dict[str, object] = {"from": sender, "to": receiver, "start": units.of_seconds(start_s)}
    if flow.kind == "udp":
        rate = units.rate(round(flow.bps))
        load = {"rate": rate, "payload": flow.payload, "burst": flow.burst, "gap": "exponential"}
        yield {"name": flow_name(flow), "kind": "udp"} | ends | load
    elif flow.kind == "ping":
        interval = units.of_seconds(setup.config.ping_interval_s)
        yield {"name": flow_name(flow), "kind": "ping"} | ends | {"interval": interval}
    else:
        for number in range(flow.number):
            start = start_s + number * flow.stagger_ms / 1000
            bulk = {"start": units.of_seconds(start), "congestion_control": flow.cc}
            yield {"name": flow_name(flow, number), "kind": "tcp"} | ends | bulk


def _first_pings(number: int) -> dict[str, object]:
    """Each station was pinged before the run, so its Block Ack sessions were established."""
    ends: dict[str, object] = {"from": "server", "to": station(number)}
    return {"name": f"first-{station(number)}", "kind": "ping"} | ends | {"interval": "200 ms", "stop": "0.5 s"}


def _table(name: str, keys: Mapping[str, object]) -> str:
    return f"[{name}]\n{to_toml(keys)}"
