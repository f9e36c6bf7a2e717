"""What `stillair tune` gives to be run: on the router alone, with names that a person sets first."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from stillair import Scenario
from stillair.__main__ import status
from stillair.explain.tune import page, space
from stillair.explain.tune.objective import Counted, Measured
from stillair.explain.tune.tune import Confirmed, Robust, Tuned
from stillair.results.statistics import Interval

PROBLEMS = Path(__file__).parent / "tune_problems"
HOME = """
name = "home"
duration = "6 s"
[channel.wifi]
band = "5 GHz"
width = "80 MHz"
[link.wan]
kind = "access"
rate = { down = "50 Mbit/s", up = "10 Mbit/s" }
buffer = "200 ms"
delay = "10 ms"
[node.server]
profile = "linux-6.6"
interface.eth0 = { link = "wan" }
[node.ap]
profile = "openwrt-24.10"
forward = true
interface.eth0 = { link = "wan" }
interface.wlan0 = { channel = "wifi", role = "ap" }
[node.phone]
profile = "linux-6.6"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", snr = "40 dB", rate = { kind = "minstrel_ht", standard = "802.11ac", streams = 1 } }
[[flow]]
kind = "tcp"
from = "phone"
to = "server"
"""  # noqa: E501 - a table on one line


def same(value: float) -> Interval:
    return Interval(value, value, value)


def tuned(scenario: Scenario, words: dict[str, str], robust: Any = ()) -> Tuned:  # noqa: ANN401 - of the same type
    """A search that came to these options, by the names of settings."""
    of = space.of(scenario, [])
    choice = tuple(
        next((at for at, option in enumerate(one.options) if option.words.startswith(words.get(one.name, "-"))), 0)
        for one in of.settings
    )
    assert sum(map(bool, choice)) == len(words), [(one.name, [o.words for o in one.options]) for one in of.settings]
    before, winner = (Confirmed(one, *map(same, (9.0, 9.0, 9.0, 1.0))) for one in (of.nothing(), choice))
    return Tuned("balance", of, before, winner, [], [], robust, [], [], [], 0, 0, Counted())


def test_names_that_no_scenario_knows_are_set_by_who_runs_it(tmp_path: Path) -> None:
    found = tuned(Scenario(HOME), {"shaper": "cake at 95", "width": "40 MHz", "AQL": "AQL of 1"})
    said = page.commands(found)
    lines = said.splitlines()
    for name in ("WAN", "RADIO", "PHY"):
        assert any(line.startswith(f"{name}=  # set it: ") for line in lines), said
    for wrong in ("radio0", "phy0", "interface='eth0'", "True"):
        assert not any(wrong in line for line in lines if not line.startswith(("#", "PHY="))), wrong
    assert "uci set wireless.${RADIO:?}.htmode='VHT40' && uci commit wireless && wifi reload" in lines
    assert "[HT40+] or [HT40-] in ht_capab" in said
    assert "debugfs: lost at a reboot; set it again in /etc/rc.local" in said
    # Run as it is it sets nothing: the first name that is missing ends it.
    log = tmp_path / "log"
    (tmp_path / "uci").write_text(f'#!/bin/sh\necho "$@" >>{log}\n', encoding="utf-8")
    (tmp_path / "uci").chmod(0o755)
    path = {"PATH": f"{tmp_path}:/bin:/usr/bin"}
    done = subprocess.run(["/bin/sh", "-c", said], env=path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "WAN" in done.stderr
    assert not log.exists()


def test_two_radios_have_two_names() -> None:
    text = HOME.replace('interface.wlan0 = { channel = "wifi", role = "ap" }', 'interface.wlan0 = { channel = "wifi",'
        ' role = "ap" }\ninterface.wlan1 = { channel = "slow", role = "ap" }')  # fmt: skip
    text = text.replace("[link.wan]", '[channel.slow]\nband = "2.4 GHz"\nwidth = "20 MHz"\n[link.wan]')
    of = space.of(Scenario(text), [])
    (rts,) = [one for one in of.settings if one.name == "rts_threshold of access points"]
    assert [name.variable for name in rts.options[1].names] == ["PHY_WIFI", "PHY_SLOW", "RADIO_WIFI", "RADIO_SLOW"]
    (width,) = [one for one in of.settings if one.name == "width" and one.where == "wifi"]
    assert "at 5 GHz" in width.options[1].names[0].what


def test_airtime_queue_limits_are_set_at_access_points_alone() -> None:
    of = space.of(Scenario(HOME), [])
    assert [one.hosts for one in of.settings if one.name == "AQL"] == [("ap",)]
    assert of.router == "ap"


def test_commands_of_other_hosts_are_comments() -> None:
    found = tuned(Scenario(HOME), {"rts_threshold of stations": "RTS", "net.ipv4.tcp_ecn": "tcp_ecn 1"})
    lines = page.commands(found).splitlines()
    assert all(line.startswith("#") or not line for line in lines), lines
    at = lines.index("# on phone:")
    assert "#   iw phy phy0 set rts 500" in lines[at:]
    assert "#   sysctl -w net.ipv4.tcp_ecn=1" in lines[at:]
    own = page.commands(tuned(Scenario(PROBLEMS / "hidden-node.toml"), {"rts_threshold of stations": "RTS"}))
    assert all(line.startswith("#") or not line for line in own.splitlines())


@pytest.mark.parametrize(
    ("before", "after", "score", "verdict"),
    [
        ((22.1, 15.4), (41.2, 14.6), -0.6, "worse: later"),
        ((22.1, 15.4), (22.0, 12.6), -0.2, "worse: less goodput"),
        # A longer delay is not called better, whatever the goodput buys.
        ((191.0, 8.0), (204.0, 12.0), 0.3, "later, more goodput"),
        ((191.0, 8.0), (100.0, 8.0), 0.6, "better"),
        ((191.0, 8.0), (160.0, 8.0), 0.2, "better by less"),
        ((191.0, 8.0), (191.0, 8.0), 0.0, "the same"),
    ],
)
def test_a_network_a_little_different_is_compared_with_itself(
    before: tuple[float, float], after: tuple[float, float], score: float, verdict: str
) -> None:
    one, two = (Measured(late, much, much, 0.0) for late, much in (before, after))
    found = tuned(Scenario(HOME), {"width": "40 MHz"}, [Robust("line rate -20 %", one, two, score)])
    assert page._verdict(found.robust[0], found) == verdict
    sentence = "Worse than no change in a slightly different network: line rate -20 %."
    head = " ".join(" ".join(page._head("x", found)).split())
    for place in (head, page.commands(found)):
        assert (sentence in place) == verdict.startswith("worse")


def test_the_command_that_runs_it_names_the_file() -> None:
    found = tuned(Scenario(HOME), {"width": "40 MHz"})
    assert page.run(found, "my home.toml").splitlines()[1:] == [
        "stillair run 'my home.toml' \\",
        "  --set 'channel.wifi.width=40 MHz'",
    ]
    assert "  --set flow.0.start=0s" in page.run(found, "home.toml", (("flow.0.start", "0s"),))


def test_a_small_budget_claims_nothing_of_what_was_not_tried(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["tune", "home", "--budget", "1", "--runs", "3", "--jobs", "1", "--set", "duration=9 s"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Nothing that was tried is better, but only 0 of " in said
    assert "Nothing that can be set here" not in said
