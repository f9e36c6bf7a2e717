"""Builds a kernel from a source into the cache."""

import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from stillair._native import InputError, RunError
from stillair.kernels import config, guest, patches, programs, sources, store, tools
from stillair.text import lock, signals

_BUILDING = ".building-"
FILES = 685
"""Approximate number of compiled files, for the progress bar."""
_NEEDED = ("UML_TIME_TRAVEL_SUPPORT", "VIRTIO_UML", "VIRTIO_NET", "HOSTFS", "INET")
"""Options that a guest kernel must have."""

Say = Callable[[str], object]


@dataclass(frozen=True)
class Order:
    """A build request."""

    version: str
    source: Path | None = None
    fragments: Sequence[str] = ()
    """Names of bundled fragments (such as `shallow`), or files."""
    patches: Sequence[str] = ()
    """Names of bundled examples, or files."""
    name: str | None = None
    """Name for use in scenarios; defaults to the version."""
    bare: bool = False
    """Leave out the bundled patches."""
    replace: bool = False
    """Replace an existing kernel of that name."""
    jobs: int | None = None
    keep: bool = False
    """Keep the object files of a source tree for its next build."""


class Built(NamedTuple):
    """A finished build."""

    kernel: store.Kernel
    was_there: bool
    notes: list[str]


@dataclass
class Plan:
    """Everything that determines the kernel."""

    order: Order
    source: sources.Source
    asked: dict[str, config.Asked]
    own: set[str]
    """Keys of the base fragment only. If one has no effect, the build reports it but does not fail."""
    patches: list[Path]
    required: set[Path]
    compiler: str
    notes: list[str] = field(default_factory=list)

    def hash(self) -> str:
        """Hash of source, configuration, patches, and compiler."""
        text = json.dumps(
            [
                self.source.hash(),
                config.text(self.asked),
                [
                    hashlib.sha256(path.read_bytes()).hexdigest()
                    for patch in self.patches
                    for path in guest.variants(patch)
                ],
                self.compiler,
            ]
        )
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def build(order: Order, say: Say, compiled: Callable[[int], object] | None = None) -> Built:
    """Builds a kernel, or finds it in the cache.

    `say` receives messages, `compiled` the number of compiled files.
    """
    tools.check()
    plan = planned(order)
    name = order.name or order.version
    made = plan.hash()
    folder = store.root() / f"{order.version}-{made}"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder.parent}: cannot be created: {error.strerror}; set STILLAIR_KERNELS") from None
    others = [kernel for kernel in store.built() if kernel.name == name and kernel.folder != folder]
    if others and not order.replace:
        raise InputError(
            f"kernel build: another kernel has the name {name}"
            f" ({others[0].folder.name}, of {others[0].facts.get('source')});"
            " choose another with --name, or remove that kernel with --replace"
        )
    there = next((kernel for kernel in store.built() if kernel.folder == folder), None)
    with signals.by_signals():
        facts = dict(there.facts) if there else _compile(plan, folder, made, say, compiled)
        facts |= {"name": name, "programs": _programs(folder, facts.get("programs")), "orders": guest.orders()}
        store.write(folder, facts)
    for other in others:
        store.remove(other)
        say(f"removed {other.folder.name}, which had the name {name}")
    return Built(store.Kernel(folder, facts), there is not None, plan.notes)


def planned(order: Order) -> Plan:
    """Reads all inputs. Raises `InputError` for mistakes."""
    ours, base = guest.fragments(), guest.fragments()["base"]
    files = [base, *(ours.get(given) or _file(given, "--config", ours) for given in order.fragments)]
    examples = guest.examples()
    given = [examples.get(one) or _file(one, "--patch", examples) for one in order.patches]
    own = [] if order.bare else guest.patches()
    for patch in [*own, *given]:
        patches.read(patch)
    fragments = [config.read(file) for file in files]
    source = sources.of(order.version, order.source)
    if order.keep and not isinstance(source, sources.Tree):
        raise InputError("--keep: applies only to a source tree, and --source names none")
    asked = config.merged(fragments)
    return Plan(
        order,
        source,
        asked,
        {key for key, one in asked.items() if one in fragments[0]} - set(_NEEDED),
        [*own, *given],
        set(given),
        tools.compiler(),
    )


def _file(given: str, option: str, known: dict[str, Path]) -> Path:
    path = Path(given)
    if path.is_file():
        return path
    there = ", ".join(name for name in known if name != "base")
    raise InputError(f'{option}: found "{given}", expected a file or one of {there}')


def _compile(plan: Plan, folder: Path, made: str, say: Say, compiled: Callable[[int], object] | None) -> dict[str, Any]:
    began, cpu = time.monotonic(), _cpu_seconds()
    with _workshop(plan, folder.parent, made) as work:
        tree, objects = work / "tree", work / "objects"
        objects.mkdir(exist_ok=True)
        if isinstance(plan.source, sources.Tree) and tree.exists():
            say(f"updating the copy of {plan.source.what}")
            plan.source.renew(tree)
        else:
            say(f"unpacking {plan.source.what}")
            plan.source.unpack(tree)
        applied = _patched(plan, tree)
        make = _Make(tree, objects, plan.order.jobs or os.cpu_count() or 1)
        version = make.said("kernelversion").strip().splitlines()[-1]
        _configured(plan, make)
        say(f"compiling Linux {version} as a guest")
        make.kernel(compiled)
        fresh = work / "kernel"
        fresh.mkdir()
        shutil.copy2(objects / "linux", fresh / store.KERNEL)
        subprocess.run(["strip", "--strip-debug", str(fresh / store.KERNEL)], check=True)  # noqa: S603, S607
        shutil.copy2(objects / ".config", fresh / "config")
        _starts(fresh / store.KERNEL, version)
        facts = {
            "name": "",
            "version": version,
            "hash": made,
            "source": plan.source.what,
            "compiler": plan.compiler,
            "clock": "shm" if _has_shared_clock(tree) else "socket",
            "config": ["base", *plan.order.fragments],
            "patches": [patch.stem for patch in applied],
            "built": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "seconds": round(time.monotonic() - began),
            "cpu_seconds": round(_cpu_seconds() - cpu),
        }
        store.write(fresh, facts)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.chmod(0o755)
        fresh.replace(folder)
    return facts


@contextmanager
def _workshop(plan: Plan, root: Path, made: str) -> Iterator[Path]:
    """Locks the build folder. Its path depends only on the kernel, because the build may embed paths."""
    keep = plan.order.keep and isinstance(plan.source, sources.Tree)
    of = hashlib.sha256(os.fsencode(plan.source.folder)).hexdigest()[:12] if keep else made  # type: ignore[attr-defined]
    work = root / (f"{store.KEPT}{of}" if keep else f"{_BUILDING}{of}")
    for left in root.glob(f"{_BUILDING}*"):
        # Left by a killed build; a running build holds its lock.
        with suppress(InputError, OSError), lock.held(left):
            shutil.rmtree(left)
    work.mkdir(exist_ok=True)
    with lock.held(work):
        shutil.rmtree(work / "kernel", ignore_errors=True)
        if not keep:
            for old in work.iterdir():
                shutil.rmtree(old)
        try:
            yield work
        finally:
            if not keep:
                _removed(work)


def _removed(folder: Path) -> None:
    """Removes a folder. Retries, as a dying process may still write files."""
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)


def _patched(plan: Plan, tree: Path) -> list[Path]:
    """Applies the patches and returns those applied. Raises an error if a requested patch does not apply."""
    applied, wrong = [], list[str]()
    for patch in plan.patches:
        refused = patches.apply(patch, tree)
        if refused is not None and any(patches.apply(other, tree) is None for other in guest.variants(patch)[1:]):
            refused = None
        if refused is None:
            applied.append(patch)
        elif patch in plan.required:
            wrong.append(str(refused))
        else:
            plan.notes.append(f"{refused}; the kernel is built without it ({_lost(patch)})")
    if wrong:
        raise InputError("\n".join(wrong))
    return applied


def _lost(patch: Path) -> str:
    """What a kernel lacks without one of the bundled patches: the patch's subject, without its subsystem."""
    first = patch.read_text(encoding="utf-8").splitlines()[0]
    return first.partition(": ")[2] or first


def _configured(plan: Plan, make: "_Make") -> None:
    make.said("allnoconfig")
    with (make.objects / ".config").open("a", encoding="utf-8") as file:
        file.write(config.text(plan.asked))
    make.said("olddefconfig")
    wrong = []
    for one in config.missed(plan.asked, make.objects / ".config", make.tree):
        if one.asked.key in plan.own:
            plan.notes.append(str(one))
        else:
            wrong.append(str(one))
    if wrong:
        raise InputError("\n".join(wrong))


class _Make(NamedTuple):
    """The kernel's own build, in a folder outside the tree."""

    tree: Path
    objects: Path
    jobs: int

    def _words(self, *targets: str) -> list[str]:
        return [
            "make",
            "-C",
            str(self.tree),
            f"O={self.objects}",
            "ARCH=um",
            # Reproducible builds: the same source gives the same kernel.
            "KBUILD_BUILD_TIMESTAMP=1970-01-01",
            "KBUILD_BUILD_USER=stillair",
            "KBUILD_BUILD_HOST=stillair",
            "KBUILD_BUILD_VERSION=1",
            "LOCALVERSION=",
            *targets,
        ]

    def _environment(self) -> dict[str, str]:
        # Keep out variables of an outer make or build.
        lent = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "ARCH", "CROSS_COMPILE", "LOCALVERSION")
        return {key: value for key, value in os.environ.items() if key not in lent} | {"LC_ALL": "C"}

    def said(self, target: str) -> str:
        """Makes a small target and returns its output."""
        done = programs.done(self._words("-s", target), env=self._environment())
        if done.returncode:
            raise RunError(f"make {target} failed:\n{_last(done.stderr or done.stdout)}")
        return done.stdout

    def kernel(self, compiled: Callable[[int], object] | None) -> None:
        """Compiles the kernel."""
        words = self._words(f"-j{self.jobs}", "linux")
        log, count = list[str](), 0
        with programs.started(words, env=self._environment(), stderr=subprocess.STDOUT) as made:
            assert made.stdout is not None  # noqa: S101 - it is a pipe
            for line in made.stdout:
                log.append(line)
                if re.match(r"\s+(HOST)?CC\s", line):
                    count += 1
                    if compiled:
                        compiled(count)
        if made.returncode:
            # With parallel jobs, the error is not the last line of the log.
            errors = [line for line in log if re.search(r"error:|Error \d|undefined reference", line)]
            raise RunError(f"the kernel does not compile:\n{_last(''.join(errors) or ''.join(log), 8)}")


def _last(text: str, lines: int = 5) -> str:
    return "\n".join(text.strip().splitlines()[-lines:])


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _has_shared_clock(tree: Path) -> bool:
    """Returns true if the kernel can read its clock from shared memory, as it can since 6.12."""
    header = tree / "include" / "uapi" / "linux" / "um_timetravel.h"
    return header.is_file() and "free_until" in header.read_text(encoding="utf-8")


def _starts(kernel: Path, version: str) -> None:
    """Checks that the kernel runs on this machine and reports its version."""
    done = subprocess.run([str(kernel), "--version"], capture_output=True, text=True, check=False, timeout=30)  # noqa: S603
    if done.returncode or version not in done.stdout:
        raise RunError(f"the kernel was built but does not start here: {_last(done.stdout + done.stderr, 2)}")


def _programs(folder: Path, had: object) -> str:
    """Compiles the guest programs next to a kernel if their sources changed. Returns their hash."""
    now = guest.programs_hash()
    if had != now:
        with tempfile.TemporaryDirectory(dir=folder.parent) as place:
            fresh = Path(place)
            for name in guest.make_programs(fresh):
                (fresh / name).replace(folder / name)
    return now
