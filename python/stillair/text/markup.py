"""Pages that need no other file: their frame, their look, tables, and what is opened by a click."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources


def document(title: str, header: str, main: str, footer: str) -> str:
    """A whole page. `title` is plain text, the rest is HTML."""
    style = (resources.files("stillair.text") / "page.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header>\n{header}</header>\n<main>\n{main}</main>\n<footer>{footer}</footer>\n</body>\n</html>\n"
    )


def grid(heading: Sequence[str], rows: Iterable[str], kind: str = "") -> str:
    """A table that scrolls by itself where it is too wide. `heading` is plain text, `rows` are HTML."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heading)
    opened = f'<table class="{kind}">' if kind else "<table>"
    head = f"<thead><tr>{head}</tr></thead>" if heading else ""
    return f'<div class="scroll">{opened}{head}<tbody>\n{"".join(rows)}</tbody></table></div>'


def row(cells: Sequence[str]) -> str:
    """A row of plain texts."""
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>\n"


def pairs(values: Mapping[str, str]) -> str:
    """A table of two columns without a heading."""
    return grid((), (row([key, value]) for key, value in values.items()))


def details(summary: str, inside: str) -> str:
    """What is closed until somebody opens it. `summary` is plain text, `inside` is HTML."""
    return f"<details><summary>{escape(summary)}</summary>\n{inside}</details>\n"


def lines(text: str) -> str:
    """Plain text, line by line."""
    return "<br>\n".join(escape(line) for line in text.splitlines())
