"""Stations of dumps and lists: rates that are no rates of data, meshes, links, and the radio that they are on."""

import json

import pytest

from importing import HE10, HE11, HT15, VHT9, Importer, station
from stillair.runs.imports import rates

HE10_NAME, HE11_NAME = "he80-mcs10-nss2-gi0.8", "he80-mcs11-nss2-gi0.8"
IW_DEV = """phy#0
	Interface phy0-ap0
		ifindex 11
		type AP
		channel 4 (2427 MHz), width: 20 MHz, center1: 2427 MHz
		txpower 18.00 dBm
phy#1
	Interface phy1-ap0
		ifindex 12
		type AP
		channel 104 (5520 MHz), width: 80 MHz, center1: 5530 MHz
		txpower 23.00 dBm
"""


def minstrel(standard: str, streams: int, **more: str) -> dict[str, object]:
    return {"kind": "minstrel_ht", "standard": standard, "streams": streams, **more}


@pytest.mark.parametrize(
    ("tx", "rx", "name", "why"),
    [
        ("6.0 MBit/s", HE10, HE10_NAME, "tx bitrate 6.0 MBit/s is probably from a management or null-data"),
        (HE11, "6.0 MBit/s", HE11_NAME, "rx bitrate 6.0 MBit/s is probably from a management"),
        (HE11, "24.0 MBit/s", HE11_NAME, "rx bitrate 24.0 MBit/s is probably from a management"),
        (HE11, "6.0 MBit/s 80MHz", HE11_NAME, "rx bitrate 6.0 MBit/s 80MHz is probably from a management"),
        (HE11, "1.0 MBit/s", HE11_NAME, "rx bitrate 1.0 MBit/s is probably from a management"),
        (
            "8.6 MBit/s HE-MCS 0 HE-NSS 1 HE-GI 0 HE-DCM 0",
            HE10,
            HE10_NAME,
            "is probably from a single frame: 44 dB allow much more",
        ),
        (
            "4.3 MBit/s HE-MCS 0 HE-NSS 1 HE-GI 0 HE-DCM 1",
            HE10,
            HE10_NAME,
            "is probably from a single frame: 44 dB allow much more",
        ),
    ],
)
def test_the_rate_of_one_frame_is_not_that_of_a_station(
    importer: Importer, tx: str, rx: str, name: str, why: str
) -> None:
    made = importer.made(x=station(tx=tx, rx=rx))
    assert made.rates == [(name, name)]
    assert f"{why}" in made.text
    assert "# guess: tx bitrate" in made.text or "# guess: rx bitrate" in made.text


def test_rates_of_a_far_station_stay(importer: Importer) -> None:
    slow = "36.0 MBit/s 80MHz HE-MCS 0 HE-NSS 1 HE-GI 0 HE-DCM 0"
    made = importer.made(x=station(tx=slow, rx=slow.replace("36.0", "72.1").replace("MCS 0", "MCS 1"), signal=-88))
    assert made.rates == [("he80-mcs0-nss1-gi0.8", "he80-mcs1-nss1-gi0.8")]


def test_an_idle_station_at_a_low_rate_gets_one_by_its_signal(importer: Importer) -> None:
    low = "36.0 MBit/s 80MHz HE-MCS 0 HE-NSS 1 HE-GI 0 HE-DCM 0"
    made = importer.made(x=station(tx=low, rx=low, idle=25_000))
    assert made.rates == [("he80-mcs11-nss1-gi0.8",) * 2]
    assert "is the fastest that works at 44 dB" in made.text
    # While it sends, the driver has a reason for it.
    assert importer.made(x=station(tx=low, rx=low)).rates == [("he80-mcs0-nss1-gi0.8",) * 2]


@pytest.mark.parametrize("signal", [-50, None])
@pytest.mark.parametrize(("tx", "rx"), [("6.0 MBit/s", "6.0 MBit/s"), ("24.0 MBit/s", "6.0 MBit/s")])
def test_two_rates_of_control_frames_name_no_rate(importer: Importer, tx: str, rx: str, signal: int | None) -> None:
    made = importer.made(x=station(tx=tx, rx=rx, signal=signal))
    assert made.stations[0]["rate"] == minstrel("802.11n", 2)
    assert "guess: iw shows only rates of management and control frames" in made.text
    # The others of its network tell its standard.
    made = importer.made(x=station(tx=tx, rx=rx, signal=-70) + station("02:00:00:00:00:02"))
    assert made.stations[0]["rate"] == "he80-mcs3-nss2-gi0.8"


def test_the_width_and_the_band_tell_the_standard_of_such_a_station(importer: Importer) -> None:
    dump = station(tx="6.0 MBit/s", rx="6.0 MBit/s")
    iw = "phy#1\n\tInterface phy1-ap0\n\t\ttype AP\n\t\tchannel {}, width: 80 MHz, center1: 0 MHz\n"
    made = importer.made(x=dump, y=iw.format("36 (5180 MHz)"))
    assert made.stations[0]["rate"] == minstrel("802.11ac", 2)
    made = importer.made(x=dump, y=iw.format("37 (6135 MHz)"))
    assert made.stations[0]["rate"] == "he80-mcs10-nss2-gi0.8"
    assert "guess: iw shows no data rate: he80-mcs10-nss2-gi0.8 is the fastest" in made.text


def test_a_device_of_802_11g_keeps_its_rates(importer: Importer) -> None:
    assert importer.made(x=station(tx="54.0 MBit/s", rx="48.0 MBit/s")).rates == [("ofdm-54", "ofdm-48")]


@pytest.mark.parametrize(
    ("rate", "name"),
    [
        # The words say a long guard interval, the rate a short one.
        ("780.0 MBit/s VHT-MCS 8 80MHz VHT-NSS 2", "vht80-mcs8-nss2-sgi"),
        ("702.0 MBit/s VHT-MCS 8 80MHz VHT-NSS 2", "vht80-mcs8-nss2-lgi"),
        ("1134.2 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0", "he80-mcs11-nss2-gi1.6"),
        ("1733.3 MBit/s VHT-MCS 9 80P80MHz short GI VHT-NSS 2", "vht160-mcs9-nss2-sgi"),
    ],
)
def test_guard_intervals_are_those_of_the_rate(rate: str, name: str) -> None:
    found = rates.told(rate)
    assert (found.name, found.guessed) == (name, False)


def test_a_resource_unit_is_no_channel(importer: Importer) -> None:
    unit = "68.8 MBit/s HE-MCS 9 HE-NSS 1 HE-GI 1 HE-DCM 0 HE-RU-ALLOC 2"
    assert f"guess: tx bitrate {unit}: he20-mcs9-nss1-gi1.6 is used" in importer.made(x=station(tx=unit)).text


def test_lost_packets_are_named(importer: Importer) -> None:
    made = importer.made(x=station(more="\ttx retries:\t90000\n\ttx failed:\t37558\n"))
    assert "tx failed: 37558 of 187789 packets, 20 % were lost after all retries" in made.text
    assert "lost after all retries" not in importer.made(x=station(more="\ttx failed:\t2\n")).text


@pytest.mark.parametrize(
    ("form", "interface"),
    [
        ("\tmesh llid:\t1234\n\tmesh plid:\t4321\n\tmesh plink:\tESTAB\n", "wlan0"),
        ("\tmesh plink:\tBLOCKED\n", "wlan0"),
        ("", "mesh0"),
        ("", "phy1-mesh0"),
    ],
)
def test_mesh_peers_are_no_stations(importer: Importer, form: str, interface: str) -> None:
    peer = station("02:00:00:00:00:09", interface, more=form)
    assert "802.11s mesh is not modelled" in importer.refused(x=peer)
    made = importer.made(x=peer + station())
    assert len(made.stations) == 1
    assert any(one.startswith(f"1 peers of {interface}: 802.11s mesh is not modelled") for one in made.left)


@pytest.mark.parametrize(
    "content",
    [
        "phy#0\n\tInterface wlan0\n\t\ttype mesh point\n\t\tchannel 36 (5180 MHz), width: 80 MHz\n",
        'wlan0     ESSID: "m"\n          Mode: Mesh Point  Channel: 36 (5.180 GHz)\n',
        "Selected interface 'wlan0'\nfreq=5180\nmode=mesh\nwpa_state=COMPLETED\n",
    ],
)
def test_mesh_points_are_no_access_points(importer: Importer, content: str) -> None:
    assert "wlan0, type mesh point: 802.11s mesh is not modelled" in importer.refused(x=content)
    made = importer.refused(x=content, y=station(interface="wlan0"))
    assert "1 peers of wlan0: 802.11s mesh is not modelled" in made


def test_mesh_of_lists(importer: Importer) -> None:
    text = "02:00:00:00:00:01  -61 dBm / -92 dBm (SNR 31)  30 ms ago\n\tRX: 6.0 MBit/s  10 Pkts.\n\tmesh PLINK: ESTAB\n"
    assert "802.11s mesh is not modelled" in importer.refused(x=text)
    one = {"mac": "02:00:00:00:00:01", "signal": -50, "mesh llid": 7, "rx": {"rate": 6000}, "tx": {"rate": 6000}}
    assert "802.11s mesh is not modelled" in importer.refused(x=json.dumps({"results": [one]}))


def test_multi_link_devices(importer: Importer) -> None:
    iw = """phy#0
	Interface ap-mld-1
		ifindex 25
		type AP
		MLD with links:
		- link ID  0 link addr 02:00:00:00:00:92
			channel 36 (5180 MHz), width: 160 MHz, center1: 5250 MHz
		- link ID  1 link addr 02:00:00:00:00:93
			channel 37 (6135 MHz), width: 320 MHz, center1: 6105 MHz
"""
    wide = "5764.7 MBit/s 320MHz EHT-MCS 13 EHT-NSS 2 EHT-GI 0"
    links = "\tLink 0:\n\t\tsignal:  \t-80 dBm\n\t\ttx bitrate: 6.0 MBit/s\n"
    dump = station(interface="ap-mld-1", tx=wide, rx=wide) + links
    made = importer.made(x=iw, y=dump)
    assert (made.channel["band"], made.channel["width"]) == ("6 GHz", "160 MHz")
    assert made.rates == [("he160-mcs11-nss2-gi0.8",) * 2]
    assert "x:2: multi-link operation is not modelled: only the link at 6135 MHz is used, not 5180 MHz." in made.left
    assert "not modelled: link 0 of a multi-link device (802.11be)." in made.text
    # The rate alone tells the band.
    assert "# guess: a station's rate has 320 MHz, which only 6 GHz has" in importer.made(y=dump).text
    alone = importer.made(x=iw)
    assert "x:2: multi-link operation is not modelled: only the link at 5180 MHz is used, not 6135 MHz." in alone.left


def test_links_of_a_connection(importer: Importer) -> None:
    wide = "5764.7 MBit/s 320MHz EHT-MCS 13 EHT-NSS 2 EHT-GI 0"
    made = importer.made(
        x="Connected to 02:00:00:00:00:61 (on wlan0)\n\tfreq: 5220.0\n\tsignal: -48 dBm\n"
        f"\trx bitrate: {wide}\n\ttx bitrate: {wide}\n\tMLD 02:00:00:00:00:60 stats:\n"
        "\tLink 1 BSSID 02:00:00:00:00:62\n\t\tfreq: 6135.0\n"
    )
    assert made.channel["band"] == "6 GHz"
    assert "guess: all traffic uses the link at 6135 MHz, none uses 5220 MHz." in made.text


def test_a_link_tells_the_dtim_period_and_turns_the_rates(importer: Importer) -> None:
    made = importer.made(
        x="Connected to 02:00:00:00:00:61 (on wlp2s0)\n\tfreq: 5220\n\tsignal: -48 dBm\n"
        f"\trx bitrate: {HE10}\n\ttx bitrate: {HE11}\n\tdtim period:\t3\n\tbeacon int:\t100\n"
    )
    assert made.ap["dtim_period"] == 3
    assert made.rates == [(HE10_NAME, HE11_NAME)]


@pytest.mark.parametrize(
    ("channel", "band", "width", "told"),
    [
        (
            "36 (5180 MHz), width: 80+80 MHz, center1: 5210 MHz, center2: 5775 MHz",
            "5",
            160,
            "80+80 MHz is not modelled",
        ),
        ("37 (6135 MHz), width: 320 MHz, center1: 6105 MHz", "6", 160, "320 MHz is not modelled: 160 MHz is used"),
        ("36 (5180 MHz), width: 10 MHz, center1: 5180 MHz", "5", 20, "10 MHz is not modelled: 20 MHz is used"),
        ("1 (2412 MHz), width: 20 MHz (no HT), center1: 2412 MHz", "2.4", 20, ""),
        ("1 (5955 MHz), width: 80 MHz, center1: 5985 MHz", "6", 80, ""),
        ("2 (5935 MHz), width: 20 MHz, center1: 5935 MHz", "6", 20, ""),
        ("177 (5885 MHz), width: 20 MHz, center1: 5885 MHz", "5", 20, ""),
    ],
)
def test_widths_and_bands(importer: Importer, channel: str, band: str, width: int, told: str) -> None:
    made = importer.made(x=f"phy#0\n\tInterface wlan0\n\t\ttype AP\n\t\tchannel {channel}\n\t\ttxpower 20.00 dBm\n")
    assert (made.channel["band"], made.channel["width"]) == (f"{band} GHz", f"{width} MHz")
    assert made.channel["tx_power"] == "20 dBm"
    assert [told in one for one in made.left] == ([True] if told else [])


@pytest.mark.parametrize("mhz", [58320, 902])
def test_other_bands_are_refused(importer: Importer, mhz: int) -> None:
    text = f"phy#0\n\tInterface wlan0\n\t\ttype AP\n\t\tchannel 1 ({mhz} MHz), width: 20 MHz\n"
    assert f"wlan0, {mhz} MHz: only 2.4, 5 and 6 GHz are modelled" in importer.refused(x=text)


@pytest.mark.parametrize(
    "content",
    [
        "phy#0\n\tInterface wlan0\n\t\ttype managed\n\t\ttxpower 0.00 dBm\n",
        "wlan0     ESSID: unknown\n          Mode: Client  Channel: unknown (unknown)\n",
        "Selected interface 'wlan0'\nwpa_state=SCANNING\naddress=02:00:00:00:00:61\n",
        "wlan0     IEEE 802.11  ESSID:off/any\n          Mode:Managed  Access Point: Not-Associated\n",
    ],
)
def test_an_interface_without_a_connection_is_refused(importer: Importer, content: str) -> None:
    assert "not connected" in importer.refused(x=content)


WIRELESS = """config wifi-device 'radio0'
	option band '2g'
	option channel '4'
	option htmode 'HT40'
config wifi-iface 'default_radio0'
	option device 'radio0'
	option mode 'ap'
config wifi-device 'radio1'
	option band '5g'
	option channel '104'
	option htmode 'HE160'
config wifi-iface 'default_radio1'
	option device 'radio1'
	option mode 'ap'
	option dtim_period '3'
"""


@pytest.mark.parametrize(
    ("interface", "tx", "band", "told"),
    [
        ("phy0-ap0", HT15, "2.4 GHz", "guess: phy0-ap0 is assumed to be radio0, by its number"),
        ("wlan0", HT15, "2.4 GHz", "guess: wlan0 is assumed to be radio0, by its number"),
        ("phy1-ap0", HT15, "5 GHz", "guess: phy1-ap0 is assumed to be radio1, by its number"),
        # What a radio cannot send counts more than numbers.
        ("wlan0", HE11, "5 GHz", "guess: only radio1 supports the station rates of wlan0"),
        ("phy0-ap0", VHT9, "5 GHz", "guess: only radio1 supports the station rates of phy0-ap0"),
        ("phy1-ap0", "11.0 MBit/s", "2.4 GHz", "guess: only radio0 supports the station rates of phy1-ap0"),
        ("ra0", HT15, "5 GHz", "guess: the radio of ra0 is unknown; 'iw dev' shows it"),
    ],
)
def test_the_radio_of_an_interface(importer: Importer, interface: str, tx: str, band: str, told: str) -> None:
    made = importer.made(x=station(interface=interface, tx=tx, rx=tx), wireless=WIRELESS)
    assert made.channel["band"] == band
    assert told in made.text
    assert "guess: which radio" in made.text
    assert ("dtim_period" in made.ap) == (band == "5 GHz")


def test_iw_dev_tells_the_radio(importer: Importer) -> None:
    for interface, tx, band in (("phy0-ap0", HT15, "2.4 GHz"), ("phy1-ap0", HE11, "5 GHz")):
        made = importer.made(x=station(interface=interface, tx=tx, rx=tx), iw=IW_DEV, wireless=WIRELESS)
        assert made.channel["band"] == band
        assert "which radio" not in made.text


def test_stations_that_no_radio_can_have(importer: Importer) -> None:
    off = WIRELESS.replace("	option htmode 'HE160'\n", "	option htmode 'HE160'\n	option disabled '1'\n")
    made = importer.made(x=station(interface="phy1-ap0"), wireless=off)
    assert made.channel["band"] == "5 GHz"
    assert "guess: no configured radio supports the station rates of phy1-ap0" in made.text
    assert any("radio radio0, 2.4 GHz, 40 MHz: a scenario has one channel" in one for one in made.left)


@pytest.mark.parametrize(
    ("rates", "interface"),
    [("65.0 MBit/s, MCS 7, 20MHz", "phy0-ap0"), ("866.7 MBit/s, VHT-MCS 9, 80MHz, VHT-NSS 2, short GI", "phy1-ap0")],
)
def test_a_list_without_its_interface(importer: Importer, rates: str, interface: str) -> None:
    text = (
        f"02:00:00:00:00:71  -61 dBm / -95 dBm (SNR 34)  30 ms ago\n\tRX: {rates}  10 Pkts.\n\tTX: {rates}  10 Pkts.\n"
    )
    made = importer.made(x=text, iw=IW_DEV)
    assert f"guess: the stations in x belong to {interface}, by their rates (--interface)" in made.text
    assert made.channel["band"] == ("2.4 GHz" if interface == "phy0-ap0" else "5 GHz")
    assert made.stations[0]["snr"] == "34 dB"
    # With its command it has one.
    named = importer.made(x=f"root@x:~# iwinfo {interface} assoclist\n{text}", iw=IW_DEV)
    assert "by their rates" not in named.text
    assert named.channel == made.channel
