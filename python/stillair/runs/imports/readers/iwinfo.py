"""`iwinfo`, `iwinfo INTERFACE assoclist` and `iwconfig`."""

import re
from collections.abc import Sequence

from stillair.runs.imports.facts import Interface, Peer, Unread
from stillair.runs.imports.lines import Mistakes, unrecognised
from stillair.runs.imports.rates import band_ghz, modelled_width, told, width_of_centre
from stillair.runs.imports.readers import recognised

_KINDS = {
    "master": "AP",
    "master (vlan)": "AP/VLAN",
    "client": "managed",
    "managed": "managed",
    "ad-hoc": "IBSS",
    "mesh point": "mesh point",
    "monitor": "monitor",
    "p2p client": "P2P-client",
    "p2p go": "P2P-GO",
}
_PEER = re.compile(r"(\S+)\s+(-?\d+|unknown)(?: dBm)? / (-?\d+|unknown)(?: dBm)? \(SNR [^)]*\)\s+(\d+) ms ago")


def of_mode(mode: str) -> str:
    """A mode of iwinfo as the interface type of iw."""
    return _KINDS.get(mode.strip().lower(), mode.strip())


def of_htmode(text: str) -> tuple[str | None, int | None, list[str]]:
    """Standard and width of `HE80`, `VHT80+80` or `NOHT`, and the reason if it is not modelled."""
    at = re.fullmatch(r"(NOHT|HT|VHT|HE|EHT)(80\+80|\d*)[+-]?", text.strip())
    if not at:
        return None, None, []
    standard = {"HT": "802.11n", "VHT": "802.11ac", "HE": "802.11ax", "EHT": "802.11ax"}.get(at[1])
    width, said = modelled_width(at[2] or "20")
    if at[1] == "EHT":
        said.append("802.11be is not modelled: 802.11ax is used")
    return standard, width, said


def of_hwmodes(text: str) -> str | None:
    """Newest modelled standard of `802.11ac/ax/n` or `802.11nac`."""
    names = text.lower().replace("802.11", "")
    for mark in ("be", "ax", "ac", "n"):
        if mark in names:
            return {"be": "802.11ax", "n": "802.11n"}.get(mark, f"802.11{mark}")
    return None


def interfaces(file: str, text: str) -> Sequence[Interface | Unread]:
    """The interfaces of `iwinfo` or `iwinfo INTERFACE info`."""
    found: list[Interface | Unread] = []
    blocks: list[tuple[str, int, list[str]]] = []
    strange: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"(\S+)\s+ESSID: ", line.strip()):
            blocks.append((head[1], number, []))
        elif blocks and recognised.IWINFO.fullmatch(line.strip()):
            blocks[-1][2].append(line.strip())
        elif line.strip():
            strange.append((number, line.strip()))
    for name, number, lines in blocks:
        joined = "  ".join(lines)
        keys = {
            key: at[1].strip()
            for key in ("Mode", "Channel", "Center Channel 1", "HT Mode", "Tx-Power", "HW Mode(s)")
            if (at := re.search(rf"{re.escape(key)}: +(.*?)(?=  |$)", joined))
        }
        ghz = re.search(r"(\d+) \((\d+\.\d+) GHz\)", keys.get("Channel", ""))
        mhz = round(float(ghz[2]) * 1000) if ghz else None
        standard, width, said = of_htmode(keys.get("HT Mode", ""))
        centre = re.match(r"\d{1,3}", keys.get("Center Channel 1", ""))
        if width is None and ghz and centre and mhz:
            wide = width_of_centre(int(ghz[1]), int(centre[0]), band_ghz(mhz))
            if wide:
                width, said = modelled_width(str(wide))
        power = re.match(r"(-?\d+) dBm", keys.get("Tx-Power", ""))
        standard = standard or of_hwmodes(keys.get("HW Mode(s)", ""))
        kind = of_mode(keys.get("Mode", "unknown"))
        where = f"{file}:{number}"
        found.append(Interface(name, kind, mhz, width, float(power[1]) if power else None, where, said, standard))
    return [*found, *unrecognised(file, strange)]


def associated(file: str, text: str) -> Sequence[Peer | Unread]:
    """The stations of `iwinfo INTERFACE assoclist`; their interface is that of the command."""
    mistakes, found = Mistakes(file), list[Peer]()
    strange: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if head := _PEER.match(words):
            peer = Peer(head[1].lower(), "", f"{file}:{number}", counts={"inactive time": int(head[4])})
            peer.signal_dbm = _level(head[2])
            peer.noise_dbm = _level(head[3])
            found.append(peer)
        elif found and (rate := re.match(r"(RX|TX): (.*?)(?:\s+(\d+) Pkts\.)?$", words)):
            way = rate[1].lower()
            if rate[3]:
                found[-1].counts[f"{way} packets"] = int(rate[3])
            if rate[2].startswith("unknown"):
                continue
            try:
                # iwinfo prints the words of iw, separated by commas.
                of = told(rate[2].replace(", ", " ").replace(" 20MHz", ""))
            except ValueError:
                mistakes.add(number, words, '"RX: 866.7 MBit/s, VHT-MCS 9, 80MHz, VHT-NSS 2, short GI"')
                continue
            if way == "tx":
                found[-1].tx = of
            else:
                found[-1].rx = of
        elif found and (rate := re.match(r"expected throughput: (\d{1,6}(?:\.\d+)?) MBit/s", words)):
            found[-1].expected_mbps = float(rate[1])
        elif found and re.search(r"mesh (llid: [1-9]|plink: estab)", words.lower()):
            found[-1].mesh = True
        elif words and not recognised.ASSOCLIST.fullmatch(words):
            strange.append((number, words))
    mistakes.tell()
    none = [] if found else [Unread("iwinfo assoclist: no station is connected", f"{file}:1")]
    return [*found, *none, *unrecognised(file, strange)]


def _level(text: str) -> int | None:
    return int(text) if text.startswith("-") and int(text) > -128 else None


_THRESHOLDS = re.compile(r"(RTS thr|Fragment thr)[:=](off|\d+ B)")


def iwconfig(file: str, text: str) -> Sequence[Interface | Peer | Unread]:
    """The interfaces of `iwconfig`, and for a connected station its access point."""
    found: list[Interface | Peer | Unread] = []
    blocks: list[tuple[str, int, str]] = []
    strange: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"(\S+) +(IEEE 802\.11|Mode:|unassociated)", line.strip()):
            blocks.append((head[1], number, line))
        elif line.strip() and not recognised.IWCONFIG.fullmatch(line.strip()):
            strange.append((number, line.strip()))
        elif blocks and line.strip() and "no wireless extensions" not in line:
            name, at, before = blocks[-1]
            blocks[-1] = (name, at, f"{before}  {line.strip()}")
    for name, number, joined in blocks:
        where = f"{file}:{number}"
        mode = re.search(r"Mode:(\S+)", joined)
        ghz = re.search(r"Frequency[:=](\d+(?:\.\d+)?) GHz", joined)
        kind = of_mode(mode[1] if mode else "unknown")
        mhz = round(float(ghz[1]) * 1000) if ghz else None
        power = re.search(r"Tx-Power[:=](-?\d+(?:\.\d+)?) dBm", joined)
        sleeps = re.search(r"Power Management[:=](on|off)", joined)
        said = [f"{at[1]} {at[2]}" for at in _THRESHOLDS.finditer(joined) if at[2] != "off"]
        found.append(
            Interface(
                *(name, kind, mhz, None, float(power[1]) if power else None, where, said),
                power_save=sleeps[1] == "on" if sleeps else None,
            )
        )
        rate = re.search(r"Bit Rate[:=]([\d.]+) ([MG])b/s", joined)
        other = re.search(r"Access Point: (\S+)", joined)
        if kind == "managed" and rate and other and not other[1].startswith("Not"):
            peer = Peer(other[1].lower(), name, where, counts={"beacon loss": 0})
            level = re.search(r"Signal level=(-\d+) dBm", joined)
            peer.signal_dbm = int(level[1]) if level else None
            try:
                peer.tx = told(f"{float(rate[1]) * (1000 if rate[2] == 'G' else 1):.1f} MBit/s")
            except ValueError:
                peer.tx = None
            found.append(peer)
        elif kind == "managed":
            found.append(Unread(f"iwconfig: {name} is not connected", where))
    none = [] if found else [Unread("iwconfig: no wireless interface", f"{file}:1")]
    return [*found, *none, *unrecognised(file, strange)]
