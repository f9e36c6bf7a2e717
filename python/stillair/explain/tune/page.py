"""What came of it: the settings that are better, as commands, with what each buys; as text and as JSON."""

import json
import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from stillair._native import __version__
from stillair.explain.tune import goal
from stillair.explain.tune.tune import Bought, Confirmed, Robust, Tuned
from stillair.results.statistics import Interval
from stillair.text.table import figure, table

_WIDTH = 80
_NAMED = 4
"""So many flows are named."""
_SAME = 0.01
"""Scores that differ by less are the same."""


def text(name: str, tuned: Tuned) -> str:
    """The page at a terminal."""
    parts = ["\n".join(_head(name, tuned))]
    if tuned.bought:
        parts += ["\n".join(_bought(tuned)), "\n".join(_robust(tuned)), commands(tuned)]
    else:
        parts.append("Nothing that can be set here is better, whatever the seed.")
    parts.append("\n".join(_front(tuned)))
    parts.append("\n".join(_notes(tuned)))
    return "\n\n".join(part for part in parts if part)


def _head(name: str, tuned: Tuned) -> Iterator[str]:
    yield from _filled(f"{name}: {goal.words(tuned.goal)}", first="")
    rows = [_row("as it is", tuned.before)]
    if tuned.bought:
        rows.append(_row("tuned", tuned.winner))
    yield table(["", "p95 ms", "95 % interval", "goodput Mbit/s", "95 % interval", "total"], rows, width=_WIDTH)
    steady = tuned.counted.steady
    rates = f" and of what has a fixed rate and gets it ({_names(steady)})" if steady else ""
    yield from _filled(
        f"p95: the geometric mean of all pings', calls' and page loads' p95{rates}; goodput: that of the transfers"
        f" ({_names(tuned.counted.transfers) or 'none: of all flows'}). A single flow's stand in 'stillair compare'."
    )


def _names(flows: Sequence[str]) -> str:
    return ", ".join(flows) if len(flows) <= _NAMED else f"{', '.join(flows[:_NAMED])} and {len(flows) - _NAMED} more"


def _row(name: str, one: Confirmed) -> list[str]:
    late, more = one.latency_ms, one.goodput_mbps
    return [name, figure(late.mean), _ends(late), figure(more.mean), _ends(more), figure(one.total_mbps.mean)]


def _ends(of: Interval) -> str:
    return f"{figure(of.low)} to {figure(of.high)}"


def _front(tuned: Tuned) -> Iterator[str]:
    yield "The front, over the seeds, before what buys nothing was dropped:"
    counts = [sum(map(bool, one.choice)) for one in tuned.confirmed]
    names = [f"  {count} change{'s' * (count != 1)}" for count in counts]
    rows = [_row(name, one) for name, one in zip(names, tuned.confirmed, strict=True)]
    yield table(["", "p95 ms", "95 % interval", "goodput Mbit/s", "95 % interval", "total"], rows, width=_WIDTH)


def _bought(tuned: Tuned) -> Iterator[str]:
    yield "What each change buys beside the others (what is lost without it):"
    for one in tuned.bought:
        yield from _filled(f"{_words(tuned, one.setting, one.option)}: {_worth(one)}")
        if note := tuned.space.settings[one.setting].options[one.option].note:
            yield from _filled(f"note: {note}", first="    ")
    for setting, option in tuned.dropped:
        yield from _filled(f"dropped, as it buys nothing that is sure: {_words(tuned, setting, option)}")


def _words(tuned: Tuned, setting: int, option: int) -> str:
    of = tuned.space.settings[setting]
    return f"{of.where}: {of.options[option].words}"


def _worth(one: Bought) -> str:
    if math.isinf(one.score.mean):
        return "the others cannot be run without it"
    late, more = one.latency_ms, one.goodput_mbps
    return (
        f"p95 {late.mean:+.3g} ms ({late.low:+.3g} to {late.high:+.3g}),"
        f" goodput {more.mean:+.3g} Mbit/s ({more.low:+.3g} to {more.high:+.3g})"
    )


def _robust(tuned: Tuned) -> Iterator[str]:
    if not tuned.robust:
        yield "Nothing in the scenario can be made a little different, to see whether it still helps."
        return
    yield "If the network is a little different (one run each):"
    rows = [[f"  {one.words}", _verdict(one, tuned), *_both(one)] for one in tuned.robust]
    yield table(["", "", "p95 ms", "tuned", "Mbit/s", "tuned"], rows, width=_WIDTH, words=2)


def _both(one: Robust) -> list[str]:
    sides = (one.before, one.after)
    late = [figure(side and side.latency_ms) for side in sides]
    return [*late, *(figure(side and side.goodput_mbps) for side in sides)]


def _verdict(one: Robust, tuned: Tuned) -> str:
    if one.score is None:
        return "cannot be run"
    if one.score < -_SAME:
        return "worse"
    if one.score <= _SAME:
        return "the same"
    return "better" if one.score > tuned.winner.score.mean / 2 else "better by less"


def commands(tuned: Tuned) -> str:
    """What sets the winner on the machines: a text for a shell, with the interfaces' names of the scenario."""
    lines = ["Commands, with the names of the scenario:"]
    for setting, option in tuned.space.chosen(tuned.winner.choice):
        notes = [f"# note: {option.note}"] if option.note else []
        lines += [f"# {setting.where}: {option.words}", *notes, *option.commands]
    sets = tuned.space.sets(tuned.winner.choice)
    lines += ["# the same here:", "stillair run FILE \\"]
    lines.append(" \\\n".join(f"  --set '{key}={value}'" for key, value in sets))
    return "\n".join(lines)


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
    """The same as JSON has it."""

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
        rest = {key: value._asdict() for key, value in one._asdict().items() if key != "choice"}
        return {"changes": chosen(one.choice), **rest}

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
                "before": one.before and one.before._asdict(),
                "after": one.after and one.after._asdict(),
                "score": one.score,
            }
            for one in tuned.robust
        ],
        "front_over_seeds": [confirmed(one) for one in tuned.confirmed],
        "front": [{"changes": chosen(one.choice), **one.measured._asdict()} for one in tuned.front],
        "commands": [line for _, option in tuned.space.chosen(tuned.winner.choice) for line in option.commands],
        "combinations": tuned.space.size(),
        "tried": len(tuned.trials),
        "refused": tuned.refused,
        "left_out": [list(one) for one in tuned.space.refused],
        "runs": tuned.runs,
    }


def to_json(name: str, tuned: Tuned, indent: int | None = None) -> str:
    """The same as JSON."""
    return json.dumps(as_dict(name, tuned), ensure_ascii=False, allow_nan=False, indent=indent)
