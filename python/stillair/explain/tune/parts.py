"""A setting with its choices, and its place in the scenario: nodes with their tables in the file."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stillair.explain.access import ends

Sets = tuple[tuple[str, str], ...]
"""Keys with the values that replace the scenario's."""


class Name(NamedTuple):
    """A device name on the real machine, which no scenario knows: a shell variable for the user to set."""

    variable: str
    here: str
    """Name in the scenario, or the usual name."""
    what: str
    """What the variable names, and the command that shows it."""

    def __str__(self) -> str:
        """As written in a command."""
        # If unset or empty, the shell fails, so no other device is changed.
        return f"${{{self.variable}:?}}"


class Option(NamedTuple):
    """One choice of a setting."""

    words: str
    sets: Sets = ()
    commands: tuple[str, ...] = ()
    """Commands that apply the choice. Lines that start with # describe what no command does."""
    note: str = ""
    """Where the choice applies, if not everywhere."""
    names: tuple[Name, ...] = ()
    """Variables in the commands."""


class Setting(NamedTuple):
    """A setting; its first choice is the scenario's own."""

    name: str
    where: str
    """The nodes that it applies to."""
    options: tuple[Option, ...]
    hosts: tuple[str, ...] = ()
    """The hosts that run the commands."""


AS_IT_IS = Option("as it is")


class Node(NamedTuple):
    """A node table of the file with one of its resolved nodes; nodes of a `count` are alike."""

    name: str
    table: Mapping[str, Any]
    resolved: Mapping[str, Any]

    def key(self, *path: str) -> str:
        """Returns the full name of a key of this node."""
        return ".".join(["node", self.name, *path])

    def has(self, interface: str) -> bool:
        """Returns true if the interface's keys are set here and not in the node that this one inherits from."""
        return "inherits" not in self.table or interface in self.table.get("interface", {})

    def wlans(self, role: str) -> Iterator[Mapping[str, Any]]:
        """Wi-Fi interfaces with this role."""
        for interface in self.resolved["interfaces"]:
            if interface["medium"].get("role", {}).get("kind") == role:
                yield interface

    def wires(self) -> Iterator[Mapping[str, Any]]:
        """Interfaces at a link."""
        return (interface for interface in self.resolved["interfaces"] if "link" in interface["medium"])

    @property
    def linux(self) -> tuple[int, int] | None:
        """Kernel version, if the profile is a Linux release."""
        found = re.fullmatch(r"linux-(\d+)\.(\d+)", self.resolved["profile"]["name"])
        return (int(found[1]), int(found[2])) if found else None

    @property
    def openwrt(self) -> bool:
        """Returns true if the node runs OpenWrt."""
        return str(self.table.get("profile", "")).startswith("openwrt")


class Network(NamedTuple):
    """A scenario, as written and as resolved."""

    nodes: Sequence[Node]
    resolved: Mapping[str, Any]
    mine: frozenset[str] | None = None
    """Names of the nodes that may be changed; `None` for all of the user's nodes."""

    def flows(self, *kinds: str) -> Iterator[Mapping[str, Any]]:
        """Flows of these kinds."""
        return (flow for flow in self.resolved["flows"] if flow["traffic"]["kind"] in kinds)

    def ours(self) -> list[Node]:
        """Nodes that the user can change: `mine`, or all but those at the far end of an access line."""
        if self.mine is not None:
            return [node for node in self.nodes if node.resolved["name"] in self.mine]
        far = {there.partition(".")[0] for link in self.resolved["links"] for _, there in ends(link, self.resolved)}
        return [node for node in self.nodes if node.resolved["name"] not in far]

    def router(self) -> str:
        """The node that runs the commands: the router at the line, or an access point; empty if there is none."""
        near = {here.partition(".")[0] for link in self.resolved["links"] for here, _ in ends(link, self.resolved)}
        kinds: tuple[Callable[[Node], bool], ...] = (
            lambda node: node.resolved["name"] in near and bool(node.resolved["forward"]),
            lambda node: any(node.wlans("ap")),
            lambda node: bool(node.resolved["forward"]),
        )
        return next((node.name for kind in kinds for node in self.ours() if kind(node)), "")

    def device(self, node: Node, interface: str) -> Name:
        """Device name of an interface."""
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
        """OpenWrt's name of a channel's radio."""
        names = [one["name"] for one in self.resolved["channels"]]
        band = next(one["band_ghz"] for one in self.resolved["channels"] if one["name"] == channel)
        what = f"the wifi-device at {band:g} GHz; 'uci show wireless'"
        return Name(_variable("RADIO", channel, names), "radio0", what)

    def phy(self, channel: str) -> Name:
        """Linux's name of a channel's phy."""
        names = [one["name"] for one in self.resolved["channels"]]
        band = next(one["band_ghz"] for one in self.resolved["channels"] if one["name"] == channel)
        return Name(_variable("PHY", channel, names), "phy0", f"the radio at {band:g} GHz; 'iw dev', its phy#0 is phy0")

    def senders(self) -> list[Node]:
        """The user's nodes that send over TCP."""
        names = {flow["from"].partition(".")[0] for flow in self.flows("tcp", "web")}
        names |= {to.partition(".")[0] for flow in self.flows("web") for to in flow["to"]}
        return [node for node in self.ours() if names & self._all(node)]

    def _all(self, node: Node) -> set[str]:
        names = (one["name"] for one in self.resolved["nodes"])
        return {name for name in names if name == node.name or _of_count(name, node)}


def _of_count(name: str, node: Node) -> bool:
    return "count" in node.table and re.fullmatch(re.escape(node.name) + r"\d+", name) is not None


def network(text: Mapping[str, Any], resolved: Mapping[str, Any]) -> Network:
    """Pairs the tables of a file with their resolved nodes."""
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
    """A shell variable, with the scenario's name appended if there are several."""
    return kind if len(all_) == 1 else re.sub(r"\W", "_", f"{kind}_{name}".upper())


def on(nodes: Iterable[Node]) -> str:
    """Node names in few words."""
    names = [node.name for node in nodes]
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} more"
