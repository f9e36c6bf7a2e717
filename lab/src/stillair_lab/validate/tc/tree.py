"""`tc` commands as a tree: the disciplines of each device, with their options."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from stillair_lab.validate.tc.options import CLASSES, QDISCS, Options, Value
from stillair_lab.validate.tc.units import UnitError


class TcError(ValueError):
    """An unsupported command; the text names it and the reason."""


@dataclass
class Qdisc:
    """A discipline with its descendants: at most one child, as more is not supported."""

    kind: str
    options: dict[str, Value]
    """Options by scenario name."""
    child: "Qdisc | None" = None
    classes: "dict[str, Class]" = field(default_factory=dict)
    """Classes of an HTB, by minor number."""

    def leaf(self) -> "Qdisc":
        """The discipline that holds the packets."""
        below = self.child or next((one.child for one in self.classes.values() if one.child), None)
        return below.leaf() if below else self


@dataclass
class Class:
    """An HTB class."""

    options: dict[str, Value]
    child: Qdisc | None = None


Device = tuple[str, str]
"""Node and interface."""


@dataclass(frozen=True)
class _Command:
    """A parsed command."""

    text: str
    device: Device
    kind: str
    parent: str
    """Handle of the parent; empty for a root."""
    handle: str
    options: dict[str, Value]

    def error(self, why: str) -> TcError:
        return _error(self.text, why)


def tree(commands: Iterable[str]) -> dict[Device, Qdisc]:
    """Root discipline of each device, in the order of creation."""
    roots: dict[Device, Qdisc] = {}
    handles: dict[tuple[Device, str], Qdisc] = {}
    last: dict[Device, str] = {}
    for text in commands:
        what, command = _read(text)
        last[command.device] = text
        if what == "class":
            _add_class(command, handles)
            continue
        qdisc = Qdisc(command.kind, command.options)
        if not command.parent:
            roots[command.device] = qdisc
        else:
            _hang(command, qdisc, handles)
        if command.handle:
            handles[command.device, command.handle] = qdisc
    for device, root in roots.items():
        _check(root, last[device])
    return roots


def _add_class(command: _Command, handles: Mapping[tuple[Device, str], Qdisc]) -> None:
    major, _, minor = command.handle.partition(":")
    above = handles.get((command.device, major))
    if above is None or above.kind != command.kind or command.parent not in (f"{major}:", f"{major}:0"):
        raise command.error(f"expected a parent that is an {command.kind} added before")
    if "rate" not in command.options:
        raise command.error("expected a rate")
    above.classes[minor] = Class(command.options)


def _hang(command: _Command, qdisc: Qdisc, handles: Mapping[tuple[Device, str], Qdisc]) -> None:
    major, _, minor = command.parent.partition(":")
    above = handles.get((command.device, major))
    if above is None:
        raise command.error(f"expected a parent that was added before, found {command.parent}")
    if above.kind == "htb":
        if minor not in above.classes:
            raise command.error(f"expected a class that was added before, found {command.parent}")
        above.classes[minor].child = qdisc
    # Shaping disciplines without classes have a single class 1.
    elif above.kind in ("netem", "tbf") and minor in ("", "0", "1"):
        above.child = qdisc
    else:
        raise command.error(f"{above.kind} has no children")


def _check(root: Qdisc, text: str) -> None:
    """Checks that all packets go through the only class of an HTB; more is not supported."""
    if root.kind == "htb":
        default = str(root.options.pop("default", "0")).removeprefix("0x").lower()
        if list(root.classes) != [default]:
            raise _error(text, "expected one class, and default to name it")
    for below in (root.child, *(one.child for one in root.classes.values())):
        if below is not None:
            _check(below, text)


def _read(text: str) -> tuple[str, _Command]:
    """Parses a command: the kind of object added (qdisc or class), and the command."""
    try:
        words = shlex.split(text)
    except ValueError:
        raise _error(text, "a quotation mark is left open") from None
    match words:
        case ["tc", "-n" | "-netns", node, "qdisc" | "class" as what, "add" | "replace", *rest]:
            return what, _command(text, node, what, rest)
        case ["ip", "netns", "exec", node, "tc", "qdisc" | "class" as what, "add" | "replace", *rest]:
            return what, _command(text, node, what, rest)
    raise _error(text, "expected tc -n NODE qdisc|class add dev DEVICE ...")


def _command(text: str, node: str, what: str, words: Sequence[str]) -> _Command:
    where = {"dev": "", "parent": "", "handle": "", "classid": ""}
    root, rest = False, list(words)
    while rest and (rest[0] == "root" or rest[0] in where):
        word = rest.pop(0)
        if word == "root":
            root = True
        elif not rest:
            raise _error(text, f"expected a value after {word}")
        else:
            where[word] = rest.pop(0)
    if not where["dev"]:
        raise _error(text, "expected a device, dev DEVICE")
    if root == bool(where["parent"]):
        raise _error(text, "expected either root or parent")
    # Handles are hexadecimal numbers.
    parent = where["parent"].lower()
    handle = where["classid"].lower() if what == "class" else where["handle"].lower().partition(":")[0]
    if what == "class" and not all(handle.partition(":")):
        raise _error(text, "expected a class, classid MAJOR:MINOR")
    known = QDISCS if what == "qdisc" else CLASSES
    kind = rest.pop(0) if rest else ""
    if kind not in known:
        raise _error(text, f'found the kind "{kind}", expected one of {", ".join(known)}')
    options = _options(text, known[kind], rest)
    return _Command(text, (node, where["dev"]), kind, parent, handle, options)


def _options(text: str, known: Options, words: Sequence[str]) -> dict[str, Value]:
    options: dict[str, Value] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in known.flags:
            key, value = known.flags[word]
            options[key] = value
            continue
        if word in known.does:
            known.does[word](options)
            continue
        if word not in known.takes and word not in known.idle:
            raise _error(text, f'found the option "{word}", which is not understood')
        while rest and rest[0] in known.skips:
            rest.pop(0)
        if not rest:
            raise _error(text, f"expected a value after {word}")
        if word in known.idle:
            rest.pop(0)
            continue
        taken = [known.takes[word]]
        taken += known.also.get(taken[0][0], ())
        try:
            for place, (key, read) in enumerate(taken):
                # Further positional values start with a digit.
                if place and not (rest and rest[0][:1].isdigit()):
                    break
                options[key] = read(rest[0])
                rest.pop(0)
        except UnitError as error:
            raise _error(text, f'found "{rest[0]}" after {word}, expected {error}') from None
    return options


def _error(text: str, why: str) -> TcError:
    return TcError(f'"{text}": {why}')
