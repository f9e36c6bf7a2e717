#!/usr/bin/env python3
"""Converts kept results to schema 2: the words of verdicts, names of scenario keys, and nothing that was measured.

    lab/scripts/migrate_results.py [FOLDER]     FOLDER is like lab/results, the default

Files: `claims.json`, `runs.json` and `report.txt` of each paper, `retry-out/headline.svg`, `why.txt`, `jitter.md`, and
the first runs of all pages in `first-runs`.

| schema 1 | schema 2 |
|---|---|
| a list of claims | an object with `schema` and `claims`; `runs.json` has `schema` |
| verdicts `held`, `missed` | `reproduced`, `not-reproduced` |
| `bar` | `tolerance` |
| `hardly` | `non_discriminating` |
| `role` `fit` | `calibration` |
| classes `HH`, `HM`, `MH`, `MM` of kernels | `RR`, `RN`, `NR`, `NN` |
| overrides with former keys, such as `flow.0.mark` (also in files of schema 2) | with the present ones: `flow.0.dscp` |
| `loss_per_decade = "35 dB"` | `path_loss_exponent = 3.5` |

Nothing is run. A file with the present words stays as it is, so that a second call changes nothing.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from stillair.text.table import fitting
from stillair_lab.papers.artefacts import retry_out, style
from stillair_lab.papers.pages import report, why

ROOT = Path(__file__).resolve().parents[2]
VERDICTS = {"held": "reproduced", "missed": "not-reproduced"}
KEYS = {"bar": "tolerance", "hardly": "non_discriminating"}
LETTERS = str.maketrans("HM", "RN")
FIT = "the number is used to fit a setting that the paper leaves open"
CALIBRATED = "a setting that the paper leaves open is calibrated to the number"
END_OF_BAR = "the figure lies beside the end of its bar, and the rule has no room for that"
OUTSIDE = "the figure lies just outside its tolerance, and the rule allows no more"


def value(of: object, key: str = "") -> Any:  # noqa: ANN401 - JSON
    """Converts a value of a claim's row to schema 2."""
    if isinstance(of, dict):
        return {KEYS.get(name, name): value(inner, name) for name, inner in of.items()}
    if isinstance(of, list):
        return [value(inner, key) for inner in of]
    return WORDS[key](of) if isinstance(of, str) and key in WORDS else of


def reason(text: str) -> str:
    """Converts the reason of a verdict."""
    text = text.replace(FIT, CALIBRATED).replace("it depends on the fit of ", "it depends on the calibration of ")
    if " in the middle of the range, " in text:
        text = re.sub(r"\b(held|missed)(?= (?:in|with) )", lambda found: VERDICTS[found[0]], text)
    return text


def prose(text: str) -> str:
    """Converts a cause, or what was tried, as in causes.toml."""
    for old, new in (
        ("the fit leaves", "the calibration leaves"),
        ("gain is missed there", "gain is not reproduced there"),
    ):
        text = text.replace(old, new)
    return re.sub(r"\bbar\b", "tolerance", text)


def verdict(text: str) -> str:
    """Converts a verdict; other words stay."""
    return VERDICTS.get(text, text)


CHANNEL = {
    "deaf": "hidden",
    "faint": "sense_only",
    "sensed_from": "cca_sensitivity",
    "understood_from": "preamble_detection_threshold",
    "energy_from": "cca_ed_threshold",
    "lowest_rate": "basic_rate",
    "loss_at_1m": "reference_loss",
    "loss_per_decade": "path_loss_exponent",
}
FLOW = {
    "mark": "dscp",
    "both_ways": "bidirectional",
    "key_frames": "keyframe_interval",
    "key_frame_ratio": "keyframe_size_ratio",
    "send_cost": "tx_cpu_per_packet",
    "receive_cost": "rx_cpu_per_packet",
    "timer_grain": "timer_granularity",
    "peer_send_cost": "peer_tx_cpu_per_packet",
    "peer_receive_cost": "peer_rx_cpu_per_packet",
    "peer_timer_grain": "peer_timer_granularity",
    "certificates": "server_handshake",
    "connections_most": "max_connections",
    "connections_added": "connection_step",
}
SCAN = {
    "every": "interval",
    "away": "max_off_channel",
    "home": "home_dwell",
    "home_busy": "home_dwell_busy",
    "settle": "leave_delay",
}


TABLES = (
    (r"channel\.[^.]+", CHANNEL),
    (r"link\.[^.]+", {"customer": "cpe"}),
    (r"node\.[^.]+", {"like": "inherits"}),
    (r"node\.[^.]+\.interface\.[^.]+", {"unheard_rate": "preamble_loss_rate"}),
    (r".*\.error_rate", {"chance": "probability"}),
    (r".*\.scheme", {"since": "kernel"}),
    (r".*\.scan", SCAN),
    (r"flow(\.stack)?", FLOW),
)
"""Former key names by the path of their table, without list indices."""


def names(table: Sequence[str]) -> dict[str, str]:
    """Returns the former key names of a table."""
    path = ".".join(table)
    return next((former for pattern, former in TABLES if re.fullmatch(pattern, path)), {})


def override(key: str, value: str) -> tuple[str, str]:
    """Converts an override."""
    path = key.split(".")
    table = [part for part in path[:-1] if not part.isdecimal()]
    name = names(table).get(path[-1], path[-1])
    return ".".join([*path[:-1], name]), written([*table, path[-1]], value)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]|([\w.-]+)(\s*=\s*)|[^"{}\w]+|[\w.-]+')


def written(path: Sequence[str], text: str) -> str:
    """Converts the keys of inline tables in a value."""
    if "{" not in text:
        return _value(path, text)
    tables, own, made = [[*path]], [*path], []
    for found in _TOKEN.finditer(text):
        name, equals = found[1], found[2]
        if name:
            *above, last = name.split(".")
            own = [*tables[-1], *above, last]
            made.append(".".join([*above, names(own[:-1]).get(last, last)]) + equals)
            continue
        if found[0] == "{":
            tables.append([part for part in own if not part.isdecimal()])
        elif found[0] == "}" and len(tables) > 1:
            tables.pop()
        made.append(_value(own, found[0]))
    return "".join(made)


def _value(path: Sequence[str], text: str) -> str:
    match path:
        case ["node", _, "host"]:
            return re.sub(r'^("?)outside\1$', r"\1external\1", text)
        case ["channel", _, "loss_per_decade"]:
            found = re.fullmatch(r'"?(-?[\d.]+) ?dB"?', text)
            return f"{float(found[1]) / 10:.10g}" if found else text
    return text


_PAIR = re.compile(r'("(?:node|channel|link|flow)(?:\.[^"\\]*)?")(\s*[:,]\s*)("(?:[^"\\]|\\.)*")')


def overrides(text: str) -> str:
    """Converts overrides in JSON: pairs of a key and its value as text, in objects or lists."""

    def pair(found: re.Match[str]) -> str:
        before = json.loads(found[1]), json.loads(found[3])
        key, value = override(*before)
        if (key, value) == before:
            return found[0]
        return json.dumps(key, ensure_ascii=False) + found[2] + json.dumps(value, ensure_ascii=False)

    return _PAIR.sub(pair, text)


def options(text: str) -> str:
    """Converts the overrides of commands in a text."""
    return re.sub(r"--set '([\w.-]+)=([^']*)'", lambda found: "--set '{}={}'".format(*override(*found.groups())), text)


WORDS = {
    "verdict": verdict,
    "one_verdict": verdict,
    "off": verdict,
    "class": lambda text: text if text == "none" else text.translate(LETTERS),
    "role": lambda text: "calibration" if text == "fit" else text,
    "reason": reason,
    "cause": prose,
}
"""Conversions of text, by key."""


def report_text(text: str, rows: Sequence[dict[str, Any]]) -> str:
    """Regenerates a report's counts and verdict tables from rows of schema 2."""
    head, *parts = re.split(r"^(== .* ==)\n", text, flags=re.MULTILINE)
    made = [re.sub(r"^\d+ claims?: .*", lambda _: f"{report.totals(rows)}\n\n", head, flags=re.MULTILINE | re.DOTALL)]
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        name = title.removeprefix("== ").partition(":")[0]
        own = [row for row in rows if f"{row['paper']}/{row['experiment']}" == name]
        begin = re.search(r"^(claim +verdict +measured|not-judged, |not-run, )", body, re.MULTILINE)
        if own and begin is None:
            raise SystemExit(f"{title}: found no verdicts")
        drawn = region(body[: begin.start()]) if begin else body
        end = "\n\n" if title != parts[-2] else "\n"
        made.append(f"{title}\n{drawn}" + ("\n\n".join(report.verdicts(own)) + end if own else ""))
    return "".join(made)


_REGION = re.compile(r"^claim +house .*(?:\n.+)*", re.MULTILINE)


def region(drawn: str) -> str:
    """Converts the table of verdicts by error rate in retry-out's drawing."""
    return _REGION.sub(lambda found: retry_out.region_table(*region_of(found[0])).rstrip("\n"), drawn)


def region_of(text: str) -> tuple[dict[str, list[str]], list[str]]:
    """Parses that table in schema 1: verdicts by claim, and the error rates."""
    head, *lines = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    return {claim: [VERDICTS.get(one, one) for one in found] for claim, *found in lines}, head[1:]


def why_text(text: str) -> str:
    """Converts `why.txt` line by line, and wraps it again."""
    return options("\n".join(why_lines(text.split("\n"))))


def why_lines(lines: Sequence[str]) -> Iterator[str]:
    """Joins the wrapped lines of `why.txt`, converts them, and wraps them again."""
    block: list[str] = []
    for line in lines:
        goes_on = line.startswith(" " * why.LABEL) and not line.startswith(" " * why.LABEL + "--set")
        if block and not goes_on:
            yield from why.line(block[0][: why.LABEL].strip(), sentence(" ".join(map(str.strip, parts_of(block)))))
            block = []
        if goes_on and block:
            block.append(line)
        elif re.match(r"(claim|stated|as judged|change|why|with it|so|kernel|runs) +\S", line) or goes_on:
            block = [line]
        elif line or not block:
            yield re.sub(r"\b(\d+) bar\b", r"\1 tolerance", line) if line.startswith("stillair ") else line


def parts_of(block: Sequence[str]) -> Iterator[str]:
    """Lines of a block without its label."""
    return (line[why.LABEL :] for line in block)


def sentence(text: str) -> str:
    """Converts a sentence of `why.txt`."""
    text = re.sub(r": (held|missed)(?=;|$)", lambda found: f": {VERDICTS[found[1]]}", text.replace(END_OF_BAR, OUTSIDE))
    text = re.sub(r"^((?:Linux )\S+) misses it|(; Linux \S+) misses it", r"\1\2 does not reproduce it", text)
    text = re.sub(r"^((?:Linux )\S+) holds it|(; Linux \S+) holds it", r"\1\2 reproduces it", text)
    text = re.sub(r"(one segment a packet, which) (holds|misses)", _which, text)
    return prose(reason(text))


def _which(found: re.Match[str]) -> str:
    return f"{found[1]} {'reproduces' if found[2] == 'holds' else 'does not reproduce'}"


def jitter(text: str) -> str:
    """Converts the tables of `jitter.md`."""
    text = text.replace("| | held | missed | undecided |", "| | reproduced | not reproduced | undecided |")
    lines = text.split("\n")
    pattern = re.compile(r"(?<=[ *])(held|missed)(?=\*{0,2} \|)")
    return "\n".join(
        pattern.sub(lambda found: VERDICTS[found[0]], line) if line.startswith("| `") else line for line in lines
    )


def paper(folder: Path) -> Iterator[Path]:
    """Converts the files of a paper, and yields those that changed."""
    claims, runs, text = folder / "claims.json", folder / "runs.json", folder / "report.txt"
    data = json.loads(claims.read_text(encoding="utf-8"))
    if isinstance(data, list):
        rows = value(data)
        written, picture = text.read_text(encoding="utf-8"), folder / "headline.svg"
        if (found := _REGION.search(written)) and picture.is_file():
            with style.styled():
                picture.write_bytes(style.save(retry_out.region_field(*region_of(found[0])), "svg"))
            yield picture
        with fitting(None):
            made = report_text(written, rows)
        text.write_text(made, encoding="utf-8")
        claims.write_text(report.as_json(rows, indent=1) + "\n", encoding="utf-8")
        yield from (claims, text)
    written_runs = runs.read_text(encoding="utf-8")
    made_by = json.loads(written_runs)
    if "schema" not in made_by:
        written_runs = json.dumps({"schema": report.SCHEMA, **made_by}, ensure_ascii=False, indent=1) + "\n"
    yield from replaced(runs, overrides(written_runs))


def replaced(path: Path, text: str) -> Iterator[Path]:
    """Writes a file if its text changed, and yields its path."""
    if text != path.read_text(encoding="utf-8"):
        path.write_text(text, encoding="utf-8")
        yield path


def main() -> int:
    """Converts a results folder, and lists the changed files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "lab" / "results"
    files = sorted(folder.glob("*/claims.json"))
    if not files:
        raise SystemExit(f"{folder}: found no PAPER/claims.json, expected a folder like lab/results")
    changed = [path for file in files for path in paper(file.parent)]
    others = [(folder / "why.txt", why_text), (folder / "jitter.md", jitter)]
    others += [(path, overrides) for path in sorted(folder.glob("first-runs/*.json"))]
    for path, convert in others:
        if path.is_file():
            changed += replaced(path, convert(path.read_text(encoding="utf-8")))
    print("\n".join(map(str, changed)) or "nothing to convert: all files have the words of schema 2")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
