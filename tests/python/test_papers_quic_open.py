"""Settings that the paper on bursty QUIC leaves open: which give its numbers, and the basis of their tables."""

import re
from pathlib import Path
from typing import Any

import pytest

from stillair import Result
from stillair.runs import bundled
from stillair_lab.papers.artefacts.bquic import table3_variations as quic_open
from stillair_lab.papers.measure import quic
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.pages import registry, report
from stillair_lab.papers.runs import plan
from stillair_lab.papers.runs.campaign import Outcome
from stillair_lab.papers.runs.plan import CellPlan

PLAN = plan.plan("bquic")
MESH = next(own for own in PLAN.experiments["table3-mesh"].campaigns if own.id == "mesh")
CLIENTS = {"RPi", "Android", "RP1", "RP2", "RP3", "RP4", "RP5"}
HOPS = {"RP1": 4, "RP2": 3, "RP3": 3, "RP4": 1, "RP5": 5}


def made(throughput: float) -> Result:
    """A cell of two runs around this throughput."""
    runs = [
        {"run": run, "seed": 1, "trace_hash": "0", "quic": {"quic": {"throughput_mbps": value, "goodput_mbps": value}}}
        for run, value in enumerate((throughput - 0.1, throughput + 0.1))
    ]
    return Result({"version": "0", "scenario": "made", "runs": runs})


def measurer(name: str, mbps: dict[tuple[str, str], float]) -> Measurer:
    """An experiment whose cells have 40 Mbit/s, or what is said by case or client, and variant."""
    (entry,) = registry.find(f"bquic/{name}")

    def of(cell: CellPlan) -> Result:
        words = [str(cell.where.get(key, "")) for key in ("case", "client", "proto")]
        said = [value for (case, proto), value in mbps.items() if proto == words[2] and case in (words[0], words[1])]
        return made(said[0] if said else 40.0)

    outcomes = {own.id: Outcome("", {cell.name: of(cell) for cell in own.cells}) for own in entry.plan.campaigns}
    return Measurer(entry.experiment, PLAN, outcomes)


def test_a_gain_is_marked_where_it_and_the_plain_variant_are_the_papers() -> None:
    two, four = (f"RPi: {n} acknowledgements a transmission" for n in (2, 4))
    of = measurer(
        "table3-lab",
        {
            (two, "quic"): 40.0, (two, "bquic"): 50.4,  # 26 %, the paper has 23
            (four, "quic"): 40.0, (four, "bquic"): 52.0,  # 30 %
            ("RPi: 1 acknowledgement a transmission", "quic"): 30.0,  # too far from 42.4
            ("RPi: 1 acknowledgement a transmission", "bquic"): 37.0,
        },
    )  # fmt: skip
    rows = {line[:34].strip(): line.split("%") for line in quic_open.gains(of).splitlines()[3:]}
    assert rows["2 acknowledgements a transmission"][0].endswith("40.0 +26 ")
    assert rows["2 acknowledgements a transmission"][1].startswith("*")
    assert rows["4 acknowledgements a transmission"][0].endswith("40.0 +30 ")
    assert rows["4 acknowledgements a transmission"][1].startswith(" ")
    assert rows["1 acknowledgement a transmission"][0].endswith("30.0 +23 ")
    assert rows["1 acknowledgement a transmission"][1].startswith(" ")
    assert rows["the paper"][0].endswith("42.4 +23 ")


@pytest.mark.parametrize(
    ("found", "near"),
    [((42.4, 23.0), True), ((42.4, 28.0), True), ((42.4, 28.1), False), ((31.8, 23.0), True), ((31.7, 23.0), False)],
)
def test_what_counts_as_reached(found: tuple[float, float], near: bool) -> None:
    assert quic_open.reaches(found, (42.4, 23.0)) == near


def test_every_case_is_a_clients_or_a_pages_and_changes_what_it_says() -> None:
    campaigns = {own.id: own for one in PLAN.experiments.values() for own in one.campaigns}
    pages = set(registry.find("bquic/fig2-plt")[0].experiment.setup["sites"])
    for name in ("open-lab", "open-mesh", "open-page"):
        seen = set()
        for cell in campaigns[name].cells:
            of, setting = str(cell.where["case"]).split(": ", 1)
            assert of in (pages if name == "open-page" else CLIENTS)
            sets = dict(cell.overrides)
            if of in HOPS:
                assert sets["flow.0.to"] == f"rp{HOPS[of]}"
            if found := re.match(r"(\d+) ack", setting):
                assert any(f"max_frames = {found[1]}, usb = false }}" in value for value in sets.values())
            if "two hops a channel" in setting:
                shared = [key for key, value in sets.items() if re.fullmatch(r"hop\d", value)]
                assert len(shared) == 2 * (HOPS[of] // 2)
            # Neighbours of hops that are not used are silent.
            if of in HOPS:
                silent = {key for key in sets if re.fullmatch(r"flow\.\d\.stop", key)}
                assert silent >= {f"flow.{hop}.stop" for hop in range(HOPS[of] + 1, 6)}
            seen.add((of, setting, cell.where["proto"]))
        assert len(seen) == len(campaigns[name].cells)


def test_tcp_counts_from_its_first_byte_to_its_last() -> None:
    socket = {"t_s": [0.5, 0.6, 0.7, 2.5, 2.6, 2.7], "bytes_acked": [0, 0, 90_000, 9_999_999, 10_000_002, 10_000_002]}
    run: dict[str, Any] = {"sockets": {"tcp.client": socket, "neighbour1.sta1": {"t_s": [], "bytes_acked": []}}}
    assert quic.goodput(run) == pytest.approx(80 / 2.0)
    socket["bytes_acked"][-2:] = [9_999_999, 9_999_999]
    assert quic.goodput(run) is None


def test_other_senders_carry_the_same_bytes_over_the_same_path() -> None:
    (campaign,) = {own for one in PLAN.experiments.values() for own in one.campaigns if own.id == "senders-lab"}
    lab = bundled.scenario(campaign.scenario)
    for cell in campaign.cells:
        if cell.where["client"] != "RPi":
            continue
        (run,) = lab.run(overrides=[*cell.overrides.items(), ("duration", "4 s")]).runs
        # No sender is far from what the path of 72.2 Mbit/s can carry.
        assert 35 < (quic.goodput(run) or 0) < 60, cell.name
        if "TCP" in cell.name:
            assert run["flows"]["tcp.client"]["bytes_acked"] == pytest.approx(quic.TRANSFER, abs=10)


def test_the_mesh_loses_to_neighbours_that_the_sender_does_not_hear_what_ten_tries_leave() -> None:
    (campaign,) = {own for one in PLAN.experiments.values() for own in one.campaigns if own.id == "open-mesh"}
    mesh = bundled.scenario(campaign.scenario)
    cells = {(cell.where["case"], cell.where["proto"]): cell for cell in campaign.cells}

    def loss(setting: str) -> float:
        result = mesh.run(8, overrides=cells[f"RP3: {setting}", "quic"].overrides)
        shares = [quic.of_run(run, "loss_percent", "mean") or 0.0 for run in result.runs]
        return sum(shares) / len(shares)

    (own,) = (dict(c.overrides) for c in MESH.cells if c.where == {"client": "RP3", "proto": "quic"})
    result = mesh.run(8, overrides=list(own.items()))
    assert sum(quic.of_run(run, "loss_percent", "mean") or 0.0 for run in result.runs) > 8 * 0.01
    assert [loss(setting) for setting in ("no neighbours", "neighbours that everybody hears")] == [0, 0]


def test_transfers_over_the_mesh_end_before_their_runs() -> None:
    """What is on its way at the end would count as lost."""
    mesh = bundled.scenario(MESH.scenario)
    for cell in MESH.cells:
        if cell.where["client"] in ("RP1", "RP4", "RP5"):
            result = mesh.run(8, overrides=list(cell.overrides.items()))
            assert all(flow["done"] for run in result.runs for flow in run["quic"].values()), cell.name


def test_neighbours_of_hops_that_a_client_does_not_use_change_nothing() -> None:
    mesh = bundled.scenario(MESH.scenario)
    for cell in MESH.cells:
        if cell.where == {"client": "RP4", "proto": "bquic"}:
            silent = dict(cell.overrides)
            alive = {key: value for key, value in silent.items() if not key.endswith(".stop")}
            (one,), (other,) = (mesh.run(overrides=list(of.items())).runs for of in (silent, alive))
            assert one["quic"] == other["quic"]


# paper: bquic sec. IV-C.3 - 18 % of QUIC's gaps are below 100 us; within ten points.
@pytest.mark.parametrize(
    ("scenario", "settings", "low", "high"),
    [
        # As the source has it: what is due within 1 ms leaves together.
        ("bquic-mesh", {}, 58, 72),
        ("bquic-lab", {}, 85, 95),
        # Not early and with exact timers all gaps are about as long: 0.4 ms on the mesh, 0.1 ms in the lab.
        ("bquic-mesh", {"preset": "chromium39-strict", "timer_granularity": "0 ms"}, 0, 1),
        ("bquic-lab", {"preset": "chromium39-strict", "timer_granularity": "0 ms"}, 23, 35),
        # The paper's share: with timers of 0.5 ms, or about one gap early; in the lab with timers of 0.1 ms.
        ("bquic-mesh", {"preset": "chromium39-strict", "timer_granularity": "0.5 ms"}, 8, 28),
        ("bquic-mesh", {"pacing_horizon": "0.3 ms", "timer_granularity": "0 ms"}, 8, 28),
        ("bquic-lab", {"preset": "chromium39-strict", "timer_granularity": "0.1 ms"}, 8, 28),
    ],
)
def test_which_pacing_leaves_the_papers_share_of_short_gaps(
    scenario: str, settings: dict[str, str], low: float, high: float
) -> None:
    overrides = [(f"flow.0.{key}", value) for key, value in settings.items()]
    result = bundled.scenario(scenario).run(20, overrides=overrides)
    shares = [quic.of_run(run, "gaps_below_100us_percent", "mean") or 0.0 for run in result.runs]
    assert low <= sum(shares) / len(shares) <= high


def test_decimation_waits_for_a_hundred_packets_which_the_smallest_page_has_not() -> None:
    page = bundled.scenario("bquic-page")

    def hashes(*more: tuple[str, str]) -> list[str]:
        runs = (page.run(overrides=[("duration", "2 s"), ("flow.0.preset", p), *more]).runs for p in PRESETS)
        return [run["trace_hash"] for (run,) in runs]

    plain, decimated = hashes(("flow.0.page", "google"))
    assert plain == decimated
    plain, decimated = hashes(("flow.0.page", "live"))
    assert plain != decimated
    plain, decimated = hashes(("flow.0.page", "google"), ("flow.0.ack_gate", "0"))
    assert plain != decimated


PRESETS = ("chromium39", "bquic39-ack")


RESULTS = Path(__file__).resolve().parents[2] / "lab" / "results" / "bquic"


def test_only_inputs_and_fits_are_not_judged() -> None:
    rows = report.read_claims(RESULTS / "claims.json")
    left = [row for row in rows if row["verdict"] == "not-judged"]
    assert {row.get("role") for row in left if "if_judged" not in row} == {"input", "calibration"}
    # A peak that no run shows is missed.
    (peak,) = (row for row in rows if row["id"] == "bquic-f5-peak2")
    assert (peak["verdict"], peak["measured"]) == ("not-reproduced", None)


def test_the_page_has_the_numbers_of_the_report() -> None:
    report = (RESULTS / "report.txt").read_text(encoding="utf-8")
    page = (RESULTS.parents[2] / "docs" / "bursty-quic.md").read_text(encoding="utf-8").replace("**", "")
    gains = re.findall(r"[\d.]+ [+-]\d+ %", page)
    assert len(gains) > 60
    assert [gain for gain in gains if gain not in report] == []
