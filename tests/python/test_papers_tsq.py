"""Figures 4 to 7 of the paper on small queues, with results of chosen numbers."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from stillair import Result
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.gallery import ARTEFACTS, drawing
from stillair_lab.papers.claims import judge
from stillair_lab.papers.claims.inventory import Where, experiments
from stillair_lab.papers.measure import formulas, samples
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.runs import plan
from stillair_lab.papers.runs.campaign import Outcome

TSQ = plan.plan("tsq-pacing")
STEPS = [0.2 * (step + 1) for step in range(150)]
BOTTLENECKS = ("L10M", "R10M", "L100M", "R100M", "LR1000M")


def run(srtt_ms: list[float], mbps: float = 24.0, ping_ms: float = 5.0, pacing: float = 50.0) -> dict[str, Any]:
    """A run of four flows whose sockets show the same."""
    socket = {"t_s": STEPS, "srtt_ms": srtt_ms, "bytes_acked": [t * mbps * 1e6 / 8 for t in STEPS]}
    socket["pacing_mbps"] = [0.0] + [pacing] * (len(STEPS) - 1)
    replies = [[200_000_000 * seq, round((ping_ms + seq % 3 - 1) * 1e6), seq] for seq in range(1, 100)]
    ping = {"name": "ping", "kind": "ping", "from": "C", "to": "S", "station": None, "tos": 0, "dscp": 0, "ac": "BE"}
    series = {
        "step_ns": 200_000_000, "steps": 150, "duration_ns": 30_000_000_000, "warm_up_ns": 0,
        "flows": [ping | {"pings": replies}], "stations": [], "drops": [], "queues": [],
    }  # fmt: skip
    sockets = {f"upload{number}": socket for number in range(1, 5)}
    return {"run": 0, "seed": 1, "trace_hash": "0", "drops": [], "sockets": sockets, "series": series}


def result(made: dict[str, Any]) -> Result:
    return Result({"version": "0", "scenario": "made", "runs": [made]}, resolved="{}")


def saw() -> list[float]:
    """Five cycles of cubic's delay in 30 s."""
    return [80 + 40 * ((step + 1) % 30) / 30 for step in range(len(STEPS))]


def dips() -> list[float]:
    """BBR's delay, which falls for two samples every 10 s, once to a higher level."""
    return [2.0 if 0.1 < t % 10 < 0.5 and t > 9 else 5.9 if t < 10 else 8.4 for t in STEPS]


def delay(where: Where) -> list[float]:
    """The delay of a cell as the paper has it."""
    cubic, remote = where["cc"] == "cubic", str(where["bottleneck"]).startswith("R")
    local_queue = where["tsq"] == "NoTSQ" or remote
    if where["qdisc"] == "fq_codel":
        return [10.0 if local_queue else 3.0] * len(STEPS)
    if where["bottleneck"] in ("L100M", "R100M"):
        return (saw() if cubic else dips()) if local_queue else [1.0] * len(STEPS)
    slow = where["bottleneck"] != "LR1000M"
    ms = 12.0 if not slow else 1100.0 if cubic else 40.0
    return [ms if local_queue else 1.2 if not slow else 11.0 if cubic else 30.0] * len(STEPS)


def on_wifi(where: Where) -> dict[str, Any]:
    """A cell of Figure 8 as the paper has it."""
    ms, ratio, base = int(where["tsq"][0]), int(where["ca_ratio"][0]), where["base_rtt_ms"]
    later = {"0.8": 0, "1": 0, "10": 1, "100": 5}[str(base)]
    mbps = (10 * ms + ratio if ms <= 4 else 44) - later
    return run([5.0] * len(STEPS), mbps, ms + ratio / 10 + later, 100 * ms - 10 * later)


def measurer(name: str, changes: Mapping[tuple[str, str], list[float]] | None = None) -> Measurer:
    """An experiment whose cells have these delays; `changes` by campaign and cell."""
    experiment = next(e for e in experiments() if e.name == f"tsq-pacing/{name}")
    outcomes = {
        own.id: Outcome(
            "",
            {
                cell.name: result(
                    run((changes or {}).get((own.id, cell.name), delay(cell.where)))
                    if "bottleneck" in cell.where
                    else on_wifi(cell.where)
                )
                for cell in own.cells
            },
        )
        for own in TSQ.experiments[name].campaigns
    }
    return Measurer(experiment, TSQ, outcomes)


def verdicts(of: Measurer) -> dict[str, str]:
    return {said.id: judge.judge(said, of.cells(said)).verdict for said in of.experiment.claims}


def measured(of: Measurer, name: str) -> list[float]:
    said = next(said for said in of.experiment.claims if said.id == name)
    return [cell.measured.mean for cell in of.cells(said) if cell.measured]


def test_every_campaign_has_a_cell_for_each_bottleneck_with_and_without_small_queues() -> None:
    campaigns = {own.id: own for one in TSQ.experiments.values() for own in one.campaigns if "wifi" not in own.id}
    assert set(campaigns) == {"cubic-pfifo", "bbr-pfifo", "cubic-fq_codel", "bbr-fq_codel"}
    for name, own in campaigns.items():
        cc, _, qdisc = name.partition("-")
        assert [(cell.where["bottleneck"], cell.where["tsq"]) for cell in own.cells] == [
            (bottleneck, tsq) for bottleneck in BOTTLENECKS for tsq in ("TSQ", "NoTSQ")
        ]
        for cell in own.cells:
            assert cell.name == f"{cell.where['bottleneck']}, {cell.where['tsq']}"
            assert (cell.where["cc"], cell.where["qdisc"]) == (cc, qdisc)
            sets = dict(cell.overrides)
            assert sets.pop("node.client.sysctl.net.ipv4.tcp_congestion_control") == cc
            assert sets.pop("node.client.tcp.tsq", "on") == ("on" if cell.where["tsq"] == "TSQ" else "off")
            near, far = sets.pop("node.client.interface.eth0.qdisc"), sets.pop("node.router.interface.eth1.qdisc")
            assert sets == {}
            shaped = {"L": (True, False), "R": (False, True), "LR": (False, False)}
            side, _, rate = cell.where["bottleneck"].partition("10")
            assert ("htb" in near, "htb" in far) == shaped[side]
            assert all((f'"10{rate.rstrip("M")} Mbit/s"' in text) == ("htb" in text) for text in (near, far))
            leaf = "fq_codel" if qdisc == "fq_codel" else "pfifo_fast"
            assert all(f'kind = "{leaf}"' in text for text in (near, far))


@pytest.mark.parametrize(
    ("name", "held", "missed"),
    [
        ("fig4-tsq-l100-r100", ["tsqp-fig4-throughput"], ["tsqp-fig4-local"]),  # the same ping everywhere
        ("fig5a-rtt-cubic-pfifo", ["tsqp-fig5a-local", "tsqp-fig5a-gigabit", "tsqp-fig5a-remote"], []),
        ("fig5b-rtt-bbr-pfifo", ["tsqp-fig5b-L10M", "tsqp-fig5b-smaller"], ["tsqp-fig5b-L100M", "tsqp-fig5b-LR1000M"]),
        ("fig5c-rtt-bbr-fqcodel", ["tsqp-fig5c-cap", "tsqp-fig5c-like-cubic", "tsqp-fig5c-under-5b"], []),
        (
            "fig6a-remote-notsq",
            ["tsqp-fig6-throughput", "tsqp-fig6-rtt", "tsqp-fig6-cubic-shape", "tsqp-fig6-bbr-shape"],
            [],
        ),
        ("fig6b-remote-tsq", ["tsqp-fig6b-same"], []),
        ("fig7a-local-notsq", ["tsqp-fig7a-like-6a"], []),
        ("fig7b-local-tsq", ["tsqp-fig7b-cubic-like-bbr"], []),
        (
            "fig8a-tsq-pacing",
            [
                f"tsqp-fig8a-{claim}"
                for claim in ("throughput-pacing", "latency-pacing", "saturation", "throughput-tsq")
            ],
            [],
        ),
        (
            "fig8b-tsq-rtt",
            [f"tsqp-fig8{claim}" for claim in ("b-1-over-10", "b-100-never", "-green", "-equivalence")],
            [],
        ),
        ("headline", ["tsqp-head-wired", "tsqp-head-wifi"], []),
    ],
)
def test_delays_as_the_paper_has_them(name: str, held: list[str], missed: list[str]) -> None:
    found = verdicts(measurer(name))
    assert {claim for claim, verdict in found.items() if verdict == "not-reproduced"} == set(missed)
    assert {claim for claim, verdict in found.items() if verdict == "reproduced"} >= set(held)
    assert "not-run" not in found.values()


def test_limits_of_the_algorithms_as_printed() -> None:
    # 20 segments in 10 ms at a ratio of 1.2 are 3.475 MB/s, of which 1/1024 s is 3.4 kB: two packets are more.
    assert formulas.tsq_limit(1448, 20, 10_000, 1.2) == 8704
    assert formulas.tsq_limit(1448, 20, 1_000, 1.2) == 33_937
    assert formulas.tsq_limit(1448, 200, 1_000, 1.2) == 131_072


def test_ratios_and_differences_are_between_the_cells_they_name() -> None:
    assert measured(measurer("fig5a-rtt-cubic-pfifo"), "tsqp-fig5a-local") == pytest.approx([100, 99.33], abs=0.01)
    five_b = measurer("fig5b-rtt-bbr-pfifo")
    assert measured(five_b, "tsqp-fig5b-L10M") == [pytest.approx(10)]
    assert measured(five_b, "tsqp-fig5b-L100M") == [pytest.approx(7.4)]
    (order,) = five_b.cells(next(c for c in five_b.experiment.claims if c.id == "tsqp-fig5b-smaller"))[:1]
    assert order.ranked is not None
    assert {cc: over.mean for cc, over in order.ranked.items()} == pytest.approx({"bbr": 10, "cubic": 1089})
    assert measured(measurer("fig7b-local-tsq"), "tsqp-fig7b-cubic-like-bbr") == [pytest.approx(0.01, abs=0.001)]


def test_claims_in_words_of_their_own_are_read_as_the_plan_says() -> None:
    of = measurer("fig5c-rtt-bbr-fqcodel")
    labels = {claim.id: [cell.label for cell in of.cells(claim)] for claim in of.experiment.claims}
    both = ["bottleneck R10M, tsq TSQ", "bottleneck R10M, tsq NoTSQ", "bottleneck L10M, tsq NoTSQ"]
    assert labels["tsqp-fig5c-cap"] == labels["tsqp-fig5c-under-5b"] == both
    assert len(labels["tsqp-fig5c-like-cubic"]) == 10
    # One cell of ten that is not alike is the one that counts.
    high = measurer("fig5c-rtt-bbr-fqcodel", {("bbr-fq_codel", "LR1000M, TSQ"): [4.0] * len(STEPS)})
    assert verdicts(high)["tsqp-fig5c-like-cubic"] == "not-reproduced"
    assert verdicts(high)["tsqp-fig5c-cap"] == "reproduced"


def test_what_an_experiment_is_about_holds_for_its_claims() -> None:
    # Figure 6a is without small queues: those with them may be what they like.
    odd = {("cubic-pfifo", "R100M, TSQ"): [1.0] * len(STEPS)}
    assert verdicts(measurer("fig6a-remote-notsq", odd)) == verdicts(measurer("fig6a-remote-notsq"))
    assert verdicts(measurer("fig6b-remote-tsq", odd))["tsqp-fig6b-same"] == "not-reproduced"


def test_a_curve_without_cycles_or_dips() -> None:
    flat = {(cc, "R100M, NoTSQ"): [100.0] * len(STEPS) for cc in ("cubic-pfifo", "bbr-pfifo")}
    found = verdicts(measurer("fig6a-remote-notsq", flat))
    assert (found["tsqp-fig6-cubic-shape"], found["tsqp-fig6-bbr-shape"]) == ("not-reproduced", "not-judged")


@pytest.mark.parametrize("name", [name for name, one in TSQ.experiments.items() if one.draws])
def test_figures_as_text_and_as_pictures(name: str) -> None:
    of = measurer(name)
    artefact = drawing(of)
    text = artefact.text(of)
    assert "four uploads" in text
    assert style.save(artefact.picture(of), "svg").startswith(b"<?xml")
    empty = Measurer(of.experiment, TSQ, {})
    if of.own.draws != "tsq-time":
        assert text.count("\n") == artefact.text(empty).count("\n")


def test_candlesticks_are_of_all_samples() -> None:
    lines = [
        " ".join(line.split()) for line in ARTEFACTS["tsq-candles"].text(measurer("fig5a-rtt-cubic-pfifo")).split("\n")
    ]
    assert "R100M, NoTSQ 83.87 99.33 114.80" in lines
    assert "L100M, TSQ 1.00 1.00 1.00" in lines
    lines = [" ".join(line.split()) for line in ARTEFACTS["tsq-ping"].text(measurer("fig4-tsq-l100-r100")).split("\n")]
    assert "L100M, TSQ 96.00 96.00 96.00 4.00 5.00 6.00" in lines


def test_curves_over_time_are_means_of_two_seconds() -> None:
    lines = [" ".join(line.split()) for line in ARTEFACTS["tsq-time"].text(measurer("fig6a-remote-notsq")).split("\n")]
    assert "s Cubic Mbit/s Cubic ms BBR Mbit/s BBR ms" in lines
    assert "2 96.00 87.33 96.00 5.90" in lines
    assert len(lines) == 2 + 1 + 15


# Samples.


def test_sockets_count_from_their_first_measurement() -> None:
    made = run([0.0, 0.0, *[7.0] * 148])
    assert samples.of_run(result(made), made, "srtt_ms", "p10") == 7.0
    assert len(samples.over_time(made, "srtt_ms")) == 148
    assert samples.of_run(result(made), made, "srtt_ms", "mean") == 7.0
    nothing = run([0.0] * 150)
    assert samples.of_run(result(nothing), nothing, "srtt_ms", "p50") is None


def test_goodput_is_what_came_between_two_samples() -> None:
    made = run([1.0] * 150)
    made["sockets"] = {
        "one": {"t_s": [1.0, 2.0, 4.0], "srtt_ms": [1] * 3, "bytes_acked": [125_000, 125_000, 1_125_000]}
    }
    assert samples.over_time(made, "goodput_mbps") == [(1.0, 1.0), (2.0, 0.0), (4.0, 4.0)]


@pytest.mark.parametrize("period", [4.0, 7.0, 10.0])
def test_dips_lie_so_far_apart(period: float) -> None:
    srtt = [3.0 if t % period < 0.35 else 9.0 + math.sin(t) for t in STEPS]
    made = run(srtt)
    found = samples.of_run(result(made), made, "srtt_ms", "dips_s")
    assert found == pytest.approx(period, abs=0.11)


def test_one_dip_has_no_period() -> None:
    made = run([3.0 if 14 < t < 14.5 else 9.0 for t in STEPS])
    assert samples.of_run(result(made), made, "srtt_ms", "dips_s") is None
