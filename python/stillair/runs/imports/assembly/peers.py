"""Interfaces and their stations: names that an output leaves out, repeated outputs, types that are not modelled."""

import dataclasses
import re
from collections.abc import Sequence

from stillair.runs.imports import facts
from stillair.runs.imports.assembly.parts import every
from stillair.runs.imports.rates import band_ghz, is_modelled, parts

_NO_AP = {
    "mesh point": "802.11s mesh is not modelled",
    "IBSS": "IBSS (ad hoc) is not modelled",
    "OCB": "OCB is not modelled",
}
"""Interface types whose peers are not stations of an access point."""
_OTHER_TYPES = (*_NO_AP, "monitor", "P2P-device", "P2P-GO", "P2P-client", "NAN", "WDS", "outside context of a BSS")


def modelled(found: Sequence[facts.Fact], left: list[str]) -> list[facts.Fact]:
    """The facts with named interfaces, each station once, without those of no access point; `left` has the rest."""
    return _without_others(_once(_named(found, left), left), left)


def link(own: facts.Interface | None, here: Sequence[facts.Peer], left: list[str]) -> facts.Interface | None:
    """Returns a multi-link interface as one link: the link with the stations' rates, else the widest."""
    if own is None or not own.links:
        return own
    wide = any(rate and "320MHz" in rate.told for peer in here for rate in (peer.tx, peer.rx))
    mhz, width = next((one for one in own.links if wide and band_ghz(one[0]) == 6.0), own.links[0])
    others = " and ".join(f"{at} MHz" for at, _ in own.links if at != mhz)
    told = f"{own.where}: multi-link operation is not modelled: only the link at {mhz} MHz is used, not {others}"
    left.append(told)
    return dataclasses.replace(own, mhz=mhz, width_mhz=width)


_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")


def _once(found: Sequence[facts.Fact], left: list[str]) -> list[facts.Fact]:
    """Returns the facts with each station once, from the output with most of its rates, then from the last output."""
    best: dict[tuple[str, str], facts.Peer] = {}

    def worth(peer: facts.Peer) -> int:
        return sum(1 if rate.guessed else 2 for rate in (peer.tx, peer.rx) if rate and rate.name)

    for one in every(found, facts.Peer):
        key = one.mac, one.interface
        if _MAC.fullmatch(one.mac) and (key not in best or worth(one) >= worth(best[key])):
            best[key] = one
    made: list[facts.Fact] = []
    for fact in found:
        other = best.get((fact.mac, fact.interface)) if isinstance(fact, facts.Peer) else None
        if isinstance(fact, facts.Peer) and other is not None and other is not fact:
            left.append(f"{fact.where}: another output of {fact.mac}; {other.where} is used")
        else:
            made.append(fact)
    return made


def _named(found: Sequence[facts.Fact], left: list[str]) -> list[facts.Fact]:
    """Names interfaces and stations' interfaces whose output has no name, from other files or by the rates."""
    names = [one.name for one in every(found, facts.Interface) if one.name]
    aps = [one.name for one in every(found, facts.Interface) if one.name and one.kind in ("AP", "P2P-GO")]
    dumped = list(dict.fromkeys(peer.interface for peer in every(found, facts.Peer) if peer.interface))
    known = {
        peer.mac: peer.interface for peer in every(found, facts.Peer) if peer.interface and _MAC.fullmatch(peer.mac)
    }
    made: list[facts.Fact] = []
    for one in found:
        if isinstance(one, facts.Peer) and not one.interface:
            own = [known[one.mac]] if one.mac in known else []
            own = own or (names if "beacon loss" in one.counts else _fitting(one, aps, found))
            own = own if len(own) == 1 else dumped if len(dumped) == 1 and not own else []
            name = next(iter(own or aps), "wlan0")
            if len(aps) > 1 and one.mac not in known:
                left.append(f"guess: the stations in {_file(one.where)} belong to {name}, by their rates (--interface)")
            made.append(dataclasses.replace(one, interface=name))
        elif isinstance(one, facts.Interface) and not one.name:
            same = dumped or names
            made.append(dataclasses.replace(one, name=same[0] if len(same) == 1 else "wlan0"))
        else:
            made.append(one)
    return _merged(made)


def _file(where: str) -> str:
    return re.sub(r":\d+$", "", where)


def _fitting(peer: facts.Peer, names: Sequence[str], found: Sequence[facts.Fact]) -> list[str]:
    """The interfaces of these names that can have sent the rates of a station."""
    rates = [rate.name for rate in (peer.tx, peer.rx) if rate and rate.name]
    five = any(name.startswith("vht") or parts(name)[1] > 40 for name in rates)
    own = [one for one in every(found, facts.Interface) if one.name in names]
    own = [one for one in own if not (five and one.mhz and band_ghz(one.mhz) == 2.4)]
    used = max((parts(name)[1] for name in rates), default=0)
    same = [one for one in own if one.width_mhz == used]
    return [one.name for one in same or own]


def _merged(found: list[facts.Fact]) -> list[facts.Fact]:
    """Merges the interfaces of the same name, whose outputs may have different fields."""
    made: dict[str, facts.Interface] = {}
    for one in every(found, facts.Interface):
        before = made.get(one.name)
        if before is None:
            made[one.name] = one
            continue
        made[one.name] = dataclasses.replace(
            before,
            kind=one.kind if before.kind in ("unknown", "") else before.kind,
            mhz=before.mhz or one.mhz,
            width_mhz=before.width_mhz or one.width_mhz,
            txpower_dbm=before.txpower_dbm if before.txpower_dbm is not None else one.txpower_dbm,
            standard=before.standard or one.standard,
            power_save=before.power_save if before.power_save is not None else one.power_save,
            said=list(dict.fromkeys([*before.said, *one.said])),
        )
    return [*made.values(), *(one for one in found if not isinstance(one, facts.Interface))]


def _without_others(found: Sequence[facts.Fact], left: list[str]) -> list[facts.Fact]:
    """The facts without peers and interfaces that belong to no access point."""
    kinds = {one.name: one.kind for one in every(found, facts.Interface)}
    counts: dict[tuple[str, str], int] = {}
    kept: list[facts.Fact] = []
    dumped = {peer.interface for peer in every(found, facts.Peer)}
    for one in found:
        if isinstance(one, facts.Peer):
            why = _NO_AP.get(kinds.get(one.interface, ""), "")
            if one.mesh:
                why = _NO_AP["mesh point"]
            elif not why and "mesh" in one.interface.lower() and one.interface not in kinds:
                why = f"{_NO_AP['mesh point']}, by the interface name"
            if why:
                counts[one.interface, why] = counts.get((one.interface, why), 0) + 1
                continue
            # hostapd creates an interface for each 4-address station: wlan0.sta1.
            if at := re.fullmatch(r"([\w-]+)\.sta\d+", one.interface):
                one = dataclasses.replace(  # noqa: PLW2901
                    one, interface=at[1], said=[*one.said, "4-address (WDS) station: hosts behind it are not modelled"]
                )
        elif isinstance(one, facts.Interface) and one.mhz and not is_modelled(one.mhz):
            left.append(f"{one.where}: {one.name}, {one.mhz} MHz: only 2.4, 5 and 6 GHz are modelled")
            continue
        elif isinstance(one, facts.Interface) and one.kind == "managed" and not one.mhz and one.name not in dumped:
            left.append(f"{one.where}: {one.name}, type managed: not connected")
            continue
        elif isinstance(one, facts.Interface) and one.kind in _OTHER_TYPES:
            why = _NO_AP.get(one.kind, "")
            if why or one.kind not in ("P2P-GO", "P2P-client"):
                left.append(f"{one.where}: {one.name}, type {one.kind}: {why or 'no stations'}")
                continue
            left.append(f"{one.where}: {one.name}, type {one.kind}: Wi-Fi Direct's own power save is not modelled")
            one = dataclasses.replace(one, kind="AP" if one.kind == "P2P-GO" else "managed")  # noqa: PLW2901
        kept.append(one)
    left += [f"{count} peers of {name}: {why}" for (name, why), count in counts.items()]
    return kept
