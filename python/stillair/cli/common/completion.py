"""Shell completion: prints or installs click's completion scripts.

While completing, the shell calls the program with `_STILLAIR_COMPLETE` set, and click answers.
"""

import os
from pathlib import Path

import click

from stillair._native import InputError

_VARIABLE = "_STILLAIR_COMPLETE"
_SHELLS = ("bash", "zsh", "fish")


def _shell() -> str:
    """Returns the user's shell, from the environment."""
    found = Path(os.environ.get("SHELL", "")).name
    if found not in _SHELLS:
        raise InputError(f'SHELL: found "{found}", expected one of {", ".join(_SHELLS)}')
    return found


def _script(shell: str, command: click.Command) -> str:
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - only used here

    made = get_completion_class(shell)
    assert made is not None  # noqa: S101 - one of click's own
    return made(command, {}, "stillair", _VARIABLE).source().strip()


def _show(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        print(_script(_shell(), context.command))
        context.exit()


def _install(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    shell = _shell()
    if shell == "fish":
        file = Path.home() / ".config/fish/completions/stillair.fish"
        text = f"{_VARIABLE}=fish_source stillair | source\n"
    else:
        file = Path.home() / f".{shell}rc"
        text = f'eval "$({_VARIABLE}={shell}_source stillair)"\n'
    from stillair.text import source  # noqa: PLC0415 - only used here

    there = source.text(file) if file.is_file() else ""
    if text not in there:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as to:
            to.write(text if there.endswith("\n") or not there else f"\n{text}")
    print(f"{file}: completion is installed; start a new {shell} to use it")
    context.exit()


install = click.option(
    "--install-completion",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_install,
    help="Install completion for the current shell.",
)
show = click.option(
    "--show-completion",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show,
    help="Print the completion script of the current shell.",
)
