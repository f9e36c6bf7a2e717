"""Queueing disciplines of a run in the format of `tc -s qdisc`."""

# spec: tc(8), tc-cake(8), tc-codel(8), tc-fq(8), tc-fq_codel(8), tc-netem(8), tc-pie(8), tc-tbf(8) of
# iproute2 6.1, and its output.

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Fields = Mapping[str, Any]

_CATEGORIES = ("VO", "VI", "BE", "BK")
"""In the kernel's order: under mq, the first has the parent `:1`."""

# linux: drivers/net/ifb.c TX_Q_LIMIT (6.1) - packets.
_IFB_QUEUE = 32

_PRIOMAP = "bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1"


def tc_text(run: Fields, resolved: Fields) -> str:
    """All disciplines of a run's report, with their options from the resolved scenario."""
    return "\n".join(_block(*one) for one in _all(run, resolved))


def tc_list(run: Fields, resolved: Fields) -> list[Fields]:
    """The disciplines as objects: place in `tc`'s terms, counters, options."""
    found: list[Fields] = []
    for counters, where, config, _ in _all(run, resolved):
        _, device, *place = where.split()
        parent = {"root": True} if place == ["root"] else {"parent": place[1]}
        own = {key: value for key, value in counters.items() if key != "kind"}
        chosen = {key: value for key, value in config.items() if key not in ("kind", "child")}
        found.append({"kind": counters["kind"], "dev": device, **parent, "options": chosen, **own})
    return found


def _all(run: Fields, resolved: Fields) -> Iterable[tuple[Fields, str, Fields, int]]:
    """Counters, place and options of each discipline, and the queue length of its device."""
    for node in resolved["nodes"]:
        for interface in node["interfaces"]:
            name = f"{node['name']}.{interface['name']}"
            for counters, where, config in _found(run["qdiscs"], name, interface["qdisc"]):
                yield counters, where, config, interface["txqueuelen"]
            if (config := interface.get("ingress")) is not None:
                ifb = f"{node['name']}.ifb4{interface['name']}"
                for counters, where, own in _down(run["qdiscs"], ifb, f"dev {ifb} root", config):
                    yield counters, where, own, _IFB_QUEUE


def _found(counted: Mapping[str, Fields], interface: str, qdisc: Fields) -> Iterable[tuple[Fields, str, Fields]]:
    """Counters, place and options of each discipline of an interface; parents before children."""
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


def _block(counters: Fields, where: str, config: Fields, txqueuelen: int) -> str:
    kind = counters["kind"]
    if kind == "htb":
        return _htb_and_class(counters, where, config, txqueuelen)
    options = _OPTIONS[kind](config) if kind in _OPTIONS else ""
    own = _OWN[kind](counters) if kind in _OWN else ()
    return "\n".join([f"qdisc {kind} {where} {options}".rstrip(), *_common(counters), *own])


def _common(counters: Fields, drops: int | None = None) -> Sequence[str]:
    """Counters of every discipline. A class has fewer drops than its discipline."""
    dropped = counters["drops"] if drops is None else drops
    return (
        f" Sent {counters['bytes']} bytes {counters['packets']} pkt "
        f"(dropped {dropped}, overlimits {counters['overlimits']} requeues {counters['requeues']})",
        f" backlog {size(counters['backlog_bytes'])} {counters['backlog_packets']}p requeues {counters['requeues']}",
    )


def _htb_and_class(counters: Fields, where: str, config: Fields, txqueuelen: int) -> str:
    """An htb in the format of `tc -s qdisc`, and its single class in that of `tc -s class`."""
    one = (
        f"class htb {where} prio 0 rate {rate(config['rate_bps'])} ceil {rate(config['ceil_bps'])} "
        f"burst {size(config['burst_bytes'])} cburst {size(config['cburst_bytes'])}"
    )
    return "\n".join(
        [
            f"qdisc htb {where} r2q 10 default 0x1 direct_packets_stat 0 direct_qlen {txqueuelen}",
            *_common(counters),
            one,
            *_common(counters, counters["class_drops"]),
            f" lended: {counters['lended']} borrowed: 0 giants: 0",
            f" tokens: {counters['tokens']} ctokens: {counters['ctokens']}",
        ]
    )


# linux: iproute2 lib/utils.c print_color_rate (6.1) - uses the smaller unit if the larger one would round.
def rate(bps: int) -> str:
    """A rate in tc's format."""
    units = ["", "K", "M", "G", "T"]
    while len(units) > 1 and bps >= 1000 and (bps % 1000 == 0 or bps >= 1_000_000):
        bps //= 1000
        units.pop(0)
    return f"{bps}{units[0]}bit"


# linux: iproute2 lib/utils.c print_color_size (6.1) - uses a unit if the rounding error is small.
def size(count: int) -> str:
    """A size in tc's format."""
    for unit, scale, slack in (("Mb", 1 << 20, 1024), ("Kb", 1024, 16)):
        if count >= scale and abs(scale * round(count / scale) - count) < slack:
            return f"{round(count / scale)}{unit}"
    return f"{count}b"


# linux: iproute2 lib/utils.c sprint_time, sprint_time64 (6.1) - three digits.
def time(us: int) -> str:
    """A time in microseconds in tc's format."""
    if us >= 1_000_000:
        return f"{us / 1_000_000:.3g}s"
    return f"{us / 1000:.3g}ms" if us >= 1000 else f"{us}us"


def fine_time(ns: int) -> str:
    """A time in nanoseconds in tc's format."""
    if ns < 1000:
        return f"{ns}ns"
    return f"{ns / 1000:.3g}us" if ns < 1_000_000 else time(ns // 1000)


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
        "nat" if config.get("nat") else "nonat",
        "wash" if config["wash"] else "nowash",
        "ingress" if config["ingress"] else "",
        config.get("ack_filter", "no-ack-filter"),
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


def _netem(config: Fields) -> str:
    def percent(share: float) -> str:
        return f"{100 * share:g}%"

    words = [f"limit {config['limit']}"]
    if config["delay_ns"] or config["jitter_ns"]:
        words.append(f"delay {_ns(config['delay_ns'])}")
        if config["jitter_ns"]:
            # tc prints two spaces before it.
            words.append(f" {_ns(config['jitter_ns'])}")
            words += [percent(config["delay_correlation"])] if config["delay_correlation"] else []
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


def _pie(config: Fields) -> str:
    words = f"limit {config['limit']}p target {_ns(config['target_ns'])} tupdate {_ns(config['tupdate_ns'])}"
    flags = [word for word in ("ecn", "bytemode", "dq_rate_estimator") if config[word]]
    return " ".join([words, f"alpha {config['alpha']} beta {config['beta']}", *flags])


_NEVER = 2**32 - 1
"""Value in microseconds that means no threshold."""


def _fq(config: Fields) -> str:
    words = [
        f"limit {config['limit']}p flow_limit {config['flow_limit']}p",
        f"buckets {config['buckets']} orphan_mask {config['orphan_mask']}",
        "" if config["pacing"] else "nopacing",
        f"quantum {size(config['quantum_bytes'])} initial_quantum {size(config['initial_quantum_bytes'])}",
        "" if config["maxrate_bps"] is None else f"maxrate {rate(config['maxrate_bps'])}",
        f"low_rate_threshold {rate(config['low_rate_threshold_bps'])} refill_delay {_ns(config['refill_delay_ns'])}",
        "" if config["ce_threshold_ns"] // 1000 == _NEVER else f"ce_threshold {_ns(config['ce_threshold_ns'])}",
        f"timer_slack {fine_time(config['timer_slack_ns'])} horizon {_ns(config['horizon_ns'])}",
        "horizon_drop" if config["horizon_drop"] else "horizon_cap",
    ]
    return " ".join(word for word in words if word)


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
    "pie": _pie,
    "fq": _fq,
    "tbf": _tbf,
    "netem": _netem,
}


def _codel_own(c: Fields) -> Sequence[str]:
    # tc prints an overdue time as its absolute value after a minus sign.
    next_us = c["drop_next_us"] or 0
    acting = "" if c["drop_next_us"] is None else " dropping"
    drop_next = f"{'-' if next_us < 0 else ''}{time(abs(next_us))}"
    return [
        f"  count {c['count']} lastcount {c['lastcount']} ldelay {time(c['ldelay_us'])}{acting} drop_next {drop_next}",
        f"  maxpacket {c['maxpacket']} ecn_mark {c['ecn_mark']} drop_overlimit {c['drop_overlimit']}",
    ]


def _fq_codel_own(c: Fields) -> Sequence[str]:
    memory = f" memory_used {c['memory_used']}" if c["memory_used"] else ""
    memory += f" drop_overmemory {c['drop_overmemory']}" if c["drop_overmemory"] else ""
    return [
        f"  maxpacket {c['maxpacket']} drop_overlimit {c['drop_overlimit']} new_flow_count {c['new_flow_count']} "
        f"ecn_mark {c['ecn_mark']}{memory}",
        f"  new_flows_len {c['new_flows_len']} old_flows_len {c['old_flows_len']}",
    ]


def _pie_own(c: Fields) -> Sequence[str]:
    rate_known = "" if c["avg_dq_rate"] is None else f" avg_dq_rate {c['avg_dq_rate']}"
    return [
        f"  prob {c['prob']:g} delay {time(c['delay_us'])}{rate_known}",
        f"  pkts_in {c['pkts_in']} overlimit {c['overlimit']} dropped {c['dropped']} maxq {c['maxq']} "
        f"ecn_mark {c['ecn_mark']}",
    ]


def _fq_own(c: Fields) -> Sequence[str]:
    delay = c["next_packet_delay_ns"]
    first = f"  flows {c['flows']} (inactive {c['inactive']} throttled {c['throttled_flows']})"
    first += "" if delay is None or delay <= 0 else f" next_packet_delay {fine_time(delay)}"
    second = f"  gc {c['gc']} highprio {c['highprio']} throttled {c['throttled']}"
    second += f" latency {fine_time(c['latency_ns'])}" if c["latency_ns"] else ""
    second += "".join(f" {key} {c[key]}" for key in ("ce_mark", "flows_plimit") if c[key])
    # Lines that tc prints only for non-zero counters, with one or two leading spaces.
    rare = ((" ", "pkts_too_long"), (" ", "horizon_drops"), ("  ", "horizon_caps"))
    return [first, second, *(f"{blank}{key} {c[key]}" for blank, key in rare if c[key])]


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
    ("ack_drop", "ack_drops", str),
    ("sp_flows", "sparse_flows", str),
    ("bk_flows", "bulk_flows", str),
    ("un_flows", "unresponsive_flows", str),
    ("max_len", "max_pkt_len", str),
    ("quantum", "flow_quantum", str),
)


def _cake_own(c: Fields) -> Sequence[str]:
    def span(words: str, least: int | None, most: int, width: int) -> str:
        return f" {words}:{least or 0:>{width}} /{most:8}"

    # Report keys are sorted alphabetically, tins by class.
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
    "pie": _pie_own,
    "fq": _fq_own,
}
