"""Queueing disciplines of a run in the words of `tc -s qdisc`."""

# spec: tc(8), tc-cake(8), tc-codel(8), tc-fq_codel(8), tc-netem(8), tc-tbf(8) of iproute2 6.1, and what it prints.

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Fields = Mapping[str, Any]

_CATEGORIES = ("VO", "VI", "BE", "BK")
"""In the kernel's order: under mq the first is the parent `:1`."""

_PRIOMAP = "bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1"


def tc_text(run: Fields, resolved: Fields) -> str:
    """All disciplines of a run's report, with the options that the resolved scenario has for them."""
    blocks = []
    for node in resolved["nodes"]:
        for interface in node["interfaces"]:
            name = f"{node['name']}.{interface['name']}"
            blocks += [_block(*found) for found in _found(run["qdiscs"], name, interface["qdisc"])]
    return "\n".join(blocks)


def _found(counted: Mapping[str, Fields], interface: str, qdisc: Fields) -> Iterable[tuple[Fields, str, Fields]]:
    """Of each discipline of an interface its counters, where it stands and its options; each before those inside it."""
    if not qdisc["mq"]:
        yield from _down(counted, interface, f"dev {interface} root", qdisc["config"])
        return
    yield from _down(counted, interface, f"dev {interface} root", {"kind": "mq"})
    for number, category in enumerate(_CATEGORIES, 1):
        yield from _down(counted, f"{interface}/{category}", f"dev {interface} parent :{number}", qdisc["config"])


def _down(
    counted: Mapping[str, Fields], path: str, where: str, config: Fields | None
) -> Iterable[tuple[Fields, str, Fields]]:
    if config is not None and path in counted:
        yield counted[path], where, config
        device = " ".join(where.split()[:2])
        yield from _down(counted, f"{path}/child", f"{device} parent {config['kind']}", config.get("child"))


def _block(counters: Fields, where: str, config: Fields) -> str:
    kind = counters["kind"]
    options = _OPTIONS[kind](config) if kind in _OPTIONS else ""
    lines = [
        f"qdisc {kind} {where} {options}".rstrip(),
        f" Sent {counters['bytes']} bytes {counters['packets']} pkt "
        f"(dropped {counters['drops']}, overlimits {counters['overlimits']} requeues {counters['requeues']})",
        f" backlog {size(counters['backlog_bytes'])} {counters['backlog_packets']}p requeues {counters['requeues']}",
    ]
    return "\n".join([*lines, *(_OWN[kind](counters) if kind in _OWN else ())])


# linux: iproute2 lib/utils.c print_color_rate (6.1) - three digits more where the unit would round.
def rate(bps: int) -> str:
    """A rate as tc writes it."""
    units = ["", "K", "M", "G", "T"]
    while len(units) > 1 and bps >= 1000 and (bps % 1000 == 0 or bps >= 1_000_000):
        bps //= 1000
        units.pop(0)
    return f"{bps}{units[0]}bit"


# linux: iproute2 lib/utils.c print_color_size (6.1) - a unit where what it rounds is little.
def size(count: int) -> str:
    """A number of bytes as tc writes it."""
    for unit, scale, slack in (("Mb", 1 << 20, 1024), ("Kb", 1024, 16)):
        if count >= scale and abs(scale * round(count / scale) - count) < slack:
            return f"{round(count / scale)}{unit}"
    return f"{count}b"


# linux: iproute2 lib/utils.c sprint_time (6.1) - three digits.
def time(us: int) -> str:
    """A time in microseconds as tc writes it."""
    if us >= 1_000_000:
        return f"{us / 1_000_000:.3g}s"
    return f"{us / 1000:.3g}ms" if us >= 1000 else f"{us}us"


def _ns(ns: int) -> str:
    return time(ns // 1000)


def _codel_law(config: Fields) -> str:
    law = config["codel"]
    return f"target {_ns(law['target_ns'])} interval {_ns(law['interval_ns'])}"


def _ecn(config: Fields) -> str:
    return " ecn" if config["codel"]["ecn"] else ""


def _cake(config: Fields) -> str:
    bandwidth, overhead = config["bandwidth_bps"], config["overhead_bytes"]
    words = [
        f"bandwidth {'unlimited' if bandwidth is None else rate(bandwidth)}",
        config["tins"],
        config["isolation"],
        "nonat",
        "wash" if config["wash"] else "nowash",
        "ingress" if config["ingress"] else "",
        "no-ack-filter",
        "split-gso" if config["split_gso"] else "no-split-gso",
        f"rtt {_ns(config['rtt_ns'])}",
        "raw" if overhead is None else "",
        "" if overhead is None and config["atm"] == "noatm" else config["atm"],
        f"overhead {overhead or 0}",
        f"mpu {config['mpu_bytes']}" if config["mpu_bytes"] else "",
        f"memlimit {size(config['memlimit_bytes'])}" if config["memlimit_bytes"] else "",
    ]
    return " ".join(word for word in words if word)


def _tbf(config: Fields) -> str:
    words = f"rate {rate(config['rate_bps'])} burst {size(config['burst_bytes'])}"
    waits = [(config["rate_bps"], config["burst_bytes"])]
    if config["peakrate_bps"] is not None:
        words += f" peakrate {rate(config['peakrate_bps'])} minburst {size(config['mtu_bytes'])}"
        waits.append((config["peakrate_bps"], config["mtu_bytes"]))
    limit = config["child"].get("limit_bytes")
    if limit is None:
        return words
    return f"{words} lat {time(max(max(0, limit - burst) * 8_000_000 // bps for bps, burst in waits))}"


def _htb(config: Fields) -> str:
    return (
        f"rate {rate(config['rate_bps'])} ceil {rate(config['ceil_bps'])} "
        f"burst {size(config['burst_bytes'])} cburst {size(config['cburst_bytes'])}"
    )


def _netem(config: Fields) -> str:
    def percent(share: float) -> str:
        return f"{100 * share:g}%"

    words = [f"limit {config['limit']}"]
    if config["delay_ns"] or config["jitter_ns"]:
        words.append(f"delay {_ns(config['delay_ns'])}")
        if config["jitter_ns"]:
            words += [_ns(config["jitter_ns"]), percent(config["delay_correlation"])]
    for name in ("loss", "duplicate", "reorder"):
        if config[name]["probability"]:
            words += [name, percent(config[name]["probability"])]
            words += [percent(config[name]["correlation"])] if config[name]["correlation"] else []
    if config["rate_bps"] is not None:
        words.append(f"rate {rate(config['rate_bps'])}")
    if config["gap"]:
        words.append(f"gap {config['gap']}")
    return " ".join(words)


def _sfq(config: Fields) -> str:
    words = f"limit {config['limit']}p quantum {size(config['quantum_bytes'])} depth {config['depth']}"
    words += " headdrop" if config["headdrop"] else ""
    perturb = f" perturb {config['perturb_ns'] // 1_000_000_000}sec" if config["perturb_ns"] else ""
    return f"{words} divisor {config['divisor']}{perturb}"


_OPTIONS: Mapping[str, Callable[[Fields], str]] = {
    "pfifo_fast": lambda _: _PRIOMAP,
    "pfifo": lambda c: f"limit {c['limit']}p",
    "bfifo": lambda c: f"limit {size(c['limit_bytes'])}",
    "codel": lambda c: f"limit {c['limit']}p {_codel_law(c)}{_ecn(c)}",
    "fq_codel": lambda c: (
        f"limit {c['limit']}p flows {c['flows']} quantum {c['quantum_bytes']} {_codel_law(c)} "
        f"memory_limit {size(c['memory_limit_bytes'])}{_ecn(c)} drop_batch {c['drop_batch']}"
    ),
    "cake": _cake,
    "sfq": _sfq,
    "htb": _htb,
    "tbf": _tbf,
    "netem": _netem,
}


def _codel_own(c: Fields) -> Sequence[str]:
    acting = "" if c["drop_next_us"] is None else f" dropping drop_next {time(c['drop_next_us'])}"
    return [
        f"  count {c['count']} lastcount {c['lastcount']} ldelay {time(c['ldelay_us'])}{acting}",
        f"  maxpacket {c['maxpacket']} ecn_mark {c['ecn_mark']} drop_overlimit {c['drop_overlimit']}",
    ]


def _fq_codel_own(c: Fields) -> Sequence[str]:
    memory = f" drop_overmemory {c['drop_overmemory']}" if c["drop_overmemory"] else ""
    return [
        f"  maxpacket {c['maxpacket']} drop_overlimit {c['drop_overlimit']} new_flow_count {c['new_flow_count']} "
        f"ecn_mark {c['ecn_mark']} memory_used {c['memory_used']}{memory}",
        f"  new_flows_len {c['new_flows_len']} old_flows_len {c['old_flows_len']}",
    ]


_TIN_ROWS: Sequence[tuple[str, str, Callable[[int], str]]] = (
    ("thresh", "threshold_rate_bps", lambda bps: rate(bps or 0)),
    ("target", "target_us", time),
    ("interval", "interval_us", time),
    ("pk_delay", "peak_delay_us", time),
    ("av_delay", "avg_delay_us", time),
    ("sp_delay", "base_delay_us", time),
    ("backlog", "backlog_bytes", size),
    ("pkts", "sent_packets", str),
    ("bytes", "sent_bytes", str),
    ("way_inds", "way_indirect_hits", str),
    ("way_miss", "way_misses", str),
    ("way_cols", "way_collisions", str),
    ("drops", "drops", str),
    ("marks", "ecn_mark", str),
    ("sp_flows", "sparse_flows", str),
    ("bk_flows", "bulk_flows", str),
    ("un_flows", "unresponsive_flows", str),
    ("max_len", "max_pkt_len", str),
    ("quantum", "flow_quantum", str),
)


def _cake_own(c: Fields) -> Sequence[str]:
    def span(words: str, least: int | None, most: int, width: int) -> str:
        return f" {words}:{least or 0:>{width}} /{most:8}"

    # A report's keys stand in order of the alphabet; tins in that of their class.
    classes = ("Bulk", "Best Effort", "Video", "Voice")
    place = {name: at for at, name in enumerate(classes)}
    tins: Mapping[str, Fields] = dict(sorted(c["tins"].items(), key=lambda tin: place.get(tin[0], 0)))
    lines = [
        f" memory used: {size(c['memory_used'])} of {size(c['memory_limit'])}",
        f" capacity estimate: {rate(c['capacity_estimate_bps'] or 0)}",
        span("min/max network layer size", c["min_network_size"], c["max_network_size"], 13),
        span("min/max overhead-adjusted size", c["min_adj_size"], c["max_adj_size"], 9),
        "",
        " " * 10 + "".join(f" {name:>12}" for name in tins),
    ]
    for word, key, write in _TIN_ROWS:
        lines.append(f"  {word:8}" + "".join(f" {write(tin[key]):>12}" for tin in tins.values()))
    return lines


_OWN: Mapping[str, Callable[[Fields], Sequence[str]]] = {
    "codel": _codel_own,
    "fq_codel": _fq_codel_own,
    "cake": _cake_own,
}
