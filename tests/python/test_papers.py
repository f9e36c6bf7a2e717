"""Inventories, plans, and from runs to measurements."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stillair import InputError, Result, Scenario
from stillair.runs import bundled
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.anomaly import replies
from stillair_lab.papers.artefacts.gallery import ARTEFACTS
from stillair_lab.papers.claims import judge
from stillair_lab.papers.claims.inventory import Claim, Experiment, experiments, papers
from stillair_lab.papers.measure import table1_model
from stillair_lab.papers.measure.anomaly_model import Station, data_time_us
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.pages import registry, report
from stillair_lab.papers.runs import campaign, plan
from stillair_lab.papers.runs.campaign import Outcome

ANOMALY = plan.plan("ending-the-anomaly")
RESULTS = Path(__file__).resolve().parents[2] / "lab" / "results"
UDP = ANOMALY.experiments["table1-model-udp"].campaigns[0]


def experiment(name: str) -> Experiment:
    return next(e for e in experiments() if e.name == f"ending-the-anomaly/{name}")


def claim(name: str) -> Claim:
    return next(claim for e in experiments() for claim in e.claims if claim.id == name)


def as_printed(scheme: str, runs: tuple[float, ...] = (0.0,)) -> Result:
    """The result that a testbed with the paper's own numbers would give, each run off by something."""
    printed = experiment("table1-model-udp").printed()

    def station(name: str, off: float) -> dict[str, float | None]:
        return {
            "goodput_mbps": printed[scheme, name, "measured UDP throughput"] + off,
            "mean_aggregate": printed[scheme, name, "mean aggregate size"] + off,
            "airtime_share": printed[scheme, name, "airtime share T(i)"] / 100,
            "ping_median_ms": 10.0,
        }

    made = [
        {
            "run": number,
            "seed": 1,
            "trace_hash": "0",
            "goodput_total_mbps": printed[scheme, "total", "measured UDP throughput"] + off,
            "jain_airtime": 1.0,
            "stations": {name: station(name, off) for name in table1_model.STATIONS},
            "drops": [],
        }
        for number, off in enumerate(runs)
    ]
    return Result({"version": "0", "scenario": "as printed", "runs": made})


def test_cells_begin_with_the_settings_that_their_campaign_shares() -> None:
    table = {
        "settings": {"radio": {"a": "1", "b": "1"}},
        "axis": {"kinds": {"word": "kind", "values": {"x": {"b": "2"}}}},
        "campaign": {
            "given": {"scenario": "s", "settings": "radio", "cell": [{"name": "one", "set": {"c": "3"}}]},
            "crossed": {"scenario": "s", "settings": "radio", "axes": ["kinds"]},
            "other": {"scenario": "s", "cell": [{"name": "one", "set": {"c": "3"}}]},
        },
        "experiment": {"e": {"campaigns": ["given", "crossed", "other"]}},
    }
    given, crossed, other = plan.read("p", table).experiments["e"].campaigns
    assert given.cells[0].overrides == {"a": "1", "b": "1", "c": "3"}
    assert crossed.cells[0].overrides == {"a": "1", "b": "2"}
    assert other.cells[0].overrides == {"c": "3"}


def test_other_settings_make_a_plan_beside_the_own_one() -> None:
    table = {
        "settings": {"radio": {"a": "1", "b": "1"}},
        "alternatives": {"own_name": "near", "others": {"far": {"radio": {"a": "2"}}}},
        "campaign": {
            "open": {
                "scenario": "s",
                "settings": "radio",
                "cell": [
                    {"name": "one", "where": {"kind": "x"}, "set": {"c": "3"}},
                    # No claim speaks of it: it is shown once.
                    {"name": "beside", "set": {"c": "4"}},
                ],
            },
            "closed": {"scenario": "s", "cell": [{"name": "one", "where": {"kind": "y"}, "set": {}}]},
        },
        "experiment": {"e": {"campaigns": ["open", "closed"]}, "f": {"campaigns": ["closed"]}},
    }
    own = plan.read("p", table)
    assert (own.name, list(own.others)) == ("near", ["far"])
    far, same = own.others["far"].experiments["e"].campaigns
    assert [(cell.name, cell.overrides) for cell in far.cells] == [("one", {"a": "2", "c": "3"})]
    assert (far.under, far.id) == ("far", "open")
    # What has no such settings is run once, for both.
    assert same is own.experiments["e"].campaigns[1] is own.others["far"].experiments["f"].campaigns[0]
    table["alternatives"] = {"own_name": "near", "others": {"far": {"wires": {"a": "2"}}}}
    with pytest.raises(ValueError, match="alternatives: far: no campaign has the settings wires"):
        plan.read("p", table)


def test_three_stations_share_their_settings_and_thirty_have_their_own() -> None:
    campaigns = {one.scenario: one.settings for e in ANOMALY.experiments.values() for one in e.campaigns}
    assert campaigns.pop("anomaly-thirty") == ""
    assert set(campaigns.values()) == {"three stations"}


def measurer(name: str, **results: Result) -> Measurer:
    cells = {
        cell.name: as_printed("airtime" if cell.name.startswith(("airtime", "fq_mac")) else "fifo")
        for cell in UDP.cells
    }
    return Measurer(experiment(name), ANOMALY, {"udp": Outcome("", cells | results)})


def verdict(of: Measurer, name: str) -> str:
    return judge.judge(claim(name), of.cells(claim(name))).verdict


def test_every_claim_of_the_five_papers_loads() -> None:
    counts = Counter(e.paper for e in experiments() for _ in e.claims)
    assert counts == {
        "bquic": 83, "ending-the-anomaly": 119, "retry-out": 24, "towards-1ms": 72, "tsq-pacing": 32,
    }  # fmt: skip
    assert counts.total() == 330
    ids = [claim.id for e in experiments() for claim in e.claims]
    assert len(ids) == len(set(ids))


def test_what_a_paper_leaves_open_comes_with_each_experiment() -> None:
    open_ = {setting.setting: setting.take for setting in experiment("table1-model-udp").unstated}
    assert open_["airtime quantum"] == "300 us"
    assert open_["UDP rate"] == "100 Mbit/s offered to each station"


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.short)
def test_every_experiment_runs_or_says_what_it_needs(paper: Any) -> None:  # noqa: ANN401
    planned = plan.plan(paper.short)
    assert planned.experiments.keys() == {e.id for e in paper.experiments}
    for one in paper.experiments:
        own = planned.experiments[one.id]
        if not one.claims:
            continue
        assert [bool(own.needs), bool(own.campaigns), own.worked is not None].count(True) == 1, one.name
        assert own.needs or own.draws in {**ARTEFACTS, **planned.figures}
        for said in one.claims:
            if own.campaigns and not judge.unjudged(said):
                assert said.metric in planned.metrics, said.id


def test_a_campaign_whose_scenario_cannot_be_read_says_why_it_is_not_run() -> None:
    for own in {own for e in registry.entries() for own in e.plan.campaigns}:
        lacks = campaign.prepare(own)
        # What cannot be read may be in the scenario or in what a cell sets.
        begins = tuple(f"needs {own.needs} ({where}" for where in (f"{own.scenario}.toml:", "--set: "))
        assert not lacks or (lacks.startswith(begins) and own.needs)


def test_without_a_word_on_what_it_needs_an_unreadable_scenario_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "scenario", lambda _: Scenario({"frobnicate": 1}))
    with pytest.raises(InputError, match=r"node\.fast1: found no such name"):
        campaign.prepare(UDP)


def test_the_list_says_what_each_experiment_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    status = {entry.experiment.name: entry.status for entry in registry.entries()}
    assert status["ending-the-anomaly/table1-model-udp"] == "yes"
    assert status["ending-the-anomaly/fig6-jain"] == "yes"
    assert status["bquic/table3-lab"] == "yes"
    assert status["towards-1ms/table1-parameters"] == "nothing to run"
    assert status["ending-the-anomaly/fig8-sparse"] == "yes"
    (sparse,) = registry.find("ending-the-anomaly/fig8")
    campaigns = tuple(replace(own, needs="a virtual station") for own in sparse.plan.campaigns)
    monkeypatch.setattr(campaign, "prepare", lambda own: f"needs {own.needs} (...)")
    waiting = replace(sparse, plan=replace(sparse.plan, campaigns=campaigns))
    assert waiting.status == "needs a virtual station"


def short(name: str) -> tuple[list[registry.Entry], report.Report]:
    wanted = registry.find(name)
    brief = [("duration", "7 s")]
    return wanted, report.run(wanted, report.prepare(wanted), runs=2, extra=brief)


def test_figure_8_has_both_traffics() -> None:
    wanted, made = short("ending-the-anomaly/fig8")
    (row,) = made.rows()
    assert [cell["cell"] for cell in row["cells"]] == ["traffic UDP down", "traffic TCP down"]
    for cell in row["cells"]:
        assert -100 < cell["measured"] < 100
        assert cell["low"] <= cell["measured"] <= cell["high"]
    assert "optimised" in report.text(made)
    assert style.save(ARTEFACTS["sparse"].picture(made.measurer(wanted[0])), "svg").startswith(b"<?xml")


def test_one_run_has_no_interval() -> None:
    brief = [("duration", "3 s"), ("warm_up", "1 s")]
    wanted = registry.find("ending-the-anomaly/table1")
    found = {}
    for runs in (1, 2):
        rows = report.run(wanted, report.prepare(wanted), runs=runs, extra=brief).rows()
        found[runs] = next(row for row in rows if row["id"] == "eta-t1-airtime-fast1-aggr")
    one, two = found[1], found[2]
    assert (one["measured"] > 0, one["low"], one["high"]) == (True, None, None)
    assert two["low"] < two["measured"] < two["high"]


def test_the_latency_of_a_class_is_that_of_its_replies() -> None:
    (entry,), made = short("ending-the-anomaly/fig4")
    of = made.measurer(entry)
    slow = replies.round_trips(of, "fifo", "slow")
    fast = replies.round_trips(of, "fifo", "fast")
    # A reply each 0.2 s of two runs of 2 s, to one station and to two, but for those still on their way.
    assert 0 < len(slow) <= 22
    assert 0 < len(fast) <= 44
    assert sorted(slow + fast) == sorted(replies.round_trips(of, "fifo", ""))
    rows = {row["id"]: row for row in made.rows()}
    run = of.result({"scheme": "fq_codel"}).runs
    assert rows["eta-f4-fqcodel-slow"]["measured"] == pytest.approx(
        sum(one["stations"]["slow"]["ping_median_ms"] for one in run) / len(run)
    )
    for name in ("latency", "latency-all"):
        assert style.save(ARTEFACTS[name].picture(of), "svg").startswith(b"<?xml")
    text = ARTEFACTS["latency"].text(of)
    assert [line.split(",")[0] for line in text.splitlines()[3:11:2]] == [
        "FIFO",
        "FQ-CoDel",
        "FQ-MAC",
        "Airtime fair FQ",
    ]


def test_the_headline_is_of_three_traffics() -> None:
    (entry,), made = short("ending-the-anomaly/headline")
    rows = {row["id"]: row for row in made.rows()}
    assert [cell["cell"] for cell in rows["eta-head-fair"]["cells"]] == [
        "traffic UDP down", "traffic TCP down", "traffic TCP up and down",
    ]  # fmt: skip
    assert len(rows["eta-head-latency"]["cells"]) == 2
    text = report.text(made)
    assert "TCP up and down, Airtime fair FQ" in text
    assert style.save(ARTEFACTS["headline"].picture(made.measurer(entry)), "svg").startswith(b"<?xml")


def test_table_2_is_of_sixteen_calls() -> None:
    (entry,), made = short("ending-the-anomaly/table2")
    rows = {row["id"]: row for row in made.rows()}
    assert all(row["measured"] is not None for row in rows.values())
    of = made.measurer(entry)
    best = of.of_cell({"scheme": "airtime", "qos": "VO", "baseline_ms": 5}, "MOS")
    assert best
    assert rows["eta-t2-airtime-VO-5-mos"]["measured"] == best.mean > 4.35
    # Over both schemes and both baselines: the gain of VO over BE.
    be = of.of_cell({"scheme": "airtime", "qos": "BE", "baseline_ms": 5}, "MOS")
    assert be
    gains = {cell["cell"]: cell["measured"] for cell in rows["eta-t2-half-percent"]["cells"]}
    assert gains["baseline_ms 5, scheme airtime"] == pytest.approx(100 * (best.mean / be.mean - 1))
    assert set(rows["eta-t2-be-beats-vo"]["members"]) == {"fifo VO", "fq_codel VO", "fq_mac BE", "airtime BE"}
    said = [line.split()[-1] for line in ARTEFACTS["voip"].text(of).splitlines() if "VO" in line]
    # The paper's last column, then our losses.
    assert said[:4] == ["21.6", "15.2", "28.5", "49.8"]
    assert style.save(ARTEFACTS["voip"].picture(of), "svg").startswith(b"<?xml")


def test_figure_11_is_of_two_pages_and_the_reverse_of_the_slow_station() -> None:
    (entry,), made = short("ending-the-anomaly/fig11")
    of = made.measurer(entry)
    client = of.result({"scheme": "airtime", "page": "small"}).runs[0]["web"]["page.server"]
    assert 10 < client["loads"] < 60
    assert 0.02 < client["mean_s"] < 0.2
    rows = {row["id"]: row for row in made.rows()}
    assert [cell["cell"] for cell in rows["eta-f11-magnitude"]["cells"]] == ["page small", "page large"]
    assert style.save(ARTEFACTS["web"].picture(of), "svg").startswith(b"<?xml")
    assert "small page s" in ARTEFACTS["web"].text(of)
    (slow,), reverse = short("ending-the-anomaly/appendix-web")
    result = reverse.measurer(slow).result({"scheme": "fq_mac", "page": "small"})
    assert list(result.runs[0]["flows"]) == ["down.fast1", "down.fast2"]
    (row,) = reverse.rows()
    times = [
        sum(run["page_load_s"] for run in reverse.measurer(slow).result({"scheme": scheme, "page": "small"}).runs)
        for scheme in ("airtime", "fq_mac")
    ]
    assert row["cells"][0]["measured"] == pytest.approx(100 * (times[0] / times[1] - 1))


def test_misses_of_the_kept_results_have_their_causes_beside_them() -> None:
    for kept in sorted(RESULTS.glob("*/claims.json")):
        rows = [row for row in report.read_claims(kept) if row["verdict"] == "not-reproduced"]
        assert [row["id"] for row in rows if not row.get("cause")] == []


def test_the_causes_of_printing_are_as_they_say() -> None:
    table = experiment("table1-model-udp")
    sizes = {name: table.printed()["fifo", name, table1_model.SIZE] for name in table1_model.STATIONS}
    at_printed = table1_model.at(sizes, table, "fifo")["fast2"].rate_mbps
    assert f"{at_printed:.1f}" == "11.3"
    assert f"{table1_model.at(sizes | {'fast2': 5.082}, table, 'fifo')['fast2'].rate_mbps:.1f}" == "11.4"
    # The largest sizes that print as they do do not reach the printed totals.
    for scheme, total in (("fifo", 26.35), ("airtime", 86.75)):
        corners = [
            {
                name: table.printed()[scheme, name, table1_model.SIZE] + off
                for name, off in zip(sizes, offs, strict=True)
            }
            for offs in [(a, b, c) for a in (-0.005, 0.005) for b in (-0.005, 0.005) for c in (-0.005, 0.005)]
        ]
        reached = [
            sum(said.rate_mbps for said in table1_model.at(corner, table, scheme).values()) for corner in corners
        ]
        assert max(reached) < total
    # Rate over size is how often a station sends; times the length of an aggregate, its airtime.
    printed = table.printed()
    airtime = {
        name: printed["fifo", name, "measured UDP throughput"]
        / sizes[name]
        * data_time_us(Station(sizes[name], printed["fifo", name, "PHY rate"]))
        for name in table1_model.STATIONS
    }
    assert 100 * airtime["slow"] / sum(airtime.values()) == pytest.approx(88, abs=0.5)


def test_the_papers_numbers_come_back_as_the_papers_claims() -> None:
    of = measurer("table1-model-udp")
    for said in of.experiment.claims:
        if said.role == "measured":
            (cell,) = of.cells(said)
            assert cell.measured
            assert cell.measured.mean == said.value, said.id
    (factor,) = of.cells(claim("eta-t1-factor"))
    assert factor.measured
    assert factor.measured.mean == pytest.approx(76.4 / 18.7)
    # Of the model's twenty numbers the paper prints three that its formula does not give.
    verdicts = {said.id: verdict(of, said.id) for said in of.experiment.claims if said.role == "model"}
    assert [name for name, was in verdicts.items() if was == "not-reproduced"] == [
        "eta-t1-fifo-fast2-rate", "eta-t1-fifo-total-rate", "eta-t1-airtime-total-rate",
    ]  # fmt: skip
    assert len(verdicts) == 20


def test_the_fifo_block_is_the_median_over_the_repetitions_and_no_other() -> None:
    runs = (0.0, 0.0, 3.0)
    of = measurer("table1-model-udp", fifo=as_printed("fifo", runs), airtime=as_printed("airtime", runs))
    (fifo,), (airtime,) = (of.cells(claim(f"eta-t1-{scheme}-fast1-exp")) for scheme in ("fifo", "airtime"))
    assert fifo.measured
    assert airtime.measured
    assert fifo.measured == (7.1, 7.1, 10.1)
    assert airtime.measured.mean == pytest.approx(39.8)
    figure5 = measurer("fig5-airtime-udp", fifo=as_printed("fifo", runs))
    assert figure5.own.median is None


def test_stations_are_summed_averaged_and_listed_as_the_claims_have_it() -> None:
    of = measurer("fig5-airtime-udp")
    (both,) = of.cells(claim("eta-f5-fast"))
    assert both.measured
    assert both.measured.mean == pytest.approx(21)
    (sizes,) = of.cells(claim("eta-f5-fqmac-aggr"))
    assert sizes.ranked
    assert sizes.ranked["fifo"].mean == pytest.approx((4.47 + 5.08) / 2)
    each = of.cells(claim("eta-f5-airtime"))
    assert [cell.label for cell in each] == ["station fast1", "station fast2", "station slow"]
    assert verdict(of, "eta-f5-slow") == "reproduced"
    # Equal shares under two schemes are no order.
    assert verdict(of, "eta-f5-fqmac") == "not-reproduced"


def test_a_cell_that_was_not_run_leaves_its_claim_open_and_shows_the_other() -> None:
    of = measurer("fig6-jain")
    udp, tcp = of.cells(claim("eta-f6-airtime-uni"))
    assert udp.measured == (1, 1, 1)
    assert tcp.lacks == "not asked to run"
    assert {verdict(of, said.id) for said in of.experiment.claims} == {"not-run"}
    unfair = as_printed("airtime")
    unfair.runs[0]["jain_airtime"] = 0.9
    assert verdict(measurer("fig6-jain", airtime=unfair), "eta-f6-airtime-uni") == "not-reproduced"


def test_a_station_that_sent_nothing_leaves_holes_and_no_error() -> None:
    silent = as_printed("fifo")
    silent.runs[0]["stations"]["slow"] = {"goodput_mbps": None, "mean_aggregate": None, "airtime_share": None}
    of = measurer("table1-model-udp", fifo=silent)
    judged = judge.judge(claim("eta-t1-fifo-slow-aggr"), of.cells(claim("eta-t1-fifo-slow-aggr")))
    assert (judged.verdict, judged.reason) == ("not-judged", "no run measured it")
    text = ARTEFACTS["table1"].text(of)
    assert any(line.split()[:2] == ["slow", "-"] for line in text.splitlines())


def test_ours_stands_before_the_papers() -> None:
    lines = ARTEFACTS["table1"].text(measurer("table1-model-udp")).splitlines()
    assert any(line.split()[:3] == ["fast1", "4.47", "4.47"] for line in lines)
    assert [line.split()[-2:] for line in lines if line.startswith("total")] == [["18.7", "18.7"], ["76.4", "76.4"]]
    assert "slow 80, fast1 + fast2 20" in ARTEFACTS["shares"].text(measurer("fig5-airtime-udp"))


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("ending-the-anomaly/table1-model-udp", ["table1-model-udp"]),
        ("ending-the-anomaly/table1", ["table1-model-udp"]),
        ("ending-the-anomaly/tab", ["table1-model-udp", "table2-voip"]),
        ("ending-the-anomaly/fig1", ["fig1-latency"]),
        ("towards-1ms/fig14a", ["fig14a-adv-rrul-tsq"]),
    ],
)
def test_any_beginning_names_an_experiment(name: str, ids: list[str]) -> None:
    assert [entry.experiment.id for entry in registry.find(name)] == ids


def test_a_paper_alone_names_all_its_experiments() -> None:
    found = [entry.experiment.name for entry in registry.find("ending")]
    assert found == [e.name for e in experiments() if e.paper == "ending-the-anomaly"]
    assert len(registry.find("all")) == len(experiments())
    with pytest.raises(InputError, match="starts with this"):
        registry.find("ending/table1")
