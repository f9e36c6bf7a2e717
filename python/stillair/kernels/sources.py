"""Kernel sources: a Debian package, an archive, or a source tree, which is never modified.

Each unpacks a private tree to build in, and has a hash of its content.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from stillair._native import InputError, RunError
from stillair.kernels import programs, store, tools

_VERSION = re.compile(r"\d+\.\d+(\.\d+)?([.-][\w.+-]+)?")
_UNUSED = (
    "*/Documentation/*.rst",
    "*.dts",
    "*.dtsi",
    "*/drivers/gpu/*.[ch]",
    "*/sound/*.[ch]",
    "*/drivers/media/*.[ch]",
)
"""Parts of an archive that no guest needs, a third of it. All Kconfig files are needed."""


class Source(Protocol):
    """A source of a kernel."""

    @property
    def what(self) -> str:
        """Description for messages."""
        ...

    def hash(self) -> str:
        """Hash of the content."""
        ...

    def unpack(self, target: Path) -> None:
        """Creates the build tree in an empty folder."""
        ...


def of(version: str, given: Path | None) -> Source:
    """Returns the requested source."""
    if given is None:
        if not re.fullmatch(r"\d+\.\d+", version):
            raise InputError(
                f'found "{version}", expected a version that Debian packages, such as 6.12;'
                " for others, give a tree or an archive with --source"
            )
        return Debian(version)
    if not version or not re.fullmatch(r"[\w.+-]+", version):
        raise InputError(f'found "{version}", expected a name of letters, digits, dots and dashes')
    if given.is_dir():
        if not (given / "Kbuild").is_file() or not (given / "arch" / "um").is_dir():
            raise InputError(f"--source: {given} is not a Linux source tree: it has no Kbuild and arch/um")
        return Tree(given.resolve())
    if given.is_file():
        return Archive(given.resolve())
    raise InputError(f"--source: {given}: no such file or folder; expected a Linux source tree or an archive (.tar.xz)")


class Debian(NamedTuple):
    """Debian's package linux-source-VERSION, downloaded by apt and cached."""

    version: str

    @property
    def package(self) -> str:
        """The package's name."""
        return f"linux-source-{self.version}"

    @property
    def what(self) -> str:
        """Package and version."""
        return f"{self.package} {self._known()['Version']}"

    def hash(self) -> str:
        """The package's hash, from apt."""
        return self._known()["SHA256"]

    def unpack(self, target: Path) -> None:
        """Downloads the package if it is not cached, and unpacks its source."""
        package = self._fetched()
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            within = f"./usr/src/{self.package}.tar.xz"
            with programs.started(["dpkg-deb", "--fsys-tarfile", str(package)]) as made:
                _run(["tar", "-x", "-C", folder, within], f"{package}: cannot be unpacked", made.stdout)
            _unpack(Path(folder) / within, target)

    def _known(self) -> dict[str, str]:
        if shutil.which("apt-cache") is None or shutil.which("dpkg-deb") is None:
            raise InputError(
                "kernel build: this machine has no apt to download Debian's source;"
                " give a tree or an archive (.tar.xz) with --source"
            )
        said = subprocess.run(  # noqa: S603 - our own arguments
            ["apt-cache", "show", "--no-all-versions", self.package],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        found = dict(re.findall(r"^(Version|SHA256): (\S+)", said, re.M))
        if len(found) != 2:
            raise InputError(
                f"{self.package}: apt knows no such package ('apt-get update' refreshes its lists,"
                f" 'apt-cache search ^linux-source-' lists them); or give a tree or an archive (.tar.xz) with --source"
            )
        return found

    def _fetched(self) -> Path:
        folder = store.root() / store.SOURCES
        folder.mkdir(parents=True, exist_ok=True)
        known = self._known()
        kept = folder / f"{self.package}_{known['SHA256'][:12]}.deb"
        if kept.is_file():
            return kept
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            done = programs.done(
                # As root, apt would download as another user, which cannot write to this folder.
                ["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", self.package],
                cwd=fresh,
            )
            got = list(Path(fresh).glob("*.deb"))
            if done.returncode or not got:
                said = done.stderr.strip().splitlines()[-1:] or ["no package came"]
                raise RunError(f"{self.package}: apt-get download failed: {said[0]}; 'apt-get update' may help")
            got[0].replace(kept)
        for old in folder.glob(f"{self.package}_*.deb"):
            if old != kept:
                old.unlink()
        return kept


class Archive(NamedTuple):
    """A tar archive with a single top-level folder."""

    file: Path

    @property
    def what(self) -> str:
        """Path of the archive."""
        return str(self.file)

    def hash(self) -> str:
        """Hash of the file."""
        with self.file.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def unpack(self, target: Path) -> None:
        """Unpacks the content of the archive's folder."""
        _unpack(self.file, target)


class Tree(NamedTuple):
    """A source tree. In a git repository: tracked and new files, as they are in the folder."""

    folder: Path

    @property
    def what(self) -> str:
        """Path of the tree, and its commit in a git repository."""
        said = _git(self.folder, "describe", "--always", "--dirty")
        return f"{self.folder} ({said.strip()})" if said is not None else str(self.folder)

    def hash(self) -> str:
        """Hash of all files: name, execute permission, content."""
        made = hashlib.sha256()
        for name in self._files():
            path = self.folder / name
            if path.is_symlink():
                content = os.fsencode(path.readlink())
            elif path.is_file():
                content = hashlib.file_digest(path.open("rb"), "sha256").digest()
            else:
                continue
            made.update(os.fsencode(name) + b"\0" + content + b"\0")
        return made.hexdigest()

    def renew(self, target: Path) -> None:
        """Updates a copy that was built in before. Changed files become newer than all objects."""
        wanted = set(self._files())
        for path in list(self._walk(target)):
            if path.relative_to(target).as_posix() not in wanted:
                path.unlink()
        for name in sorted(wanted):
            path, copy = self.folder / name, target / name
            if path.is_symlink() or not path.is_file():
                continue
            if copy.is_symlink() or not copy.exists() or not (copy.samefile(path) or _same(path, copy)):
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.unlink(missing_ok=True)
                # Use the current time: the tree's file may be older than an object built from its patched
                # version.
                shutil.copy(path, copy)

    def unpack(self, target: Path) -> None:
        """Copies the files, as hard links where the file system supports them."""
        for name in self._files():
            path, copy = self.folder / name, target / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink():
                copy.symlink_to(path.readlink())
            elif path.is_file():
                try:
                    os.link(path, copy)
                except OSError:
                    shutil.copy2(path, copy)

    def _files(self) -> list[str]:
        listed = _git(self.folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        if listed is not None:
            return sorted(filter(None, listed.split("\0")))
        names = (path.relative_to(self.folder) for path in self._walk(self.folder))
        return sorted(name.as_posix() for name in names if not _is_made(name))

    def _walk(self, folder: Path) -> Iterator[Path]:
        return (path for path in folder.rglob("*") if path.is_symlink() or path.is_file())


def _same(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size or (one.stat().st_mode ^ other.stat().st_mode) & 0o111:
        return False
    return one.read_bytes() == other.read_bytes()


_MADE = re.compile(r"\.(o|a|cmd|order|mod|ko|d|lds|s)$|^(\.config(\.old)?|vmlinux|linux|Module\.symvers)$")


def _is_made(path: Path) -> bool:
    """Returns true if a file of a tree without git is a build product."""
    parts = path.parts
    generated = "generated" in parts or ("include" in parts and "config" in parts[parts.index("include") :])
    return generated or bool(_MADE.search(path.name) and path.name != "vmlinux.lds")


def _git(folder: Path, *words: str) -> str | None:
    """Runs git in a folder; `None` if the folder is not the top of a repository."""
    if not (folder / ".git").exists() or shutil.which("git") is None:
        return None
    done = subprocess.run(  # noqa: S603 - our own arguments
        ["git", "-c", "safe.directory=*", "-C", str(folder), *words],  # noqa: S607
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )
    return done.stdout if done.returncode == 0 else None


def _unpack(archive: Path, target: Path) -> None:
    tools.check()
    target.mkdir(parents=True, exist_ok=True)
    without = [f"--exclude={pattern}" for pattern in _UNUSED]
    _run(
        ["tar", "-x", "-C", str(target), "--strip-components=1", "--wildcards", *without, "-f", str(archive)],
        f"{archive}: cannot be unpacked",
    )
    if not (target / "Kbuild").is_file():
        raise InputError(f"{archive}: holds no Linux source tree: expected one folder with Kbuild in it")


def _run(command: list[str], what: str, stdin: IO[str] | None = None) -> None:
    done = programs.done(command, stdin=stdin)
    if done.returncode:
        raise RunError(f"{what}: {done.stderr.strip().splitlines()[-1:]}")
