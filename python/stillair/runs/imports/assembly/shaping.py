"""The shaper at the line and the qdisc of the wired interface: running state of `tc` first, then sqm's settings."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stillair._native import InputError
from stillair.runs.imports import facts, qdiscs
from stillair.runs.imports.assembly import probe, sides
from stillair.runs.imports.assembly.parts import TRAFFIC, Network, Shaped, Told, every
from stillair.runs.imports.openwrt import tc_options

_WAYS = ("down", "up")
_LEAST_KBIT = 1
_MOST_KBIT = 1_000_000_000


@dataclass
class _Found:
    """A shaped direction."""

    where: str
    device: str
    kbit: int
    options: dict[str, object]
    way: str = ""
    guess: str = ""
    burst: int | None = None
    left: list[str] = field(default_factory=list)
    about: str = ""
    named_by_file: bool = False
    """True if the device is from the file name."""
    on_lan: bool = False
    """True on the hosts' side, where cake sees their addresses."""


def latest(found: Sequence[facts.Fact], left: list[str]) -> list[facts.Fact]:
    """The facts with each discipline of a device once: of several outputs the last."""
    outputs: dict[tuple[str, str], list[tuple[str, list[facts.Fact]]]] = {}
    roots: set[tuple[str, str, str]] = set()
    for one in found:
        if not isinstance(one, (facts.Qdisc, facts.Class)) or one.device == qdiscs.NAMELESS:
            continue
        key, output = (type(one).__name__, one.device), _output(one.where)
        is_root = one.root if isinstance(one, facts.Qdisc) else not one.parent
        runs = outputs.setdefault(key, [])
        again = is_root and (*key, output) in roots
        if not runs or runs[-1][0] != output or again:
            runs.append((output, []))
        roots |= {(*key, output)} if is_root else set()
        runs[-1][1].append(one)
    old: list[facts.Fact] = []
    for (_, device), runs in outputs.items():
        for _, facts_of in runs[:-1]:
            old += facts_of
            left.append(f"{facts_of[0].where}: earlier output of {device}")
    gone = set(map(id, old))
    return [one for one in found if id(one) not in gone]


def _output(where: str) -> str:
    """The output of a place: a file, or an array of JSON in it."""
    return where.partition(": entry ")[0] if ": entry " in where else re.sub(r":\d+$", "", where)


def fill(made: Network, found: Sequence[facts.Fact]) -> set[str]:
    """Adds the shaper and the wired qdisc; returns the places of the disciplines that are in it."""
    used: set[str] = set()
    running = _running(made, found, used)
    settings = _settings(made, found)
    ways: dict[str, _Found] = {}
    ups = [one.device for one in running if one.way == "up"]
    # Several lines: use the first and its ifb.
    for one in sorted(running, key=lambda one: one.way == "down" and one.device != f"ifb4{ups[0] if ups else ''}"):
        if one.way in ways:
            what = one.about.partition(":")[0]
            made.left.append(f"{one.where}: a second {what} for {TRAFFIC[one.way]} traffic, at {one.device}")
        else:
            ways[one.way] = one
    for way, one in _of_sqm(settings, found).items():
        if way not in ways:
            ways[way] = one
        else:
            made.left += _differences(ways[way], one, way)
    if ways:
        _put(made, {way: ways[way] for way in _WAYS if way in ways}, settings if settings else None)
    elif settings is None or not running:
        used |= _wired(made, found)
    return used


def _settings(made: Network, found: Sequence[facts.Fact]) -> facts.Shaper | None:
    """The queue of sqm that runs: the first that is enabled, has a script and a rate."""
    chosen: facts.Shaper | None = None
    for shaper in every(found, facts.Shaper):
        if not shaper.enabled:
            made.left.append(f"{shaper.where}: the shaper at {shaper.device} is disabled")
        elif chosen is not None:
            made.left.append(f"{shaper.where}: a second shaper, at {shaper.device}")
        elif not shaper.script:
            made.left.append(f"{shaper.where}: the shaper at {shaper.device} has no script, so sqm does not start it")
        elif shaper.down_kbit <= 0 and shaper.up_kbit <= 0:
            made.left.append(f"{shaper.where}: the shaper at {shaper.device} has no rate")
        else:
            chosen = shaper
    if chosen is not None and _stopped(chosen, found):
        made.left.append(
            f"{chosen.where}: sqm is enabled at {chosen.device}, but not running: tc shows no shaper there"
        )
        return None
    return chosen


def _stopped(shaper: facts.Shaper, found: Sequence[facts.Fact]) -> bool:
    """Reports whether `tc` shows the shaper's device with another discipline at its root."""
    roots = [one for one in every(found, facts.Qdisc) if one.root and one.device == shaper.device]
    shapes = [one for one in every(found, facts.Qdisc) if qdiscs.bandwidth_bps(one) or one.kind in ("htb", "hfsc")]
    return bool(roots) and not shapes


def _of_sqm(shaper: facts.Shaper | None, found: Sequence[facts.Fact]) -> dict[str, _Found]:
    if shaper is None:
        return {}
    ways = {
        way: _Found(shaper.where, shaper.device, kbit, dict(options), way, burst=shaper.bursts.get(way))
        for way, kbit, options in (("down", shaper.down_kbit, shaper.down), ("up", shaper.up_kbit, shaper.up))
        if kbit > 0
    }
    side, where = sides.of_device(shaper.device, found)
    if side != "lan":
        if not side and not shaper.device.startswith("ifb"):
            for one in ways.values():
                one.guess = f"guess: {shaper.device} is assumed to be the WAN device"
        return ways
    # sqm-scripts: upload is the egress of the interface; on a LAN device this is the hosts' download.
    turned = {("up" if way == "down" else "down"): one for way, one in ways.items()}
    for way, one in turned.items():
        one.way, one.on_lan = way, True
        said = f" ({where})" if where else ""
        one.guess = (
            f"guess: sqm runs on {shaper.device}, a LAN device{said}: its download and upload are swapped, because"
            " hosts send what the device receives"
        )
    return turned


def _differences(running: _Found, configured: _Found, way: str) -> list[str]:
    """Running state and settings of one direction."""
    told = []
    at = running.device.removeprefix("ifb4").removeprefix("ifb-")
    if at != configured.device and not running.named_by_file and not at.startswith(("ifb", "a device")):
        told.append(f"{configured.device} instead of {at}")
    if running.kbit != configured.kbit:
        told.append(f"{configured.kbit} kbit/s")
    if running.options.get("kind") == configured.options.get("kind"):
        told += tc_options.differences(configured.options, running.options)
    elif running.options.get("kind"):
        told.append(f"{configured.options.get('kind')} instead of {running.options['kind']}")
    if not told:
        return []
    return [
        f"{configured.where}: sqm is configured with {', '.join(told)} for {TRAFFIC[way]} traffic; the running shaper"
        f" ({running.kbit} kbit/s, {running.where}) is used"
    ]


def _running(made: Network, found: Sequence[facts.Fact], used: set[str]) -> list[_Found]:
    """Returns the shapers in the outputs of `tc`, with their directions."""
    every_one: list[tuple[_Found, facts.Qdisc | facts.Class]] = [
        _of_qdisc(one) for one in every(found, facts.Qdisc) if qdiscs.bandwidth_bps(one)
    ]
    every_one += _of_htb(found)
    shaped: list[_Found] = []
    for one, source in every_one:
        used.add(one.where)
        if not _LEAST_KBIT <= one.kbit <= _MOST_KBIT:
            made.left.append(f"{one.where}: {one.about}: its rate is outside the modelled range")
            continue
        one.options, left = probe.qdisc(one.options)
        one.left += left
        one.way, one.guess = sides.direction(source, found)
        shaped.append(one)
    for one in shaped:
        if one.device == qdiscs.NAMELESS and (device := sides.named_by_file(one.where)[0]):
            one.device, one.named_by_file = device, True
    _rest_by_rate(made, shaped)
    for one in shaped:
        if one.device == qdiscs.NAMELESS:
            one.device = "a device without a name"
        elif one.named_by_file:
            one.on_lan = sides.of_device(one.device, found)[0] == "lan"
        elif sides.of_device(one.device, found)[0] == "lan" or (one.way == "down" and not one.device.startswith("ifb")):
            one.on_lan = True
    return shaped


def _of_qdisc(one: facts.Qdisc) -> tuple[_Found, facts.Qdisc]:
    """A cake or tbf that shapes."""
    taken, left = qdiscs.keys(one)
    kbit = (qdiscs.bandwidth_bps(one) or 0) // 1000
    made = _Found(one.where, one.device, kbit, taken, left=left)
    drops = one.counts.get("drops", 0)
    made.about = f"{one.kind}: {drops} packets dropped so far"
    if one.kind == "tbf":
        burst = taken.get("burst")
        made.burst = int(str(burst).split()[0]) if burst else None
        limit = _of_tbf(one, kbit, made.burst or 0)
        made.options = {"kind": "bfifo", "limit": f"{limit} B"}
        made.left = ["tbf: modelled as an htb with the same rate and burst", *left]
    if one.kind == "cake_mq":
        made.left = [*made.left, "cake_mq: modelled as one cake with the same rate"]
    if one.options.get("autorate-ingress") is True:
        made.left = [*made.left, "autorate-ingress: the current rate is used"]
    return made, one


def _of_tbf(one: facts.Qdisc, kbit: int, burst: int) -> int:
    """Bytes of a tbf's queue."""
    lat = one.options.get("lat", 0)
    us = lat if isinstance(lat, int) else 0
    return max(kbit * 1000 // 8 * us // 1_000_000 + burst, 1514)


def _of_htb(found: Sequence[facts.Fact]) -> list[tuple[_Found, facts.Class]]:
    """The htb of each device, by its classes: the rate of the top one, the discipline of the default class."""
    shaped = []
    places: dict[tuple[str, str, str], list[facts.Class]] = {}
    for one in every(found, facts.Class):
        major = one.handle.partition(":")[0]
        file = one.where.rpartition(":")[0] if one.device == qdiscs.NAMELESS else ""
        places.setdefault((one.device, major, file), []).append(one)
    for (device, major, _), classes in places.items():
        handles = [one.handle for one in classes]
        if twice := next((one for at, one in enumerate(classes) if one.handle in handles[:at]), None):
            raise InputError(
                f"{twice.where}: found class {twice.handle} again without a device name, expected each output of"
                " 'tc -s class show dev DEVICE' below its command or in a separate file"
            )
        top = next((one for one in classes if not one.parent), max(classes, key=lambda one: one.rate_bps))
        below = [one for one in every(found, facts.Qdisc) if one.device == device]
        root = next((one for one in below if one.kind == "htb" and one.handle in (f"{major}:", "")), None)
        minor = str(root.options.get("default", "")).removeprefix("0x") if root else ""
        leaves = [one for one in classes if one.parent]
        own = next((one for one in leaves if minor and one.handle == f"{major}:{minor}"), None)
        own = own or next((one for one in leaves if one.leaf), leaves[0] if leaves else top)
        leaf = next((one for one in below if one.handle == own.leaf or one.parent == own.handle), None)
        options: dict[str, object] = {"kind": "pfifo"}
        left = list[str]()
        if leaf is not None and (qdiscs.is_cake(leaf) or leaf.kind in qdiscs.KINDS):
            options, left = qdiscs.keys(leaf)
        elif own.leaf or any(one.leaf for one in leaves):
            options = {"kind": "fq_codel"}
            left = [f"qdisc {own.leaf or top.leaf} below htb is not in the files; fq_codel is assumed"]
        if root is not None and isinstance(root.options.get("stab"), str):
            left.append(f"stab {root.options['stab']}: htb has no framing here")
        if len(leaves) > 1:
            rates = ", ".join(f"{one.handle} {one.rate_bps // 1000} kbit/s" for one in leaves)
            left.append(f"htb's {len(leaves)} classes ({rates}): all packets use one class here")
        rate = top.rate_bps // 1000
        made = _Found(top.where, device, rate, options, burst=top.burst or own.burst, left=left, about="htb")
        shaped.append((made, replace(top, way=next((row.way for row in classes if row.way), ""))))
    return shaped


def _rest_by_rate(made: Network, shaped: list[_Found]) -> None:
    """Assigns the missing directions: the one that is left, else `down` to the faster shaper.

    A single named device is assumed to be the WAN device, because shapers on LAN devices are rare.
    """
    open_ones = [one for one in shaped if not one.way]
    free = [way for way in _WAYS if all(one.way != way for one in shaped)]
    named = all(one.device != qdiscs.NAMELESS for one in open_ones)
    if len(open_ones) == 1 and len(free) == 1:
        _take(open_ones[0], free[0], "the other direction is known")
    elif len(open_ones) == 1 and len(free) == len(_WAYS) and named:
        _take(open_ones[0], "up", "assuming a WAN device")
    elif len(open_ones) == len(_WAYS) == len(free) and (named or open_ones[0].kbit != open_ones[1].kbit):
        slow, fast = sorted(open_ones, key=lambda one: one.kbit)
        _take(slow, "up", "by the two rates, of which download is the faster")
        _take(fast, "down", "by the two rates, of which download is the faster")
    elif open_ones and (named or not free):
        for one in open_ones:
            shaped.remove(one)
            made.left.append(f"{one.where}: the shaper at {one.device}: its direction is unknown")
    elif open_ones:
        raise InputError(
            "\n".join(
                f"{one.where}: found a shaper of {one.kbit} kbit/s without a device name, expected its direction:"
                f" --tc down=FILE or --tc up=FILE, or the output of 'tc -s qdisc' without 'dev'"
                for one in open_ones
            )
        )


def _take(one: _Found, way: str, why: str) -> None:
    file = f"; device by the file name {sides.named_by_file(one.where)[1]}" if one.named_by_file else ""
    one.way = way
    shown = one.where if one.device == qdiscs.NAMELESS else one.device
    one.guess = f"guess: {shown} shapes {TRAFFIC[way]} traffic: {why}{file}"


def _put(made: Network, ways: Mapping[str, _Found], settings: facts.Shaper | None) -> None:
    """Returns the directions as scenario values, with comments."""
    made.shaper = {}
    if settings is not None and any(one.where == settings.where for one in ways.values()):
        made.shaper_about.insert(0, f"{settings.where}: {settings.script} at {settings.device}.")
        own = [one for one in ways.values() if one.where == settings.where]
        made.shaper_about += [f"{guess}." for guess in dict.fromkeys(one.guess for one in own) if guess]
        turned = any(one.on_lan for one in own)
        made.shaper_about += [
            f"not read: {one}." for one in settings.unread if not (turned and one.startswith("burst "))
        ]
        made.shaper_about += [f"{one}." for one in settings.said]
    for way, one in ways.items():
        options = one.options
        if settings is None or one.where != settings.where:
            name, _, rest = one.about.partition(": ")
            made.shaper_about.append(f"{one.where}: {name} at {one.device}, {way}{'; ' + rest if rest else ''}.")
            made.shaper_about += [f"{one.guess}."] if one.guess else []
        # A router with host isolation is assumed to masquerade: at the line, a cake without `nat` sees one host.
        if tc_options.looks_at_hosts(options):
            made.masquerades = True
            if one.on_lan and not options.get("nat"):
                options = {**options, "nat": True}
                made.shaper_about.append(
                    f"guess: cake sees the addresses of hosts on {one.device}, a LAN device; nat has the same effect."
                )
        made.shaper[way] = Shaped(one.kbit, options, one.burst)
        made.shaper_about += [f"not read: {what}." for what in one.left]


def _wired(made: Network, found: Sequence[facts.Fact]) -> set[str]:
    """The qdisc of the wired interface, without a shaper: with its options, those of mq's queues if they are equal."""
    every_one = every(found, facts.Qdisc)
    candidates: list[tuple[int, facts.Qdisc, list[str]]] = []
    for root in every_one:
        device = root.device
        if (
            not root.root
            or device in ("lo", made.interface)
            or device.startswith(("ifb", "br", "veth", "docker", "tun"))
        ):
            continue
        if sides.is_wifi(device, found):
            continue
        children = [one for one in every_one if one.device == device and not one.root and one.parent]
        one, said = root, list[str]()
        if root.kind in ("mq", "mqprio") and children:
            one = children[0]
            others = [of for of in children if (of.kind, of.options) != (one.kind, one.options)]
            said.append(
                f"{root.kind} with {len(children)} queue{'s' if len(children) > 1 else ''}, modelled as one {one.kind}"
            )
            said += [f"{len(others)} of the queues differ from the first"] if others else []
        if one.kind in qdiscs.HOLDLESS or not (qdiscs.is_cake(one) or one.kind in qdiscs.KINDS):
            continue
        side = sides.of_device(device, found)[0]
        candidates.append(({"wan": 0, "": 1, "lan": 2}[side], one, said))
    if not candidates or not made.is_ap:
        return set()
    _, one, said = min(candidates, key=lambda candidate: candidate[0])
    options, left = qdiscs.keys(one)
    options, refused = probe.qdisc(options)
    if not probe.takes(f"interface.e.qdisc = {probe.inline({k: of for k, of in options.items() if k != 'nat'})}"):
        return set()
    nat = options.pop("nat", False)
    left += ["nat: no effect on a qdisc that does not shape"] if nat else []
    name = one.device if one.device != qdiscs.NAMELESS else "a device without a name"
    made.wired_qdisc = Told(one.kind, "; ".join([f"{one.where}: {name}", *said]))
    made.wired_options = options
    made.left += [f"{one.where}: {what}" for what in (*left, *refused)]
    return {one.where}
