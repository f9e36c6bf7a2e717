"""A paper that is nothing but a folder of data: listed, run, judged, reported and drawn by the code of the others."""

import json
from pathlib import Path

import pytest

from stillair import InputError
from stillair.__main__ import status
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.gallery import drawing
from stillair_lab.papers.claims import judge, paper_registry
from stillair_lab.papers.claims.inventory import papers
from stillair_lab.papers.pages import registry, report
from stillair_lab.papers.runs import metrics

INVENTORY = """
[paper]
title = "One Queue and Another"
authors = ["Nobody"]
year = 2026
venue = "nowhere"
short = "sixth"

[[experiment]]
id = "fig1-queues"
artefact = "Figure 1"
topology = "a server, an access point and a station"
setup = { repetitions = 2 }

[[experiment.claim]]
id = "sixth-goodput"
kind = "value"
statement = "A short queue carries what is offered."
configuration = { queue = "short" }
metric = "goodput"
unit = "Mbit/s"
value = 5.0
source = "Figure 1"

[[experiment.claim]]
id = "sixth-order"
kind = "order"
statement = "A short queue has less delay."
configuration = { axis = "queue", rate = "full" }
metric = "delay"
unit = "ms"
ordering = ["short", "long"]
source = "Figure 1"
"""

EXPERIMENTS = """
[metric]
goodput = { kind = "report", run = "goodput_total_mbps" }
delay = { kind = "samples", of = "ping_ms", statistic = "mean" }

[axis.queue]
word = "queue"
[axis.queue.values]
short = { "node.ap.interface.wlan0.qdisc" = '{ kind = "pfifo", limit = 20 }', "flow.0.rate" = "5 Mbit/s" }
long = { "node.ap.interface.wlan0.qdisc" = '{ kind = "pfifo", limit = 1000 }' }

[campaign.queues]
scenario = "two-queues"
series = true
axes = ["queue"]
where = { rate = "full" }

[figure.queues]
kind = "bars"
along = "queue"
metrics = { goodput = "Mbit/s", delay = "ms" }
said = "Both queues."

[experiment.fig1-queues]
campaigns = ["queues"]
draws = "queues"
"""

NON_DISCRIMINATING = """
[off]
words = { queue = "long" }
[[range]]
metrics = ["goodput"]
high = 20
[[range]]
metrics = ["delay"]
high = 1000
"""

SCENARIO = """
name = "two-queues"
duration = "4 s"
warm_up = "1 s"

[channel.wifi]
band = "5 GHz"
width = "20 MHz"

[node.server]
profile = "linux-4.4"
interface.eth0 = { link = "lan", address = "10.0.0.2" }

[node.ap]
profile = "linux-4.6"
forward = true
interface.eth0 = { link = "lan", address = "10.0.0.1" }
interface.wlan0 = { channel = "wifi", role = "ap", scheme = "fifo", address = "10.0.1.1" }

[node.sta]
profile = "linux-4.4"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.1.11", rate = "ht20-mcs0-lgi" }

[link.lan]
rate = "1 Gbit/s"
delay = "1 ms"

[[flow]]
kind = "udp"
from = "server"
to = "sta"
rate = "20 Mbit/s"

[[flow]]
kind = "ping"
from = "server"
to = "sta"
interval = "0.1 s"
"""
FILES = {
    "inventory.toml": INVENTORY,
    "experiments.toml": EXPERIMENTS,
    "non-discriminating.toml": NON_DISCRIMINATING,
    "scenarios/two-queues.toml": SCENARIO,
}


@pytest.fixture
def sixth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the paper, in a parent folder of its own, next to the package's."""
    folder = tmp_path / "papers" / "sixth"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(paper_registry, "FOLDERS", [*paper_registry.FOLDERS, folder.parent])
    return folder


@pytest.mark.usefixtures("sixth")
def test_a_paper_is_a_folder_of_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [paper.short for paper in papers()].count("sixth") == 1
    assert len(papers()) == 6
    assert status(["paper"]) == 0
    (line,) = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("sixth/")]
    assert line == ["sixth/fig1-queues", "2", "yes"]

    assert status(["paper", "sixth", "-o", str(tmp_path / "kept")]) == 0
    kept = tmp_path / "kept" / "sixth"
    rows = {row["id"]: row for row in report.read_claims(kept / "claims.json")}
    assert {name: row["verdict"] for name, row in rows.items()} == dict.fromkeys(rows, judge.REPRODUCED)
    assert rows["sixth-goodput"]["measured"] == pytest.approx(5.0, rel=0.1)
    assert rows["sixth-order"]["measured"] == ["short", "long"]
    # One whose number is within a quarter of what it may be can fail; its cell without the mechanism is another.
    assert rows["sixth-goodput"]["non_discriminating"]["draws"] < 0.5
    text = (kept / "report.txt").read_text(encoding="utf-8")
    assert "Both queues." in text
    assert [line.split()[0] for line in text.splitlines() if line.startswith(("short ", "long "))] == ["short", "long"]
    cells = json.loads((kept / "runs.json").read_text(encoding="utf-8"))["cells"]
    assert [(cell["scenario"], cell["cell"], len(cell["runs"])) for cell in cells] == [
        ("two-queues", "short", 2),
        ("two-queues", "long", 2),
    ]
    assert not style.available() or (kept / "fig1-queues.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.usefixtures("sixth")
def test_the_papers_number_stands_beside_its_bar() -> None:
    (entry,) = registry.find("sixth")
    made = report.run([entry], report.prepare([entry]), runs=1)
    artefact = drawing(made.measurer(entry))
    short, long = (
        [word for word in line.split() if word != "±"] for line in artefact.text(made.measurer(entry)).splitlines()[-2:]
    )
    assert (short[0], long[0]) == ("short", "long")
    assert "5" in short
    assert "5" not in long


def test_a_paper_lies_in_the_folder_of_its_name(sixth: Path) -> None:
    sixth.rename(sixth.parent / "seventh")
    with pytest.raises(InputError, match=r'paper\.short: found "sixth", expected "seventh"'):
        papers()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, 'metric "m": kind: found "", expected one of report, samples, marks, '),
        ({"kind": "average"}, 'metric "m": kind: found "average", expected one of report, samples, '),
        ({"kind": "ratio", "of": "a", "from": {}}, 'metric "m": kind "ratio": found no to, expected of, from, to'),
        ({"kind": "spread", "of": "a", "at": {}}, 'metric "m": kind "spread": found at, expected of'),
    ],
)
def test_a_metric_is_of_a_known_kind(table: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as error:
        metrics.read("m", table)
    assert str(error.value).startswith(said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"bars"', '"pie"', 'sixth: figure "queues": kind: found "pie", expected one of bars, candles, '),
        ('draws = "queues"', 'draws = "fig1"', 'sixth/fig1-queues: draws: found "fig1", expected one of queues, '),
    ],
)
def test_what_is_drawn_is_known_before_any_run(sixth: Path, old: str, new: str, said: str) -> None:
    (sixth / "experiments.toml").write_text(EXPERIMENTS.replace(old, new), encoding="utf-8")
    (entry,) = registry.find("sixth")
    with pytest.raises(InputError) as error:
        report.prepare([entry])
    assert str(error.value).startswith(said)
