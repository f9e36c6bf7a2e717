"""Text as people paste it: prompts, quotations, fences, entities, redacted addresses, failed commands."""

import pytest

from importing import HE10, HE11, Importer, cake, station

HE = [("he80-mcs11-nss2-gi0.8", "he80-mcs10-nss2-gi0.8")]
DUMP = station()
SHAPER = cake("", "10Mbit", "diffserv3 triple-isolate nat nowash no-ack-filter split-gso rtt 100ms noatm overhead 24")


def _lines(text: str, form: str) -> str:
    return "".join(form.format(line, number=number) + "\n" for number, line in enumerate(text.splitlines(), 1))


@pytest.mark.parametrize(
    "content",
    [
        _lines(DUMP, "> {}"),
        _lines(DUMP, ">> {}"),
        _lines(DUMP, "    {}"),
        _lines(DUMP, "\t{}"),
        _lines(DUMP, "&gt; {}"),
        _lines(DUMP, "{number:4d}\t{}"),
        _lines(DUMP, "{number}: {}"),
        _lines(DUMP, "{}\n"),
        "\n".join(line.strip() for line in DUMP.splitlines()),
        DUMP.replace("\t", "\u00a0\u00a0"),
        DUMP.replace("\t", "        "),
        DUMP.replace("\n", "\r\n"),
        DUMP.replace("\n", "\r"),
        f"\ufeff{DUMP}",
        f"\x1b[32m{DUMP}\x1b[0m",
        f"```\n{DUMP}```\n",
        f"~~~text\n{DUMP}~~~\n",
        f"[CODE]\n{DUMP}[/CODE]\n",
        f"<pre>\n{DUMP}</pre>\n",
        f"iw dev phy1-ap0 station dump:\n{DUMP}",
        f"==> dump.txt <==\n{DUMP}",
        f"root@OpenWrt:~# iw dev phy1-ap0 station dump\n{DUMP}root@OpenWrt:~# \n",
    ],
)
def test_a_dump_however_it_is_pasted(importer: Importer, content: str) -> None:
    made = importer.made(x=content)
    assert made.rates == HE
    assert made.left == []


def test_quotation_marks_of_windows(importer: Importer) -> None:
    text = "config wifi-device \u2018radio0\u2019\n\toption band \u20186g\u2019\n\toption htmode \u2018HE160\u2019\n"
    for encoding in ("utf-8", "cp1252"):
        made = importer.made(x=text.encode(encoding))
        assert (made.channel["band"], made.channel["width"]) == ("6 GHz", "160 MHz")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le-bom"])
def test_encodings(importer: Importer, encoding: str) -> None:
    data = b"\xff\xfe" + DUMP.encode("utf-16-le") if encoding == "utf-16-le-bom" else DUMP.encode(encoding)
    assert importer.made(x=data).rates == HE


@pytest.mark.parametrize(
    "prompt",
    [
        *("root@OpenWrt:~# ", "root@OpenWrt:~/cake-autorate# ", "root@OpenWrt:~#", "root@OpenWrt: ~# ", "catbert:~# "),
        *("admin@RT-AX86U-1A2B:/tmp/home/root# ", "ubnt@ER-X:~$ ", "[root@rpi ~]# ", "user@host ~ % ", "me@pc ~> "),
        *("\u279c  ~ ", "$ ", "# ", "> ", "% ", "bash-5.1$ ", "sh-5.1# ", "(venv) me@pc:~/x$ ", "OpenWrt:/# "),
        *("root@GL-MT6000:~# sudo ", "~ # ", "/etc # ", "BusyBox> ", "root # ", "user$ "),
    ],
)
def test_the_command_behind_a_prompt_names_the_device(importer: Importer, prompt: str) -> None:
    text = f"{prompt}tc -s qdisc show dev ifb4wan\n{SHAPER}"
    made = importer.made(x=text)
    assert made.wan["shaper"]["down"] == "10000 kbit/s"
    assert "up" not in made.wan["shaper"]
    assert "x:2: cake at ifb4wan, down" in made.text


@pytest.mark.parametrize(
    "mac",
    [
        *("xx:xx:xx:xx:xx:xx", "XX:XX:XX:12:34:56", "00:00:00:xx", "**:**:**:**:**:**", "<mac>", "[redacted]"),
        *("MAC1", "my phone", "aa-bb-cc-dd-ee-ff", "..:..:..:..:..:01", "REDACTED"),
    ],
)
def test_redacted_addresses(importer: Importer, mac: str) -> None:
    # Equal ones are still two stations.
    made = importer.made(x=station(mac) + station(mac, signal=-51))
    assert made.rates == HE * 2
    assert f"# {mac.lower()}, x:1." in made.text


def test_an_address_that_was_cut_out(importer: Importer) -> None:
    assert importer.made(x=station().replace("02:00:00:00:00:01 ", "")).rates == HE


def test_several_outputs_in_one_text(importer: Importer) -> None:
    made = importer.made(
        x=f"""Hi, my Wi-Fi is slow:

[code]
root@OpenWrt:~# ubus call system board
{{
	"kernel": "6.6.73",
	"release": {{ "distribution": "OpenWrt", "version": "24.10.0" }}
}}
root@OpenWrt:~# iw dev
phy#1
	Interface phy1-ap0
		ifindex 21
		type AP
		channel 36 (5180 MHz), width: 160 MHz, center1: 5250 MHz
		txpower 23.00 dBm
root@OpenWrt:~# iw dev phy1-ap0 station dump
{DUMP}root@OpenWrt:~# tc -s qdisc show dev wan
{SHAPER}root@OpenWrt:~# tc -s qdisc show dev ifb4wan
{SHAPER.replace("10Mbit", "90Mbit")}root@OpenWrt:~#
[/code]

Thanks!
"""
    )
    assert made.rates == HE
    assert (made.channel["band"], made.channel["width"]) == ("5 GHz", "160 MHz")
    shaper = made.wan["shaper"]
    assert (shaper["down"], shaper["up"]) == ("90000 kbit/s", "10000 kbit/s")
    assert made.toml["node"]["ap"]["profile"] == "openwrt-24.10"
    assert made.left[-2:] == [
        'x:1: not recognised: "Hi, my Wi-Fi is slow:".',
        'x:57: not recognised: "Thanks!".',
    ]


def test_the_last_output_of_a_command_holds(importer: Importer) -> None:
    prompt = "root@OpenWrt:~# iw dev phy1-ap0 station dump\n"
    made = importer.made(x=prompt + station(rx=HE11) + prompt + station(tx=HE10))
    assert made.rates == [("he80-mcs10-nss2-gi0.8",) * 2]
    assert made.left == ["x:2: an earlier output of 'iw dev phy1-ap0 station dump'."]


def test_a_station_in_two_files_is_one(importer: Importer) -> None:
    made = importer.made(a=station(tx=HE10), b=station(rx=HE11))
    assert made.rates == [("he80-mcs11-nss2-gi0.8",) * 2]
    assert made.left == ["a:1: another output of 02:00:00:00:00:01; b:1 is used."]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            "root@OpenWrt:~# iw dev wlan9 station dump\ncommand failed: No such device (-19)\n",
            'x:2: the command failed: "command failed: No such device (-19)"',
        ),
        ('# tc -s qdisc show dev eth9\nCannot find device "eth9"\n', 'x:2: the command failed: "Cannot find'),
        ("root@x:~# iwinfo\n-ash: iwinfo: not found\n", 'x:2: the command failed: "-ash: iwinfo: not found"'),
        (
            "root@x:~# iw dev wlan0 station dump\nroot@x:~# ",
            "x:1: 'iw dev wlan0 station dump' printed nothing: no station is connected",
        ),
        ("root@x:~# tc -s class show dev eth0\nroot@x:~# ", "x:1: 'tc -s class show dev eth0' printed nothing"),
        ("tc qdisc add dev eth0 root cake bandwidth 20mbit\n", "x:1: a command, not its effect"),
        ("deleted qdisc cake 8003: dev eth1 root refcnt 2\n", 'x:1: no longer there: "deleted qdisc cake 8003:'),
        ("Mode: Master | SSID: x\nChannel: 36 (5.180 GHz)\n", "x:1: LuCI's status page is not read"),
        ("Not connected.\n", "x:1: iw link: the interface is not connected"),
        ("hello\nworld\n", 'x: found nothing that is recognised (it begins "hello"), expected one of: '),
        ("{}\n", "x:1: JSON of an unknown kind"),
        (bytes(257) + b"ustar\x0000", "x: is a tar archive, such as a backup of OpenWrt, expected files unpacked"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x00\x01", "x: found damaged gzip"),
    ],
)
def test_text_without_values_is_refused_with_the_reason(importer: Importer, content: str | bytes, says: str) -> None:
    assert says in importer.refused(x=content)
    # Among others it is listed.
    made = importer.made(x=content, y=station())
    assert made.rates == HE
    assert any(one.startswith("x") for one in made.left)
