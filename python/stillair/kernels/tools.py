"""Programs required to build a kernel, and the command that installs missing ones."""

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
"""Required programs, with their Debian packages."""
LIBRARIES = {"stdio.h": "libc6-dev"}
"""Required headers, with their Debian packages."""
_FEDORA = {"xz-utils": "xz", "libc6-dev": "glibc-devel glibc-static"}


def check(*more: str) -> None:
    """Raises `InputError` if programs or headers are missing, with the command that installs them."""
    needed = {**PACKAGES, **{program: program for program in more}}
    missing = [program for program in needed if shutil.which(program) is None]
    packages = [needed[program] for program in missing]
    if "gcc" not in missing and (header := _headless()):
        missing.append(header)
        packages.append(LIBRARIES[header])
    if missing:
        raise InputError(f"kernel build: {', '.join(missing)} missing; {install(packages)}")


def compiler() -> str:
    """Version line of the C compiler."""
    said = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout  # noqa: S607
    return said.splitlines()[0]


def install(packages: Iterable[str]) -> str:
    """Returns this machine's install command for packages given by their Debian names."""
    names = list(packages)
    if shutil.which("apt-get") is None and shutil.which("dnf"):
        return f"install with: dnf install {' '.join(_FEDORA.get(name, name) for name in names)}"
    return f"install with: apt-get install {' '.join(names)}"


def _headless() -> str | None:
    """Returns a header that the compiler does not find; empty if all are found."""
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
