"""Every command with its options, as the program describes itself."""

import inspect
import re

import click

from stillair.cli.app import app


def _says(text: str | None) -> str:
    said = inspect.cleandoc(text or "").replace("\b\n", "").replace("\b", "").replace("\f", "")
    # An angle is no tag.
    return re.sub(r"<(?=[a-zA-Z])", "&lt;", said)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _options(context: click.Context, command: click.Command) -> str:
    rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if isinstance(parameter, click.Option) and record is not None:
            rows.append(f"| `{record[0].replace('|', chr(92) + '|')}` | {_cell(record[1])} |")
    return "| option | meaning |\n|---|---|\n" + "\n".join(rows) if rows else ""


def page() -> str:
    """The page."""
    whole = click.Context(app, info_name="stillair")
    parts = [
        "# Command line",
        "Made of the program's own help. The exit status is 0 on success, 1 if a run failed, 2 on bad input and 130 if "
        "interrupted. Errors are one or two lines on stderr.",
    ]
    for name in app.list_commands(whole):
        command = app.get_command(whole, name)
        assert command is not None  # noqa: S101 - it was listed
        context = click.Context(command, info_name=name, parent=whole)
        usage = " ".join(["stillair", name, *command.collect_usage_pieces(context)])
        parts += [f"## stillair {name}", f"```text\n{usage}\n```"]
        text = command.help or ""
        blocks = [block for block in inspect.cleandoc(text).split("\n\n") if block.strip("\b\n")]
        for block in blocks:
            # Click keeps the lines of such a block as they are.
            if block.startswith("\b"):
                parts.append("```text\n" + block.replace("\b\n", "").strip("\n") + "\n```")
            else:
                parts.append(_says(block))
        parts.append(_options(context, command))
    return "\n\n".join(part for part in parts if part) + "\n"
