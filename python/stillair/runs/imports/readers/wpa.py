"""`wpa_cli status` and `signal_poll` of a station, `hostapd_cli status` and `all_sta` of an access point."""

import re
from collections.abc import Mapping, Sequence

from stillair.runs.imports.facts import Interface, Peer, Unread
from stillair.runs.imports.lines import unrecognised
from stillair.runs.imports.rates import modelled_width, rounded, told

_GENERATIONS = {"4": "802.11n", "5": "802.11ac", "6": "802.11ax", "7": "802.11ax"}
_MODES = {"station": "managed", "AP": "AP", "IBSS": "IBSS", "mesh": "mesh point", "P2P GO": "P2P-GO"}


def _keys(text: str) -> dict[str, str]:
    """Lines of `KEY=VALUE`."""
    pairs = (line.strip().partition("=") for line in text.splitlines())
    return {key: value.strip() for key, equals, value in pairs if equals}


def _others(file: str, text: str) -> list[Unread]:
    """Lines that wpa_cli and hostapd_cli do not print."""
    known = r"[\w\[\]. -]+=.*|Selected interface .*|OK|FAIL|> ?.*|<\d>.*"
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    return unrecognised(file, [(number, line) for number, line in lines if line and not re.fullmatch(known, line)])


def _mhz(keys: Mapping[str, str], key: str) -> int | None:
    found = re.match(r"\d{4,5}$", keys.get(key, ""))
    return int(found[0]) if found else None


def status(file: str, text: str) -> Sequence[Interface | Unread]:
    """The state of a station: band and interface, but no access point settings."""
    keys, where = _keys(text), f"{file}:1"
    selected = re.search(r"Selected interface '(\S+)'", text)
    name = selected[1] if selected else ""
    state, others = keys.get("wpa_state", ""), _others(file, text)
    if state and state != "COMPLETED":
        return [Unread(f"wpa_cli status: not connected (wpa_state={state})", where), *others]
    if _mhz(keys, "freq") is None:
        return [Unread("wpa_cli status: it names no frequency", where), *others]
    kind = _MODES.get(keys.get("mode", "station"), keys.get("mode", "managed"))
    standard = _GENERATIONS.get(keys.get("wifi_generation", ""))
    return [Interface(name, kind, _mhz(keys, "freq"), None, None, where, (), standard), *others]


def signal(file: str, text: str) -> Sequence[Interface | Peer | Unread]:
    """`wpa_cli signal_poll`: signal, rate and width of a station."""
    keys, where = _keys(text), f"{file}:1"
    selected = re.search(r"Selected interface '(\S+)'", text)
    name = selected[1] if selected else ""
    peer = Peer("the access point", name, where, counts={"beacon loss": 0})
    level = keys.get("AVG_RSSI") or keys.get("RSSI", "")
    peer.signal_dbm = int(level) if re.fullmatch(r"-\d{1,3}", level) else None
    text_width = re.match(r"(80\+80|\d+) MHz", keys.get("WIDTH", ""))
    width, said = modelled_width(text_width[1]) if text_width else (None, [])
    if re.fullmatch(r"[1-9]\d{0,4}", keys.get("LINKSPEED", "")):
        peer.tx = rounded(int(keys["LINKSPEED"]), width)
    own = Interface(name, "managed", _mhz(keys, "FREQUENCY"), width, None, where, said)
    return [peer, own, *_others(file, text)]


def hostapd_status(file: str, text: str) -> Sequence[Interface | Unread]:
    """`hostapd_cli status`: the channel that an access point is on."""
    keys = _keys(text)
    selected = re.search(r"Selected interface '(\S+)'", text)
    name = selected[1] if selected else keys.get("bss[0]", "")
    on = {of: keys.get(f"ieee80211{of}") == "1" for of in ("n", "ac", "ax")}
    standard = next((f"802.11{of}" for of in ("ax", "ac", "n") if on[of]), None)
    wide = keys.get("he_oper_chwidth" if on["ax"] else "vht_oper_chwidth", "0") if on["ax"] or on["ac"] else "0"
    second = keys.get("secondary_channel", "0") not in ("0", "")
    width = {"1": 80, "2": 160, "3": 160}.get(wide, 40 if second else 20)
    said = modelled_width("80+80")[1] if wide == "3" else []
    where = f"{file}:1"
    state, others = keys.get("state", ""), _others(file, text)
    if state in ("DISABLED", "UNINITIALIZED"):
        return [Unread(f"hostapd_cli status: the access point is not running (state={state})", where), *others]
    made = Interface(name, "AP", _mhz(keys, "freq"), width, None, where, said, standard)
    usual = (("beacon_int", "100"), ("dtim_period", "2"), ("dtim_period[0]", "2"))
    return [made, *(Unread(f"{key} {keys[key]}", where) for key, of in usual if keys.get(key, of) != of), *others]


def all_stations(file: str, text: str) -> Sequence[Peer | Unread]:
    """`hostapd_cli all_sta`: an address, then lines of `KEY=VALUE` for each station."""
    found: list[Peer] = []
    strange: list[tuple[int, str]] = []
    selected = re.search(r"Selected interface '(\S+)'", text)
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        key, equals, value = words.partition("=")
        if re.fullmatch(r"[0-9a-fA-FxX*]{2}(:[0-9a-fA-FxX*]{2}){5}|<\w+>|REDACTED", words):
            found.append(Peer(words.lower(), selected[1] if selected else "", f"{file}:{number}"))
        elif found and equals:
            _of_station(found[-1], key, value)
        elif found and words not in ("", "OK", "FAIL"):
            strange.append((number, words))
    return [*found, *unrecognised(file, strange)]


def _of_station(peer: Peer, key: str, value: str) -> None:
    counts = {
        "rx_packets": "rx packets",
        "tx_packets": "tx packets",
        "rx_bytes": "rx bytes",
        "tx_bytes": "tx bytes",
        "inactive_msec": "inactive time",
        "connected_time": "connected time",
    }
    if key in counts and value.isdecimal() and len(value) < 19:
        peer.counts[counts[key]] = int(value)
    elif key == "signal" and re.fullmatch(r"-\d{1,3}", value):
        peer.signal_dbm = int(value)
    elif key in ("rx_rate_info", "tx_rate_info"):
        # hostapd 2.10, ap/ctrl_iface_ap.c hostapd_get_sta_info - units of 100 kbit/s, then `vhtmcs 9 vhtnss 2`.
        rate = re.match(r"(\d{1,7})(.*)", value)
        if rate and int(rate[1]):
            family = next(
                (of for of in ("eht", "vht", "he") if f"{of}mcs" in rate[2]), "ht" if "mcs" in rate[2] else ""
            )
            words = [f"{int(rate[1]) / 10:.1f} MBit/s"]
            mcs, nss = re.search(r"mcs (\d+)", rate[2]), re.search(r"nss (\d+)", rate[2])
            peer.standard = {"vht": "802.11ac", "he": "802.11ax", "eht": "802.11ax", "ht": "802.11n"}.get(
                family, peer.standard
            )
            try:
                of = told(words[0], family=family, mcs=int(mcs[1]) if mcs else None, nss=int(nss[1]) if nss else None)
            except ValueError:
                return
            if key.startswith("rx"):
                peer.rx = of
            else:
                peer.tx = of
