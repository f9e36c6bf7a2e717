"""`explain` names the place and the time of a cause: Wi-Fi outages, modems, shapers, flows that are active."""

import json
from pathlib import Path
from typing import Any

import pytest

from stillair import Scenario
from stillair.__main__ import status
from stillair.explain import advice, changes, effects, findings, losses, outages
from stillair.explain.findings import Finding, Subject

WIFI = """
name = "flat"
duration = "12 s"
warm_up = "1 s"
channel.wifi = { band = "5 GHz", width = "20 MHz" }
link.wire = { rate = "1 Gbit/s", delay = "2 ms" }
node.server = { profile = "linux-6.6", interface.eth0.link = "wire" }
[node.ap]
profile = "linux-6.6"
forward = true
interface.eth0.link = "wire"
interface.wlan0 = { channel = "wifi", role = "ap" }
[node.phone]
profile = "linux-6.6"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", rate = "minstrel_ht", LOSSES }
[[flow]]
kind = "voip"
from = "server"
to = "phone"
[[step]]
at = "5 s"
set = ["node.phone.interface.wlan0.DOWN"]
[[step]]
at = "7 s"
set = ["node.phone.interface.wlan0.UP"]
"""
OUTAGES = [
    ('snr = "30 dB"', "snr=-10 dB", "snr=30 dB"),
    ('distance = "5 m"', "distance=2000 m", "distance=5 m"),
    ("error_rate = 0.1", "error_rate=1", "error_rate=0.1"),
]
LINE = """
name = "line"
duration = "20 s"
warm_up = "1 s"
[link.line]
kind = "access"
rate = { down = "20 Mbit/s", up = "5 Mbit/s" }
delay = "10 ms"
buffer = "256 KiB"
[node.server]
profile = "linux-6.6"
interface.eth0.link = "line"
[node.router]
profile = "linux-6.6"
forward = true
interface.wan.link = "line"
[[flow]]
kind = "tcp"
from = "router"
to = "server"
[[flow]]
kind = "tcp"
name = "late"
from = "router"
to = "server"
start = "15 s"
"""


def wifi(lossy: str, down: str, up: str) -> str:
    return WIFI.replace("LOSSES", lossy).replace("DOWN", down).replace("UP", up)


def explained(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> str:
    file = tmp_path / "network.toml"
    file.write_text(text, encoding="utf-8")
    assert status(["explain", str(file), "--no-try"]) == 0
    return " ".join(capsys.readouterr().out.split())


def followed(text: str) -> list[Subject]:
    scenario = Scenario(text)
    runs = scenario.run(overrides={"record.sojourn": True}).runs
    return findings.subjects(runs, json.loads(scenario.resolve()))


@pytest.mark.parametrize("steps", OUTAGES, ids=["snr", "distance", "error_rate"])
def test_a_wifi_outage_is_the_main_cause(
    tmp_path: Path, steps: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = explained(tmp_path, wifi(*steps), capsys)
    main = "Main cause: outage: nothing gets through between ap.wlan0 and phone.wlan0 from 5 to 7 s (Wi-Fi)."
    assert out.partition(") ")[2].startswith(main)
    assert "Packets that arrive are not late." not in out
    assert out.count("Main cause") == 1


LISTS = [
    'snr = ["30 dB", { at = "5 s", snr = "-10 dB" }, { at = "7 s", snr = "30 dB" }]',
    'distance = ["5 m", { at = "5 s", distance = "2000 m" }, { at = "7 s", distance = "5 m" }]',
]


@pytest.mark.parametrize("losses", LISTS, ids=["snr", "distance"])
def test_a_list_over_time_may_have_an_outage(tmp_path: Path, losses: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = wifi(losses, "", "").partition("[[step]]")[0]
    out = explained(tmp_path, text, capsys)
    assert "Main cause: outage: nothing gets through between ap.wlan0 and phone.wlan0 from 5 to 7 s (Wi-Fi)." in out


def test_a_weak_signal_is_no_outage() -> None:
    scenario = Scenario(wifi('snr = "30 dB"', "snr=8 dB", "snr=30 dB"))
    assert outages.outages(outages.with_wifi(json.loads(scenario.resolve()), scenario, [])) == []


def test_the_report_names_a_wifi_outage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flat.toml").write_text(wifi(*OUTAGES[0]) + "[record]\nsojourn = true\n", encoding="utf-8")
    assert status(["run", "flat.toml", "-o", "kept"]) == 0
    assert status(["report", "kept", "-o", "kept.html"]) == 0
    page = " ".join((tmp_path / "kept.html").read_text(encoding="utf-8").split())
    assert "nothing gets through between ap.wlan0 and phone.wlan0 from 5 to 7 s" in page


def lossless(text: str) -> changes.Change:
    found = changes.of(Finding("retries", "", 50.0, 0.5), json.loads(Scenario(text).resolve()))
    (change,) = (one for one in found if one.words.startswith("no losses on the air"))
    return change


def test_no_losses_clears_every_loss_that_a_setting_can_clear() -> None:
    losses = "error_rate = 0.1, ack_error_rate = 0.2, preamble_loss_rate = 0.3"
    text = wifi(losses, "rate=minstrel_ht", "rate=minstrel_ht")
    change = lossless(text)
    assert change.words == "no losses on the air"
    keys = {key.rpartition(".")[2]: value for key, value in change.overrides}
    assert keys == {"error_rate": "0", "ack_error_rate": "0", "preamble_loss_rate": "0"}
    role = outages.roles(json.loads(Scenario(text).resolve(change.overrides)))["phone.wlan0"]
    assert (role["error_rate"], role["ack_error_rate"], role["preamble_loss_rate"]) == (0, 0, 0)


@pytest.mark.parametrize("steps", OUTAGES, ids=["snr", "distance", "error_rate"])
def test_losses_that_no_setting_clears_are_named(steps: tuple[str, str, str]) -> None:
    laptop = WIFI[WIFI.index("[node.phone]") : WIFI.index("[[flow]]")].replace("phone", "laptop")
    text = wifi(*steps).replace("[[flow]]", laptop.replace("LOSSES", "error_rate = 0.1") + "[[flow]]", 1)
    change = lossless(text)
    assert change.words == (
        "no losses on the air, except those by SNR, trace or step at phone.wlan0, which no setting clears"
    )
    assert {key.rpartition(".")[0] for key, _ in change.overrides} == {"node.laptop.interface.wlan0"}


def test_packets_in_a_modem_are_not_charged_to_tcp_small_queues() -> None:
    found = followed(LINE)
    late = next(one for one in found if one.delays.name == "late.server")
    assert late.late.parts_ms[("socket", "small_queues")] > 0
    assert (late.findings[0].kind, late.findings[0].place, late.findings[0].modem) == ("bloat", "router.wan", "up")
    assert not [one for subject in found for one in subject.findings if one.kind == "tsq"]


def test_a_queue_names_flows_that_were_active() -> None:
    ping = '[[flow]]\nkind = "ping"\nfrom = "router"\nto = "server"\nstop = "14 s"\n'
    line = LINE.replace('kind = "tcp"\nname = "late"', 'kind = "udp"\nrate = "4 Mbit/s"\nname = "late"')
    found = followed(line + ping)
    of = next(one for one in found if one.delays.name == "ping-2.server")
    assert of.findings[0].behind == ("tcp-0.server",)
    # The same flow is named if it starts with the others.
    found = followed(line.replace('start = "15 s"', 'start = "0 s"') + ping)
    of = next(one for one in found if one.delays.name == "ping-2.server")
    assert sorted(of.findings[0].behind) == ["late.server", "tcp-0.server"]


def run_with(calls: float, pings: float, sent: int) -> dict[str, Any]:
    flow = {"protocol": "voip", "goodput_mbps": 0.1, "due": 500, "loss": calls, "lost": round(500 * calls)}
    return {
        "flows": {"call.phone": flow},
        "pings": {"ping.phone": {"sent": sent, "received": 0, "lost": 0, "loss": pings}},
    }


def test_calls_come_before_pings() -> None:
    resolved: dict[str, Any] = {"flows": [], "duration_ns": 10**10}
    found = losses.found([run_with(0.02, 0.5, 100)], resolved)
    assert [one.name for one in found] == ["call.phone", "ping.phone"]
    assert losses.headline(found).startswith("Main problem: call.phone (call) loses 2.0 % of its packets")


def test_few_packets_are_counted_and_not_given_as_a_percentage() -> None:
    resolved: dict[str, Any] = {"flows": [], "duration_ns": 10**10}
    lines = list(losses.lines(losses.found([run_with(0.0, 3 / 7, 7)], resolved), 1))
    assert lines == ["Losses:", "  ping.phone (ping) loses 3 of 7 packets"]
    lines = list(losses.lines(losses.found([run_with(0.0, 0.3, 10)], resolved), 1))
    assert lines[1] == "  ping.phone (ping) loses 30.0 % of its packets"
    figure = effects.Figure("lost", "%", 300 / 7, 0.0, is_better=True, packets=(7, 7))
    assert advice._figure(figure) == "lost 3 of 7 to 0 of 7"


def test_a_figure_of_some_runs_says_so() -> None:
    figure = effects.Figure("p99", "ms", 100.0, 20.0, is_better=True, runs=(45, 300))
    assert advice._figure(figure) == "p99 100 to 20 ms (45 of 300 runs)"
    alive, dead = run_with(0.5, 0.0, 100), dict[str, Any]()
    (lost,) = losses.found([alive, dead], {"flows": [], "duration_ns": 10**10})
    assert losses.headline([lost]).startswith(
        "Main problem: call.phone (call) loses 50.0 % of its packets (1 of 2 runs)"
    )


HOST = """
name = "host"
duration = "8 s"
link.l = { rate = "2 Mbit/s", delay = "20 ms" }
node.a = { profile = "linux-6.12", interface.eth0 = { link = "l", qdisc = QDISC } }
node.b = { profile = "linux-6.12", interface.eth0.link = "l" }
[[flow]]
kind = "ping"
from = "a"
to = "b"
[[flow]]
kind = "voip"
name = "call"
from = "a"
to = "b"
[[flow]]
kind = "udp"
name = "load"
from = "a"
to = "b"
rate = "3 Mbit/s"
stop = "6 s"
"""


def test_a_call_is_the_main_subject_before_a_ping_of_about_the_same_delay() -> None:
    worst = findings.worst(followed(HOST.replace("QDISC", '"pfifo"')))
    assert worst is not None
    assert worst.delays.name == "call.b"
    # The flow that fills the queue has the same ends as the call.
    assert worst.faults[0].behind == ("load.b",)


def test_a_blocking_source_that_stops_never_sent_the_rest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = explained(tmp_path, HOST.replace("QDISC", '"pfifo"'), capsys)
    assert "load.b (UDP) loses " in out
    assert "never sent: its socket was full until it stopped: " in out
    assert "skipped by the sender because" not in out
    assert "they leave out datagrams that the sender skipped or never sent." in out
    assert "is limited by its send buffer, as it offers more than the path carries" in out
    quiet = HOST[: HOST.index('[[flow]]\nkind = "udp"')].replace("QDISC", '"pfifo"')
    assert "Percentiles are of" not in explained(tmp_path, quiet, capsys)


def test_no_qdisc_takes_the_place_of_netem() -> None:
    finding = Finding("bloat", "a.eth0", 900.0, 0.9)
    for qdisc, words in (('"pfifo"', ["a.eth0: qdisc fq_codel"]), ('{ kind = "netem", loss = 0.3 }', [])):
        resolved = json.loads(Scenario(HOST.replace("QDISC", qdisc)).resolve())
        assert [one.words for one in changes.of(finding, resolved)] == words
