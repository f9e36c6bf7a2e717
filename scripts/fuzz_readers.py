"""Fuzzes the readers of input with random changes of real files, for a given time each.

Usage: PYTHONPATH=tests/python fuzz_readers.py SECONDS [SEED] [READER...]

The default SEED is the clock.

A reader returns a result or raises `InputError`, whatever the bytes are. Anything else is a failure, as is a
case that takes more than a minute. Repeat a case by its seed: `fuzz_readers.py 0 SEED READER`.
"""

import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path

import readers
from readers import Reader
from stillair import InputError

PATIENCE_S = 60
MOST_BYTES = 4 << 30


def main(arguments: list[str]) -> int:
    """Returns the exit status: 1 if a failure was found."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    seconds = float(arguments[0])
    first = int(arguments[1]) if len(arguments) > 1 else int(time.time()) * 1_000_000
    chosen = [one for one in readers.READERS if one.name in arguments[2:] or not arguments[2:]]
    # Limit memory, which a large machine would not run out of.
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    signal.signal(signal.SIGALRM, _too_long)
    found = 0
    for reader in chosen:
        with tempfile.TemporaryDirectory(prefix="fuzz-readers-") as folder:
            found += _of(reader, Path(folder), seconds, first)
    return 1 if found else 0


def _too_long(*_: object) -> None:
    raise TimeoutError(f"a case that takes more than {PATIENCE_S} s")


def _of(reader: Reader, folder: Path, seconds: float, first: int) -> int:
    """Counts the failures of a reader; reports each place in the code once."""
    (folder / "seeds").mkdir()
    seeds = list(reader.seeds(folder / "seeds"))
    for file in seeds:
        # A short text alone may not be enough for a scenario.
        with suppress(InputError):
            reader.read(_copied(file, folder / "whole"))
    seed, accepted, end, places = first, 0, time.monotonic() + seconds, set[str]()
    while True:
        case = folder / "case"
        shutil.rmtree(case, ignore_errors=True)
        case.mkdir()
        path = readers.cases(reader, seeds, case, random.Random(f"{reader.name} {seed}"))  # noqa: S311 - must be reproducible
        signal.alarm(PATIENCE_S)
        try:
            reader.read(path)
            accepted += 1
        except InputError:
            pass
        except Exception:  # noqa: BLE001 - any other error is a finding
            said = traceback.format_exc().splitlines()
            place = next((line for line in reversed(said) if line.startswith('  File "')), "") + said[-1][:40]
            if place not in places:
                places.add(place)
                print(f"{reader.name}: seed {seed}:", *said[-9:], sep="\n  ", file=sys.stderr, flush=True)
        finally:
            signal.alarm(0)
        seed += 1
        if time.monotonic() >= end:
            break
    told = f"{len(places)} failures" if places else "nothing found"
    print(f"{reader.name}: {seed - first} cases from seed {first} on, {accepted} of them read, {told}", flush=True)
    return len(places)


def _copied(seed: Path, into: Path) -> Path:
    into.mkdir(exist_ok=True)
    if seed.is_file():
        return Path(shutil.copy(seed, into))
    return Path(shutil.copytree(seed, into / seed.name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
