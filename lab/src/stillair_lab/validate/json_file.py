"""Measurement files in JSON, and errors about them."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stillair._native import InputError
from stillair.text import source

_LEAST_HZ, _MOST_HZ = 100, 1000


def paths(folder: Path) -> list[Path]:
    """Files of a folder by name; for a file, the file itself."""
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give one with files of the kernel's measurements (.json)")
    found = sorted(folder.glob("*.json"))
    if not found:
        raise InputError(f"{folder}: has no file whose name ends in .json")
    return found


def load(path: Path, holds: str) -> Mapping[str, Any]:
    """Reads the object in a file; `holds` describes its content."""
    try:
        measured = json.loads(source.text(path, "measurements", source.most_json()))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: found text that is not JSON: {error.msg}") from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"{path}: found JSON that cannot be read: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: found objects nested too deep") from None
    if not isinstance(measured, Mapping):
        raise wrong(path, "the file", measured, f"an object with {holds}")
    return measured


def wrong(path: Path, key: str, found: object, expected: str) -> InputError:
    """Error for a key: found and expected values."""
    what = "nothing" if found is None else json.dumps(found, ensure_ascii=False)
    if len(what) > 60:
        what = f"{what[:57]}..."
    return InputError(f"{path}: {key}: found {what}, expected {expected}")


def version(path: Path, kernel: object) -> tuple[int, int]:
    """Parses the version in a description of a kernel."""
    found = re.match(r"Linux (\d{1,3})\.(\d{1,3})\b", kernel) if isinstance(kernel, str) else None
    if found is None:
        raise wrong(path, "kernel", kernel, 'a version such as "Linux 6.1.192"')
    return int(found[1]), int(found[2])


def ticks(path: Path, kernel: object) -> int | None:
    """Parses HZ in a description of a kernel; `None` if missing."""
    found = re.search(r"\bHZ=(\d{1,9})\b", kernel) if isinstance(kernel, str) else None
    if found is None:
        return None
    hz = int(found[1])
    if not _LEAST_HZ <= hz <= _MOST_HZ:
        raise wrong(path, "kernel", found[0], f"HZ from {_LEAST_HZ} to {_MOST_HZ}")
    return hz
