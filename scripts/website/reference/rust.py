"""The public crates: purpose and exports, from each crate's root documentation."""

import re
from pathlib import Path

CRATES = {
    "link": ("stillair_link", "a Wi-Fi path inside your tests: datagrams in, datagrams out, in virtual time"),
    "cli": ("stillair_cli", "a program with your own congestion control, qdisc, AQM or station scheduler"),
    "sim": ("stillair_sim", "scenarios as text or built in Rust, runs, results as JSON"),
    "model": ("stillair_model", "the algorithms: no clock, no I/O, no `std`"),
    "link-c": ("stillair.h", "the link for C"),
}


def _root(source: str) -> str:
    """A crate's root documentation: its `//!` lines, without rustdoc-only links and hidden code lines."""
    said = []
    fenced = False
    for line in (line[3:].removeprefix(" ") for line in source.splitlines() if line.startswith("//!")):
        if line.startswith("```"):
            said.append("```rust" if not fenced and line == "```" else line)
            fenced = not fenced
        elif fenced:
            said += [] if line.startswith("# ") else [line]
        else:
            words = re.sub(r"\[(`[^`\]]+`)\]\([^)]*\)|\[(`[^`\]]+`)\]", lambda of: of[1] or of[2], line)
            said.append(f"##{words}" if words.startswith("#") else words)
    return "\n".join(said)


def _exports(source: str) -> list[str]:
    source = re.sub(r"//.*", "", source)
    names = []
    for path, braced, single in re.findall(
        r"^pub use ([\w:]+)::(?:\{([^}]*)\}|(\w+));", source, re.MULTILINE | re.DOTALL
    ):
        del path
        names += [name.strip().split(" as ")[-1] for name in (braced or single).split(",") if name.strip()]
    names += [f"{name}::" for name in re.findall(r"^pub mod (\w+)", source, re.MULTILINE)]
    names += [f"{name}()" for name in re.findall(r"^pub fn (\w+)", source, re.MULTILINE)]
    return sorted(dict.fromkeys(names), key=str.lower)


def page(root: Path) -> str:
    """The page."""
    parts = [
        "# Rust",
        "`cargo doc --workspace --no-deps --open` has every public item. This page says where to begin.",
        "| crate | for |\n|---|---|\n" + "\n".join(f"| `{name}` | {why} |" for name, why in CRATES.values()),
    ]
    for folder, (name, _) in CRATES.items():
        source = (root / "crates" / folder / "src" / "lib.rs").read_text(encoding="utf-8")
        exports = ", ".join(f"`{one}`" for one in _exports(source))
        parts += [f"## {name}", _root(source), f"Exports: {exports}." if exports else ""]
    return "\n\n".join(part for part in parts if part) + "\n"
