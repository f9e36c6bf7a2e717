"""The user's hosts: only their settings and applications are proposed."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stillair._native import InputError
from stillair.explain.changes import Change
from stillair.text import nearest

Resolved = Mapping[str, Any]

_QUANTITY = re.compile(r"([0-9.]+) *([A-Za-z/]+)")
_MARKED = ("voip", "video")
_RATED = ("video", "udp")
_DSCP = "EF"


class Mine(NamedTuple):
    """The nodes that the user controls."""

    names: frozenset[str]

    def keep(self, change: Change, resolved: Resolved) -> tuple[Change | None, set[str]]:
        """Returns the part of a change that only sets these nodes, and the nodes left out."""
        kept, others = list[tuple[str, str]](), set[str]()
        for key, value in change.overrides:
            of = owners(key, resolved)
            if of and of <= self.names:
                kept.append((key, value))
            else:
                others |= of - self.names or {_NOBODY}
        if not kept:
            return None, others
        where = ", ".join(sorted({one for key, _ in kept for one in owners(key, resolved)}))
        words = f"{change.words} (at {where} only)" if others else change.words
        return change._replace(words=words, overrides=kept), others


_NOBODY = "other networks"


def read(values: Sequence[str], resolved: Resolved, scenario: str) -> Mine | None:
    """Parses `--mine`: each value is a name, or several names separated by commas. `None` without values."""
    given = [name.strip() for value in values for name in value.split(",")]
    if not given:
        return None
    known = {node["name"]: {node["name"]} for node in resolved["nodes"]}
    for name, table in tomllib.loads(scenario).get("node", {}).items():
        if "count" in table:
            known[name] = {one for one in known if re.fullmatch(rf"{re.escape(name)}\d+", one)}
    for name in given:
        if name not in known:
            hint = nearest.hint(name, known)
            raise InputError(f'--mine: found "{name}", expected a node of the scenario{hint or _listed(known)}')
    return Mine(frozenset(one for name in given for one in known[name]))


_MOST_NAMED = 12


def _listed(known: Mapping[str, object]) -> str:
    names = list(known)
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f": {', '.join(names[:_MOST_NAMED])}{more}"


def owners(key: str, resolved: Resolved) -> set[str]:
    """The nodes on which a key is set; empty if it sets none of the scenario's nodes."""
    nodes = resolved["nodes"]
    match key.split("."):
        case ["node", name, *_]:
            counted = {node["name"] for node in nodes if re.fullmatch(rf"{re.escape(name)}\d+", node["name"])}
            return {node["name"] for node in nodes if node["name"] == name} or counted
        case ["channel", name, *_]:
            # Channel width, beacons and basic rates are access point settings.
            media = ((node["name"], interface["medium"]) for node in nodes for interface in node["interfaces"])
            return {
                node
                for node, medium in media
                if medium.get("channel") == name and medium.get("role", {}).get("kind") == "ap"
            }
        case ["link", name, *_]:
            ends = (end for link in resolved["links"] if link["name"] == name for end in link["ends"])
            return {end.partition(".")[0] for end in ends}
        case _:
            return set()


def limited(every: Sequence[Change], mine: Mine, resolved: Resolved, scenario: str) -> tuple[list[Change], str]:
    """Changes that the user's nodes allow, with application changes last, and a sentence about the others."""
    kept, others, words = list[Change](), set[str](), list[str]()
    for change in every:
        one, of = mine.keep(change, resolved)
        others |= of
        if one is not None:
            kept.append(one)
        else:
            words.append(change.words)
    kept += [change for _, change in applications(mine, resolved, scenario)]
    if not others:
        return kept, ""
    whole = f" ({'; '.join(words)})" if words else ""
    return kept, f"Left out by --mine: settings of {', '.join(sorted(others))}{whole}."


def applications(mine: Mine, resolved: Resolved, scenario: str) -> Iterator[tuple[str, Change]]:
    """Changes to applications on the user's nodes, each with its node: a lower bit rate, a DSCP."""
    for at, flow in enumerate(tomllib.loads(scenario).get("flow", ())):
        host = _sender(flow, mine, resolved)
        if not host:
            continue
        name, kind = flow.get("name", f"{flow.get('kind')}-{at}"), flow.get("kind")
        rate = flow.get("rate")
        found = _QUANTITY.fullmatch(rate) if kind in _RATED and isinstance(rate, str) else None
        if found:
            half = f"{float(found[1]) / 2:g} {found[2]}"
            words = f"application of {host}: {name} at half its bit rate, {half}"
            yield host, Change(words, [(f"flow.{at}.rate", f'"{half}"')], action="in the application: a lower bit rate")
        if kind in _MARKED and "dscp" not in flow:
            words = f"application of {host}: {name} marked {_DSCP} (DSCP 46)"
            action = "in the application: setsockopt(IP_TOS, 0xb8)"
            yield host, Change(words, [(f"flow.{at}.dscp", f'"{_DSCP}"')], action=action)


def _sender(flow: Mapping[str, Any], mine: Mine, resolved: Resolved) -> str:
    """Returns the first of the user's nodes that sends a flow; empty without such a node."""
    ends = [flow.get("from", "")]
    if flow.get("bidirectional"):
        to = flow.get("to", ())
        ends += [to] if isinstance(to, str) else list(to)
    names = (one for end in ends for one in sorted(owners(f"node.{str(end).partition('.')[0]}", resolved)))
    return next((one for one in names if one in mine.names), "")
