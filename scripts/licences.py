#!/usr/bin/env python3
"""Third-party software in a wheel: checks its licences against a list, and collects its notices in a file.

    scripts/licences.py            checks all licences, and that THIRD-PARTY-NOTICES.txt is current; else status 1
    scripts/licences.py --write    regenerates that file, after a change of dependencies

A wheel contains the Rust crates linked into the native module, on any system it is built for, and the npm
packages of the page (web/). The npm texts are read from web/node_modules, which `make web` fills; without
that folder, only names, versions and licences are compared. Python packages, including those of the extras,
are installed separately: the licences of installed ones are checked.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NOTICES = ROOT / "THIRD-PARTY-NOTICES.txt"
WEB = ROOT / "web"
MODULE = "stillair-py"

# Systems that wheels are built for; crates of other systems are in no wheel.
SYSTEMS = ("x86_64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-pc-windows-msvc")

# Licences that only require their text and a notice, preferred ones first.
ALLOWED = ("MIT", "ISC", "BSD-3-Clause", "BSD-2-Clause", "0BSD", "Zlib", "Apache-2.0", "Unicode-3.0")
# Further licences of Python packages, which are used unmodified. MPL-2.0 (tqdm, of the extra `tune`) requires
# nothing for unmodified packages.
BESIDE = (*ALLOWED, "PSF-2.0", "CC0-1.0", "MIT-CMU", "MPL-2.0")

# Names that packages use instead of an SPDX expression.
_CLASSIFIERS = {
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: ISC License (ISCL)": "ISC",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: Python Software Foundation License": "PSF-2.0",
}
_TITLES = re.compile(r"^-{100}\n(.+?)\n-{100}$", re.MULTILINE | re.DOTALL)
_TEXTS = re.compile(r"^(licen[cs]e|copying|copyright|notice)", re.IGNORECASE)


def taken(expression: str, allowed: tuple[str, ...]) -> list[str] | None:
    """Returns the allowed licences that satisfy an SPDX expression, or `None`."""
    if not re.fullmatch(r"[\w.+()/ -]+", expression) or expression.count("(") != expression.count(")"):
        return None  # not an SPDX expression
    words = re.findall(r"[()]|[^\s()/]+|/", expression)

    def either() -> list[str] | None:
        found = [both()]
        while words and words[0].upper() in ("OR", "/"):
            words.pop(0)
            found.append(both())
        possible = [names for names in found if names is not None]
        return min(possible, key=lambda names: (len(names), [allowed.index(name) for name in names]), default=None)

    def both() -> list[str] | None:
        found = one()
        while words and words[0].upper() == "AND":
            words.pop(0)
            more = one()
            found = None if found is None or more is None else [*found, *more]
        return found

    def one() -> list[str] | None:
        word = words.pop(0)
        if word == "(":
            found = either()
            words.pop(0)
            return found
        if words and words[0].upper() == "WITH":
            word += f" WITH {words[1]}"
            del words[:2]
        return [word] if word in allowed else None

    found = either()
    return found if not words else None


def crates() -> list[dict[str, Any]]:
    """Third-party crates in the native module, by name."""
    found: dict[str, dict[str, Any]] = {}
    for system in SYSTEMS:
        command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", system]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
        data = json.loads(done.stdout)
        packages = {package["id"]: package for package in data["packages"]}
        nodes = {node["id"]: node["deps"] for node in data["resolve"]["nodes"]}
        todo = [key for key, package in packages.items() if package["name"] == MODULE]
        seen: set[str] = set()
        while todo:
            key = todo.pop()
            if key in seen:
                continue
            seen.add(key)
            # Build and test dependencies have another kind.
            todo += [of["pkg"] for of in nodes[key] if any(kind["kind"] is None for kind in of["dep_kinds"])]
        found |= {f"{packages[key]['name']} {packages[key]['version']}": packages[key] for key in seen}
    return [found[key] for key in sorted(found) if found[key]["source"]]


def npm() -> list[dict[str, Any]]:
    """The npm packages in the page by name, from the lock file."""
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    # The name follows the last folder; the first entry is the page itself.
    return [
        {
            "name": path.rpartition("node_modules/")[2],
            "version": of["version"],
            "license": of.get("license"),
            "manifest_path": WEB / path / "package.json",
        }
        for path, of in sorted(lock.items())
        if path and not of.get("dev") and not of.get("devOptional")
    ]


def distributions() -> Iterator[tuple[str, str]]:
    """The Python packages required by ours, recursively, with their declared licences."""
    seen: set[str] = set()
    asked = _project()
    while asked:
        name = re.sub(r"[-_.]+", "-", asked.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # for another system, or an extra that is not installed
        asked += [re.split(r"[^\w.-]", need, maxsplit=1)[0] for need in found.requires or () if "extra ==" not in need]
        yield name, _said(found)


def _project() -> list[str]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    needs = [*project["dependencies"], *(need for of in project["optional-dependencies"].values() for need in of)]
    return [re.split(r"[^\w.-]", need, maxsplit=1)[0] for need in needs]


def _said(found: metadata.Distribution) -> str:
    about = found.metadata
    if "License-Expression" in about:
        return str(about["License-Expression"])
    classified = [_CLASSIFIERS[text] for text in about.get_all("Classifier") or () if text in _CLASSIFIERS]
    if classified:
        return classified[0]
    said = str(about["License"]) if "License" in about else "nothing"
    # As declared by partd, whose text has three clauses.
    return "BSD-3-Clause" if said == "BSD" else said


def texts(crate: dict[str, Any], names: list[str]) -> list[str]:
    """The licence texts of a crate for the chosen licences; all its texts if the files are not named after licences."""
    folder = Path(crate["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and _TEXTS.match(path.name))
    own = [path for path in files if any(_short(name) in path.name.lower() for name in names)]
    return [_plain(path.read_text(encoding="utf-8", errors="replace")) for path in own or files]


def _short(name: str) -> str:
    return name.split("-", maxsplit=1)[0].lower()


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


def title_of(of: dict[str, Any]) -> str:
    """Name, version, and chosen licences."""
    return f"{of['name']} {of['version']} ({' and '.join(taken(of['license'] or '', ALLOWED) or [])})"


def notices(found: list[dict[str, Any]]) -> str:
    """The notices file: each text once, with its packages."""
    by_text: dict[str, list[str]] = {}
    for crate in found:
        names = taken(crate["license"] or "", ALLOWED) or []
        title = title_of(crate)
        for text in texts(crate, names) or ["The package has no text of its licence.\n"]:
            by_text.setdefault(text, []).append(title)
    line = "-" * 100
    parts = [
        f"{line}\n{chr(10).join(titles)}\n{line}\n\n{text}"
        for text, titles in sorted(by_text.items(), key=lambda of: of[1])
    ]
    return (
        "Stillair's native module has the following Rust crates in it, and the standard library of Rust (MIT or\n"
        "Apache-2.0). Its page in the browser has some of them, and the packages of npm below.\n"
        "Where one leaves a choice of licences, the one by which it is taken is named.\n"
        "Made by scripts/licences.py --write.\n\n" + "\n".join(parts)
    )


def _names(kept: str, packages: list[dict[str, Any]]) -> bool:
    """Returns true if the file names exactly these packages."""
    titles = {line for block in _TITLES.findall(kept) for line in block.splitlines()}
    return titles == {title_of(of) for of in packages}


def main() -> int:
    """Checks or writes."""
    found, page = crates(), npm()
    wrong = [
        f"{crate['name']} {crate['version']}: {crate['license']}"
        for crate in [*found, *page]
        if taken(crate["license"] or "", ALLOWED) is None
    ] + [f"{name} (Python): {said}" for name, said in distributions() if taken(said, BESIDE) is None]
    for what in wrong:
        print(f"licence not on the list of {Path(__file__).name}: {what}", file=sys.stderr)
    kept = NOTICES.read_text(encoding="utf-8") if NOTICES.exists() else ""
    there = all(Path(of["manifest_path"]).exists() for of in page)
    if sys.argv[1:] == ["--write"]:
        if not there:
            print(f"{WEB.name}/node_modules is missing: make web", file=sys.stderr)
            return 1
        NOTICES.write_text(notices([*found, *page]), encoding="utf-8")
    elif kept != notices([*found, *page]) if there else not _names(kept, [*found, *page]):
        print(f"{NOTICES.name} is not current: scripts/licences.py --write", file=sys.stderr)
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
