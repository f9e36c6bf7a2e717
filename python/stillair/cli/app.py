"""The command line: all commands by name, each imported on use."""

from importlib import import_module

import click

from stillair._native import __version__
from stillair.cli.common import completion
from stillair.text import signals
from stillair.text.nearest import nearest

_COMMANDS = {
    "run": "running",
    "sweep": "running",
    "compare": "compare.command",
    "bisect": "compare.bisect",
    "explain": "advice.explain",
    "tune": "advice.tune",
    "faq": "advice.faq",
    "check": "scenarios.check",
    "new": "new.command",
    "import": "imports.command",
    "doctor": "imports.doctor",
    "scenarios": "scenarios.names",
    "ss": "host_state",
    "tc": "host_state",
    "rc-stats": "host_state",
    "schema": "scenarios.names",
    "live": "real.live",
    "crosscheck": "real.live",
    "kernel": "real.kernel",
    "paper": "",
    "export": "publish.command",
    "plot": "publish.command",
    "report": "publish.command",
    "qoo": "publish.quality",
    "budget": "budget",
    "explore": "explore.command",
    "validate": "",
}
"""Each command in help page order, with its module; empty for a command of another package."""

_RENAMED = {
    "agree": "crosscheck",
    "answers": "faq",
    "exec": "live exec",
    "ps": "live ps",
    "rc": "rc-stats",
    "set": "live set",
}
"""Commands renamed since a development version, with their current names."""


class _Late(click.Group):
    """Imports each command on use, to keep start-up short."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        from stillair.cli import extension  # noqa: PLC0415 - slow: searches other packages for commands

        return list(dict.fromkeys([*_COMMANDS, *extension.names()]))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if not (place := _COMMANDS.get(cmd_name)):
            from stillair.cli import extension  # noqa: PLC0415 - see above

            return extension.command(cmd_name)
        module = import_module(f"stillair.cli.{place}")
        name = cmd_name.replace("-", "_")
        # A command whose name shadows a Python builtin has a trailing underscore.
        found = getattr(module, f"{name}_", None) or getattr(module, name)
        assert isinstance(found, click.Command)  # noqa: S101 - the table above is ours
        return found

    def invoke(self, ctx: click.Context) -> object:
        """Returns a signal as an exit status. click would print a line of its own."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            ctx.exit(signals.status(error))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggests the closest name for an unknown command."""
        if args and args[0] in _RENAMED:
            ctx.fail(f"No such command {args[0]!r}. It is now 'stillair {_RENAMED[args[0]]}'")
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            known = self.list_commands(ctx)
            if args[0] not in known:
                near = " or ".join(repr(name) for name in nearest(args[0], known))
                ctx.fail(f"No such command {args[0]!r}{f'. Did you mean {near}?' if near else ''}")
        return super().resolve_command(ctx, args)


def _version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        print(f"stillair {__version__}")
        context.exit()


@click.group(
    cls=_Late,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    help="Stillair: a Wi-Fi latency testbed in one program.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
@completion.install
@completion.show
@click.pass_context
def app(context: click.Context) -> None:
    """Prints the list of commands if none is given."""
    if context.invoked_subcommand is None:
        print(context.get_help())
