"""Programs that building a kernel needs, and the command that installs what is missing."""

import shutil
import subprocess
from collections.abc import Iterable

from stillair._native import InputError

PACKAGES = {
    "gcc": "gcc",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "xz": "xz-utils",
    "patch": "patch",
    "tar": "tar",
}
"""Programs of every build, and Debian's packages that have them."""
LIBRARIES = {"stdio.h": "libc6-dev"}
"""Headers of every build, likewise."""
_FEDORA = {"xz-utils": "xz", "libc6-dev": "glibc-devel glibc-static"}


def check(*more: str) -> None:
    """An `InputError` that names all that is missing, and how it is installed."""
    needed = {**PACKAGES, **{program: program for program in more}}
    missing = [program for program in needed if shutil.which(program) is None]
    packages = [needed[program] for program in missing]
    if "gcc" not in missing and (header := _headless()):
        missing.append(header)
        packages.append(LIBRARIES[header])
    if missing:
        raise InputError(f"kernel build: {', '.join(missing)} missing; {install(packages)}")


def compiler() -> str:
    """The C compiler, as it names itself."""
    said = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout  # noqa: S607
    return said.splitlines()[0]


def install(packages: Iterable[str]) -> str:
    """The command of this machine that installs packages, by Debian's names of them."""
    names = list(packages)
    if shutil.which("apt-get") is None and shutil.which("dnf"):
        return f"install with: dnf install {' '.join(_FEDORA.get(name, name) for name in names)}"
    return f"install with: apt-get install {' '.join(names)}"


def _headless() -> str | None:
    """A header that the compiler does not find."""
    for header in LIBRARIES:
        tried = subprocess.run(
            ["gcc", "-E", "-x", "c", "-"],  # noqa: S607
            input=f"#include <{header}>\n",
            capture_output=True,
            text=True,
            check=False,
        )
        if tried.returncode:
            return header
    return None
