"""Rates that contradict their own words, and rates that the signal does not support."""

import json

import pytest

from importing import HE11, Importer, station
from stillair.runs.imports import rates


@pytest.mark.parametrize(
    ("text", "name", "doubt"),
    [
        (
            "866.7 MBit/s VHT-MCS 9 40MHz short GI VHT-NSS 2",
            "vht40-mcs9-nss2-sgi",
            "866.7 Mbit/s contradicts MCS 9, 40 MHz, 2 streams, guard interval 0.4 us (400.0 Mbit/s)",
        ),
        (
            "1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 1 HE-GI 0 HE-DCM 0",
            "he80-mcs11-nss1-gi0.8",
            "1200.9 Mbit/s contradicts MCS 11, 80 MHz, 1 stream, guard interval 0.8 us (600.4 Mbit/s)",
        ),
        (
            # 980 x 10 x 5/6 x 2 / 14.4 us
            "1134.2 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0",
            "he80-mcs11-nss2-gi1.6",
            "1134.2 Mbit/s contradicts MCS 11, 80 MHz, 2 streams, guard interval 0.8 us (1201.0 Mbit/s)",
        ),
        (
            "130.0 MBit/s MCS 7 short GI",
            "ht20-mcs7-sgi",
            "130 Mbit/s contradicts MCS 7, 20 MHz, 1 stream, guard interval 0.4 us (72.2 Mbit/s)",
        ),
        (
            "2882.4 MBit/s 80MHz EHT-MCS 13 EHT-NSS 2 EHT-GI 0",
            "he80-mcs11-nss2-gi0.8",
            "2882.4 Mbit/s contradicts MCS 13, 80 MHz, 2 streams, guard interval 0.8 us (1441.2 Mbit/s)",
        ),
    ],
)
def test_mbps_that_contradict_the_mcs(importer: Importer, text: str, name: str, doubt: str) -> None:
    found = rates.told(text)
    assert (found.name, found.doubt) == (name, doubt)
    made = importer.made(x=station(tx=text, signal=None))
    assert f"guess: tx bitrate {text}: {doubt}; {name} is used." in made.text


@pytest.mark.parametrize(
    "text",
    [
        *(HE11, "866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2", "144.4 MBit/s MCS 15 short GI", "54.0 MBit/s"),
        "5764.7 MBit/s 320MHz EHT-MCS 13 EHT-NSS 2 EHT-GI 0",
        # A part of the channel, dual carrier modulation, and MCS 12 of a vendor: 980 x 12 x 3/4 x 2 / 13.6 us.
        "68.8 MBit/s HE-MCS 9 HE-NSS 1 HE-GI 1 HE-DCM 0 HE-RU-ALLOC 2",
        "4.3 MBit/s HE-MCS 0 HE-NSS 1 HE-GI 0 HE-DCM 1",
        "1297.1 MBit/s 80MHz HE-MCS 12 HE-NSS 2 HE-GI 0 HE-DCM 0",
    ],
)
def test_mbps_that_agree_are_not_reported(text: str) -> None:
    assert not rates.told(text).doubt


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("6933.3 MBit/s VHT-MCS 9 160MHz short GI VHT-NSS 8", "vht160-mcs9-nss4-sgi"),
        ("86.7 MBit/s VHT-MCS 9 VHT-NSS 1", "vht20-mcs8-nss1-lgi"),
        ("1297.1 MBit/s 80MHz HE-MCS 12 HE-NSS 2 HE-GI 0 HE-DCM 0", "he80-mcs11-nss2-gi0.8"),
        ("17.2 MBit/s HE-MCS 3 HE-NSS 1 HE-GI 0 HE-DCM 1", "he20-mcs1-nss1-gi0.8"),
        ("22.0 MBit/s", "ofdm-24"),
    ],
)
def test_unmodelled_rates_become_the_nearest(text: str, name: str) -> None:
    found = rates.told(text)
    assert (found.name, found.guessed) == (name, True)


def test_a_rate_of_zero_is_no_rate(importer: Importer) -> None:
    assert rates.told("0.0 MBit/s").name is None
    assert "tx bitrate 0.0 MBit/s: not a rate." in importer.made(x=station(tx="0.0 MBit/s")).text


def test_hostapd_s_rates_of_802_11be_and_contradictions(importer: Importer) -> None:
    text = (
        "02:00:00:00:00:02\nflags=[AUTH][ASSOC]\nsignal=-47\nrx_rate_info=14412 ehtmcs 13 ehtnss 2\n"
        "tx_rate_info=7800 vhtmcs 9 vhtnss 2\n"
    )
    made = importer.made(x=text)
    assert "guess: rx bitrate 1441.2 MBit/s: he80-mcs11-nss2-gi0.8 is used." in made.text
    said = "guess: tx bitrate 780.0 MBit/s: 780 Mbit/s contradicts VHT MCS 9"
    assert said not in made.text  # 780 Mbit/s are MCS 9 with a long guard interval
    made = importer.made(x=text.replace("7800 vhtmcs 9", "7800 vhtmcs 2"))
    assert "contradicts VHT MCS 2; vht80-mcs9-nss2-lgi is used." in made.text


@pytest.mark.parametrize(
    ("rate", "signal", "name"),
    [
        # 23 dB in 20 MHz; a run at this level loses more than 10 % of full frames above MCS 3.
        (HE11, -71, "he80-mcs3-nss2-gi0.8"),
        (HE11, -50, "he80-mcs11-nss2-gi0.8"),
        # Within 8 dB of what the model needs the driver's own choice holds.
        (HE11, -56, "he80-mcs11-nss2-gi0.8"),
        ("1733.3 MBit/s VHT-MCS 9 160MHz short GI VHT-NSS 2", -71, "vht160-mcs2-nss2-sgi"),
        ("54.0 MBit/s", -86, "ofdm-12"),
        (HE11, -93, "he20-mcs0-nss1-gi0.8"),
    ],
)
def test_the_signal_limits_the_rate(importer: Importer, rate: str, signal: int, name: str) -> None:
    made = importer.made(x=station(tx=rate, rx=rate, signal=signal))
    assert made.rates == [(name, name)]
    said = f"guess: a signal-to-noise ratio of {signal + 94} dB does not support the tx bitrate"
    assert (said in made.text) == (name != rates.told(rate).name)


def test_a_signal_that_contradicts_one_rate_limits_both(importer: Importer) -> None:
    # 27 dB: MCS 8 lacks more than 8 dB. MCS 7 lacks less, and is kept if it is the only one.
    words = "{} MBit/s 80MHz HE-MCS {} HE-NSS 2 HE-GI 0 HE-DCM 0"
    seven, eight = words.format("864.8", 7), words.format("960.9", 8)
    assert "contradicts" in importer.made(x=station(tx=eight, rx=eight, signal=-67)).text
    seven, eight = words.format("720.6", 7), words.format("864.7", 8)
    made = importer.made(x=station(tx=seven, rx=eight, signal=-67))
    assert made.rates == [("he80-mcs4-nss2-gi0.8",) * 2]
    made = importer.made(x=station(tx=seven, rx=seven, signal=-67))
    assert made.rates == [("he80-mcs7-nss2-gi0.8",) * 2]


def test_the_signal_limits_each_direction_of_a_list(importer: Importer) -> None:
    fast = {"rate": 1_200_900, "mcs": 11, "nss": 2, "he": True, "mhz": 80, "he_gi": 0, "he_dcm": 0}
    slow = fast | {"rate": 144_100, "mcs": 1}
    rows = [{"mac": "02:00:00:00:00:01", "signal": -71, "noise": -94, "inactive": 10, "rx": slow, "tx": fast}]
    made = importer.made(x=json.dumps({"results": rows}))
    assert made.rates == [("he80-mcs3-nss2-gi0.8", "he80-mcs1-nss2-gi0.8")]
    assert "does not support the tx bitrate he80-mcs11-nss2-gi0.8; he80-mcs3-nss2-gi0.8, the fastest" in made.text
    assert "does not support the rx bitrate" not in made.text
