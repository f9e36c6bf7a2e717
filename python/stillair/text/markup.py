"""Self-contained HTML pages: document, style, tables, and collapsible sections."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources


def document(title: str, header: str, main: str, footer: str) -> str:
    """Returns a whole page. `title` is plain text, the other arguments are HTML."""
    style = (resources.files("stillair.text") / "page.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header>\n{header}</header>\n<main>\n{main}</main>\n<footer>{footer}</footer>\n</body>\n</html>\n"
    )


def scroll(name: str, inside: str) -> str:
    """A container that scrolls if its content is too wide, also by keyboard.

    `name` is plain text, `inside` is HTML.
    """
    return f'<div class="scroll" role="group" aria-label="{escape(name)}" tabindex="0">{inside}</div>'


def grid(heading: Sequence[str], rows: Iterable[str], kind: str = "", name: str = "table") -> str:
    """A scrollable table. `heading` and the accessible `name` are plain text, `rows` are HTML."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heading)
    opened = f'<table class="{kind}">' if kind else "<table>"
    head = f"<thead><tr>{head}</tr></thead>" if heading else ""
    return scroll(name, f"{opened}{head}<tbody>\n{''.join(rows)}</tbody></table>")


def row(cells: Sequence[str]) -> str:
    """A row of plain text cells. The first is the row header."""
    first, *rest = cells
    return f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in rest)}</tr>\n'


def pairs(values: Mapping[str, str], name: str = "table") -> str:
    """A table with two columns and no heading."""
    return grid((), (row([key, value]) for key, value in values.items()), "pairs", name)


def pre(text: str, name: str = "text") -> str:
    """Preformatted plain text, scrollable also by keyboard."""
    return f'<pre role="group" aria-label="{escape(name)}" tabindex="0">{escape(text)}</pre>\n'


def details(summary: str, inside: str) -> str:
    """A collapsed section. `summary` is plain text, `inside` is HTML."""
    return f"<details><summary>{escape(summary)}</summary>\n{inside}</details>\n"


def lines(text: str) -> str:
    """Plain text with line breaks."""
    return "<br>\n".join(escape(line) for line in text.splitlines())
