"""Entry point: the only place that sets the exit status and prints error lines.

Modules beyond the standard library are imported late, once the interrupt handler is in place.
"""

import os
import sys

FAILED_RUN = 1
BAD_INPUT = 2


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits: 0 on success, 1 if a run failed, 2 on bad input."""
    sys.exit(status(arguments))


def status(arguments: list[str] | None = None) -> int:
    """Runs the command line and returns its exit status. Prints errors on stderr."""
    try:
        from stillair.text import signals  # noqa: PLC0415 - see above

        with signals.by_signals():
            return _status(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt as error:
        from stillair.text import signals  # noqa: PLC0415 - see above

        code = signals.status(error)
        return _complain(signals.said(code), code)


def _status(arguments: list[str]) -> int:
    if sys.stderr is None:
        # The caller closed stderr: discard messages and carry on.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - as long as the process
    if sys.stdout is None:
        return _complain("output: standard output is closed", FAILED_RUN)
    for argument in arguments:
        if _not_utf8(argument):
            return _complain(f"found the argument {_not_utf8(argument)}, expected UTF-8", BAD_INPUT)
    return _command(arguments)


def _command(arguments: list[str]) -> int:
    from click.exceptions import Abort, ClickException  # noqa: PLC0415 - see above

    from stillair._native import InputError, RunError  # noqa: PLC0415
    from stillair.cli.app import app  # noqa: PLC0415
    from stillair.text import signals  # noqa: PLC0415

    code: int | None
    try:
        code = app(args=arguments, prog_name="stillair", standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        return _complain(error, BAD_INPUT)
    except RunError as error:
        return _complain(error, FAILED_RUN)
    except Abort:
        # Interrupted at a prompt.
        raise KeyboardInterrupt from None
    except ClickException as error:
        return _complain(_usage(error), BAD_INPUT)
    except BrokenPipeError:
        # The reader of our output has gone (`stillair ... | head`). Without this, Python complains again at
        # exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED_RUN
    except UnicodeEncodeError as error:
        # The terminal's encoding lacks a character, or a folder name is not UTF-8.
        letters = error.object[error.start : error.end].encode("ascii", "backslashreplace").decode()
        return _complain(f'output: "{letters}" cannot be written as {error.encoding}', FAILED_RUN)
    except OSError as error:
        return _complain(f"{error.filename or 'output'}: {error.strerror or error}", FAILED_RUN)
    if isinstance(code, signals.Status) or code == signals.INTERRUPTED:
        # A signal during a command arrives as the command's exit status.
        raise signals.Ended(code - 128)
    return code or 0


def _not_utf8(argument: str) -> str:
    """Returns a printable form of an argument that is not UTF-8, or `None` for valid UTF-8."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return os.fsencode(argument).decode("utf-8", "backslashreplace")
    return ""


def _complain(why: object, code: int) -> int:
    from stillair.text import signals, terminal  # noqa: PLC0415 - see above

    # Several mistakes take one line each.
    lines = [terminal.harmless(line) for line in str(why).split("\n")]
    colour = terminal.YELLOW if isinstance(code, signals.Status) else terminal.RED
    for line in lines:
        print(terminal.painted("stillair:", colour, sys.stderr), line, file=sys.stderr)
    return code


def _usage(error: Exception) -> str:
    """The parser's message and where to read more, on one line."""
    near = getattr(error, "possibilities", None)
    said = getattr(error, "message", "") if near else ""
    if not said:
        say = getattr(error, "format_message", None)
        said = str(say() if callable(say) else error)
    message = said.rstrip(".").replace("\n", " ").replace('"', "'")
    if near:
        message += f". Did you mean {' or '.join(repr(name) for name in near)}?"
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "stillair"
    return f"{message}{'' if message.endswith('?') else '.'} Try '{command} --help'"


if __name__ == "__main__":
    main()
