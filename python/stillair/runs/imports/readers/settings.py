"""Settings by line: `sysctl`, `ethtool` in four forms, `hostapd.conf`, `uname`."""

import re
from collections.abc import Mapping, Sequence

from stillair.runs.imports.facts import Device, Kernel, Radio, Setting, Unread
from stillair.runs.imports.lines import Mistakes
from stillair.runs.imports.openwrt.uci import RTS_OFF
from stillair.runs.imports.rates import modelled_width, width_of_centre


def sysctl(file: str, text: str) -> Sequence[Setting]:
    """Lines of `sysctl net.ipv4`: `KEY = VALUE`."""
    mistakes, found = Mistakes(file), list[Setting]()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith(("#", ";", "sysctl: ")):
            continue  # an error of sysctl itself, such as a key that only root may read, is not a setting
        if at := re.fullmatch(r"([a-z][\w.*/-]*)\s*=\s*(.*)", line.strip()):
            found.append(Setting(at[1].replace("/", "."), " ".join(at[2].split()), f"{file}:{number}"))
        else:
            mistakes.add(number, line.strip(), '"net.ipv4.KEY = VALUE"')
    mistakes.tell()
    return found


_HEADS = {
    "Features for": "features",
    "Coalesce parameters for": "coalescing",
    "Ring parameters for": "rings",
    "Settings for": "settings",
}


def ethtool(file: str, text: str) -> Sequence[Device]:
    """Returns the settings that `ethtool`, `ethtool -i`, `-k`, `-c` or `-g` prints."""
    mistakes, keys, name = Mistakes(file), dict[str, str](), None
    last, where = "", f"{file}:1"
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if not words:
            continue
        if head := re.fullmatch(rf"({'|'.join(_HEADS)}) (\S+):", words):
            name = head[2]
        elif ":" in words:
            last, _, value = (part.strip() for part in words.partition(":"))
            keys.setdefault(last, value)
        elif line[0] not in " \t" or not last:
            # Further link modes follow on separate lines, without a name.
            mistakes.add(number, words, '"NAME: VALUE"')
    mistakes.tell()
    return [Device(name, keys, where)]


def hostapd(file: str, text: str) -> Sequence[Radio | Unread]:
    """Reads a hostapd.conf. With several BSSs, the radio's settings are those of the first."""
    mistakes, keys, lines = Mistakes(file), dict[str, str](), dict[str, int]()
    others: list[Unread] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        key, equals, value = words.partition("=")
        if not equals or not re.fullmatch(r"[\w.]+", key):
            mistakes.add(number, words, '"KEY=VALUE"')
            continue
        if key == "bss":
            others.append(Unread(f"{words}: a scenario has one access point", f"{file}:{number}"))
        if others:
            continue  # keys after `bss` belong to another BSS
        # hostapd allows a comment only after a number, but files have them after other values too.
        keys.setdefault(key, value.partition(" #")[0].strip())
        lines.setdefault(key, number)
    whole = {
        "channel": None,
        "beacon_int": None,
        "rts_threshold": None,
        "dtim_period": None,
        "vht_oper_chwidth": None,
        "he_oper_chwidth": None,
    }
    for key in [key for key in keys if re.fullmatch(r"tx_queue_data[0-3]_burst", key)]:
        if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,3})?", keys[key]):
            mistakes.add(lines[key], f"{key}={keys[key]}", "a time in ms")
    numbers = r"(wmm_ac_|ieee80211|tx_queue_data[0-3]_(aifs|cwmin|cwmax)).*"
    for key in [key for key in keys if key in whole or re.fullmatch(numbers, key)]:
        if not re.fullmatch(r"\d{1,9}", keys[key]) and keys[key] not in {
            "channel": ("acs_survey",),
            "rts_threshold": ("-1",),
        }.get(key, ()):
            mistakes.add(lines[key], f"{key}={keys[key]}", "a whole number")
    if keys.get("hw_mode", "g") not in ("a", "b", "g", "ad", "any"):
        mistakes.add(lines["hw_mode"], f"hw_mode={keys['hw_mode']}", "one of a, b, g")
    mistakes.tell()
    told = [f"{key} {keys[key]}" for key, of in _NO_EFFECT.items() if keys.get(key, of[0]) not in of]
    told += [rates] if (rates := _lowest(keys)[1]) else []
    others += [Unread(f"{', '.join(told)}: not modelled", f"{file}:1")] if told else []
    return [_radio(file, keys), *others]


def _is_six(keys: Mapping[str, str]) -> tuple[bool, list[str]]:
    """Reports whether hw_mode `a` is 6 GHz, and the reason if that is a guess."""
    if keys.get("op_class", "").isdecimal():
        return keys["op_class"] in ("131", "132", "133", "134", "135", "136", "137"), []
    if keys.get("hw_mode") != "a":
        return False, []
    if any(key.startswith(("he_6ghz", "hostapd_6ghz")) for key in keys):
        return True, []
    channel, centre = keys.get("channel", "0"), keys.get("he_oper_centr_freq_seg0_idx", "0")
    if not (channel.isdecimal() and centre.isdecimal()) or channel == "0":
        return False, []
    wide = {"1": (80,), "2": (160,)}.get(keys.get("he_oper_chwidth", "0"), (20, 40, 80, 160))
    is_five = int(channel) in _FIVE and (centre == "0" or width_of_centre(int(channel), int(centre), 5.0) in wide)
    why = f"guess: 6 GHz, because no 5 GHz channel {channel} has that centre"
    return (False, []) if is_five else (True, [why])


_FIVE = {*range(34, 65, 2), *range(100, 145, 2), *range(149, 178, 2)}
"""Channels at 5 GHz."""


def _radio(file: str, keys: Mapping[str, str]) -> Radio:
    is_on = {name: keys.get(f"ieee80211{name}") == "1" for name in ("n", "ac", "ax")}
    is_on["ax"] = is_on["ax"] or keys.get("ieee80211be") == "1"
    six, why = _is_six(keys)
    band = 6.0 if six else 5.0 if keys.get("hw_mode") == "a" else 2.4
    newest = next((name for name in ("ax", "ac", "n") if is_on[name]), None)
    standard = (
        f"802.11{newest}" if newest else {"a": "802.11a", "b": "802.11b"}.get(keys.get("hw_mode", "g"), "802.11g")
    )
    wide = keys.get("he_oper_chwidth" if is_on["ax"] and "he_oper_chwidth" in keys else "vht_oper_chwidth", "0")
    is_40 = "HT40" in keys.get("ht_capab", "") or "secondary_channel" in keys
    # spec: hostapd.conf - 0: 20 or 40 MHz, 1: 80, 2: 160, 3: 80+80.
    width = {"1": 80, "2": 160, "3": 160}.get(wide, 40 if is_40 else 20)
    said = [*why, *(modelled_width("80+80")[1] if wide == "3" else [])]
    if keys.get("ieee80211be") == "1":
        said.append("802.11be is not modelled: 802.11ax is used")
        if keys.get("eht_oper_chwidth") == "9":  # hostapd.conf (2.11) - 320 MHz
            width, more = modelled_width("320")
            said += more
    channel = keys.get("channel", "0")
    taken = {key: value for key, value in keys.items() if _is_of_ap(key)} | _lowest(keys)[0]
    threshold = taken.get("rts_threshold", "")
    if threshold and (not threshold.isdecimal() or int(threshold) in RTS_OFF):
        taken.pop("rts_threshold")  # -1 is off, too
    return Radio(
        keys.get("interface", "hostapd"),
        band,
        int(channel) if channel.isdecimal() and channel != "0" else None,
        width,
        standard,
        taken,
        f"{file}:1",
        off="60 GHz is not modelled" if keys.get("hw_mode") == "ad" else "",
        interfaces=[keys["interface"]] if "interface" in keys else [],
        said=said,
    )


def _is_of_ap(key: str) -> bool:
    return bool(
        re.fullmatch(
            r"dtim_period|beacon_int|rts_threshold|tx_queue_data[0-3]_(aifs|cwmin|cwmax|burst)"
            r"|wmm_ac_(vo|vi|be|bk)_(aifs|cwmin|cwmax|txop_limit)",
            key,
        )
    )


_NO_EFFECT = {
    **dict.fromkeys(("fragm_threshold",), ("-1", "2346", "2347")),
    **dict.fromkeys(("wmm_enabled", "uapsd_advertisement_enabled"), ("1",)),
    **dict.fromkeys(("airtime_mode", "multicast_to_unicast", "proxy_arp", "wds_sta"), ("0",)),
    **{f"wmm_ac_{name}_acm": ("0",) for name in ("vo", "vi", "be", "bk")},
    **dict.fromkeys(("supported_rates", "beacon_rate", "require_ht", "require_vht"), ("0", "")),
}
"""Radio settings without a scenario key, with the values that have no effect."""


def _lowest(keys: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The lowest basic rate as a key, and `basic_rates` if it has none."""
    rates = [int(rate) for rate in keys.get("basic_rates", "").split() if re.fullmatch(r"[0-9]{1,4}", rate)]
    if not rates:
        return {}, ""
    if min(rates) in (60, 120, 240):
        return {"basic_rate": f"ofdm-{min(rates) // 10}"}, ""
    return {}, "" if min(rates) == 10 else f"basic_rates {keys['basic_rates']}"


KERNEL = (
    r"(?:"
    # dmesg and /proc/version, hostnamectl, LuCI's overview.
    r"(?:\[\s*[\d.]+\]\s*)?Linux version |Kernel: Linux |Kernel Version:?\s+"
    # uname -a: the host's name, which may be an address, is before the release.
    r"|Linux \S+ "
    # uname -r prints only a release. An address or OpenWrt's 23.05.3 is not a kernel release.
    r"|(?=[2-9]\.\d{1,2}\.\d{1,3}(?:[-+~_][\w.+~-]*)?\s*$)"
    r")(\d{1,2}\.(?:0|[1-9]\d{0,2}))(?![\d])(?!\.\d+\.\d+(?:\s|$))\S*"
)
"""Pattern of a line with a kernel's release, whose first two numbers are its only group."""
_RELEASES = (
    re.compile(r"DISTRIB_RELEASE=['\"]?(\d{1,4}\.\d{1,4})"),
    re.compile(r"^\s*(?:Firmware Version:?\s+)?OpenWrt (\d{1,4}\.\d{1,4})[^\s,]*,? r\d+"),
    re.compile(r"^(?:PRETTY_NAME|OPENWRT_RELEASE)=['\"]?OpenWrt (\d{1,4}\.\d{1,4})"),
)
_SNAPSHOT = re.compile(
    r"DISTRIB_RELEASE=['\"]?SNAPSHOT|^\s*(?:Firmware Version:?\s+)?OpenWrt SNAPSHOT,? r\d+"
    r"|^PRETTY_NAME=['\"]?OpenWrt SNAPSHOT"
)


def openwrt_version(file: str, text: str) -> Sequence[Kernel | Unread]:
    """Reads /etc/openwrt_version, recognised by its command only: a bare version could be of any program."""
    for number, line in enumerate(text.splitlines(), 1):
        if at := re.fullmatch(r"(\d{2}\.\d{2})(?:\.\d+)?(?:-\S+)?", line.strip()):
            return [Kernel(at[1], f"{file}:{number}", openwrt=True)]
    return [Unread("/etc/openwrt_version: it names no release", f"{file}:1")]


def kernel(file: str, text: str) -> Sequence[Kernel | Unread]:
    """`uname -a` or `-r`, /proc/version, OpenWrt's /etc/openwrt_release and banner, /etc/os-release."""
    lines = list(enumerate(text.splitlines(), 1))
    for number, line in lines:
        for form in _RELEASES:
            if at := form.search(line):
                return [Kernel(at[1], f"{file}:{number}", openwrt=True)]
        if _SNAPSHOT.search(line):
            return [Unread("OpenWrt SNAPSHOT: 'uname -r' prints its kernel", f"{file}:{number}")]
    if any(re.match(r"(PRETTY_NAME|VERSION_ID|NAME)=", line.strip()) for _, line in lines):
        return [Unread("os-release: it names no kernel; 'uname -r' does", f"{file}:1")]
    for number, line in lines:
        if at := re.match(rf"\s*{KERNEL}", line):
            return [Kernel(at[1], f"{file}:{number}")]
    mistakes = Mistakes(file)
    mistakes.add(1, text.strip(), "a release such as 6.6.73")
    mistakes.tell()
    return []
