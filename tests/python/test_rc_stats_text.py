import re
from pathlib import Path

from stillair import Scenario
from stillair.text.rc_stats import rc_stats_text

FILE = Path(__file__).parents[2] / "scenarios" / "anomaly-udp.toml"


def test_what_rate_control_knows_of_a_perfect_link() -> None:
    text = re.sub(r", retry_chain = \[.*\]", "", FILE.read_text())
    text = text.replace('rate = "ht20-mcs15-sgi"', 'rate = "minstrel_ht"')
    text = text.replace('rate = "ht20-mcs0-sgi"', 'rate = { kind = "minstrel_ht", streams = 1, short_gi = false }')
    run = Scenario(text).run(overrides={"duration": "6 s"}).runs[0]
    links = run["rc_stats"]
    assert list(links) == [f"ap.wlan0 to {s}.wlan0" for s in ("fast1", "fast2", "slow")] + [
        f"{s}.wlan0 to ap.wlan0" for s in ("fast1", "fast2", "slow")
    ]
    best = {row["best"]: row for row in links["ap.wlan0 to fast1.wlan0"] if row["best"]}
    assert best["A"]["rate"] == "ht20-mcs15-sgi"
    # Nothing is lost but by collisions.
    assert best["A"]["avg_prob_percent"] > 95
    assert best["P"]["rate"] == "ht20-mcs7-sgi"
    assert {row["rate"] for row in links["ap.wlan0 to slow.wlan0"]} == {f"ht20-mcs{n}-lgi" for n in range(8)}
    lines = rc_stats_text(run).splitlines()
    assert lines[0] == "ap.wlan0 to fast1.wlan0"
    assert any(re.match("ht20-mcs15-sgi +A ", line) for line in lines)


def test_rates_of_vht_have_their_names() -> None:
    text = re.sub(r", retry_chain = \[.*\]", "", FILE.read_text())
    text = re.sub(r'rate = "ht20-mcs[0-9]+-sgi"', 'rate = { kind = "minstrel_ht", streams = 2 }', text)
    run = Scenario(text).run(overrides={"duration": "6 s", "channel.wifi.width": "80 MHz"}).runs[0]
    rows = run["rc_stats"]["ap.wlan0 to fast1.wlan0"]
    # MCS 0 to 9 at three widths with two guard intervals and one or two streams, without MCS 9 at 20 MHz.
    assert len(rows) == 12 * 10 - 4
    assert all(row["mode"].startswith("VHT") and row["rate"].startswith("vht") for row in rows)
    best = next(row for row in rows if row["best"].startswith("A"))
    assert (best["mode"], best["rate"]) == ("VHT80/SGI", "vht80-mcs9-nss2-sgi")
    lines = rc_stats_text(run).splitlines()
    assert lines[2].split() == ["rate", "best", "(avg)", "(avg)", "retry", "suc/att", "sum", "suc/att"]
    assert any(line.startswith("vht80-mcs9-nss2-sgi  A ") for line in lines)
    assert max(map(len, lines)) <= 80


def test_fixed_rates_have_nothing_to_show() -> None:
    assert rc_stats_text({"stations": {}}) == "all rates are fixed"
