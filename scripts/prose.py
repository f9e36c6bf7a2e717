"""Checks the prose of pages, comments, docstrings and messages for patterns of clumsy English.

    scripts/prose.py                 counts sentences with such patterns per area; exit status 1 above a limit
    scripts/prose.py --list AREA     prints them

The patterns find perhaps a third of what a reader would mark. CONTRIBUTING.md has the rules.
"""

import argparse
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT_PERCENT = 1.0
AREAS: dict[str, tuple[list[str], str]] = {
    "readme": (["README.md", "CONTRIBUTING.md", "CHANGELOG.md"], "markdown"),
    "docs": (["docs/**/*.md", "scripts/website/pages/*.md"], "markdown"),
    "rust": (["crates/**/*.rs", "examples/**/*.rs", "adapters/*/src/**/*.rs"], "rust"),
    "python": (
        ["python/**/*.py", "lab/src/**/*.py", "lab/scripts/**/*.py", "scripts/**/*.py", "bench/**/*.py"],
        "python",
    ),
    "messages": (["python/stillair/**/*.py", "lab/src/**/*.py", "crates/*/src/**/*.rs"], "strings"),
    "web": (["web/src/**/*.ts", "web/src/**/*.tsx"], "strings"),
}
"""Files of each area as glob patterns, and how its sentences are found."""
_HEADLESS = re.compile(
    r"^(What|Whether|Whoever|Who|Of|By|That|Those|So many|So often|Less|As far as|Where|From when)\b(?!.*\?)"
)
_CLUMSY = re.compile(
    r"\b(is|are|was|were) (told|said|mended|heard of|asked of|answered with)\b|\banew\b|\bmended?\b|\btells? of\b"
    r"|\bbut for\b|\bas far as\b|\bis none\b|\bis no (?=[a-z]+[.,;:])|\bwho is alone\b|\bstands? in\b|\bof late\b"
    r"|\bby itself\b|\bin place of\b|\bsays? so\b|\bnobody\b|\beverybody\b|\bwhat there is\b"
)
_NOTES = ("linux:", "spec:", "paper:", "deviation:")


def sentences(text: str, how: str) -> list[str]:
    """The sentences of a file with at least three words."""
    if how == "markdown":
        text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        lines = [line for line in text.splitlines() if not line.startswith(("|", "    ", "#"))]
        found = re.split(r"(?<=[.:;])\s+|\n{2,}|\n(?=[-*#])", "\n".join(lines))
    elif how == "rust":
        found = [one for one in re.findall(r"^\s*//[/!]?\s+(.*)$", text, re.MULTILINE) if not one.startswith(_NOTES)]
    elif how == "python":
        docs = re.findall(r'"""(.*?)"""', text, re.DOTALL)
        found = re.findall(r"^\s*#\s+(.*)$", text, re.MULTILINE)
        found += [part for doc in docs for part in re.split(r"(?<=[.:;])\s+|\n{2,}", doc)]
    else:
        found = [one for one in re.findall(r'"((?:[^"\\\n]|\\.){25,})"', text) if " " in one]
    return [one.strip() for one in found if len(one.split()) > 2]


def hits(area: str) -> tuple[list[str], int]:
    """The sentences of an area that match, each with its file, and the number of all sentences."""
    patterns, how = AREAS[area]
    files = sorted({path for pattern in patterns for path in ROOT.glob(pattern)})
    bad, count = [], 0
    for path in files:
        for one in sentences(path.read_text(encoding="utf-8"), how):
            count += 1
            if (how != "strings" and _HEADLESS.match(one)) or _CLUMSY.search(one):
                bad.append(f"{path.relative_to(ROOT)}: {' '.join(one.split())}")
    return bad, count


def main() -> int:
    """Counts or lists."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--list", choices=AREAS, metavar="AREA", help=f"one of {', '.join(AREAS)}")
    listed = arguments.parse_args().list
    above = False
    for area in [listed] if listed else AREAS:
        bad, count = hits(area)
        if listed:
            print("\n".join(bad))
        share = 100 * len(bad) / max(count, 1)
        above |= share > LIMIT_PERCENT
        print(f"{area:9} {len(bad):4} of {count:5} sentences, {share:.1f} % (limit {LIMIT_PERCENT} %)")
    return int(above)


if __name__ == "__main__":
    raise SystemExit(main())
