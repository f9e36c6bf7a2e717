"""`stillair kernel build`, `list` and `remove`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stillair._native import InputError
from stillair.cli.common import options
from stillair.text import terminal

if TYPE_CHECKING:
    from stillair.kernels.store import Kernel

_MOST_JOBS = 1024


@click.group()
def kernel() -> None:
    """Build real Linux kernels, which scenarios take as hosts.

    A kernel is built from Debian's source package or from any tree, as a program (User Mode Linux), and kept under
    ~/.cache/stillair/kernels; STILLAIR_KERNELS names another folder. Nothing of it is installed.
    """


def _fragments(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return _known("fragments", incomplete)


def _examples(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return _known("examples", incomplete)


def _known(what: str, incomplete: str) -> list[str]:
    """Completes names of bundled fragments or patches, and files."""
    from stillair.kernels import guest  # noqa: PLC0415 - only for completion

    try:
        names = [name for name in getattr(guest, what)() if name != "base"]
    except InputError:
        names = []
    files = [found.as_posix() for found in Path().glob(f"{incomplete}*")]
    return [name for name in names if name.startswith(incomplete)] + sorted(files)


def _names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from stillair.kernels import store  # noqa: PLC0415 - only for completion

    return [one.name for one in store.built() if one.name.startswith(incomplete)]


@kernel.command()
@click.argument("version", metavar="VERSION", help="A version that Debian packages, such as 6.12; any with --source.")
@click.option(
    "--source",
    metavar="TREE|ARCHIVE",
    type=options.PATH,
    show_default="Debian's package linux-source-VERSION",
    help="A Linux source tree, which is not modified, or an archive.",
)
@click.option(
    "--config",
    "fragments",
    metavar="FRAGMENT",
    multiple=True,
    shell_complete=_fragments,
    help="A file of CONFIG_ lines, or mptcp. Repeatable; if several set a key, the last counts.",
)
@click.option(
    "--patch",
    "patches",
    metavar="FILE",
    multiple=True,
    shell_complete=_examples,
    help="A patch (-p1), or the name of an example such as shallow. Repeatable, in order.",
)
@click.option("--name", metavar="NAME", show_default="VERSION", help="Name for scenarios: host = { kernel = NAME }.")
@click.option("--bare", is_flag=True, help="Leave out Stillair's own patches.")
@click.option("--replace", is_flag=True, help="Replace another kernel of that name.")
@click.option("--keep", is_flag=True, help="Keep object files of a tree: its next build compiles only changed files.")
@click.option(
    "--jobs", type=options.whole(1, _MOST_JOBS), metavar="N", show_default="all processors", help="Compilers at once."
)
@options.as_json
def build(
    version: str,
    source: Path | None,
    fragments: tuple[str, ...],
    patches: tuple[str, ...],
    name: str | None,
    bare: bool,
    replace: bool,
    keep: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Build a kernel, or find it if it was built before.

    A hash of source, configuration, patches and compiler identifies a kernel. Stillair's patches are applied first.
    """
    from stillair.cli.common.progress import files_progress  # noqa: PLC0415 - loaded on use
    from stillair.kernels import build as work  # noqa: PLC0415

    order = work.Order(version, source, fragments, patches, name, bare, replace, jobs, keep)
    with files_progress(work.FILES, quiet=as_json) as compiled:
        made = work.build(order, _say, compiled)
    for note in made.notes:
        _say(note)
    if as_json:
        print(json.dumps({**made.kernel.facts, "folder": str(made.kernel.folder), "was_there": made.was_there}))
        return
    facts = made.kernel.facts
    took = f"built before, in {_minutes(facts)}" if made.was_there else f"built in {_minutes(facts)}"
    print(f"{made.kernel.name}: Linux {made.kernel.version}, {took}")
    print(f"  {made.kernel.folder}")


def _say(text: str) -> None:
    print(f"stillair: {terminal.harmless(text)}", file=sys.stderr, flush=True)


def _minutes(facts: "dict[str, object] | object") -> str:
    assert hasattr(facts, "get")  # noqa: S101 - what kernel.toml says
    return f"{float(facts.get('cpu_seconds', 0)) / 60:.1f} CPU minutes"


@kernel.command("list")
@options.as_json
def list_(as_json: bool) -> None:
    """List the kernels that were built."""
    from stillair.kernels import store  # noqa: PLC0415 - loaded on use

    found = store.built()
    if as_json:
        print(json.dumps([{**one.facts, "folder": str(one.folder), "bytes": one.size()} for one in found]))
    elif found:
        print(_table(found))
    else:
        print(f"No kernel is built in {store.root()}; 'stillair kernel build 6.12' makes one.")


def _table(found: "list[Kernel]") -> str:
    from stillair.text.table import table  # noqa: PLC0415 - only used here

    header = ("name", "Linux", "source", "with", "built", "CPU min", "MB", "folder")
    rows = [
        (
            one.name,
            one.version,
            str(one.facts.get("source", "")),
            ", ".join([*one.facts.get("config", [])[1:], *one.facts.get("patches", [])]) or "nothing of ours",
            str(one.facts.get("built", ""))[:10],
            f"{one.facts.get('cpu_seconds', 0) / 60:.1f}",
            f"{one.size() / 1e6:.1f}",
            one.folder.name,
        )
        for one in found
    ]
    shown = [[terminal.harmless(cell) for cell in row] for row in rows]
    return table(header, shown, width=terminal.width(), words=5)


@kernel.command()
@click.argument(
    "names", metavar="[NAME...]", nargs=-1, shell_complete=_names, help="As 'stillair kernel list' has them."
)
@click.option("--all", "all_", is_flag=True, help="Every kernel.")
@click.option("--sources", is_flag=True, help="Fetched sources, and files kept by --keep.")
def remove(names: tuple[str, ...], all_: bool, sources: bool) -> None:
    """Remove kernels that were built."""
    from stillair.kernels import store  # noqa: PLC0415 - loaded on use

    if not names and not all_ and not sources:
        raise InputError("kernel remove: found nothing to remove, expected names, --all or --sources")
    if names and all_:
        raise InputError(f"--all: found beside {', '.join(names)}; give one of the two")
    # Resolve every name before anything is removed.
    for one in store.built() if all_ else list(dict.fromkeys(map(store.find, names))):
        print(f"removed {one.name} ({one.folder.name}): {store.remove(one) / 1e6:.1f} MB")
    if sources:
        print(f"removed sources: {store.remove_sources() / 1e6:.1f} MB")
