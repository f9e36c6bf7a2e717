"""The cache of kernels: a folder for each, found by name."""

import os
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stillair._native import InputError
from stillair.text import output, source
from stillair.text.nearest import hint
from stillair.text.toml import to_toml

FACTS = "kernel.toml"
KERNEL = "linux"
SOURCES = "sources"
"""Folder of downloaded Debian packages, next to the kernels."""
KEPT = ".kept-"
"""Prefix of copied source trees with their object files."""


def root() -> Path:
    """The folder of all kernels: `STILLAIR_KERNELS`, or `stillair/kernels` in the user's cache."""
    if own := os.environ.get("STILLAIR_KERNELS"):
        return Path(own).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "stillair" / "kernels"


@dataclass(frozen=True)
class Kernel:
    """A built kernel."""

    folder: Path
    facts: Mapping[str, Any] = field(hash=False, compare=False)
    """Content of `kernel.toml`: name, version, hash, source, compiler, clock, config, patches, built,
    cpu_seconds."""

    @property
    def name(self) -> str:
        """Name in scenarios."""
        return str(self.facts["name"])

    @property
    def version(self) -> str:
        """Full version, such as 6.12.117."""
        return str(self.facts["version"])

    @property
    def program(self) -> Path:
        """Path of the executable."""
        return self.folder / KERNEL

    def size(self) -> int:
        """Size of its folder in bytes."""
        return sum(file.stat().st_size for file in self.folder.iterdir() if file.is_file())


def built() -> list[Kernel]:
    """All cached kernels, by name and time. Incomplete folders are skipped."""
    return sorted(_found(), key=lambda kernel: (kernel.name, str(kernel.facts.get("built", ""))))


def _found() -> Iterator[Kernel]:
    for file in root().glob(f"*/{FACTS}"):
        try:
            facts = tomllib.loads(source.text(file))
        except (OSError, ValueError, RecursionError, InputError):
            continue
        if {"name", "version", "hash"} <= facts.keys() and (file.parent / KERNEL).is_file():
            yield Kernel(file.parent, facts)


def find(name: str) -> Kernel:
    """Finds a kernel by name, folder name or version. Raises `InputError` if there is none or several."""
    kernels = built()
    for names in zip(*((kernel.folder.name, kernel.name, kernel.version) for kernel in kernels), strict=True):
        found = [kernel for kernel, own in zip(kernels, names, strict=True) if own == name]
        if len(found) == 1:
            return found[0]
        if found:
            several = ", ".join(kernel.folder.name for kernel in found)
            raise InputError(f'found "{name}", the name of several kernels; give one of {several}')
    near = hint(name, [kernel.name for kernel in kernels])
    raise InputError(f"no kernel {name} is built; build it with 'stillair kernel build {name}'{near}")


def write(folder: Path, facts: Mapping[str, Any]) -> None:
    """Writes a kernel's metadata into its folder."""
    output.write_files(folder, {FACTS: to_toml(facts)})


def remove(kernel: Kernel) -> int:
    """Removes a kernel's folder. Returns the bytes freed."""
    size = kernel.size()
    shutil.rmtree(kernel.folder)
    return size


def remove_sources() -> int:
    """Removes downloaded sources and kept builds. Returns the bytes freed."""
    size = 0
    for folder in [root() / SOURCES, *root().glob(f"{KEPT}*")]:
        # A file that is hard-linked from the original tree frees nothing.
        files = (file.lstat() for file in folder.rglob("*") if file.is_file())
        size += sum(of.st_size for of in files if of.st_nlink == 1)
        shutil.rmtree(folder, ignore_errors=True)
    return size
