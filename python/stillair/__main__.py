"""The entry point: exit status and error lines are decided here and nowhere else."""

import os
import sys

from typer import TyperException

from stillair._native import InputError, RunError
from stillair.cli import app

FAILED_RUN = 1
BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits: 0 on success, 1 on a run that failed, 2 on bad input."""
    sys.exit(status(arguments))


def status(arguments: list[str] | None = None) -> int:
    """Runs the command line and gives its exit status; says why on stderr if it is not 0."""
    try:
        code: int | None = app(args=arguments, prog_name="stillair", standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        return _complain(error, BAD_INPUT)
    except RunError as error:
        return _complain(error, FAILED_RUN)
    except TyperException as error:
        return _complain(_usage(error), BAD_INPUT)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (`stillair ... | head`). Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED_RUN
    except OSError as error:
        return _complain(f"{error.filename or 'output'}: {error.strerror or error}", FAILED_RUN)
    # An interrupt within a command comes back as its status.
    return _complain("interrupted", INTERRUPTED) if code == INTERRUPTED else code or 0


def _complain(why: object, code: int) -> int:
    print(f"stillair: {why}", file=sys.stderr)
    return code


def _usage(error: TyperException) -> str:
    """The parser's own message and where to read more, in one line."""
    say = getattr(error, "format_message", None)
    message = str(say() if callable(say) else error).rstrip(".").replace("\n", " ")
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "stillair"
    return f"{message}. Try '{command} --help'"


if __name__ == "__main__":
    main()
