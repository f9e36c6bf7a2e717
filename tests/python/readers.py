"""All readers of files that a user names, with seed files, and random changes of these files.

`test_readers.py` tries some changes of each, `scripts/fuzz_readers.py` as many as time allows. Whatever the
bytes are, a reader returns a result or raises `InputError`.
"""

import bz2
import gzip
import json
import random
import shutil
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import captures
from printed import TEXTS
from stillair import InputError, Result, plot
from stillair.capture import write_capture
from stillair.cli.compare import rendering, rows, sides
from stillair.cli.publish import page
from stillair.explain import quality
from stillair.explain.tune.trials import FILE, Runs
from stillair.kernels import config, patches
from stillair.link import Budget
from stillair.plot.data import Titled, UndrawnError
from stillair.results.flent import file as flent_file
from stillair.runs import bundled, cache, result_writer
from stillair.runs.imports import kinds, network, scenario
from stillair.runs.overrides import pairs
from stillair.runs.scenario import Scenario
from stillair.runs.sweep import Sweep
from stillair.text import extras
from stillair_lab.papers.pages import export, report
from stillair_lab.validate import kernel_file
from stillair_lab.validate.wifi import measured as wifi_measured

HERE = Path(__file__).resolve().parent


class Reader(NamedTuple):
    """A reader with its test inputs."""

    name: str
    read: Callable[[Path], object]
    """Takes a file, or a folder."""
    seeds: Callable[[Path], Sequence[Path]]
    """Creates valid files or folders in an empty folder."""
    modules: Sequence[str]
    """Modules of the package that open files for the reader."""
    parts: Sequence[str] = ()
    """Files of a folder to change."""


def _import(path: Path) -> object:
    found = kinds.read(path)
    network.require(found)
    return scenario.text(network.of(found), [path.name])


def _printed(folder: Path) -> list[Path]:
    """Valid files, and a short text of each kind that none of them contains."""
    files = [Path(shutil.copy(file, folder)) for file in sorted((HERE / "samples").iterdir()) if file.suffix != ".md"]
    for number, text in enumerate(TEXTS.values()):
        files.append(folder / f"printed-{number}")
        files[-1].write_text(text)
    return files


def _captures(folder: Path) -> list[Path]:
    wanted = {"duration": "60 ms", "warm_up": "0 s", "record.air": "0 s..60 ms"}
    made = [folder / f"{name}.pcapng" for name in ("hidden", "generations")]
    for file in made:
        write_capture(bundled.scenario(file.stem), wanted, None, 0, file)
    frames = [captures.data(at, captures.vht(9, 2)) for at in range(20)]
    frames += [captures.data(20 + at, rate) for at, rate in enumerate((captures.he(11, 8), captures.ht(32), b""))]
    for name, content in (
        ("little.pcap", captures.pcap(frames)),
        ("big.pcap", captures.pcap(frames, ">")),
        ("two.pcapng", captures.pcapng(frames) + captures.pcapng(frames, ">", resolution=9)),
        ("packed.pcap.gz", gzip.compress(captures.pcap(frames))),
    ):
        (folder / name).write_bytes(content)
        made.append(folder / name)
    return made


def _flent(folder: Path) -> list[Path]:
    run = bundled.scenario("anomaly-udp").run(overrides={"duration": "1 s", "warm_up": "0 s"}, series=True)
    run.save(folder / "x.flent.gz")
    data = gzip.decompress((folder / "x.flent.gz").read_bytes())
    (folder / "x.flent").write_bytes(data)
    (folder / "x.flent.bz2").write_bytes(bz2.compress(data))
    return [folder / name for name in ("x.flent", "x.flent.gz", "x.flent.bz2")]


def _crusader(folder: Path) -> list[Path]:
    import test_import_crusader as given  # noqa: PLC0415 - its files are those of that test

    (folder / "new.crr").write_bytes(given.result())
    (folder / "old.crr").write_bytes(given.oldest())
    return [folder / "new.crr", folder / "old.crr"]


def _result(path: Path) -> object:
    """Commands on a result folder: pages, tables, a Flent file. Nothing is drawn, which takes seconds."""
    result = Result.load(path)
    with mock.patch.object(extras, "there", return_value=False):
        page.write(path, path / "page.html", force=True)
    for table in (result.figures, result.pings, result.sockets, result.queues, result.exchanges, result.sojourn):
        with suppress(InputError):
            table()
    for measured in result.runs_with_series():
        flent_file.to_dict(measured, result.resolved_json())
        quality.of_run(measured, _NEED)
    return repr(result), result.to_json()


def _pictures(path: Path) -> object:
    """Every picture of a result folder."""
    titled = [Titled("x", Result.load(path))]
    made = []
    for name in plot.PLOTS:
        with suppress(UndrawnError):
            made.append(plot.picture(name, titled, "svg"))
    return made


def _compared(path: Path) -> object:
    """A comparison of a result folder with itself."""
    made = sides.made(sides.planned((str(path), str(path)), ()), 1, None, 1, lambda *_: None, None)
    return rendering.text(made, rows.rows(made, ()), chosen=False)


_NEED = quality.Requirement({99.0: quality.Bounds(10.0, 200.0)}, quality.Bounds(0.01, 0.1), 4.0)


def result_folder(folder: Path, name: str = "anomaly-udp", **overrides: str) -> Path:
    """A result of a short run with all records."""
    wanted = {"record.ss": "100 ms", "record.queues": "100 ms", "record.air": "0 s..3 ms"}
    wanted |= {"duration": "500 ms", "warm_up": "0 s"} | overrides
    of = bundled.scenario(name)
    writer = result_writer.ResultWriter(folder, of, pairs(wanted), 1)
    of.run(overrides=wanted, series=True, keep=writer.keep)
    writer.finish()
    return folder


def _results(folder: Path) -> list[Path]:
    quic = {"flow.0.bytes": "30 kB", "record.quic": "true"}
    return [
        result_folder(folder / "udp"),
        result_folder(folder / "home", "home", **{"record.sojourn": "true"}),
        result_folder(folder / "quic", "quic-quinn", **quic),
    ]


_SWEEP = (
    bundled.scenario("anomaly-udp").text.partition("[sweep]")[0] + '\n[sweep]\nflow.0.payload = ["100 B", "200 B"]\n'
)


def _sweep_of() -> Sweep:
    return Sweep(Scenario(_SWEEP), runs=1, overrides={"duration": "50 ms", "warm_up": "0 s"})


def _sweeps(folder: Path) -> list[Path]:
    sweep = _sweep_of()
    (folder / "sweep" / cache.FOLDER).mkdir(parents=True)
    sweep.write(folder / "sweep", sweep.run(1, folder / "sweep"))
    return [folder / "sweep"]


def _sweep(path: Path) -> object:
    sweep = _sweep_of()
    sweep.prepare(path)
    for file in (path / cache.FOLDER).glob("*"):
        cache.read_runs(path / cache.FOLDER, file.stem, 1)
    return sweep.grows(path), sweep.kept(path), sweep.kept_runs(path)


def _text(name: str, *texts: str) -> Callable[[Path], Sequence[Path]]:
    def made(folder: Path) -> list[Path]:
        files = [folder / f"{number}{name}" for number in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        return files

    return made


def _budget(path: Path) -> object:
    return [(case.path, case.seed) for case in Budget(path).cases]


BUDGET = "seeds = 2\n[path.vdsl-40-10]\ndelay_p99_ms = { at_most = 60.0 }\n"


def _baseline(path: Path) -> object:
    budget = Budget(BUDGET)
    return budget.judge([case.measured(delay_p99_ms=float(case.seed)) for case in budget.cases], path)


def _baselines(folder: Path) -> list[Path]:
    budget = Budget(BUDGET)
    verdict = budget.judge([case.measured(delay_p99_ms=float(case.seed)) for case in budget.cases])
    return _text("baseline.json", verdict.baseline)(folder)


def _measured(*folders: Path) -> Callable[[Path], Sequence[Path]]:
    def copied(to: Path) -> list[Path]:
        files = [file for folder in folders for file in sorted(folder.glob("*.json"))[:4]]
        return [Path(shutil.copy(file, to)) for file in files]

    return copied


def _trials(path: Path) -> object:
    return Runs(bundled.scenario("anomaly-udp"), [], 1, 1, path, None)._known


def _unfinished(path: Path) -> object:
    result_writer.unfinished(path, "inputs", 2)
    return result_writer.refuse_others(path)


def _unfinished_results(folder: Path) -> list[Path]:
    made = result_folder(folder / "udp")
    (made / ".new-result" / "runs").mkdir(parents=True)
    shutil.copy(made / "runs" / "run-0.json", made / ".new-result" / "runs")
    (made / ".new-result" / "inputs.json").write_text(json.dumps("inputs"))
    return [made]


_NEEDS = "latency_ms = [[99, 200, 500], [99.9, 300, 600]]\nloss = [0.01, 0.05]\nthroughput_mbps = 4\n"
_CONFIG = "CONFIG_TCP_CONG_BBR=y\n# CONFIG_NET_SCH_CAKE is not set\nCONFIG_HZ=250\n# a comment\n"
_CLAIMS = json.dumps({"schema": 2, "claims": [{"id": "a", "verdict": "reproduced", "found": 1.5}]})
_PATCH = "--- a/net/x.c\n+++ b/net/x.c\n@@ -1,2 +1,2 @@\n-int a;\n+int b;\n int c;\n"


def _report_folder(folder: Path) -> list[Path]:
    (folder / "report").mkdir()
    (folder / "report" / "runs.json").write_text(json.dumps({"version": "0", "cells": {"a": [1, 2]}}))
    return [folder / "report"]


def _trials_folder(folder: Path) -> list[Path]:
    flow = [["ping", 1.0, 0.0]]
    run = {"key": "ab", "latency_ms": 1.0, "goodput_mbps": 2.0, "total_mbps": 3.0, "loss": 0.0, "flows": flow}
    counted = {"key": "cd", "transfers": ["a"], "steady": ["b"]}
    lines = [json.dumps(one) for one in (run, counted, {"key": "ef", "says": "no"})]
    (folder / "tuned").mkdir()
    (folder / "tuned" / FILE).write_text("\n".join(lines))
    return [folder / "tuned"]


def _bundled(folder: Path) -> list[Path]:
    names = ("anomaly-udp", "home", "hidden", "quic-quinn")
    return _text(".toml", *(bundled.scenario(name).text for name in names))(folder)


_IMPORTED = ("stillair.runs.imports.kinds",)

_PARTS = ("result.json", "scenario.resolved.json", "runs/run-0.json", "overrides.json", "scenario.toml")

READERS: Sequence[Reader] = (
    Reader("capture", _import, _captures, _IMPORTED),
    Reader("flent", _import, _flent, _IMPORTED),
    Reader("crusader", _import, _crusader, _IMPORTED),
    Reader("text", _import, _printed, _IMPORTED),
    Reader("scenario", lambda path: Scenario(path).resolve(), _bundled, ("stillair.runs.scenario",)),
    Reader("requirement", quality.Requirement.load, _text(".toml", _NEEDS), ("stillair.explain.quality",)),
    Reader("budget", _budget, _text(".toml", BUDGET), ()),
    Reader("baseline", _baseline, _baselines, ("stillair.link",)),
    Reader(
        "result",
        _result,
        _results,
        ("stillair.results.result_folder",),
        _PARTS,
    ),
    Reader("pictures", _pictures, lambda folder: [result_folder(folder / "udp")], (), _PARTS),
    Reader("comparison", _compared, lambda folder: [result_folder(folder / "udp")], (), _PARTS),
    Reader(
        "unfinished",
        _unfinished,
        _unfinished_results,
        ("stillair.runs.result_writer",),
        ("result.json", ".new-result/inputs.json", ".new-result/runs/run-0.json"),
    ),
    Reader("sweep", _sweep, _sweeps, ("stillair.runs.sweep", "stillair.runs.cache"), ("sweep.json", "combinations/*")),
    Reader("claims", report.read_claims, _text(".json", _CLAIMS), ("stillair_lab.papers.pages.report",)),
    Reader("report", export.prepare, _report_folder, ("stillair_lab.papers.pages.export",), ("runs.json",)),
    Reader("trials", _trials, _trials_folder, ("stillair.explain.tune.trials",), (FILE,)),
    Reader(
        "kernel's measurements",
        kernel_file.read,
        _measured(kernel_file.bundled()),
        ("stillair_lab.validate.json_file",),
    ),
    Reader("mac80211's measurements", wifi_measured.read, _measured(wifi_measured.bundled()), ()),
    Reader("configuration", config.read, _text("", _CONFIG), ("stillair.kernels.config",)),
    Reader("patch", patches.read, _text(".patch", _PATCH), ("stillair.kernels.patches",)),
)


# Changes of files.

_NUMBERS = (0, 1, 2, 3, 4, 7, 8, 15, 16, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_WORDS = (
    "-1",
    "0",
    "1e400",
    "-1e400",
    "NaN",
    "Infinity",
    "9" * 5_000,
    "null",
    '""',
    "[]",
    "{}",
    "\u0000",
    "\ud800",
    "%s",
)
_VALUES: Sequence[Any] = (
    None, True, -1, 0, 1.5, float("nan"), float("inf"), 10**30, "x", "", "\ud800", [], [1], [None], {}, {"a": 1}, 2**63,
    [[[]]], "0" * 300,
)  # fmt: skip


def changed(data: bytes, at_random: random.Random) -> bytes:
    """The content of a file with some changes of its bytes, lines, or values."""
    for _ in range(at_random.choice((1, 1, 1, 2, 3, 8))):
        way = at_random.random()
        if data[:1] in b"{[" and way < 0.6:
            data = _values_changed(data, at_random)
        elif b"\0" not in data[:2_000] and way < 0.8:
            data = _lines_changed(data, at_random)
        else:
            data = _bytes_changed(data, at_random)
    return data


def _bytes_changed(data: bytes, at_random: random.Random) -> bytes:
    if not data:
        return at_random.randbytes(at_random.randrange(64))
    at, length = at_random.randrange(len(data)), at_random.choice((1, 2, 4, 8, 16, 100, 1_000))
    number = struct.pack(at_random.choice(("<I", ">I", "<H", ">H", "<Q")), at_random.choice(_NUMBERS) & 0xFFFF)
    other = at_random.randrange(len(data))
    ways: Sequence[Callable[[], bytes]] = (
        lambda: data[:at] + bytes([data[at] ^ 1 << at_random.randrange(8)]) + data[at + 1 :],
        lambda: data[:at] + at_random.randbytes(length) + data[at + length :],
        lambda: data[:at] + number + data[at + len(number) :],
        lambda: data[:at] + struct.pack("<I", at_random.choice(_NUMBERS)) + data[at + 4 :],
        lambda: data[:at] + data[at + length :],
        lambda: data[:at] + at_random.randbytes(length) + data[at:],
        lambda: data[:at] + data[other : other + length] + data[at:],
        lambda: data[:at],
        lambda: data[at:],
        lambda: data + data,
    )
    return at_random.choice(ways)()


def _lines_changed(data: bytes, at_random: random.Random) -> bytes:
    lines = data.split(b"\n")
    at, other = at_random.randrange(len(lines)), at_random.randrange(len(lines))
    words = lines[at].split(b" ")
    word = at_random.randrange(len(words))
    way = at_random.randrange(6)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines.insert(other, lines[at])
    elif way == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif way == 3:
        words[word] = at_random.choice(_WORDS).encode(errors="surrogatepass")
    elif way == 4:
        del words[word]
    else:
        digits = [n for n, byte in enumerate(lines[at]) if 48 <= byte < 58]
        if digits:
            n = at_random.choice(digits)
            instead = at_random.choice((b"0", b"9", b"-", b"99999999999999999999", b"."))
            lines[at] = lines[at][:n] + instead + lines[at][n + 1 :]
    if way in (3, 4):
        lines[at] = b" ".join(words)
    return b"\n".join(lines)


def _values_changed(data: bytes, at_random: random.Random) -> bytes:
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        return _bytes_changed(data, at_random)
    within, key = _place(whole, at_random)
    if within is None:
        return json.dumps(at_random.choice(_VALUES)).encode()
    way = at_random.random()
    if way < 0.3:
        del within[key]
    elif way < 0.4:
        within[key] = _place(whole, at_random)[0]
    elif way < 0.5 and isinstance(within, dict):
        within[at_random.choice(("", "x", "kind", "\ud800"))] = within.pop(key)
    else:
        within[key] = at_random.choice(_VALUES)
    try:
        return json.dumps(whole).encode()
    except (ValueError, RecursionError):  # a value within itself
        return data


def _place(value: Any, at_random: random.Random) -> tuple[Any, Any]:  # noqa: ANN401 - JSON
    """A list or object with one of its keys, near the top as likely as deep inside."""
    within, key = None, None
    while isinstance(value, dict | list) and value and (within is None or at_random.random() < 0.8):
        within = value
        key = at_random.choice(list(value)) if isinstance(value, dict) else at_random.randrange(len(value))
        value = value[key]
    return within, key


def cases(reader: Reader, seeds: Sequence[Path], into: Path, at_random: random.Random) -> Path:
    """A seed copied into an empty folder, with one of its files changed."""
    seed = at_random.choice(seeds)
    if seed.is_file():
        made = into / seed.name
        made.write_bytes(changed(seed.read_bytes(), at_random))
        return made
    made = into / seed.name
    shutil.copytree(seed, made)
    files = sorted(file for part in reader.parts for file in made.glob(part) if file.is_file())
    file = at_random.choice(files)
    if at_random.random() < 0.02:
        file.unlink()
    else:
        file.write_bytes(changed(file.read_bytes(), at_random))
    return made
