"""The cache of kernels: a folder for each, found by its name."""

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
"""Beside the kernels: Debian's packages, as they were fetched."""
KEPT = ".kept-"
"""Likewise: copies of trees, and what was compiled of them."""


def root() -> Path:
    """The folder of all kernels: `STILLAIR_KERNELS`, or `stillair/kernels` in the user's cache."""
    if own := os.environ.get("STILLAIR_KERNELS"):
        return Path(own).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "stillair" / "kernels"


@dataclass(frozen=True)
class Kernel:
    """A kernel that was built."""

    folder: Path
    facts: Mapping[str, Any] = field(hash=False, compare=False)
    """What `kernel.toml` says: name, version, hash, source, compiler, clock, config, patches, built, cpu_seconds."""

    @property
    def name(self) -> str:
        """What a scenario calls it."""
        return str(self.facts["name"])

    @property
    def version(self) -> str:
        """Its own version, as 6.12.117."""
        return str(self.facts["version"])

    @property
    def program(self) -> Path:
        """The kernel itself."""
        return self.folder / KERNEL

    def size(self) -> int:
        """Bytes of its folder."""
        return sum(file.stat().st_size for file in self.folder.iterdir() if file.is_file())


def built() -> list[Kernel]:
    """All kernels of the cache, by name and time. A folder that holds none is passed over: it may be one half made."""
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
    """The kernel of a name, of a folder's name, or of a version; an `InputError` if there is none, or are several."""
    kernels = built()
    for names in zip(*((kernel.folder.name, kernel.name, kernel.version) for kernel in kernels), strict=True):
        found = [kernel for kernel, own in zip(kernels, names, strict=True) if own == name]
        if len(found) == 1:
            return found[0]
        if found:
            several = ", ".join(kernel.folder.name for kernel in found)
            raise InputError(f'found "{name}", which several kernels are called; give one of {several}')
    near = hint(name, [kernel.name for kernel in kernels])
    raise InputError(f"no kernel {name} is built; 'stillair kernel build {name}' makes it{near}")


def write(folder: Path, facts: Mapping[str, Any]) -> None:
    """Writes what is known of a kernel into its folder."""
    output.write_files(folder, {FACTS: to_toml(facts)})


def remove(kernel: Kernel) -> int:
    """Removes a kernel's folder; gives the bytes that this frees."""
    size = kernel.size()
    shutil.rmtree(kernel.folder)
    return size


def remove_sources() -> int:
    """Removes sources that were fetched, and what was kept of builds; gives the bytes that this frees."""
    size = 0
    for folder in [root() / SOURCES, *root().glob(f"{KEPT}*")]:
        # A file that somebody's tree has too stays there.
        files = (file.lstat() for file in folder.rglob("*") if file.is_file())
        size += sum(of.st_size for of in files if of.st_nlink == 1)
        shutil.rmtree(folder, ignore_errors=True)
    return size
