"""Kernels that are built: configuration, patches, sources, the cache, what is said of mistakes. None is built here."""

import json
import os
from pathlib import Path

import pytest

from stillair import InputError
from stillair.__main__ import status
from stillair.kernels import build, config, guest, patches, sources, store, tools

KCONFIG = """
menu "Networking"
    depends on NET

config INET
    bool "TCP/IP"
    help
      Says what it is.
      config NOT_ONE is part of a text.

if TCP_ADVANCED

config TCP_CONG_OURS
    tristate "Ours"
    depends on \\
        CRYPTO && !SMALL
    ---help---
      if it is so

      Another paragraph.

endif

config HIDDEN
    bool
    default y

endmenu

config OUTSIDE
    bool "Nothing needed"
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The least that passes for a tree of Linux."""
    root = tmp_path / "tree"
    for name, text in {
        "Kbuild": "",
        "Kconfig": 'source "net/Kconfig"\n',
        "arch/um/Kconfig": "",
        "arch/mips/Kconfig": 'config NOWHERE\n\tbool "Another architecture"\n',
        "net/Kconfig": KCONFIG,
        "net/ours.c": "one\ntwo\nthree\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STILLAIR_KERNELS", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def kept(cache: Path, name: str, version: str, made: str) -> Path:
    """A folder as a build leaves it."""
    folder = cache / f"{version}-{made}"
    folder.mkdir(parents=True)
    (folder / "linux").write_text("a program")
    facts = {"name": name, "version": version, "hash": made, "source": "somewhere", "built": "2026-01-02T03:04:05Z"}
    store.write(folder, facts | {"cpu_seconds": 240, "config": ["base", "shallow"], "patches": ["tsq"]})
    return folder


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def fragment(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_a_fragment_is_read_and_merged(tmp_path: Path) -> None:
    first = fragment(tmp_path / "a.config", "# Words", "CONFIG_A=y", "CONFIG_B=n", "", 'CONFIG_C="x y"')
    second = fragment(tmp_path / "b.config", "# CONFIG_A is not set", "CONFIG_D=7")
    asked = config.merged([config.read(first), config.read(second)])
    assert {one.key: one.value for one in asked.values()} == {"A": "n", "B": "n", "C": '"x y"', "D": "7"}
    assert asked["A"].where == f"{second}:1"
    assert config.text(asked) == '# CONFIG_A is not set\n# CONFIG_B is not set\nCONFIG_C="x y"\nCONFIG_D=7\n'
    with pytest.raises(InputError, match=r"c\.config:2: found \"TCP_CONG_BBR=y\", expected a line such as"):
        config.read(fragment(tmp_path / "c.config", "CONFIG_A=y", "TCP_CONG_BBR=y"))


@pytest.mark.parametrize(
    ("line", "result", "says"),
    [
        ("CONFIG_INET=y", ["CONFIG_INET=y"], None),
        ("CONFIG_INET=n", [], None),
        ("# CONFIG_INET is not set", ["# CONFIG_INET is not set"], None),
        ("CONFIG_NOT_ONE=y", [], "CONFIG_NOT_ONE=y has no effect (it is n): this kernel has no such key"),
        ("CONFIG_NOWHERE=y", [], "this kernel has no such key"),
        ("CONFIG_HIDDEN=n", ["CONFIG_HIDDEN=y"], "(it is y): it cannot be set directly: other keys select it"),
        ("CONFIG_OUTSIDE=n", ["CONFIG_OUTSIDE=y"], "other keys select it"),
        ("CONFIG_TCP_CONG_OURS=m", ["CONFIG_TCP_CONG_OURS=y"], "this kernel has no modules, write =y"),
        (
            "CONFIG_TCP_CONG_OURS=y",
            ["CONFIG_NET=y", "CONFIG_TCP_ADVANCED=y", "CONFIG_SMALL=y"],
            "it depends on CRYPTO && !SMALL (CRYPTO=n, SMALL=y)",
        ),
        (
            "CONFIG_TCP_CONG_OURS=y",
            ["CONFIG_CRYPTO=y"],
            "it depends on NET and TCP_ADVANCED (NET=n, TCP_ADVANCED=n)",
        ),
    ],
)
def test_a_key_without_effect_has_its_reason(
    tree: Path, tmp_path: Path, line: str, result: list[str], says: str | None
) -> None:
    asked = config.merged([config.read(fragment(tmp_path / "asked.config", line))])
    missed = config.missed(asked, fragment(tmp_path / ".config", *result), tree)
    if says is None:
        assert missed == []
    else:
        [one] = missed
        assert says in str(one)
        assert str(one).startswith(f"{tmp_path / 'asked.config'}:1: ")


GOOD = """Words.
--- a/net/ours.c
+++ b/net/ours.c
@@ -1,3 +1,3 @@
 one
-two
+2
 three
"""


def test_a_patch_applies_or_says_why_not(tree: Path, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.patch", tmp_path / "bad.patch"
    good.write_text(GOOD)
    bad.write_text(GOOD.replace("-two", "-zwei"))
    lost = tmp_path / "lost.patch"
    lost.write_text(GOOD.replace("net/ours.c", "net/theirs.c"))
    refused = patches.apply(bad, tree)
    assert str(refused) == f"{bad}: does not apply to this kernel: net/ours.c: Hunk #1 FAILED at 1."
    assert (tree / "net/ours.c").read_text() == "one\ntwo\nthree\n"
    assert patches.apply(good, tree) is None
    assert (tree / "net/ours.c").read_text() == "one\n2\nthree\n"
    assert "it is in it already" in str(patches.apply(good, tree))
    assert "can't find file to patch" in str(patches.apply(lost, tree))
    assert not list(tree.rglob("*.rej")) + list(tree.rglob("*.orig"))
    with pytest.raises(InputError, match=r"found no lines '--- a/FILE'"):
        patches.read(fragment(tmp_path / "none.patch", "nothing"))


@pytest.mark.parametrize("is_git", [False, True])
def test_somebodys_tree_is_only_read(tree: Path, tmp_path: Path, is_git: bool) -> None:
    if is_git:
        (tree / ".gitignore").write_text("*.o\n")
        for words in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm first"):
            assert os.system(f"git -C {tree} {words}") == 0  # noqa: S605 - our own words
    (tree / "net/ours.o").write_text("made by a build")
    (tree / "net/new.c").write_text("not known to git")
    found = sources.of("net-next", tree)
    before = found.hash()
    copy = tmp_path / "copy"
    copy.mkdir()
    found.unpack(copy)
    assert (copy / "net/new.c").is_file()
    assert not (copy / "net/ours.o").exists()
    (tmp_path / "good.patch").write_text(GOOD)
    assert patches.apply(tmp_path / "good.patch", copy) is None
    assert (copy / "net/ours.c").read_text() == "one\n2\nthree\n"
    assert (tree / "net/ours.c").read_text() == "one\ntwo\nthree\n"
    assert found.hash() == before
    (tree / "net/ours.c").write_text("another\n")
    assert found.hash() != before


def test_a_copy_that_was_built_in_is_renewed(tree: Path, tmp_path: Path) -> None:
    found = sources.Tree(tree)
    copy = tmp_path / "copy"
    copy.mkdir()
    found.unpack(copy)
    (tmp_path / "good.patch").write_text(GOOD)
    assert patches.apply(tmp_path / "good.patch", copy) is None
    made = (copy / "net/ours.c").stat().st_mtime_ns
    (tree / "net/new.c").write_text("new")
    (tree / "arch/mips/Kconfig").unlink()
    kconfig = (copy / "net/Kconfig").stat()
    found.renew(copy)
    # The patched file is the tree's again, and newer than what was made of it; the rest is as it was.
    assert (copy / "net/ours.c").read_text() == "one\ntwo\nthree\n"
    assert (copy / "net/ours.c").stat().st_mtime_ns > made
    assert not (copy / "net/ours.c").samefile(tree / "net/ours.c")
    assert (copy / "net/new.c").read_text() == "new"
    assert not (copy / "arch/mips/Kconfig").exists()
    assert (copy / "net/Kconfig").stat() == kconfig


def test_all_that_is_missing_is_named_with_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = [name for name in tools.PACKAGES if name not in ("flex", "bc", "xz")]
    for name in [*there, "apt-get"]:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError) as told:
        tools.check()
    assert str(told.value) == "kernel build: flex, bc, xz missing; install with: apt-get install flex bc xz-utils"


def test_engine_and_first_program_mean_the_same_orders() -> None:
    engine = Path(__file__).resolve().parents[2] / "crates" / "uml" / "src" / "kernel.rs"
    assert f"const ORDERS: i64 = {guest.orders()};" in engine.read_text(encoding="utf-8")


def test_our_own_files_are_whole() -> None:
    fragments = guest.fragments()
    assert {"base", "shallow"} <= fragments.keys()
    for file in fragments.values():
        read = config.read(file)
        assert len({one.key for one in read}) == len(read), file
    for patch in [*guest.patches(), *guest.examples().values()]:
        assert "\n\n--- " in patches.read(patch), f"{patch}: has no words before the patch"
    sources_ = list(guest.folder().rglob("*.[ch]"))
    assert sources_
    for path in sources_:
        assert "SPDX-License-Identifier: GPL-2.0" in path.read_text(encoding="utf-8").splitlines()[0], path
    assert "Version 2, June 1991" in (guest.folder() / "LICENSE").read_text(encoding="utf-8")


def test_the_license_of_guests_stays_in_its_folder() -> None:
    root = guest.folder().parent
    places = [root / name for name in ("python/stillair", "crates", "web/src", "bench", "lab/src", "lab/bench")]
    files = [path for place in places for kind in ("py", "rs", "ts", "c", "h") for path in place.rglob(f"*.{kind}")]
    assert len(files) > 500
    marked = "SPDX-License-" + "Identifier: GPL"
    assert [path for path in files if marked in path.read_text(encoding="utf-8")] == []


def test_a_kernel_is_found_by_its_names(cache: Path) -> None:
    mine = kept(cache, "mine", "6.12.117", "aaaaaaaaaaaa")
    kept(cache, "6.12", "6.12.117", "bbbbbbbbbbbb")
    (cache / "6.13-half").mkdir()
    assert [kernel.name for kernel in store.built()] == ["6.12", "mine"]
    assert store.find("mine").folder == store.find("6.12.117-aaaaaaaaaaaa").folder == mine
    assert store.find("6.12").facts["hash"] == "bbbbbbbbbbbb"
    with pytest.raises(InputError, match=r"the name of several kernels; give one of 6\.12\.117-b*, 6\.12\.117-a*"):
        store.find("6.12.117")
    with pytest.raises(InputError, match=r"no kernel 6\.1 is built; build it with 'stillair kernel build 6\.1'"):
        store.find("6.1")


def test_kernels_are_listed_and_removed(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["kernel", "list"]) == 0
    assert "'stillair kernel build 6.12' makes one" in capsys.readouterr().out
    mine = kept(cache, "mine", "6.12.117", "aaaaaaaaaaaa")
    other = kept(cache, "6.12", "6.12.117", "bbbbbbbbbbbb")
    assert status(["kernel", "list"]) == 0
    shown = capsys.readouterr().out
    assert "shallow, tsq" in shown
    assert "4.0" in shown
    assert status(["kernel", "list", "--json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == ["6.12", "mine"]
    # A name that is wrong keeps all.
    assert status(["kernel", "remove", "mine", "nobody"]) == 2
    assert "no kernel nobody is built" in complaint(capsys)
    assert mine.is_dir()
    assert status(["kernel", "remove", "mine"]) == 0
    assert (mine.exists(), other.exists()) == (False, True)
    assert status(["kernel", "remove", "--all"]) == 0
    assert not other.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["build"], "Missing argument 'VERSION'"),
        (["build", "six"], 'found "six", expected a version that Debian packages, such as 6.12'),
        (["build", "a/b", "--source", "TREE"], 'found "a/b", expected a name of letters'),
        (["build", "x", "--source", "nowhere"], "--source: nowhere: no such file or folder"),
        (["build", "x", "--source", "."], "--source: . is not a Linux source tree"),
        (
            ["build", "x", "--source", "TREE", "--config", "shalow"],
            '--config: found "shalow", expected a file or one of shallow',
        ),
        (
            ["build", "x", "--source", "TREE", "--patch", "nothing"],
            '--patch: found "nothing", expected a file or one of shallow',
        ),
        (["build", "x", "--source", "TREE", "--patch", "TREE/Kbuild"], "found no lines '--- a/FILE'"),
        (["build", "x", "--source", "TREE", "--jobs", "0"], "--jobs"),
        (["build", "6.12", "--keep"], "--keep: applies only to a source tree, and --source names none"),
        (
            ["build", "x", "--source", "TREE", "--name", "mine"],
            "another kernel has the name mine (6.12.117-aaaaaaaaaaaa",
        ),
        (["remove"], "found nothing to remove, expected names, --all or --sources"),
        (["remove", "mine", "--all"], "--all: found beside mine"),
    ],
)
def test_mistakes(
    cache: Path,
    tree: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.setattr(tools, "check", lambda: None)
    monkeypatch.setattr(tools, "compiler", lambda: "a compiler")
    kept(cache, "mine", "6.12.117", "aaaaaaaaaaaa")
    assert status(["kernel", *(word.replace("TREE", str(tree)) for word in arguments)]) == 2
    assert says in complaint(capsys)
    assert sorted(path.name for path in cache.iterdir()) == ["6.12.117-aaaaaaaaaaaa"]


def test_guests_files_are_found_elsewhere_or_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STILLAIR_GUEST", str(tmp_path))
    with pytest.raises(InputError, match=r"STILLAIR_GUEST: found .*, which has no config/base\.config"):
        guest.folder()


@pytest.mark.usefixtures("cache")
def test_what_decides_a_kernel_is_in_its_hash(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "check", lambda: None)
    said = ["gcc 12"]
    monkeypatch.setattr(tools, "compiler", lambda: said[0])
    more = fragment(tmp_path / "more.config", "CONFIG_A=y")
    (tmp_path / "good.patch").write_text(GOOD)

    def made(**changes: object) -> str:
        return build.planned(build.Order("x", tree, **changes)).hash()  # type: ignore[arg-type]

    hashes = [
        made(),
        made(fragments=["shallow"]),
        made(fragments=[str(more)]),
        made(patches=[str(tmp_path / "good.patch")]),
        made(bare=True),
    ]
    assert made() == hashes[0]
    said[0] = "gcc 13"
    hashes.append(made())
    (tree / "net/ours.c").write_text("changed\n")
    hashes.append(made())
    assert len(set(hashes)) == len(hashes)
    # Words are no configuration.
    same = made(fragments=[str(more)])
    fragment(more, "# Why", "CONFIG_A=y")
    assert made(fragments=[str(more)]) == same
