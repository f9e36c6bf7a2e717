"""OpenWrt's settings as files, `uci show`, `uci set` and JSON; hostapd, iwinfo and wpa_supplicant beside them."""

import json
from typing import Any

import pytest

from importing import HE10_NAME, HE11_NAME, Importer, cake, station

BE = "802.11be is not modelled: 802.11ax is used"
RADIO0 = {"band": "5g", "channel": "36", "htmode": "HE80"}
RADIO1 = {"band": "2g", "channel": "1", "htmode": "HT20"}


def wireless(radio0: dict[str, str] | None = None, network0: dict[str, str] | None = None, quote: str = "'{}'") -> str:
    """A file with a radio at 5 GHz and one at 2.4 GHz, each with an access point."""
    lines = []
    for name, radio, network in (("radio0", radio0 or {}, network0 or {}), ("radio1", {}, {})):
        options = {"type": "mac80211", **(RADIO0 if name == "radio0" else RADIO1), **radio}
        lines.append(f"config wifi-device {quote.format(name)}")
        lines += [f"\toption {key} {quote.format(value)}" for key, value in options.items()]
        lines += ["", f"config wifi-iface {quote.format(f'default_{name}')}"]
        own = {"device": name, "mode": "ap", "ssid": "x", **network}
        lines += [f"\toption {key} {quote.format(value)}" for key, value in own.items()]
        lines.append("")
    return "\n".join(lines) + "\n"


def sqm(**more: str) -> str:
    """A queue of 85 and 10 Mbit/s."""
    options = {
        "enabled": "1",
        "interface": "wan",
        "download": "85000",
        "upload": "10000",
        "qdisc": "cake",
        "script": "piece_of_cake.qos",
        **more,
    }
    return "config queue 'q'\n" + "".join(f"\toption {key} '{value}'\n" for key, value in options.items())


def shown(text: str, package: str, form: str = "{}.{}{}='{}'") -> str:
    """The same as `uci show` prints it, or as commands that set it."""
    made, name = [], ""
    for line in text.splitlines():
        words = line.replace("'", "").split(None, 2)
        if words[:1] == ["config"]:
            name = words[2]
            made.append(form.format(package, name, "", words[1]))
        elif words:
            made.append(form.format(package, name, f".{words[1]}", words[2]))
    return "\n".join(made) + "\n"


@pytest.mark.parametrize(
    ("value", "is_on"),
    [
        *((one, True) for one in ("1", "true", "on", "yes", "enabled", "TRUE")),
        *((one, False) for one in ("0", "false", "off", "no", "disabled", "", "2", "maybe")),
    ],
)
def test_a_disabled_radio(importer: Importer, value: str, is_on: bool) -> None:
    made = importer.made(wireless=wireless({"disabled": value}))
    assert made.channel["band"] == ("2.4 GHz" if is_on else "5 GHz")
    told = [one for one in made.left if "disabled" in one]
    if is_on:
        assert "wireless:1: radio radio0, 5 GHz, 80 MHz: is disabled." in told
    elif value in ("2", "maybe"):
        assert told == [f"wireless:1: disabled {value} is not a boolean; read as 0."]
    else:
        assert told == []
    assert "wireless:1: radio radio0" in importer.refused(wireless=wireless({"disabled": "1"}).replace("'2g'", "'60g'"))


@pytest.mark.parametrize("value", ["1", "true", "on", "yes"])
def test_an_enabled_shaper(importer: Importer, value: str) -> None:
    made = importer.made(sqm=sqm(enabled=value))
    assert made.wan["shaper"]["down"] == "85000 kbit/s"
    assert ("guess: enabled" in made.text) == (value != "1")


@pytest.mark.parametrize("value", ["0", "false", "off", "no", "2"])
def test_a_shaper_that_is_not_enabled(importer: Importer, value: str) -> None:
    made = importer.made(sqm=sqm(enabled=value))
    assert "shaper" not in made.wan
    assert made.left == ["sqm:1: the shaper at wan is disabled."]


@pytest.mark.parametrize(
    ("htmode", "width", "standard", "told"),
    [
        ("HE160", 160, "he", []),
        ("HE80+80", 160, "he", ["80+80 MHz is not modelled: 160 MHz has the same rates"]),
        ("VHT80+80", 160, "802.11ac", ["80+80 MHz is not modelled: 160 MHz has the same rates"]),
        ("VHT80", 80, "802.11ac", []),
        ("HT40+", 40, "802.11n", []),
        ("NOHT", 20, "802.11n", []),
        ("EHT160", 160, "he", [BE]),
        (
            "EHT320",
            160,
            "he",
            ["802.11be is not modelled: 802.11ax is used", "320 MHz is not modelled: 160 MHz is used"],
        ),
    ],
)
def test_modes(importer: Importer, htmode: str, width: int, standard: str, told: list[str]) -> None:
    band = {"band": "6g", "channel": "37"} if htmode == "EHT320" else {}
    made = importer.made(wireless=wireless({"htmode": htmode, **band}))
    assert made.channel["width"] == f"{width} MHz"
    assert made.channel["band"] == ("6 GHz" if band else "5 GHz")
    rate = made.stations[0]["rate"]
    assert (rate[:2] if isinstance(rate, str) else rate["standard"]) == standard
    assert made.left[:-1] == [f"wireless:1: {one}." for one in told]
    assert 'found "htmode VHT80_80", expected a mode' in importer.refused(wireless=wireless({"htmode": "VHT80_80"}))


@pytest.mark.parametrize("quote", ["'{}'", '"{}"', "{}", "\u2018{}\u2019", "\u2019{}\u2019", "\u201c{}\u201d"])
def test_quotation_marks(importer: Importer, quote: str) -> None:
    made = importer.made(wireless=wireless({"rts": "500"}, {"dtim_period": "3"}, quote))
    assert (made.ap["rts_threshold"], made.ap["dtim_period"]) == (500, 3)
    assert made.channel["width"] == "80 MHz"


@pytest.mark.parametrize(
    "form",
    [
        *("{}.{}{}='{}'", "{}.{}{}={}", "uci set {}.{}{}='{}'", "uci -q set {}.{}{}='{}'", "set {}.{}{}='{}'"),
        "root@OpenWrt:~# uci set {}.{}{}='{}'",
    ],
)
def test_uci_show_and_uci_set(importer: Importer, form: str) -> None:
    text = wireless({"rts": "500"}, {"dtim_period": "3"}) + sqm(linklayer="ethernet", overhead="44")
    plain = importer.made(x=text)
    parts = text.partition("config queue")
    made = importer.made(x=shown(parts[0], "wireless", form) + shown("config queue" + parts[2], "sqm", form))
    assert (made.ap, made.wan, made.channel) == (plain.ap, plain.wan, plain.channel)
    assert made.wan["shaper"]["qdisc"]["overhead"] == 44


def test_uci_show_of_sections_without_names(importer: Importer) -> None:
    for name in ("@queue[0]", "cfg014e0d"):
        text = shown(sqm(), "sqm").replace("sqm.q", f"sqm.{name}")
        assert importer.made(x=text).wan["shaper"]["up"] == "10000 kbit/s"
    lists = "sqm.q=queue\nsqm.q.enabled='1'\nsqm.q.interface='wan'\nsqm.q.upload='500'\nsqm.q.script='simple.qos' 'x'\n"
    assert "simple.qos x" in importer.made(x=lists).text


def test_settings_of_ubus(importer: Importer) -> None:
    config = {"mode": "ap", "ssid": "x", "dtim_period": 3}
    radio = {"up": True, "disabled": False, "config": {"band": "5g", "channel": "36", "htmode": "HE80", "rts": 500}}
    status = {
        "radio0": {**radio, "interfaces": [{"section": "a", "ifname": "phy7-ap0", "config": config}]},
        "radio1": {"up": False, "disabled": True, "config": {"band": "2g", "htmode": "HT20"}, "interfaces": []},
    }
    # The names of interfaces tell the radio.
    made = importer.made(x=json.dumps(status), y=station(interface="phy7-ap0"))
    assert (made.ap["dtim_period"], made.ap["rts_threshold"]) == (3, 500)
    assert "which radio" not in made.text
    values = {"q": {".type": "queue", ".name": "q", "enabled": "1", "interface": "wan", "upload": "500"}}
    made = importer.made(x=json.dumps({"values": {"q": {**values["q"], "script": "piece_of_cake.qos"}}}))
    assert made.wan["shaper"]["up"] == "500 kbit/s"
    zones = {"interface": [{"interface": "x", "l3_device": "eth9", "proto": "static", "route": [{"mask": 0}]}]}
    made = importer.made(x=json.dumps(zones), y=cake("eth9", "9Mbit", "besteffort") + cake("eth8", "5Mbit", "flows"))
    assert made.wan["shaper"]["up"] == "9000 kbit/s"


@pytest.mark.parametrize(
    ("interface", "network"),
    [
        ("br-lan", ""),
        ("lan", ""),
        ("lan1", ""),
        ("eth0", "config device\n\toption name 'br-lan'\n\toption type 'bridge'\n\tlist ports 'eth0'\n"),
        ("eth0", "config interface 'lan'\n\toption ifname 'eth0'\n\toption type 'bridge'\n\toption proto 'static'\n"),
        ("eth0", "network.lan=interface\nnetwork.lan.device='eth0'\nnetwork.lan.proto='static'\n"),
    ],
)
def test_sqm_at_the_hosts_side(importer: Importer, interface: str, network: str) -> None:
    files = {"sqm": sqm(interface=interface, script="layer_cake.qos"), **({"network": network} if network else {})}
    made = importer.of(files)
    shaper = made.wan["shaper"]
    assert (shaper["down"], shaper["up"]) == ("10000 kbit/s", "85000 kbit/s")
    # What sqm washes as its ingress is what hosts send.
    assert shaper["qdisc"]["wash"]
    assert "wash" not in shaper["qdisc_down"]
    assert "its download and upload are swapped" in made.text


def test_sqm_at_the_line(importer: Importer) -> None:
    for interface in ("wan", "pppoe-wan", "eth1", "ifb4wan"):
        shaper = importer.made(sqm=sqm(interface=interface)).wan["shaper"]
        assert (shaper["down"], shaper["up"]) == ("85000 kbit/s", "10000 kbit/s")
    network = "config interface 'wan'\n\toption device 'eth1'\n\toption proto 'dhcp'\n"
    assert "is assumed to be the WAN device" not in importer.made(sqm=sqm(interface="eth1"), network=network).text


@pytest.mark.parametrize("value", ["85mbit", "-5", "1e5"])
def test_rates_of_sqm_that_are_none(importer: Importer, value: str) -> None:
    assert f'sqm:4: found "download {value}", expected a whole number' in importer.refused(sqm=sqm(download=value))


def test_the_running_shaper_counts_and_differences_are_named(importer: Importer) -> None:
    options = "besteffort triple-isolate nat nowash no-ack-filter split-gso rtt 100ms noatm overhead 44"
    running = cake("wan", "10Mbit", options) + cake("ifb4wan", "85Mbit", options.replace("nowash", "wash"))
    same = importer.made(sqm=sqm(linklayer="ethernet", overhead="44"), tc=running)
    assert same.left == []
    made = importer.made(sqm=sqm(), tc=running.replace("85Mbit", "45678Kbit"))
    assert made.wan["shaper"]["down"] == "45678 kbit/s"
    assert made.left == [
        "sqm:1: sqm is configured with 85000 kbit/s, overhead raw instead of 44 for download traffic; the running"
        " shaper (45678 kbit/s, tc:13) is used.",
        "sqm:1: sqm is configured with overhead raw instead of 44 for upload traffic; the running shaper"
        " (10000 kbit/s, tc:1) is used.",
    ]
    stopped = importer.made(sqm=sqm(), tc="qdisc fq_codel 0: dev wan root refcnt 2 limit 10240p flows 1024\n")
    assert "shaper" not in stopped.wan
    assert stopped.left == ["sqm:1: sqm is enabled at wan, but not running: tc shows no shaper there."]


@pytest.mark.parametrize(
    ("network", "told"),
    [
        ({"mode": "sta"}, "default_radio0 of radio0, mode sta: the router's own uplink over Wi-Fi is not imported"),
        ({"mode": "mesh"}, "default_radio0 of radio0, mode mesh: 802.11s mesh is not modelled"),
        ({"disabled": "true"}, "default_radio0 of radio0, mode ap, which is disabled"),
    ],
)
def test_a_radio_without_an_access_point(importer: Importer, network: dict[str, str], told: str) -> None:
    made = importer.made(wireless=wireless(network0=network))
    assert made.channel["band"] == "2.4 GHz"
    assert "wireless:1: radio radio0, 5 GHz, 80 MHz: has no access point that is enabled." in made.left
    assert any(told in one for one in made.left)


def test_networks_of_several_links(importer: Importer) -> None:
    text = wireless() + "config wifi-mld 'mld0'\n\tlist device 'radio0'\n\tlist device 'radio1'\n"
    assert "wireless:23: mld0: multi-link operation (802.11be) is not modelled." in importer.made(wireless=text).left
    text = wireless(network0={"device": "radio0 radio1", "mlo": "1"})
    assert "wireless:1: multi-link operation (802.11be) is not modelled." in importer.made(wireless=text).left


def test_options_with_and_without_a_key(importer: Importer) -> None:
    options = {
        "rts": "500",
        "txpower": "17",
        "beacon_int": "200",
        "cell_density": "2",
        "frag": "2000",
        "distance": "99",
    }
    made = importer.made(wireless=wireless(options))
    assert made.ap["rts_threshold"] == 500
    assert made.channel["tx_power"] == "17 dBm"
    assert (made.channel["basic_rate"], made.channel["beacon_interval"]) == ("ofdm-12", "204.8 ms")
    told = "frag (fragmentation is not modelled), distance (the coverage class is not modelled) of radio0."
    assert f"wireless:1: {told}" in made.left
    # A measured signal includes the power.
    measured = importer.made(wireless=wireless(options), dump=station(interface="phy0-ap0"))
    assert "tx_power" not in measured.channel
    assert "wireless:1: txpower 17 dBm: already included in the stations' signal levels." in measured.left
    off = importer.made(wireless=wireless({"rts": "2347"}))
    assert "rts_threshold" not in off.ap
    assert "wireless:1: rts 2347: longer than any MPDU, so RTS/CTS is off." in off.left


HOSTAPD = "interface=wlan0\ndriver=nl80211\nssid=x\nhw_mode={mode}\nchannel={channel}\nieee80211n=1\nieee80211ax=1\n"


@pytest.mark.parametrize(
    ("mode", "channel", "more", "band", "width"),
    [
        ("a", 36, "vht_oper_chwidth=1\n", "5", 80),
        ("a", 36, "ieee80211ac=1\nvht_oper_chwidth=3\n", "5", 160),
        ("a", 149, "he_oper_chwidth=1\nhe_oper_centr_freq_seg0_idx=155\n", "5", 80),
        ("a", 149, "he_oper_chwidth=1\nhe_oper_centr_freq_seg0_idx=151\n", "6", 80),
        ("a", 37, "op_class=134\nhe_oper_chwidth=2\nhe_oper_centr_freq_seg0_idx=47\n", "6", 160),
        ("a", 37, "he_oper_chwidth=2\nhe_oper_centr_freq_seg0_idx=47\n", "6", 160),
        ("a", 5, "op_class=131\n", "6", 20),
        ("a", 5, "he_oper_chwidth=1\n", "6", 80),
        ("a", 37, "op_class=137\nieee80211be=1\nhe_oper_chwidth=2\neht_oper_chwidth=9\n", "6", 160),
        ("g", 6, "ht_capab=[HT40-]\n", "2.4", 40),
        ("g", 6, "", "2.4", 20),
    ],
)
def test_bands_of_hostapd(importer: Importer, mode: str, channel: int, more: str, band: str, width: int) -> None:
    made = importer.made(x=HOSTAPD.format(mode=mode, channel=channel) + more)
    assert (made.channel["band"], made.channel["width"]) == (f"{band} GHz", f"{width} MHz")
    assert ("guess: 6 GHz, because no 5 GHz channel" in made.text) == (band == "6" and "op_class" not in more)


def test_all_queues_of_hostapd(importer: Importer) -> None:
    wmm = {"bk": (4, 10, 7, 0), "be": (4, 10, 3, 0), "vi": (3, 4, 2, 94), "vo": (2, 3, 2, 47)}
    expected: dict[str, object] = {}
    for name, values in wmm.items():
        names = ("cwmin", "cwmax", "aifs", "txop_limit")
        expected |= {f"wmm_ac_{name}_{key}": value for key, value in zip(names, values, strict=True)}
    for number, values in {3: (7, 15, 1023), 2: (3, 15, 63), 1: (1, 7, 15), 0: (1, 3, 7)}.items():
        names = ("aifs", "cwmin", "cwmax")
        expected |= {f"tx_queue_data{number}_{key}": value for key, value in zip(names, values, strict=True)}
    lines = "".join(f"{key}={value}\n" for key, value in expected.items())
    acm = "".join(f"wmm_ac_{name}_acm=0\n" for name in wmm)
    more = "fragm_threshold=-1\nrts_threshold=-1\ntx_queue_data0_burst=1.5\nbasic_rates=60 120 240\n"
    made = importer.made(x=HOSTAPD.format(mode="a", channel=36) + lines + acm + more)
    assert {key: made.ap[key] for key in expected} == expected
    assert made.ap["tx_queue_data0_burst"] == "1.5 ms"
    assert made.channel["basic_rate"] == "ofdm-6"
    assert made.left == []
    odd = (
        lines.replace("wmm_ac_vo_aifs=2", "wmm_ac_vo_aifs=99")
        + "wmm_ac_vo_acm=1\nfragm_threshold=500\nbasic_rates=90 180\n"
    )
    made = importer.made(x=HOSTAPD.format(mode="a", channel=36) + odd)
    assert made.left == [
        "x:1: wmm_ac_vo_aifs 99: outside the modelled range.",
        "x:1: fragm_threshold 500, wmm_ac_vo_acm 1, basic_rates 90 180: not modelled.",
    ]
    assert {key: made.ap[key] for key in expected if key in made.ap} == {
        key: of for key, of in expected.items() if key != "wmm_ac_vo_aifs"
    }
    broken = HOSTAPD.format(mode="a", channel=36) + "tx_queue_data0_burst=x\ntx_queue_data0_aifs=y\n"
    told = importer.refused(x=broken)
    assert 'x:8: found "tx_queue_data0_burst=x", expected a time in ms' in told
    assert 'x:9: found "tx_queue_data0_aifs=y", expected a whole number' in told


def test_hostapd_with_a_second_network(importer: Importer) -> None:
    text = HOSTAPD.format(mode="a", channel=36)
    made = importer.made(x=f"{text}rts_threshold=500\nbss=wlan0_1\nssid=guest\ndtim_period=5\nrts_threshold=1\n")
    assert made.ap["rts_threshold"] == 500
    assert "dtim_period" not in made.ap
    assert made.left == ["x:9: bss=wlan0_1: a scenario has one access point."]
    assert "60 GHz is not modelled" in importer.refused(x="interface=wlan0\nssid=x\nhw_mode=ad\nchannel=2\n")


def test_wpa_supplicant_is_no_access_point(importer: Importer) -> None:
    status = "bssid=02:00:00:00:00:61\nfreq=5955\nssid=x\nmode=station\nwifi_generation=6\nwpa_state=COMPLETED\n"
    made = importer.made(x=status)
    assert made.channel["band"] == "6 GHz"
    assert made.stations[0]["rate"] == "he20-mcs9-nss2-gi0.8"
    poll = "RSSI=-52\nLINKSPEED=866\nNOISE=9999\nFREQUENCY=5180\nWIDTH=80 MHz\nAVG_RSSI=-50\n"
    made = importer.made(x=poll)
    assert made.channel == {"band": "5 GHz", "width": "80 MHz"}
    assert made.stations[0]["snr"] == "44 dB"
    assert "guess: tx bitrate 866 Mbit/s: vht80-mcs9-nss2-sgi is used." in made.text
    assert made.stations[0]["rate"] == {"kind": "minstrel_ht", "standard": "802.11ac", "streams": 2}


IWINFO = """phy1-ap0  ESSID: "x"
          Access Point: 02:00:00:00:00:61
          Mode: Master  Channel: 36 (5.180 GHz)  {more}
          Center Channel 1: {centre} 2: unknown
          Tx-Power: 23 dBm  Link Quality: 57/70
          Type: nl80211  HW Mode(s): {modes}
"""


@pytest.mark.parametrize(
    ("more", "centre", "modes", "width", "family"),
    [
        ("HT Mode: HE80", "42", "802.11ac/ax/n", 80, "he"),
        ("HT Mode: HE160", "50", "802.11ac/ax/n", 160, "he"),
        ("HT Mode: VHT80+80", "42", "802.11ac/n", 160, "802.11ac"),
        ("", "42", "802.11nac", 80, "802.11ac"),
        ("", "50", "802.11ac/ax/n", 160, "he"),
        ("", "38", "802.11n", 40, "802.11n"),
    ],
)
def test_iwinfo(importer: Importer, more: str, centre: str, modes: str, width: int, family: str) -> None:
    made = importer.made(x=IWINFO.format(more=more, centre=centre, modes=modes))
    assert (made.channel["band"], made.channel["width"]) == ("5 GHz", f"{width} MHz")
    assert made.channel["tx_power"] == "23 dBm"
    rate = made.stations[0]["rate"]
    assert (rate[:2] if isinstance(rate, str) else rate["standard"]) == family


LIST = """02:00:00:00:00:71  -51 dBm / -92 dBm (SNR 41)  30 ms ago
	RX: 1200.9 MBit/s, HE-MCS 11, 80MHz, HE-NSS 2, HE-GI 0, HE-DCM 0       1342 Pkts.
	TX: 1080.6 MBit/s, HE-MCS 10, 80MHz, HE-NSS 2, HE-GI 0, HE-DCM 0       2212 Pkts.
	expected throughput: unknown

XX:XX:XX:XX:XX:02  -70 dBm / unknown (SNR 22)  1200 ms ago
	RX: 6.0 MBit/s                                     100 Pkts.
	TX: 150.0 MBit/s, MCS 7, 40MHz, short GI             200 Pkts.
"""


def _row(mac: str, signal: int, rx: dict[str, Any], tx: dict[str, Any]) -> dict[str, Any]:
    return {"mac": mac, "signal": signal, "noise": -92, "inactive": 10, "rx": rx, "tx": tx}


HE = {"ht": False, "vht": False, "he": True, "he_gi": 0, "he_dcm": 0, "mhz": 80, "nss": 2, "short_gi": False}


@pytest.mark.parametrize(
    "content",
    [
        LIST,
        json.dumps(
            {
                "results": [
                    _row(
                        "02:00:00:00:00:71", -51, {**HE, "rate": 1200900, "mcs": 11}, {**HE, "rate": 1080600, "mcs": 10}
                    ),
                    _row(
                        "02:00:00:00:00:02",
                        -72,
                        {"rate": 6000, "mhz": 20},
                        {"rate": 150000, "mcs": 7, "ht": True, "mhz": 40, "short_gi": True},
                    ),
                ]
            }
        ),
    ],
)
def test_stations_of_iwinfo(importer: Importer, content: str) -> None:
    made = importer.made(x=content)
    assert made.rates[0] == (HE10_NAME, HE11_NAME)
    assert made.stations[1]["rate"]["standard"] == "802.11n"
    assert made.stations[1]["snr"] in ("24 dB", "20 dB")
    assert "rx bitrate 6.0 MBit/s is probably from a management" in made.text


def test_stations_of_hostapd(importer: Importer) -> None:
    client = {"auth": True, "ht": True, "vht": True, "he": True, "signal": -51, "rate": {"rx": 1200900, "tx": 1080600}}
    clients = json.dumps({"freq": 5180, "clients": {"02:00:00:00:00:71": client}})
    text = f"# ubus call hostapd.phy1-ap0 get_clients\n{clients}\n"
    made = importer.made(x=text)
    assert made.rates == [(HE10_NAME, HE11_NAME)]
    assert made.channel["band"] == "5 GHz"
    assert "guess: tx bitrate 1080.6 MBit/s: he80-mcs10-nss2-gi0.8 is used." in made.text
    # A dump has the rates by name.
    both = importer.made(a=station("02:00:00:00:00:71"), b=text)
    assert both.rates == [(HE11_NAME, HE10_NAME)]
    assert len(both.stations) == 1
    cli = (
        "Selected interface 'wlan0'\n02:00:00:00:00:71\nflags=[AUTH][ASSOC]\nsignal=-55\nrx_rate_info=8667 vhtmcs 9"
        " vhtnss 2\ntx_rate_info=7800 vhtmcs 8 vhtnss 2\nconnected_time=100\n"
    )
    made = importer.made(x=cli)
    assert made.stations[0]["rate"] == {"kind": "minstrel_ht", "standard": "802.11ac", "streams": 2}
    assert made.stations[0]["snr"] == "39 dB"


def test_sentences_behind_lists_are_listed(importer: Importer) -> None:
    made = importer.made(x=f"{LIST}\nboth phones are slow\n")
    assert made.left == ['x:10: not recognised: "both phones are slow".']
    sta = (
        "02:00:00:00:00:02\nflags=[AUTH][ASSOC]\nsignal=-47\nrx_rate_info=8667 vhtmcs 9 vhtnss 2 shortGI\nit is slow\n"
    )
    assert importer.made(x=sta).left == ['x:5: not recognised: "it is slow".']
