"""What files say and a scenario does not have, as sentences for its head."""

from collections.abc import Iterator, Sequence

from stillair.runs.imports import facts, qdiscs

_NONE = ("noqueue", "ingress", "clsact", "mq")
"""Disciplines that hold nothing themselves."""


def of(found: Sequence[facts.Fact], radio: facts.Radio | None, wired: facts.Qdisc | None) -> Iterator[str]:
    """All of it, where a scenario has that radio and, of what tc printed beside shapers, that discipline."""
    others = {one.where for one in found if isinstance(one, facts.Radio) and one is not radio}
    has_sqm = any(isinstance(one, facts.Shaper) and one.enabled for one in found)
    for one in found:
        if isinstance(one, facts.Radio) and one is not radio:
            yield _radio(one)
        elif isinstance(one, facts.Unread) and one.radio not in others:
            yield f"{one.where}: {one.what}"
        elif isinstance(one, facts.Device) and "driver" not in one.keys:
            yield f"{one.where}: {len(one.keys)} settings of {one.name or 'a device'} that ethtool prints"
        elif isinstance(one, facts.Qdisc) and one.root and one.kind not in _NONE and one is not wired:
            if not qdiscs.bandwidth_bps(one):
                yield f"{one.where}: {one.kind} at {one.device}"
            elif has_sqm:
                yield f"{one.where}: cake at {one.device}: the shaper is that of sqm's settings"


def _radio(one: facts.Radio) -> str:
    told = [f"{one.band_ghz:g} GHz"] if one.band_ghz else []
    told += [f"{one.width_mhz} MHz"] if one.width_mhz else []
    why = "is disabled" if one.disabled else "a scenario has one channel"
    return f"{one.where}: radio {', '.join([one.name, *told])}: {why}"
