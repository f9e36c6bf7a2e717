"""Every command with its options, from the program's own help."""

import inspect
import re

import click

from stillair.cli.app import app


def _says(text: str | None) -> str:
    said = inspect.cleandoc(text or "").replace("\b\n", "").replace("\b", "").replace("\f", "")
    # Not an HTML tag.
    return re.sub(r"<(?=[a-zA-Z])", "&lt;", said)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _parameters(context: click.Context, command: click.Command) -> str:
    rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1] != "Show this message and exit.":
            rows.append(f"| `{record[0].replace('|', chr(92) + '|')}` | {_cell(record[1])} |")
    return "| argument or option | meaning |\n|---|---|\n" + "\n".join(rows) if rows else ""


def _command(name: str, command: click.Command, parent: click.Context, depth: int) -> list[str]:
    context = click.Context(command, info_name=name, parent=parent, **command.context_settings)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"{'#' * depth} {context.command_path}", f"```text\n{usage}\n```"]
    for block in inspect.cleandoc(command.help or "").split("\n\n"):
        # Click keeps the lines of such a block unchanged.
        if block.startswith("\b"):
            parts.append("```text\n" + block.replace("\b\n", "").strip("\n") + "\n```")
        elif block.strip():
            parts.append(_says(block))
    parts.append(_parameters(context, command))
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None  # noqa: S101 - it was listed
            parts += _command(inner, found, context, depth + 1)
    return parts


def page() -> str:
    """The page."""
    whole = click.Context(app, info_name="stillair", **app.context_settings)
    parts = [
        "# Command line",
        "Made of the program's own help. The exit status is 0 on success, 1 if a run failed, 2 on bad input and 130 if "
        "interrupted. Errors are one or two lines on stderr.",
    ]
    for name in app.list_commands(whole):
        command = app.get_command(whole, name)
        assert command is not None  # noqa: S101 - it was listed
        parts += _command(name, command, whole, 2)
    return "\n\n".join(part for part in parts if part) + "\n"
