"""What files say and a scenario does not have is said in its head, and its lines are no longer than a person reads."""

import json
import tomllib
from pathlib import Path

import pytest

from stillair import Scenario
from stillair.__main__ import status

WIRELESS = """
config wifi-device 'radio0'
	option type 'mac80211'
	option channel '1'
	option band '2g'
	option htmode 'HT20'
	option country 'DE'

config wifi-iface 'default_radio0'
	option device 'radio0'
	option mode 'ap'
	option key 'secret'

config wifi-device 'radio1'
	option type 'mac80211'
	option channel '36'
	option band '5g'
	option htmode 'VHT80'
	option beacon_int '200'
	option txpower '20'

config wifi-iface 'default_radio1'
	option device 'radio1'
	option mode 'ap'
	option ssid 'Home'
	option encryption 'psk2'
	option key 'secret'
	option dtim_period '3'

config wifi-iface 'guest'
	option device 'radio1'
	option mode 'ap'
	option key 'secret'
"""
SQM = """
config queue 'wan'
	option enabled '1'
	option interface 'pppoe-wan'
	option download '47500'
	option upload '9500'
	option script 'layer_cake.qos'
	option linklayer 'ethernet'
	option overhead '34'
	option iqdisc_opts 'nat dual-dsthost ingress'
	option eqdisc_opts 'nat dual-srchost ack-filter'
"""
TC = [
    {"kind": "fq_codel", "handle": "0:", "dev": "lan1", "root": True, "options": {"limit": 10240}},
    {"kind": "fq_codel", "handle": "0:", "dev": "lan2", "root": True, "options": {"limit": 10240}},
]


def imported(folder: Path, capsys: pytest.CaptureFixture[str], **files: str) -> str:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert status(["import", *(str(folder / name) for name in files)]) == 0
    # Comments are broken into lines.
    return capsys.readouterr().out.replace("\n#   ", " ")


def test_a_radio_and_options_that_are_not_taken_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = imported(tmp_path, capsys, wireless=WIRELESS)
    left = [line for line in text.splitlines() if line.startswith("# left out:")]
    assert left == [
        "# left out: wireless:2: radio radio0, 2.4 GHz, 20 MHz: a scenario has one channel.",
        "# left out: wireless:22: encryption of default_radio1.",
        "# left out: wireless:30: guest of radio1, mode ap: a scenario has one access point.",
    ]
    assert "secret" not in text
    found = tomllib.loads(text)
    assert found["node"]["ap"]["interface"]["wlan0"]["dtim_period"] == 3
    assert found["channel"]["wifi"]["beacon_interval"] == "204.8 ms"
    assert found["channel"]["wifi"]["tx_power"] == "20 dBm"


def test_a_dtim_period_has_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wireless").write_text(WIRELESS.replace("dtim_period '3'", "dtim_period '300'"), encoding="utf-8")
    assert status(["import", str(tmp_path / "wireless")]) == 2
    says = 'wireless:28: found "dtim_period 300", expected a whole number from 1 to 255'
    assert says in capsys.readouterr().err


def test_disciplines_and_files_that_are_not_taken_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = "config interface 'lan'\n\toption proto 'static'\nconfig interface 'wan'\n"
    text = imported(tmp_path, capsys, tc=json.dumps(TC), network=network, ethtool="Features for lan1:\ntso: on\n")
    assert "# left out: tc: entry 1: fq_codel at lan2." in text
    assert "fq_codel at lan1." not in text
    assert "# left out: network: sections that are not imported: 2 of interface." in text
    assert "# left out: ethtool:1: 1 settings of lan1 that ethtool prints." in text


def test_long_tables_are_sections_and_both_ways_can_be_switched_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sqm").write_text(SQM, encoding="utf-8")
    assert status(["import", str(tmp_path / "sqm")]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 115
    lines = text.splitlines()
    assert 'up = "9500 kbit/s"' in lines
    assert {"[node.ap.interface.eth0.shaper.qdisc]", "[node.ap.interface.eth0.shaper.qdisc_down]"} <= set(lines)
    (said,) = (line for line in text.replace("\n#   ", " ").splitlines() if line.startswith("# Without the shaper"))
    sets = [one.split("=", 1) for one in said.partition("--set '")[2].partition("'")[0].split("; ")]
    eth0 = "node.ap.interface.eth0"
    assert [key for key, _ in sets] == [f"{eth0}.shaper", f"{eth0}.masquerade"]
    run = Scenario(text).run(overrides={"duration": "1.1 s", "warm_up": "1 s", **dict(sets)}).runs[0]
    assert "cake" not in {one["kind"] for one in run["qdiscs"].values()}
