"""Stations whose rate and loss follow a file beside the scenario."""

from pathlib import Path

import pytest

from stillair import InputError, Scenario
from stillair.__main__ import status

SCENARIO = """
name = "walk"
duration = "1 s"

[channel.wifi]
band = "5 GHz"
width = "20 MHz"

[node.ap]
profile = "linux-4.6"
interface.wlan0 = { channel = "wifi", role = "ap", scheme = "fifo", address = "10.0.1.1" }

[node.phone]
profile = "linux-4.6"

[node.phone.interface.wlan0]
channel = "wifi"
role = "station"
ap = "ap.wlan0"
address = "10.0.1.2"
rate = "ht20-mcs7-lgi"
trace = { kind = "rates", file = "walk.csv" }

[[flow]]
kind = "udp"
from = "ap"
to = "phone"
rate = "100 Mbit/s"
"""


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    (tmp_path / "walk.toml").write_text(SCENARIO)
    return tmp_path / "walk.toml"


def test_the_file_lies_beside_the_scenario(walk: Path) -> None:
    walk.with_name("walk.csv").write_text("0,mcs0,0\n")
    slow = Scenario(walk).run().runs[0]["goodput_total_mbps"]
    walk.with_name("walk.csv").write_text("0,mcs7,0\n")
    fast = Scenario(walk).run().runs[0]["goodput_total_mbps"]
    assert 5 < slow < 6.5
    assert 50 < fast < 65


def test_a_bad_line_is_named(walk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walk.with_name("walk.csv").write_text("0,mcs3,0\n# a comment\n0.5,mcs3,20 %\n")
    said = (
        f'{walk}:22: node.phone.interface.wlan0.trace.file: found "20 %" in line 3 of "walk.csv", '
        "expected a share from 0 to 1, such as 0.2"
    )
    with pytest.raises(InputError) as error:
        Scenario(walk).run()
    assert str(error.value) == said
    assert status(["run", str(walk)]) == 2
    assert said in capsys.readouterr().err
