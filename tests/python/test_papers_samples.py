"""Samples in a paper's plan are checked before any run; an unmeasured value is never a number."""

import pytest

from stillair import InputError, Scenario
from stillair.results.statistics import Interval
from stillair.runs import bundled
from stillair_lab.papers.artefacts.kinds import selection
from stillair_lab.papers.claims.inventory import experiments
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.measure.source import Source
from stillair_lab.papers.runs import metrics, sampled
from stillair_lab.papers.runs.plan import plan


@pytest.mark.parametrize(
    ("of", "statistic", "says"),
    [
        ("ping_ns", "p50", 'metric "x": kind "samples": of: found "ping_ns", expected one of srtt_ms, '),
        ("quic.troughput_mbps", "mean", 'of: found "quic.troughput_mbps", expected one of '),
        ("ping_ms", "median", 'statistic: found "median", expected one of mean, p0 to p100 for ping_ms'),
        ("ping_ms", "p101", 'statistic: found "p101"'),
        ("ping_ms", "cycles", 'statistic: found "cycles"'),
        ("lead_mbps", "p50", 'statistic: found "p50", expected one of mean for lead_mbps'),
        ("quic.gaps", "mean", 'statistic: found "mean", expected one of mode1, mode2, cv for quic.gaps'),
        ("quic.throughput_mbps", "p50", 'statistic: found "p50", expected one of mean for quic.throughput_mbps'),
    ],
)
def test_samples_that_no_run_has_are_refused(of: str, statistic: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        metrics.read("x", {"kind": "samples", "of": of, "statistic": statistic})
    assert says in str(error.value)


def test_samples_that_runs_have_are_taken() -> None:
    for of, statistic in (("ping_ms", "p0"), ("ping_ms", "p100"), ("srtt_ms", "dips_s"), ("quic.gaps", "cv")):
        metrics.read("x", {"kind": "samples", "of": of, "statistic": statistic})
    result = Scenario(bundled.scenario("bench/quic").text).run(overrides={"duration": "100 ms"})
    (flow,) = result.runs[0]["quic"].values()
    lists = {"gaps", "throughput_50ms_mbps"}
    reported = {f"quic.{key}" for key in flow.keys() - lists} | {"quic.acks_20ms", "quic.gaps"}
    assert {of for of in sampled.STATISTICS if of.startswith("quic.")} == reported


def test_a_knee_is_unknown_where_a_value_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    own = plan("towards-1ms")
    name, knee = next((n, m) for n, m in own.metrics.items() if isinstance(m, metrics.Knee))
    names = sorted(knee.values, key=knee.values.__getitem__)
    # Best at the last value in each of three runs; the second run lacks the first value, the third all of them.
    rising = {name: [float(n), float(n), None] for n, name in enumerate(names)}
    rising[names[0]][1] = None

    def numbers(_self: Source, _name: str, _metric: object, where: dict[str, str]) -> list[float | None]:
        return rising[where[knee.word]]

    of = Measurer(next(e for e in experiments() if own.experiments.get(e.id)), own, {})
    monkeypatch.setattr(type(of.source), "numbers", numbers)
    best = float(len(names) - 1)
    wanted = next(knee.values[name] for n, name in enumerate(names) if n >= knee.share * best)
    assert of.runs({}, name) == [wanted, None, None]


def test_one_run_has_no_spread() -> None:
    assert selection.with_interval(Interval(1.5, 1.5, 1.5)) == "1.50"
    assert selection.with_interval(Interval(1.5, 1.0, 2.0)) == "1.50 ± 0.50"
    assert selection.with_interval(None) == "-"
