"""Outputs of a station: power save, transmit power and thresholds of iwconfig and iw."""

import pytest

from importing import HE11, Importer

IWCONFIG = """lo        no wireless extensions.

wlp2s0    IEEE 802.11  ESSID:"home"
          Mode:Managed  Frequency:5.18 GHz  Access Point: 02:00:00:00:00:61
          Bit Rate=866.7 Mb/s   Tx-Power=22 dBm
          Retry short limit:7   RTS thr:off   Fragment thr:off
          Power Management:on
          Link Quality=60/70  Signal level=-50 dBm
          Rx invalid nwid:0  Rx invalid crypt:0  Rx invalid frag:0
          Tx excessive retries:0  Invalid misc:12   Missed beacon:0
"""
LINK = f"Connected to 02:00:00:00:00:61 (on wlp2s0)\n\tfreq: 5220\n\tsignal: -48 dBm\n\ttx bitrate: {HE11}\n"


@pytest.mark.parametrize(
    ("driver", "preset", "why"),
    [
        ("iwlwifi", "iwlwifi", "driver iwlwifi"),
        ("ath10k_pci", "ath10k", "driver ath10k_pci"),
        ("ath11k_pci", "ath10k", "driver ath11k_pci"),
        ("brcmfmac", "brcmfmac", "driver brcmfmac"),
        ("mt7921e", "mac80211", "guess: the driver is unknown or has no preset"),
        ("", "mac80211", "guess: the driver is unknown"),
    ],
)
def test_power_management_is_power_save(importer: Importer, driver: str, preset: str, why: str) -> None:
    ethtool = {"ethtool": f"driver: {driver}\nversion: 6.8\n"} if driver else {}
    made = importer.made(x=IWCONFIG, **ethtool)
    assert made.stations[0]["power_save"] == preset
    assert f"x:3: on; {why}" in made.text
    assert "power_save" not in importer.made(x=IWCONFIG.replace("ment:on", "ment:off"), **ethtool).stations[0]


def test_iw_s_power_save(importer: Importer) -> None:
    for text in (
        f"$ iw dev wlp2s0 link\n{LINK}$ iw dev wlp2s0 get power_save\nPower save: on\n",
        f"{LINK}\nPower save: on\n",
    ):
        assert importer.made(x=text).stations[0]["power_save"] == "mac80211"
    assert "power_save" not in importer.made(x=LINK, y="Power save: off\n").stations[0]
    assert "found nothing to make a scenario from" in importer.refused(y="Power save: on\n")


def test_thresholds_and_power_of_iwconfig(importer: Importer) -> None:
    made = importer.made(x=IWCONFIG.replace("RTS thr:off", "RTS thr=500 B"))
    assert "x:3: RTS thr 500 B." in made.left
    assert "x:3: txpower 22 dBm: already included in the stations' signal levels." in made.left


def test_power_save_of_an_access_point_is_left_out(importer: Importer) -> None:
    text = "wlan0     IEEE 802.11  Mode:Master  Tx-Power=20 dBm\n          Power Management:on\n"
    assert "x:1: power save of an access point." in importer.made(x=text).left
