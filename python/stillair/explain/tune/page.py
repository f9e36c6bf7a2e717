"""The outcome of `tune`: better settings as commands, with the gain of each; as text and JSON."""

import json
import math
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from stillair._native import __version__
from stillair.explain.tune import objective
from stillair.explain.tune.objective import Measured
from stillair.explain.tune.parts import Option, Sets, Setting
from stillair.explain.tune.tune import Bought, Confirmed, Robust, Tuned
from stillair.results.statistics import Interval
from stillair.text.table import figure, table

_WIDTH = 80
_NAMED = 4
"""Flows to name."""
_SAME = 0.01
"""Scores closer than this are equal."""


def text(name: str, tuned: Tuned, file: str | None = None, given: Sets = ()) -> str:
    """Returns the terminal page. `name` is the scenario's name, `file` and `given` its file and overrides."""
    parts = ["\n".join(_head(name, tuned))]
    if tuned.bought:
        parts += [
            "\n".join(_bought(tuned)),
            "\n".join(_robust(tuned)),
            commands(tuned),
            run(tuned, file or name, given),
        ]
    else:
        parts.append("\n".join(_filled(_nothing(tuned))))
    parts.append("\n".join(_front(tuned)))
    parts.append("\n".join(_notes(tuned)))
    return "\n\n".join(part for part in parts if part)


def _nothing(tuned: Tuned) -> str:
    """Explains an empty result, which means little if the budget did not allow each setting on its own."""
    single = tuned.space.singles()
    tried = {one.choice for one in tuned.trials if sum(map(bool, one.choice)) == 1}
    if len(tried) + tuned.refused >= single:
        return "No available setting is better beyond chance."
    return (
        f"Nothing that was tried is better, but only {len(tried)} of {single} settings were tried on their own:"
        f" --budget {single + 1} is enough to try each."
    )


def _head(name: str, tuned: Tuned) -> Iterator[str]:
    yield from _filled(f"{name}: {objective.words(tuned.goal)}", first="")
    rows = [_row("as it is", tuned.before)]
    if tuned.bought:
        rows.append(_row("tuned", tuned.winner))
    yield table(["", "score", "95 % interval", "goodput Mbit/s", "95 % interval", "total"], rows, width=_WIDTH)
    if worse := _worse(tuned):
        yield from _filled(worse)
    steady = tuned.counted.steady
    rates = f" and of flows that get their fixed rate ({_names(steady)})" if steady else ""
    yield from _filled(
        f"score: geometric mean in ms of the p95 of all pings, calls and page loads{rates}; goodput: geometric mean of"
        f" the transfers ({_names(tuned.counted.transfers) or 'none: of all flows'}). The flows behind the score:"
    )
    yield _flows(tuned)


_MOST_FLOWS = 12
"""Flows with rows of their own: those with the highest p95 before the change."""


def _flows(tuned: Tuned) -> str:
    """A table of each flow's p95 and loss, before and after tuning."""
    after = {one.name: one for one in tuned.winner.flows}
    ordered = sorted(tuned.before.flows, key=lambda one: -(one.p95_ms.mean if one.p95_ms else math.inf))
    rows = []
    for one in ordered[:_MOST_FLOWS]:
        row = [f"  {one.name}", figure(one.p95_ms and one.p95_ms.mean), _percent(one.loss)]
        if tuned.bought:
            tuned_one = after.get(one.name)
            row += [
                figure(tuned_one and tuned_one.p95_ms and tuned_one.p95_ms.mean),
                _percent(tuned_one and tuned_one.loss),
            ]
        rows.append(row)
    heading = ["", "p95 ms", "loss %", *(["tuned p95 ms", "tuned loss %"] if tuned.bought else [])]
    more = len(ordered) - _MOST_FLOWS
    shown = table(heading, rows, width=_WIDTH)
    return f"{shown}\n  {more} more flows: --json" if more > 0 else shown


def _percent(of: Interval | None) -> str:
    return "-" if of is None else f"{100 * of.mean:.1f}"


def _names(flows: Sequence[str]) -> str:
    return ", ".join(flows) if len(flows) <= _NAMED else f"{', '.join(flows[:_NAMED])} and {len(flows) - _NAMED} more"


def _row(name: str, one: Confirmed) -> list[str]:
    late, more = one.latency_ms, one.goodput_mbps
    return [name, figure(late.mean), _ends(late), figure(more.mean), _ends(more), figure(one.total_mbps.mean)]


def _ends(of: Interval) -> str:
    return f"{figure(of.low)} to {figure(of.high)}"


def _front(tuned: Tuned) -> Iterator[str]:
    yield "The Pareto front of all choices measured over the seeds, and the changes of each row:"
    names = [f"  {number}{' tuned' * _is_tuned(one, tuned)}" for number, one in enumerate(tuned.confirmed, 1)]
    rows = [_row(name, one) for name, one in zip(names, tuned.confirmed, strict=True)]
    yield table(["", "score", "95 % interval", "goodput Mbit/s", "95 % interval", "total"], rows, width=_WIDTH)
    for number, one in enumerate(tuned.confirmed, 1):
        own = [f"{setting.where}: {_short(option)}" for setting, option in tuned.space.chosen(one.choice)]
        told = "tuned, as above" if _is_tuned(one, tuned) else "; ".join(own) or "as it is"
        yield from _filled(f"{number}: {told}")
    if tuned.bought and tuned.dropped:
        yield from _filled(
            "A row that is a little better than 'tuned' has more changes: their gain is uncertain or small."
        )


def _is_tuned(one: Confirmed, tuned: Tuned) -> bool:
    return any(one.choice) and one.choice == tuned.winner.choice


def _short(option: Option) -> str:
    """The option's words without rates, which follow from the share of the line."""
    return option.words.partition(": ")[0]


def _bought(tuned: Tuned) -> Iterator[str]:
    yield "Gain of each change, given the others (what is lost without it):"
    for one in tuned.bought:
        yield from _filled(f"{_words(tuned, one.setting, one.option)}: {_worth(one)}")
        if note := tuned.space.settings[one.setting].options[one.option].note:
            yield from _filled(f"note: {note}", first="    ")
    for setting, option in tuned.dropped:
        yield from _filled(f"dropped, as its gain is not certain: {_words(tuned, setting, option)}")


def _words(tuned: Tuned, setting: int, option: int) -> str:
    of = tuned.space.settings[setting]
    return f"{of.where}: {of.options[option].words}"


def _worth(one: Bought) -> str:
    if math.isinf(one.score.mean):
        return "the others cannot be run without it"
    late, more = one.latency_ms, one.goodput_mbps
    return (
        f"score {late.mean:+.3g} ms ({late.low:+.3g} to {late.high:+.3g}),"
        f" goodput {more.mean:+.3g} Mbit/s ({more.low:+.3g} to {more.high:+.3g})"
    )


def _robust(tuned: Tuned) -> Iterator[str]:
    if not tuned.robust:
        yield "The scenario has nothing to vary, so robustness was not tested."
        return
    yield from _filled("In slightly different networks, with and without these changes (one run each):", first="")
    rows = [[f"  {one.words}", _verdict(one, tuned), *_both(one)] for one in tuned.robust]
    yield table(["", "tuned is", "score", "tuned", "Mbit/s", "tuned"], rows, width=_WIDTH, words=2)


def _both(one: Robust) -> list[str]:
    sides = (one.before, one.after)
    late = [figure(side and side.latency_ms) for side in sides]
    return [*late, *(figure(side and side.goodput_mbps) for side in sides)]


def _verdict(one: Robust, tuned: Tuned) -> str:
    """Effect of the changes in a perturbed network, compared with the same network without them."""
    if one.score is None or one.before is None or one.after is None:
        return "cannot be run"
    later = math.log(one.after.latency_ms / one.before.latency_ms)
    if one.score < -_SAME:
        less = one.after.goodput_mbps < (1 - objective.SAME) * one.before.goodput_mbps
        return "worse: later" if later > objective.SAME else "worse: less goodput" if less else "worse"
    if one.score <= _SAME:
        return "the same"
    if later > objective.SAME:
        return "later, more goodput"
    return "better" if one.score > tuned.winner.score.mean / 2 else "better by less"


def _worse(tuned: Tuned) -> str:
    """Perturbed networks in which the changes are worse than none; empty if there are none."""
    names = [one.words for one in tuned.robust if one.score is not None and one.score < -_SAME]
    return f"Worse than no change in a slightly different network: {', '.join(names)}." if names else ""


def commands(tuned: Tuned) -> str:
    """Returns the shell commands that apply the winner on the router.

    Device names are variables that the user sets first. Commands for other hosts are comments.
    """
    router, chosen = tuned.space.router, tuned.space.chosen(tuned.winner.choice)
    lines = ["# Commands of 'stillair tune'; those for hosts other than routers and access points are comments."]
    if router:
        lines = [f"# Commands of 'stillair tune', to be run on {router}; those for other hosts are comments."]
    if worse := _worse(tuned):
        lines += [f"# {worse}"]
    own = [one for one in chosen if router and router in one[0].hosts]
    if own:
        lines += ["", f"# on {router}:", *_named([option for _, option in own])]
        for setting, option in own:
            lines += [*_told(setting, option), *option.commands]
        if any(line.startswith(_TRANSIENT) for _, option in own for line in option.commands):
            lines.append("# tc, ip, iw and sysctl -w last until the next reboot; repeat them in /etc/rc.local")
    others: dict[tuple[str, ...], list[str]] = {}
    for setting, option in chosen:
        hosts = tuple(host for host in setting.hosts if host != router)
        if hosts:
            here = [_here(line, option).removeprefix("# ") for line in option.commands]
            others.setdefault(hosts, []).extend([*_told(setting, option), *(f"#   {line}" for line in here)])
    for hosts, told in others.items():
        lines += ["", f"# on {', '.join(hosts)}:", *told]
    return "\n".join(lines)


_TRANSIENT = ("tc ", "ip ", "iw ", "sysctl ")


def _told(setting: Setting, option: Option) -> list[str]:
    return [f"# {setting.where}: {option.words}", *([f"# note: {option.note}"] if option.note else [])]


def _named(options: Sequence[Option]) -> list[str]:
    """Variables for the user to set; a command with an unset variable fails without effect."""
    names = dict.fromkeys(name for option in options for name in option.names)
    return [f"{name.variable}=  # set it: {name.what}" for name in names]


def _here(line: str, option: Option) -> str:
    """Inserts the scenario's device names into a command."""
    for name in option.names:
        line = line.replace(str(name), name.here)
    return line


def run(tuned: Tuned, file: str, given: Sets = ()) -> str:
    """The command that simulates the winner, including the given overrides."""
    sets = *given, *tuned.space.sets(tuned.winner.choice)
    head = f"The same in the model:\nstillair run {shlex.quote(file)} \\\n"
    return head + " \\\n".join(f"  --set {shlex.quote(f'{key}={value}')}" for key, value in sets)


def _notes(tuned: Tuned) -> Iterator[str]:
    settings = ", ".join(dict.fromkeys(one.name for one in tuned.space.settings))
    yield from _filled(
        f"Searched: {settings}. {len(tuned.trials)} of {tuned.space.size()} combinations, {tuned.runs} runs,"
        f" {tuned.refused} refused; {len(tuned.front)} on the front.",
        first="",
    )
    for what, why in tuned.space.refused:
        yield from _filled(f"left out: {what}: {why}", first="")


def _filled(words: str, first: str = "  ") -> list[str]:
    return textwrap.wrap(
        words, _WIDTH, initial_indent=first, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False
    )


def as_dict(name: str, tuned: Tuned) -> dict[str, Any]:
    """The outcome as a dictionary for JSON."""

    def chosen(choice: tuple[int, ...]) -> list[dict[str, Any]]:
        return [
            {
                "setting": setting.name,
                "where": setting.where,
                "to": option.words,
                "sets": [list(one) for one in option.sets],
                **({"note": option.note} if option.note else {}),
            }
            for setting, option in tuned.space.chosen(choice)
        ]

    def confirmed(one: Confirmed) -> dict[str, Any]:
        rest = {key: value._asdict() for key, value in one._asdict().items() if key not in ("choice", "flows")}
        flows = {
            of.name: {"p95_ms": of.p95_ms and of.p95_ms._asdict(), "loss": of.loss and of.loss._asdict()}
            for of in one.flows
        }
        return {"changes": chosen(one.choice), **rest, "delay_score_ms": rest["latency_ms"], "flows": flows}

    def bought(one: Bought) -> dict[str, Any]:
        setting = tuned.space.settings[one.setting]
        needed = math.isinf(one.score.mean)
        own = None if needed else {key: getattr(one, key)._asdict() for key in ("score", "latency_ms", "goodput_mbps")}
        return {"setting": setting.name, "where": setting.where, "to": setting.options[one.option].words, "buys": own}

    return {
        "version": __version__,
        "scenario": name,
        "for": tuned.goal,
        "counted": tuned.counted._asdict(),
        "before": confirmed(tuned.before),
        "winner": confirmed(tuned.winner),
        "bought": [bought(one) for one in tuned.bought],
        "dropped": [_words(tuned, *one) for one in tuned.dropped],
        "robust": [
            {
                "network": one.words,
                "before": one.before and _measured(one.before),
                "after": one.after and _measured(one.after),
                "score": one.score,
            }
            for one in tuned.robust
        ],
        "front_over_seeds": [confirmed(one) for one in tuned.confirmed],
        "front": [{"changes": chosen(one.choice), **_measured(one.measured)} for one in tuned.front],
        "commands": commands(tuned).splitlines() if any(tuned.winner.choice) else [],
        "combinations": tuned.space.size(),
        "tried": len(tuned.trials),
        "refused": tuned.refused,
        "left_out": [list(one) for one in tuned.space.refused],
        "runs": tuned.runs,
    }


def _measured(of: Measured) -> dict[str, Any]:
    """A run's figures for JSON."""
    flows = {flow.name: {"p95_ms": flow.p95_ms, "loss": flow.loss} for flow in of.flows}
    return {**of._asdict(), "delay_score_ms": of.latency_ms, "flows": flows}


def to_json(name: str, tuned: Tuned, indent: int | None = None) -> str:
    """The outcome as JSON."""
    return json.dumps(as_dict(name, tuned), ensure_ascii=False, allow_nan=False, indent=indent)
