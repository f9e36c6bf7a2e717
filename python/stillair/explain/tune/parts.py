"""A setting with its choices, and where it stands: nodes of the scenario by the tables that a person wrote."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stillair.explain.access import ends

Sets = tuple[tuple[str, str], ...]
"""Keys with values that take the place of the scenario's."""


class Name(NamedTuple):
    """What a machine calls a device, which no scenario knows: a variable of the shell that a person sets."""

    variable: str
    here: str
    """Its name in the scenario, or the usual one."""
    what: str
    """What it is, and which command tells it."""

    def __str__(self) -> str:
        """As it stands in a command."""
        # Unset or empty it fails, and sets nothing at another device.
        return f"${{{self.variable}:?}}"


class Option(NamedTuple):
    """One choice of a setting."""

    words: str
    sets: Sets = ()
    commands: tuple[str, ...] = ()
    """What sets it on the machine, one a line; a line that begins with # says what no command does."""
    note: str = ""
    """Where it holds, if not everywhere."""
    names: tuple[Name, ...] = ()
    """What stands in the commands and is to be set first."""


class Setting(NamedTuple):
    """Something that a person can set; the first choice is what the scenario has."""

    name: str
    where: str
    """The nodes that it is set on."""
    options: tuple[Option, ...]
    hosts: tuple[str, ...] = ()
    """The same one by one: those that run the commands."""


AS_IT_IS = Option("as it is")


class Node(NamedTuple):
    """A table of the file, with a node that came of it; those of a `count` are alike."""

    name: str
    table: Mapping[str, Any]
    resolved: Mapping[str, Any]

    def key(self, *path: str) -> str:
        """A key of this node."""
        return ".".join(["node", self.name, *path])

    def has(self, interface: str) -> bool:
        """Whether the interface has keys here: those of a node that it is like are set there."""
        return "inherits" not in self.table or interface in self.table.get("interface", {})

    def wlans(self, role: str) -> Iterator[Mapping[str, Any]]:
        """Its Wi-Fi interfaces of that role."""
        for interface in self.resolved["interfaces"]:
            if interface["medium"].get("role", {}).get("kind") == role:
                yield interface

    def wires(self) -> Iterator[Mapping[str, Any]]:
        """Its interfaces at a link."""
        return (interface for interface in self.resolved["interfaces"] if "link" in interface["medium"])

    @property
    def linux(self) -> tuple[int, int] | None:
        """The version of its kernel, if the profile is one of Linux."""
        found = re.fullmatch(r"linux-(\d+)\.(\d+)", self.resolved["profile"]["name"])
        return (int(found[1]), int(found[2])) if found else None

    @property
    def openwrt(self) -> bool:
        """Whether it runs OpenWrt."""
        return str(self.table.get("profile", "")).startswith("openwrt")


class Network(NamedTuple):
    """A scenario, as it was written and as it is run."""

    nodes: Sequence[Node]
    resolved: Mapping[str, Any]
    mine: frozenset[str] | None = None
    """Names of the nodes that may be set; `None` if all of ours may."""

    def flows(self, *kinds: str) -> Iterator[Mapping[str, Any]]:
        """Flows of these kinds."""
        return (flow for flow in self.resolved["flows"] if flow["traffic"]["kind"] in kinds)

    def ours(self) -> list[Node]:
        """Nodes that the user can set: `mine`, or all but those at the far end of an access line."""
        if self.mine is not None:
            return [node for node in self.nodes if node.resolved["name"] in self.mine]
        far = {there.partition(".")[0] for link in self.resolved["links"] for _, there in ends(link, self.resolved)}
        return [node for node in self.nodes if node.resolved["name"] not in far]

    def router(self) -> str:
        """The node whose commands are to be run: that at the line, or an access point; empty if there is none."""
        near = {here.partition(".")[0] for link in self.resolved["links"] for here, _ in ends(link, self.resolved)}
        kinds: tuple[Callable[[Node], bool], ...] = (
            lambda node: node.resolved["name"] in near and bool(node.resolved["forward"]),
            lambda node: any(node.wlans("ap")),
            lambda node: bool(node.resolved["forward"]),
        )
        return next((node.name for kind in kinds for node in self.ours() if kind(node)), "")

    def device(self, node: Node, interface: str) -> Name:
        """What a machine calls an interface."""
        near = [here for link in self.resolved["links"] for here, _ in ends(link, self.resolved)]
        wlans = [one["name"] for one in node.resolved["interfaces"] if "link" not in one["medium"]]
        own = [one.partition(".")[2] for one in near if one.partition(".")[0] == node.resolved["name"]]
        if interface in own:
            what = f"{interface} of the scenario: the device at the line, with PPPoE such as pppoe-wan; 'ip link'"
            return Name(_variable("WAN", interface, own), interface, what)
        if interface in wlans:
            what = f"{interface} of the scenario: the Wi-Fi interface; 'iw dev'"
            return Name(_variable("WLAN", interface, wlans), interface, what)
        return Name(_variable("DEV", interface, []), interface, f"{interface} of the scenario; 'ip link'")

    def radio(self, channel: str) -> Name:
        """What OpenWrt calls the radio of a channel."""
        names = [one["name"] for one in self.resolved["channels"]]
        band = next(one["band_ghz"] for one in self.resolved["channels"] if one["name"] == channel)
        what = f"the wifi-device at {band:g} GHz; 'uci show wireless'"
        return Name(_variable("RADIO", channel, names), "radio0", what)

    def phy(self, channel: str) -> Name:
        """What Linux calls it."""
        names = [one["name"] for one in self.resolved["channels"]]
        band = next(one["band_ghz"] for one in self.resolved["channels"] if one["name"] == channel)
        return Name(_variable("PHY", channel, names), "phy0", f"the radio at {band:g} GHz; 'iw dev', its phy#0 is phy0")

    def senders(self) -> list[Node]:
        """Those of ours that send by TCP."""
        names = {flow["from"].partition(".")[0] for flow in self.flows("tcp", "web")}
        names |= {to.partition(".")[0] for flow in self.flows("web") for to in flow["to"]}
        return [node for node in self.ours() if names & self._all(node)]

    def _all(self, node: Node) -> set[str]:
        names = (one["name"] for one in self.resolved["nodes"])
        return {name for name in names if name == node.name or _of_count(name, node)}


def _of_count(name: str, node: Node) -> bool:
    return "count" in node.table and re.fullmatch(re.escape(node.name) + r"\d+", name) is not None


def network(text: Mapping[str, Any], resolved: Mapping[str, Any]) -> Network:
    """Tables of a file beside what they come to."""
    nodes = []
    for name, table in text.get("node", {}).items():
        whole = _with_likes(table, text["node"])
        one = Node(name, {**whole, **({"inherits": table["inherits"]} if "inherits" in table else {})}, {})
        found = next((n for n in resolved["nodes"] if n["name"] == name or _of_count(n["name"], one)), None)
        if found is not None:
            nodes.append(Node(name, {**table, "profile": whole.get("profile", "")}, found))
    return Network(nodes, resolved)


def _with_likes(table: Mapping[str, Any], nodes: Mapping[str, Any]) -> Mapping[str, Any]:
    base = nodes.get(table.get("inherits", ""))
    return {**_with_likes(base, nodes), **table} if isinstance(base, Mapping) else table


def _variable(kind: str, name: str, all_: Sequence[str]) -> str:
    """A name for the shell; with that of the scenario where it is not the only one."""
    return kind if len(all_) == 1 else re.sub(r"\W", "_", f"{kind}_{name}".upper())


def on(nodes: Iterable[Node]) -> str:
    """Names of nodes, in few words."""
    names = [node.name for node in nodes]
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} more"
