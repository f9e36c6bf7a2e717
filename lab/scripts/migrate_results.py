#!/usr/bin/env python3
"""Converts kept results of papers from schema 1 to schema 2: the words of verdicts, and nothing that was measured.

    lab/scripts/migrate_results.py [FOLDER]     FOLDER is like lab/results, the default

Files: `claims.json`, `runs.json` and `report.txt` of each paper, `retry-out/headline.svg`, `why.txt`, `jitter.md`.

| schema 1 | schema 2 |
|---|---|
| a list of claims | an object with `schema` and `claims`; `runs.json` has `schema` |
| verdicts `held`, `missed` | `reproduced`, `not-reproduced` |
| `bar` | `tolerance` |
| `hardly` | `non_discriminating` |
| `role` `fit` | `calibration` |
| classes `HH`, `HM`, `MH`, `MM` of kernels | `RR`, `RN`, `NR`, `NN` |

Nothing is run. A file of schema 2 stays as it is, so that a second call changes nothing.
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
    """A value of a claim's row in the words of schema 2."""
    if isinstance(of, dict):
        return {KEYS.get(name, name): value(inner, name) for name, inner in of.items()}
    if isinstance(of, list):
        return [value(inner, key) for inner in of]
    return WORDS[key](of) if isinstance(of, str) and key in WORDS else of


def reason(text: str) -> str:
    """The reason of a verdict."""
    text = text.replace(FIT, CALIBRATED).replace("it depends on the fit of ", "it depends on the calibration of ")
    if " in the middle of the range, " in text:
        text = re.sub(r"\b(held|missed)(?= (?:in|with) )", lambda found: VERDICTS[found[0]], text)
    return text


def prose(text: str) -> str:
    """A cause, or what was tried, as causes.toml has it."""
    for old, new in (
        ("the fit leaves", "the calibration leaves"),
        ("gain is missed there", "gain is not reproduced there"),
    ):
        text = text.replace(old, new)
    return re.sub(r"\bbar\b", "tolerance", text)


def verdict(text: str) -> str:
    """A verdict; other words stay."""
    return VERDICTS.get(text, text)


WORDS = {
    "verdict": verdict,
    "one_verdict": verdict,
    "off": verdict,
    "class": lambda text: text if text == "none" else text.translate(LETTERS),
    "role": lambda text: "calibration" if text == "fit" else text,
    "reason": reason,
    "cause": prose,
}
"""What becomes of text, by its key."""


def report_text(text: str, rows: Sequence[dict[str, Any]]) -> str:
    """A report with its counts and its tables of verdicts made again from the rows of schema 2."""
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
    """The table of verdicts by error rates, in the drawing of retry-out."""
    return _REGION.sub(lambda found: retry_out.region_table(*region_of(found[0])).rstrip("\n"), drawn)


def region_of(text: str) -> tuple[dict[str, list[str]], list[str]]:
    """Verdicts by claim, and the error rates, of that table in schema 1."""
    head, *lines = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    return {claim: [VERDICTS.get(one, one) for one in found] for claim, *found in lines}, head[1:]


def why_text(text: str) -> str:
    """`why.txt`, line by line of its entries, wrapped again."""
    return "\n".join(why_lines(text.split("\n")))


def why_lines(lines: Sequence[str]) -> Iterator[str]:
    """Lines of `why.txt`: those that are wrapped are joined, changed, and wrapped again."""
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
    """The lines of a block without its label."""
    return (line[why.LABEL :] for line in block)


def sentence(text: str) -> str:
    """One sentence of `why.txt`."""
    text = re.sub(r": (held|missed)(?=;|$)", lambda found: f": {VERDICTS[found[1]]}", text.replace(END_OF_BAR, OUTSIDE))
    text = re.sub(r"^((?:Linux )\S+) misses it|(; Linux \S+) misses it", r"\1\2 does not reproduce it", text)
    text = re.sub(r"^((?:Linux )\S+) holds it|(; Linux \S+) holds it", r"\1\2 reproduces it", text)
    text = re.sub(r"(one segment a packet, which) (holds|misses)", _which, text)
    return prose(reason(text))


def _which(found: re.Match[str]) -> str:
    return f"{found[1]} {'reproduces' if found[2] == 'holds' else 'does not reproduce'}"


def jitter(text: str) -> str:
    """The tables of `jitter.md`."""
    text = text.replace("| | held | missed | undecided |", "| | reproduced | not reproduced | undecided |")
    lines = text.split("\n")
    pattern = re.compile(r"(?<=[ *])(held|missed)(?=\*{0,2} \|)")
    return "\n".join(
        pattern.sub(lambda found: VERDICTS[found[0]], line) if line.startswith("| `") else line for line in lines
    )


def paper(folder: Path) -> Iterator[Path]:
    """Converts the files of one paper, and gives those that were changed."""
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
    made_by = json.loads(runs.read_text(encoding="utf-8"))
    if "schema" not in made_by:
        made = json.dumps({"schema": report.SCHEMA, **made_by}, ensure_ascii=False, indent=1)
        runs.write_text(made + "\n", encoding="utf-8")
        yield runs


def main() -> int:
    """Converts a folder of results, and lists what was changed."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "lab" / "results"
    files = sorted(folder.glob("*/claims.json"))
    if not files:
        raise SystemExit(f"{folder}: found no PAPER/claims.json, expected a folder like lab/results")
    changed = [path for file in files for path in paper(file.parent)]
    for name, convert in (("why.txt", why_text), ("jitter.md", jitter)):
        path = folder / name
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        if (after := convert(before)) != before:
            path.write_text(after, encoding="utf-8")
            changed.append(path)
    print("\n".join(map(str, changed)) or "nothing to convert: all files have schema 2")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
