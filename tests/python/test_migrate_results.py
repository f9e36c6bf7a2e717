"""Results of schema 1 are converted without a run, and readers refuse them with the script's name."""

import importlib.util
import json
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stillair import InputError
from stillair.papers.claims import judge
from stillair.papers.pages import report

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
NEW_WORDS = {"reproduced": "held", "not-reproduced": "missed", "calibration": "fit"}
NEW_KEYS = {"tolerance": "bar", "non_discriminating": "hardly"}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("migrate_results", ROOT / "scripts" / "migrate_results.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def before(of: Any, key: str = "") -> Any:  # noqa: ANN401 - JSON
    """A value in the words of schema 1, but for sentences."""
    if isinstance(of, dict):
        return {NEW_KEYS.get(name, name): before(inner, name) for name, inner in of.items()}
    if isinstance(of, list):
        return [before(inner, key) for inner in of]
    if key == "class" and of != "none":
        return of.translate(str.maketrans("RN", "HM"))
    return NEW_WORDS.get(of, of) if key in ("verdict", "one_verdict", "off", "role") else of


@pytest.mark.parametrize("paper", ["ending-the-anomaly", "tsq-pacing"])
def test_rows_of_schema_1_become_those_that_are_kept(script: ModuleType, paper: str) -> None:
    rows = report.read_claims(RESULTS / paper / "claims.json")
    old = before(rows)
    assert old != rows
    assert script.value(old) == rows
    assert {row["verdict"] for row in rows} <= set(judge.VERDICTS)


def test_sentences_have_the_words_of_schema_2(script: ModuleType) -> None:
    said = "held in the middle of the range, held with the fastest USB, missed with the slowest USB"
    expected = (
        "reproduced in the middle of the range, reproduced with the fastest USB, not-reproduced with the slowest USB"
    )
    assert script.reason(said) == expected
    assert script.sentence("stated 1.2; bar: 1 to 2") == "stated 1.2; tolerance: 1 to 2"
    assert script.sentence("13 Mbit/s: missed; marginal") == "13 Mbit/s: not-reproduced; marginal"
    assert script.sentence("Linux 6.1 misses it: 5; Linux 6.12 holds it: 6") == (
        "Linux 6.1 does not reproduce it: 5; Linux 6.12 reproduces it: 6"
    )


def test_what_is_converted_stays(script: ModuleType, tmp_path: Path) -> None:
    paper, kept = tmp_path / "tsq-pacing", RESULTS / "tsq-pacing"
    paper.mkdir()
    for name in ("claims.json", "runs.json", "report.txt"):
        shutil.copy(kept / name, paper)
    for name in ("why.txt", "jitter.md"):
        text = (RESULTS / name).read_text(encoding="utf-8")
        assert (script.why_text if name == "why.txt" else script.jitter)(text) == text
    assert list(script.paper(paper)) == []
    rows = report.read_claims(paper / "claims.json")
    (paper / "claims.json").write_text(json.dumps(before(rows)), encoding="utf-8")
    made = json.loads((paper / "runs.json").read_text(encoding="utf-8"))
    del made["schema"]
    (paper / "runs.json").write_text(json.dumps(made), encoding="utf-8")
    for path in (paper / "claims.json", paper / "runs.json"):
        with pytest.raises(InputError, match=r"schema: found 1, expected 2; scripts/migrate_results\.py converts it"):
            report.check_schema(path, json.loads(path.read_text(encoding="utf-8")))
    with pytest.raises(InputError, match=r"claims\.json: schema: found 1, expected 2; scripts/migrate"):
        report.read_claims(paper / "claims.json")
    assert {path.name for path in script.paper(paper)} == {"claims.json", "report.txt", "runs.json"}
    for name in ("claims.json", "runs.json", "report.txt"):
        assert (paper / name).read_bytes() == (kept / name).read_bytes()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("flow.0.mark", "CS6"), ("flow.0.dscp", "CS6")),
        (("channel.hop1.deaf", '[["a", "b"]]'), ("channel.hop1.hidden", '[["a", "b"]]')),
        (("channel.wifi.loss_per_decade", "35 dB"), ("channel.wifi.path_loss_exponent", "3.5")),
        (
            ("channel.wifi", '{ loss_per_decade = "28.5 dB", noise = "-94 dBm" }'),
            ("channel.wifi", '{ path_loss_exponent = 2.85, noise = "-94 dBm" }'),
        ),
        (("node.a.host", "outside"), ("node.a.host", "external")),
        (("node.b", '{ like = "a", host = "outside" }'), ("node.b", '{ inherits = "a", host = "external" }')),
        (
            ("node.ap.interface.wlan0.scheme", '{ kind = "mac80211", since = "linux-6.0", aql = false }'),
            ("node.ap.interface.wlan0.scheme", '{ kind = "mac80211", kernel = "linux-6.0", aql = false }'),
        ),
        (
            (
                "node.sta",
                '{ interface.w = { unheard_rate = 0.1, scan = { every = "8 s" } } }',
            ),
            (
                "node.sta",
                '{ interface.w = { preamble_loss_rate = 0.1, scan = { interval = "8 s" } } }',
            ),
        ),
        (
            ("node.sta.interface.w.error_rate", '[{ rates = "mcs0", chance = 0.5 }]'),
            ("node.sta.interface.w.error_rate", '[{ rates = "mcs0", probability = 0.5 }]'),
        ),
        (("node.sta.interface.w.error_rate.0.chance", "0.5"), ("node.sta.interface.w.error_rate.0.probability", "0.5")),
        (
            ("flow", '[{ kind = "udp", mark = "EF", from = "mark" }]'),
            ("flow", '[{ kind = "udp", dscp = "EF", from = "mark" }]'),
        ),
        (
            ("flow.0.stack", '{ kind = "quinn", certificates = 2000, ack_frequency = { every = 10 } }'),
            ("flow.0.stack", '{ kind = "quinn", server_handshake = 2000, ack_frequency = { every = 10 } }'),
        ),
        (("node.a.interface.w.scan", '{ home = "1 s" }'), ("node.a.interface.w.scan", '{ home_dwell = "1 s" }')),
        (("flow.0.from", "customer"), ("flow.0.from", "customer")),
        (("node.like.position", "1 m, 2 m"), ("node.like.position", "1 m, 2 m")),
    ],
)
def test_overrides_have_the_present_names(script: ModuleType, before: tuple[str, str], after: tuple[str, str]) -> None:
    assert script.override(*before) == after
    assert script.override(*after) == after
    as_object, as_list = json.dumps({before[0]: before[1]}), json.dumps([[*before]])
    assert json.loads(script.overrides(as_object)) == {after[0]: after[1]}
    assert json.loads(script.overrides(as_list)) == [[*after]]


def test_first_runs_and_changes_of_why_have_the_present_names(script: ModuleType) -> None:
    for path in sorted((RESULTS / "first-runs").glob("*.json")):
        text = path.read_text(encoding="utf-8")
        assert script.overrides(text) == text, path.name
    assert script.why_text("            --set 'flow.0.mark=EF'") == "            --set 'flow.0.dscp=EF'"


def test_a_later_schema_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "claims.json").write_text('{"schema": 3, "claims": []}')
    with pytest.raises(InputError, match=r"schema: found 3, expected 2$"):
        report.read_claims(tmp_path / "claims.json")
