"""Facts without a scenario key, as sentences for its head."""

from collections.abc import Iterator, Sequence

from stillair.runs.imports import facts, qdiscs


def of(found: Sequence[facts.Fact], radio: facts.Radio | None, used: set[str]) -> Iterator[str]:
    """Yields the sentences for a scenario with `radio` and the disciplines at the places `used`."""
    others = {f"{one.where} {one.name}" for one in found if isinstance(one, facts.Radio) and one is not radio}
    devices = {one.device for one in found if isinstance(one, facts.Qdisc) and one.where in used}
    for one in found:
        if isinstance(one, facts.Radio) and one is not radio:
            yield radio_of(one)
        elif isinstance(one, facts.Unread) and one.radio not in others:
            yield f"{one.where}: {one.what}"
        elif isinstance(one, facts.Device) and "driver" not in one.keys:
            yield f"{one.where}: {len(one.keys)} settings of {one.name or 'a device'} that ethtool prints"
        elif isinstance(one, facts.Qdisc) and one.root and one.where not in used:
            yield from _qdisc(one, found, devices)
        elif isinstance(one, facts.Netdev) and one.qdisc not in ("", *qdiscs.HOLDLESS) and not _has_tc(found):
            yield f"{one.where}: {one.qdisc} at {one.name}: see 'tc -s qdisc' for its options"


def _has_tc(found: Sequence[facts.Fact]) -> bool:
    return any(isinstance(one, facts.Qdisc) for one in found)


def _qdisc(one: facts.Qdisc, found: Sequence[facts.Fact], devices: set[str]) -> Iterator[str]:
    if one.kind in ("mq", "mqprio"):
        below = [
            row.kind
            for row in found
            if isinstance(row, facts.Qdisc)
            and row.device == one.device
            and row.parent
            and row.kind not in qdiscs.HOLDLESS
        ]
        if below and one.device not in devices:
            yield f"{one.where}: {one.kind} of {len(below)} {below[0]} at {one.device}"
    elif one.kind in ("htb", "hfsc"):
        if not any(isinstance(row, facts.Class) and row.device in (one.device, qdiscs.NAMELESS) for row in found):
            dev = one.device if one.device != qdiscs.NAMELESS else "DEVICE"
            yield f"{one.where}: {one.kind} at {one.device}: see 'tc -s class show dev {dev}' for its rates"
            if isinstance(stab := one.options.get("stab"), str):
                yield f"{one.where}: stab {stab}"
    elif one.kind not in qdiscs.HOLDLESS:
        why = "" if qdiscs.is_cake(one) or one.kind in qdiscs.KINDS else ", which is not imported"
        yield f"{one.where}: {one.kind} at {one.device}{why}"


def radio_of(one: facts.Radio) -> str:
    """A radio that is not in the scenario, and the reason."""
    told = [f"{one.band_ghz:g} GHz"] if one.band_ghz else []
    told += [f"{one.width_mhz} MHz"] if one.width_mhz else []
    return f"{one.where}: radio {', '.join([one.name, *told])}: {one.off or 'a scenario has one channel'}"
