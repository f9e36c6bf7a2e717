"""`stillair budget`: runs a command on each path and checks limits."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

TRANSPORT = """
import json, os
from pathlib import Path
from stillair.link import Budget, Packet

case = Budget(Path(os.environ["STILLAIR_BUDGET"])).case(os.environ["STILLAIR_PATH"], int(os.environ["STILLAIR_SEED"]))
link, delays = case.link(), []
for now in range(0, 3_000_000_000, 5_000_000):
    while isinstance(found := link.poll(now), Packet):
        delays.append(found.delay / 1e6)
    link.send(now, "server", "client", bytes(1200))
rival = link.finish().get("flows", {}).get("rival.rival", {}).get("goodput_mbps", 0.0)
print("a line of its own")
print(json.dumps({"delay_p99_ms": sorted(delays)[len(delays) * 99 // 100], "rival_mbps": rival}))
"""


def budget(folder: Path, limits: str, command: str | None = None) -> Path:
    (folder / "transport.py").write_text(TRANSPORT)
    command = command or json.dumps([sys.executable, "transport.py"])
    (folder / "budget.toml").write_text(f"seeds = 2\ncommand = {command}\n{limits}")
    return folder / "budget.toml"


def stillair(*arguments: object) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "stillair", "budget", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_a_budget_that_holds_is_kept_and_compared(tmp_path: Path) -> None:
    file = budget(tmp_path, "[path.home-80211ac-near]\ndelay_p99_ms = { at_most = 15 }\n")
    kept, junit, markdown = tmp_path / "kept.json", tmp_path / "junit.xml", tmp_path / "table.md"
    code, out, err = stillair(file, "--baseline", kept, "--keep", "--junit", junit, "--markdown", markdown)
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split()[:2] == ["home-80211ac-near", "delay_p99_ms"]
    assert out.rstrip().endswith("kept")
    code, out, _ = stillair(file, "--baseline", kept)
    assert (code, "+0.0 %" in out) == (0, True)
    root = ET.parse(junit).getroot()  # noqa: S314 - our own
    assert root.attrib == {"name": str(file), "tests": "1", "failures": "0"}
    assert markdown.read_text().startswith("| path | metric | limit |")


def test_a_broken_limit_fails_and_a_rival_is_there(tmp_path: Path) -> None:
    limits = (
        '[path.alone]\npreset = "vdsl-40-10"\ndelay_p99_ms = { at_most = 60 }\n'
        '[path.beside]\npreset = "vdsl-40-10"\nrival = "cubic"\n'
        "delay_p99_ms = { at_most = 60 }\nrival_mbps = { at_least = 20 }\n"
    )
    junit = tmp_path / "junit.xml"
    code, out, err = stillair(budget(tmp_path, limits), "--junit", junit)
    assert code == 1
    assert "a limit is broken" in err
    # Cubic fills the provider's 100 ms.
    verdicts = {tuple(line.split()[:2]): line.split()[-1] for line in out.splitlines()[1:]}
    assert verdicts == {
        ("alone", "delay_p99_ms"): "kept",
        ("beside", "delay_p99_ms"): "BROKEN",
        ("beside", "rival_mbps"): "kept",
    }
    root = ET.parse(junit).getroot()  # noqa: S314 - our own
    assert [case.get("classname") for case in root if len(case)] == ["beside"]


@pytest.mark.parametrize(
    ("limits", "command", "says"),
    [
        ("[path.home]\nx.at_most = 1\n", None, 'budget.toml:3: path.home: found no path "home"'),
        ("[path.vdsl-40-10]\nx.at_most = 1\n", None, "path.vdsl-40-10.x: 0 of 2 runs measured it, expected all"),
        ("[path.vdsl-40-10]\nx.at_most = 1\n", "[]", "found no command"),
        ("[path.vdsl-40-10]\nx.at_most = 1\n", '["./none"]', "command: ./none: No such file or directory"),
        ("[path.vdsl-40-10]\nx.at_most = 1\n", '["false"]', "path.vdsl-40-10, seed 1: the command ended with 1"),
        ("[path.vdsl-40-10]\nx.at_most = 1\n", '["echo", "no"]', "the last line is 'no', expected a JSON object"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, limits: str, command: str | None, says: str) -> None:
    code, out, err = stillair(budget(tmp_path, limits, command))
    assert code in (1, 2)
    assert out == ""
    assert says in err
