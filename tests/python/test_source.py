"""Files are read within a limit, whatever they are and whatever they unpack to."""

import bz2
import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stillair import InputError, Result, Scenario
from stillair.__main__ import status
from stillair.explain.quality import Requirement
from stillair.link import Budget
from stillair.runs.imports import kinds
from stillair.runs.imports.loads import flent
from stillair.text import memory, source
from stillair.text.source import Stream

MIB = 1 << 20


def test_a_file_at_the_limit_is_read_and_one_beyond_is_not(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"a" * 1_000)
    assert source.data(file, 1_000) == b"a" * 1_000
    with pytest.raises(InputError, match=r"x: found 1000 bytes, expected at most 999 bytes of text$"):
        source.data(file, 999, "text")


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "sparse"
    with file.open("wb") as to:
        to.truncate(1 << 40)
    for read in (
        lambda: source.data(file, what="text"),
        lambda: Scenario(file),
        lambda: Requirement.load(file),
        lambda: Budget(file),
    ):
        with pytest.raises(InputError, match="sparse: found 1 TiB, expected at most 16 MiB"):
            read()
    # The beginning of a file decides what it is to `import`, so no more than the limit is read of it.
    with pytest.raises(kinds.UnknownFileError, match="found more than 16 MiB, expected at most 16 MiB of text"):
        kinds.read(file)


def test_lines_end_as_they_do_for_other_readers(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes("a\r\nb\rc\n\u00e9".encode())
    assert source.text(tmp_path / "x") == (tmp_path / "x").read_text(encoding="utf-8")
    (tmp_path / "y").write_bytes(b"a\xff")
    with pytest.raises(UnicodeDecodeError):
        source.text(tmp_path / "y")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_what_is_unpacked_counts(pack: object) -> None:
    assert callable(pack)
    packed = pack(bytes(40 * MIB))
    assert len(packed) < MIB
    with pytest.raises(InputError, match=r"x: found more than 16 MiB, unpacked, expected at most 16 MiB of text"):
        source.unpacked("x", packed, 16 * MIB, "text")
    assert source.unpacked("x", pack(b"text"), 16 * MIB, "text") == b"text"


def test_a_bomb_needs_no_memory(tmp_path: Path) -> None:
    """Two gigabytes of blanks and zeros within some megabytes, in a process that may have 600 MB."""
    for name, byte in (("a.flent.gz", b" "), ("b.gz", b"\0"), ("c.bz2", b"\0")):
        opened = bz2.open if name.endswith("bz2") else gzip.open
        with opened(tmp_path / name, "wb") as to:
            if name == "a.flent.gz":
                to.write(b'{"metadata": {"NAME": "rrul", "NOTE": "')
            for _ in range(64 if name.endswith("bz2") else 512):
                to.write(byte * 4 * MIB)
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -v 1200000; exec "$@"', "sh", sys.executable, "-m", "stillair", "import"]
        + [str(tmp_path / name) for name in ("a.flent.gz", "b.gz", "c.bz2")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines() == [
        f"stillair: {tmp_path}/a.flent.gz: found more than 128 MiB, unpacked, expected at most 128 MiB of a Flent file",
        *(
            f"stillair: {tmp_path}/{name}: found more than 16 MiB, unpacked, expected at most 16 MiB of text"
            for name in ("b.gz", "c.bz2")
        ),
    ]


@pytest.mark.parametrize("form", ["zstd", "xz"])
def test_other_compression_is_named(form: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes({"zstd": b"\x28\xb5\x2f\xfd", "xz": b"\xfd7zXZ\x00"}[form] + bytes(40))
    with pytest.raises(kinds.UnknownFileError, match=f"found a file compressed by {form}, expected .*'{form} -d'"):
        kinds.read(tmp_path / "x")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_damaged_compression_is_said(pack: object, tmp_path: Path) -> None:
    assert callable(pack)
    packed = pack(os.urandom(3_000) + b'{"metadata": {}}')
    for damaged in (packed[:-20], packed[:200], packed[:1_000] + b"\xff\xff\xff" + packed[1_003:]):
        (tmp_path / "x").write_bytes(damaged)
        with pytest.raises(InputError, match=r"found damaged (gzip|bzip2)"):
            kinds.read(tmp_path / "x")


COMMANDS = (
    ["run"], ["check"], ["import"], ["report"], ["plot"], ["budget"], ["export", "--csv"], ["compare"],
    ["explain"], ["validate", "linux"], ["validate", "wifi"], ["sweep"], ["tc"],
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("kind", ["/dev/zero", "fifo"])
def test_what_never_ends_is_no_file(
    command: list[str], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    assert status([*command, kind]) == 2
    error = capsys.readouterr().err
    assert error.startswith("stillair: ")
    assert kind in error
    assert "Traceback" not in error


@pytest.mark.parametrize("name", ["result.json", "scenario.resolved.json", "runs/run-0.json"])
def test_a_result_folder_of_endless_files(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import readers  # noqa: PLC0415 - it has the smallest whole folder

    folder = readers.result_folder(tmp_path / "kept", duration="200 ms")
    capsys.readouterr()
    for make in (os.mkfifo, lambda at: at.symlink_to("/dev/zero"), _sparse):
        (folder / name).unlink()
        make(folder / name)
        assert status(["export", str(folder), "--csv", "-o", str(tmp_path / "x.csv")]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"stillair: {folder / name}: ")
        assert error.count("\n") == 1


def _sparse(path: Path) -> None:
    with path.open("wb") as to:
        to.truncate(1 << 40)


def test_a_large_result_without_line_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import readers  # noqa: PLC0415

    folder = readers.result_folder(tmp_path / "kept", duration="200 ms")
    (folder / "result.json").write_bytes(b'{"version": "' + b"x" * 40 * MIB)
    monkeypatch.setattr(memory, "available", lambda: 64 * MIB)
    with pytest.raises(InputError, match=r"result\.json: found 40 MiB, expected at most 8 MiB of JSON"):
        Result.load(folder)


def test_standard_input_is_read_within_the_limit() -> None:
    text = Scenario("hidden").text
    command = [sys.executable, "-m", "stillair", "check", "/dev/stdin"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with Path("/dev/zero").open("rb") as zeros:
        endless = subprocess.Popen(["/usr/bin/head", "-c", "200000000"], stdin=zeros, stdout=subprocess.PIPE)
        done = subprocess.run(command, stdin=endless.stdout, capture_output=True, text=True, check=False)
        assert endless.stdout is not None
        endless.stdout.close()
        endless.wait()
    assert done.returncode == 2
    assert done.stderr == "stillair: /dev/stdin: found more than 16 MiB, expected at most 16 MiB of a scenario file\n"


def test_a_stream_gives_every_byte_once() -> None:
    content = bytes(range(256)) * 20_000
    for raw in (content, gzip.compress(content), bz2.compress(content)):
        stream = Stream("x", io.BytesIO(raw))
        assert stream.peek(3) == content[:3]
        assert stream.read(5) == content[:5]
        assert stream.skip(1_000_000) == 1_000_000
        assert stream.at == 1_000_005
        assert stream.peek(2 * MIB) == content[1_000_005 : 1_000_005 + 2 * MIB]
        assert stream.whole(len(content), "bytes") == content[1_000_005:]
        assert stream.read(1) == b""


@pytest.mark.parametrize(
    ("length", "says"),
    [
        ("Infinity", "Infinity is not a JSON number"),
        ("NaN", "NaN is not a JSON number"),
        ("1e999", "LENGTH: found inf, expected the test's length, 0 to 86400 s"),
        ("-1", "LENGTH: found -1, expected the test's length, 0 to 86400 s"),
        ("1e9", "LENGTH: found 1e+09, expected the test's length, 0 to 86400 s"),
        ("true", "LENGTH: found true, expected the test's length in seconds"),
        ("[]", "LENGTH: found [], expected the test's length in seconds"),
        ("9" * 5_000, "found a malformed Flent file (Exceeds the limit"),
        ("[" * 5_000, "found a malformed Flent file (objects nested too deep)"),
    ],
)
def test_lengths_of_flent_that_no_test_has(length: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        flent.read("x", f'{{"metadata": {{"NAME": "rrul", "LENGTH": {length}}}}}'.encode())
    assert says in str(caught.value)


def test_a_flent_file_compressed_by_bzip2_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.flent.bz2").write_bytes(bz2.compress(b'{"metadata": {"NAME": "rrul", "LENGTH": 60.4}}'))
    (load,) = kinds.read(tmp_path / "x.flent.bz2")
    assert isinstance(load, flent.Load)
    assert (load.test, load.seconds) == ("rrul", 60)
