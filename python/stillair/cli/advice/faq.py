"""`stillair faq`."""

from pathlib import Path

import click

from stillair._native import InputError
from stillair.cli.common import options
from stillair.cli.common.progress import runs_progress
from stillair.text import terminal


def _known(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from stillair.explain.faq import questions  # noqa: PLC0415 - only for completion

    return [name for name in questions.names() if name.startswith(incomplete)]


@click.command()
@click.argument("name", required=False, metavar="[NAME]", help="A question from the list.", shell_complete=_known)
@click.option(
    "--runs", type=options.whole(2, 1000), metavar="N", show_default="the question's", help="Runs of each case."
)
@options.jobs
@click.option(
    "-o", "folder", metavar="DIR", type=options.PATH, help="Also write page, picture and numbers into this folder."
)
@options.replace
def faq(name: str | None, runs: int | None, jobs: int | None, folder: Path | None, force: bool) -> None:
    """Answer a question by running it, or list the questions.

    People asked these questions in public. An answer has the verdict, the numbers with their intervals, and what was
    assumed.
    """
    from stillair.explain.faq import questions  # noqa: PLC0415 - loaded on use

    if force and folder is None:
        raise InputError("--force: has no effect without -o, which names the folder to write into")
    if name is None:
        if runs is not None or jobs is not None or folder is not None:
            raise InputError("faq: --runs, --jobs and -o have no effect without the name of a question")
        from stillair.text.table import pairs  # noqa: PLC0415

        print(pairs([(one, questions.read(one).question) for one in questions.names()], None, terminal.width()))
        return
    from stillair.explain.faq import answer, page  # noqa: PLC0415

    question = questions.read(name)
    total = (runs or question.runs) * len(question.cases)
    if folder is not None:
        from stillair.text import output  # noqa: PLC0415 - not needed without -o

        output.prepare(folder)
        output.refuse_present([folder / f"{name}.{kind}" for kind in ("md", "json", "svg")], force)
    with runs_progress(total, quiet=False) as watched:
        found = answer.run(question, runs, jobs, watched.progress)
    if folder is not None:
        text = page.markdown(question, found)
        files = {f"{name}.md": text.encode(), f"{name}.json": page.to_json(question, found).encode()}
        output.write_bytes(folder, {**files, f"{name}.svg": page.svg(question, found)})
    print(page.markdown(question, found, picture=folder is not None).rstrip())
