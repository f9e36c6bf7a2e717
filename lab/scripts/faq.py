"""Regenerates the pages of `stillair faq` with their pictures and numbers in docs/faq."""

import sys
from pathlib import Path

from stillair.explain.faq import answer, page, questions
from stillair.text import output

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "faq"
HEAD = """# Answers

Questions that people asked in public, each answered by simulation. `stillair faq NAME` prints the page of one question;
`make faq` writes all pages. A verdict is yes or no only if the whole interval over the seeds supports it.

| question | verdict | page |
|---|---|---|
"""


def index(verdicts: dict[str, str]) -> str:
    """The list of all pages."""
    rows = (
        f"| {questions.read(name).question} | {verdict} | [{name}]({name}.md) |" for name, verdict in verdicts.items()
    )
    return HEAD + "\n".join(rows) + "\n"


def main() -> None:
    """Runs all or the named questions, and writes their pages."""
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or questions.names():
        question = questions.read(name)
        found = answer.run(question)
        files = {f"{name}.md": page.markdown(question, found), f"{name}.json": page.to_json(question, found)}
        output.write_files(FOLDER, files)
        output.write_bytes(FOLDER, {f"{name}.svg": page.svg(question, found)})
        print(f"{name}: {answer.verdict(question, found)}")
    kept = {name: page.from_json((FOLDER / f"{name}.json").read_text(encoding="utf-8")) for name in questions.names()}
    verdicts = {name: answer.verdict(questions.read(name), one) for name, one in kept.items()}
    output.write_files(FOLDER, {"README.md": index(verdicts)})


if __name__ == "__main__":
    main()
