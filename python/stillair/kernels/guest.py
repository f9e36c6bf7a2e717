"""Stillair's guest files, which are in `guest/` under the kernel's licence, and the programs built from them.

They are not part of the installed package: outside a source tree, `STILLAIR_GUEST` names their folder.
"""

import hashlib
import os
import subprocess
from pathlib import Path

import stillair
from stillair._native import InputError, RunError


def folder() -> Path:
    """`guest/` of the source tree, or what `STILLAIR_GUEST` names."""
    own = os.environ.get("STILLAIR_GUEST")
    found = Path(own) if own else Path(stillair.__file__).resolve().parents[2] / "guest"
    if not (found / "config" / "base.config").is_file():
        where = f'STILLAIR_GUEST: found "{own}", which has no config/base.config' if own else "guest files are missing"
        raise InputError(
            f"{where}; they are GPL-2.0 and not part of the installed package:"
            " set STILLAIR_GUEST to the folder guest/ of Stillair's source"
        )
    return found


def fragments() -> dict[str, Path]:
    """Configuration fragments by name, such as `shallow`."""
    return {path.stem: path for path in sorted((folder() / "config").glob("*.config"))}


def patches() -> list[Path]:
    """Patches that every guest gets, in order."""
    return sorted((folder() / "patches").glob("*.patch"))


def variants(patch: Path) -> list[Path]:
    """A patch, followed by its variant for older kernels, if there is one."""
    older = patch.parent / "older" / patch.name
    return [patch, older] if patch.parent == folder() / "patches" and older.is_file() else [patch]


def examples() -> dict[str, Path]:
    """Example patches by name, which are applied only on request."""
    return {path.stem: path for path in sorted((folder() / "examples").glob("*.patch"))}


PROGRAMS = {
    "launch": ("host/launch.c", ()),
    "seed.so": ("host/seed.c", ("-shared", "-fPIC")),
}
"""Programs for the host, with their sources and compiler flags."""


def programs_hash() -> str:
    """Hash of all program sources."""
    made = hashlib.sha256()
    for path in sorted([*folder().glob("*.[ch]"), *folder().glob("host/*.[ch]")]):
        made.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()[:12]


def orders() -> int:
    """Protocol version of the guest's init, from guest.h."""
    for line in (folder() / "guest.h").read_text(encoding="utf-8").splitlines():
        if line.startswith("#define ORDERS "):
            return int(line.split()[2])
    raise InputError(f"{folder() / 'guest.h'}: found no line '#define ORDERS', expected one")


def make_programs(target: Path) -> list[str]:
    """Compiles the programs into a folder and returns their names."""
    here = folder()
    for name, (source, flags) in PROGRAMS.items():
        _compile(target / name, [here / source], flags)
    inside = sorted(here.glob("*.c"))
    if inside:
        # The guest uses the host's libraries; its init should not depend on them.
        _compile(target / "init", inside, ("-static",))
    return [*PROGRAMS, *(["init"] if inside else [])]


def _compile(target: Path, sources: list[Path], flags: tuple[str, ...]) -> None:
    part = target.with_name(f".{target.name}.part")
    command = ["gcc", "-O2", "-Wall", *flags, "-o", str(part), *map(str, sources), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own arguments
    if done.returncode:
        raise RunError(f"{sources[0]}: does not compile:\n{done.stderr.strip()}")
    part.chmod(0o755)
    part.replace(target)
