"""The settings available in a scenario. Each choice is validated by the scenario reader."""

import json
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from stillair._native import InputError
from stillair.explain import user_hosts as owned
from stillair.explain.changes import Change
from stillair.explain.tune import wifi, wired
from stillair.explain.tune.parts import AS_IT_IS, Network, Option, Sets, Setting, network
from stillair.runs.scenario import Scenario


class Space(NamedTuple):
    """Available settings, and choices that the scenario reader rejects."""

    settings: Sequence[Setting]
    refused: Sequence[tuple[str, str]]
    """Rejected choices with their errors."""
    router: str = ""
    """The node whose commands are meant to be run; commands for other hosts are comments."""

    def size(self) -> int:
        """Number of combinations."""
        found = 1
        for setting in self.settings:
            found *= len(setting.options)
        return found

    def singles(self) -> int:
        """Number of choices that change a single setting."""
        return sum(len(setting.options) - 1 for setting in self.settings)

    def sets(self, choice: Sequence[int]) -> Sets:
        """Overrides of a choice."""
        return tuple(one for _, option in self.chosen(choice) for one in option.sets)

    def chosen(self, choice: Sequence[int]) -> list[tuple[Setting, Option]]:
        """Settings that a choice changes, with their options."""
        both = zip(self.settings, choice, strict=True)
        return [(setting, setting.options[at]) for setting, at in both if at]

    def nothing(self) -> tuple[int, ...]:
        """The choice that changes nothing."""
        return (0,) * len(self.settings)


def of(scenario: Scenario, overrides: Sequence[tuple[str, str]], mine: Sequence[str] = ()) -> Space:
    """Returns the settings of a scenario, or of the nodes `mine`. Raises `InputError` if there are none."""
    resolved = json.loads(scenario.resolve(overrides))
    whole = network(tomllib.loads(scenario.text), resolved)
    hosts = owned.read(mine, resolved, scenario.text)
    net = whole._replace(mine=hosts.names) if hosts else whole
    applications = _applications(owned.applications(hosts, resolved, scenario.text)) if hosts else ()
    taken = {key for key, _ in overrides}
    made, refused = list[Setting](), list[tuple[str, str]]()
    for setting in (*_settings(net), *applications):
        options = [setting.options[0]]
        for option in setting.options[1:]:
            # Keys set by overrides stay fixed.
            fixed = next((key for key, _ in option.sets if key in taken), None)
            why = f"{fixed} is set by --set" if fixed else _why_not(scenario, overrides, option)
            if why is None:
                options.append(option)
            else:
                refused.append((f"{setting.where}: {option.words}", why))
        if len(options) > 1:
            made.append(setting._replace(options=tuple(options)))
    if not made:
        where = f" on {', '.join(sorted(hosts.names))} (--mine)" if hosts else ""
        raise InputError(f"{scenario.file}: has no settings to tune{where}: no Wi-Fi, no access line, no TCP")
    if hosts:
        others = sorted({host for setting in _settings(whole) for host in setting.hosts} - hosts.names)
        refused += [(f"settings of {', '.join(others)}", "not among --mine")] if others else []
    return Space(made, refused, net.router())


def _settings(net: Network) -> Iterator[Setting]:
    yield from (*wired.shapers(net), *wired.qdiscs(net), *wifi.settings(net), *wired.tcp(net))


def _applications(changes: Iterable[tuple[str, Change]]) -> Iterator[Setting]:
    """Application changes, as settings with a single option.

    Lower bit rates are left out, as no score measures quality.
    """
    for host, change in changes:
        if any(key.endswith(".rate") for key, _ in change.overrides):
            continue
        option = Option(change.words.partition(": ")[2], tuple(change.overrides), (f"# {change.action}",))
        yield Setting("application", host, (AS_IT_IS, option), (host,))


def _why_not(scenario: Scenario, overrides: Sequence[tuple[str, str]], option: Option) -> str | None:
    if not option.sets:
        return "there is no key for it"
    try:
        scenario.resolve([*overrides, *option.sets])
    except InputError as error:
        return str(error).splitlines()[0]
    return None
