"""The paper on 1 ms of Wi-Fi latency, with results of chosen numbers."""

from typing import Any

import pytest

from stillair import Result
from stillair_lab.papers.artefacts import gallery, style
from stillair_lab.papers.artefacts.gallery import drawing
from stillair_lab.papers.artefacts.kinds.points import Points
from stillair_lab.papers.claims import judge
from stillair_lab.papers.claims.inventory import Where, experiments
from stillair_lab.papers.measure import samples
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.runs import plan, tagged
from stillair_lab.papers.runs.campaign import Outcome

PLAN = plan.plan("towards-1ms")
EXPERIMENTS = {e.id: e for e in experiments() if e.paper == "towards-1ms"}
STATIC = {"64KB": 4, "128KB": 8, "256KB": 15, "512KB": 25, "1MB": 40, "2MB": 55, "5MB": 70, "10MB": 70, "NoTSQ": 70}
UNFAIR = ("highspeed", "illinois", "reno", "scalable")
SMART = ("codel", "sfq", "fq", "fq_codel")


def run(up: float, down: float, ping_ms: float) -> dict[str, Any]:
    """A run of 40 s whose load lasts from 5 s to 35 s; before and after it everything is otherwise."""

    def flow(name: str, **more: object) -> dict[str, Any]:
        return {"name": name, "from": "a", "to": "b", "station": None, "tos": 0, "dscp": 0, "ac": "BE", **more}

    def tcp(series: str, mbps: float) -> dict[str, Any]:
        step = round(mbps * 25_000)
        return flow(series, kind="tcp", flent=series, bytes=[9 * step] * 25 + [step] * 150 + [0] * 25)

    replies = [[200_000_000 * seq, round((ping_ms if 25 <= seq < 175 else 0.5) * 1e6), seq] for seq in range(1, 200)]
    flows = [tcp("TCP upload", up), tcp("TCP download", down), flow("ping", kind="ping", pings=replies)]
    flows.append(flow("udp", kind="udp_ping", pings=[[at, 900_000_000, seq] for at, _, seq in replies]))
    series = {
        "step_ns": 200_000_000, "steps": 200, "duration_ns": 40_000_000_000, "warm_up_ns": 5_000_000_000,
        "cool_down_ns": 5_000_000_000, "flows": flows, "stations": [], "drops": [], "queues": [],
    }  # fmt: skip
    return {"run": 0, "seed": 1, "trace_hash": "0", "drops": [], "series": series}


def with_one_flow(where: Where) -> tuple[float, float, float]:
    cc, qdisc, tsq = where["cc"], where["qdisc"], where["tsq"]
    if qdisc == "fq_codel" and tsq != "NoTSQ":
        by_rate = {"bbr": (50, 1.8), "newvegas": (50, 3), "yeah": (60, 3.1), "cubic": (70, 4), "reno": (97, 7)}
        static = {"bbr": 4, "newvegas": 5, "yeah": 5, "cubic": 4, "reno": 5}
        goodput, ping = by_rate[cc]
        return goodput, 0, ping if tsq == "TSQ" else static[cc]
    if qdisc == "pfifo":
        small = {"TSQ": (70, 5), "64KB": (60, 4), "128KB": (80, 8)}
        return (small[tsq][0], 0, small[tsq][1]) if tsq in small else (97, 0, STATIC[tsq])
    if cc == "cubic" and qdisc != "fifo":
        return 97, 0, 10 if qdisc == "fq" else 20 if qdisc in SMART else 70
    goodput = {"bbr": 50, "newvegas": 70}.get(cc, 97)
    return goodput, 0, {"bbr": 5, "newvegas": 8, "yeah": 25, "cubic": 74}.get(cc, 75)


def with_four_flows(where: Where) -> tuple[float, float, float]:
    cc, tsq = where["cc"], where["tsq"]
    if where["qdisc"] == "pfifo":
        return 75 if tsq == "TSQ" else 96, 0, 5 if tsq == "TSQ" else 100 if STATIC[tsq] >= 70 else STATIC[tsq]
    ping = {"bbr": 5, "newvegas": 10, "yeah": 58, "westwood": 80}
    return 75 if cc == "bbr" else 96, 0, ping.get(cc, 110)


def both_ways(where: Where) -> tuple[float, float, float]:
    cc, qdisc, tsq = where["cc"], where["qdisc"], where["tsq"]
    if qdisc == "pfifo":
        return (10, 80, 25) if tsq == "TSQ" else (45, 45, 30 + STATIC[tsq])
    if qdisc == "fq_codel":
        ping = 8 if cc == "bbr" else 15
        if tsq == "TSQ":
            return 20, 60, ping
        return (30, 50, ping + 9) if cc == "bbr" else (45, 45, ping + 9)
    up, down = (78, 15) if cc in UNFAIR else (30, 45) if cc == "bbr" else (46, 44)
    return up, down, {"bbr": 25, "newvegas": 40, "yeah": 80, "cubic": 200}.get(cc, 120)


def downloads(where: Where) -> tuple[float, float, float]:
    four, qdisc = where["test"] == "4down", where["qdisc"]
    ping = {"pie": 70 if four else 60, "fifo": 60, "pfifo": 90 if four else 80}
    return 0, 96 if qdisc in ("codel", "sfq", "fq_codel") else 94, ping.get(qdisc, 25)


CELLS = {"1up": with_one_flow, "4up": with_four_flows, "rrul": both_ways, "1down": downloads, "4down": downloads}


def measurer(name: str) -> Measurer:
    """An experiment whose cells are as the paper has them."""

    def result(where: Where) -> Result:
        made = run(*CELLS[where["test"]](where))
        return Result({"version": "0", "scenario": "made", "runs": [made]}, resolved="{}")

    own = PLAN.experiments[name]
    outcomes = {c.id: Outcome("", {cell.name: result(cell.where) for cell in c.cells}) for c in own.campaigns}
    return Measurer(EXPERIMENTS[name], PLAN, outcomes)


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if PLAN.experiments[name].campaigns])
def test_the_papers_numbers_hold_its_claims(name: str) -> None:
    of = measurer(name)
    said = {claim.id: judge.judge(claim, of.cells(claim)).verdict for claim in of.experiment.claims}
    wanted = {c.id: judge.NOT_JUDGED if judge.unjudged(c) else judge.REPRODUCED for c in of.experiment.claims}
    assert said == wanted


def test_every_setting_of_the_paper_has_its_cell() -> None:
    cells = {name: sum(len(c.cells) for c in own.campaigns) for name, own in PLAN.experiments.items()}
    assert [cells[f"fig{n}-{rest}"] for n, rest in ((3, "cc-1up"), (8, "qdisc-1up"), (9, "tsq-1up"))] == [10, 7, 10]
    assert cells["fig12-adv-1up-ping"] == 10


def test_only_the_load_is_measured() -> None:
    made = Result({"version": "0", "scenario": "made", "runs": [run(40, 10, 7)]}, resolved="{}")
    of = lambda what, statistic="mean": samples.of_run(made, made.runs[0], what, statistic)  # noqa: E731
    whats = ("tcp_mbps", "up_mbps", "down_mbps", "lead_mbps", "gap_mbps")
    assert [of(what) for what in whats] == [pytest.approx(value) for value in (50, 40, 10, -30, 30)]
    assert (of("ping_ms"), of("ping_ms", "p90")) == (pytest.approx(7), pytest.approx(7))


@pytest.mark.parametrize("name", ["fig3-cc-1up", "fig5-cc-rrul", "fig12-adv-1up-ping", "fig7-qdisc-4down"])
def test_figures_as_text_and_as_pictures(name: str) -> None:
    of = measurer(name)
    artefact = drawing(of)
    text = artefact.text(of)
    word = "qdisc" if "qdisc" in name else "cc"
    cells = [cell for campaign in of.own.campaigns[:1] for cell in campaign.cells]
    assert all(cell.where[word] in text for cell in cells)
    assert len(style.save(artefact.picture(of), "png")) > 10_000


def test_points_show_both_directions_of_rrul() -> None:
    of = measurer("fig5-cc-rrul")
    row = next(line for line in drawing(of).text(of).splitlines() if "bbr" in line)
    assert [word for word in row.split() if "." in word][:2] == ["30.00", "45.00"]


@pytest.mark.parametrize("word", ["cc", "tsq"])
def test_no_two_of_ten_points_look_alike(word: str) -> None:
    points = tagged.read("figure", gallery.KINDS, PLAN.figures["goodput-ping"])
    assert isinstance(points, Points)
    looks = [points._look(word, place, 10) for place in range(10)]
    assert len({marker for _, marker in looks}) == len(set(looks)) == 10
    # Limits rise, and so no two of them share a colour.
    assert word == "cc" or len({colour for colour, _ in looks}) == 10


def test_limits_with_the_same_point_share_it() -> None:
    of = measurer("fig9-tsq-1up")
    legend = drawing(of).picture(of).axes[0].get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    # The figures above have 5MB, 10MB and no small queues alike.
    assert "5MB, 10MB, NoTSQ" in names
    assert len({name for joined in names for name in joined.split(", ")}) == 10
