"""The scenario's text."""

import json
from collections.abc import Callable, Iterator

from stillair.cli.new import access
from stillair.cli.new.home import Home, Station

_SWEEPS = ("each way of the table at the end to queue at the access point", "each shaper of the table at the end")
"""Queueing schemes to compare: with a wire that is never the bottleneck, and with an access line."""
_NO_FIFO = """\
# "fifo" is left out: OpenWrt runs fq_codel on every interface, so it would equal "fq_codel".
# For FIFOs, set the discipline of wlan0 as well: qdisc = "pfifo_fast".
"""
_HT = {"802.11n", "802.11ac"}


def text(home: Home, chosen: Callable[[str], dict[str, str]] | None = None) -> str:
    """Returns the scenario of a network.

    Linux's own rate control has no 802.11ax rates. For 802.11ax, `chosen` therefore picks a fixed rate for
    each station, given the text in which all use the fastest.
    """
    rates: dict[str, str] = {}
    if home.standard == "802.11ax" and chosen is not None:
        rates = chosen(_text(home, {}))
    return _text(home, rates)


def fastest_he(home: Home) -> str:
    """The fastest 802.11ax rate of these devices."""
    return f"he{home.width_mhz}-mcs11-nss{home.streams}-gi0.8"


def _text(home: Home, rates: dict[str, str]) -> str:
    parts = [
        _head(home),
        _channel(home),
        access.way(home),
        _ap(home),
        *_stations(home, rates),
        *_flows(home),
        _sweep(home),
    ]
    return "\n".join(parts)


def _head(home: Home) -> str:
    return f"""\
# Your own network, written by 'stillair new'. 'stillair schema --reference' prints every key.
#   stillair check FILE    stations that hear each other, rates that work
#   stillair run FILE      the results
# Delete the flows that you do not have. "from" and "to" are the sender and the receiver.
#   stillair sweep FILE    {_SWEEPS[home.access is not None]}
name = {json.dumps(home.name, ensure_ascii=False)}
duration = "30 s"
warm_up = "5 s"  # not measured
seed = 1
"""


def _channel(home: Home) -> str:
    return f"""\
[channel.wifi]
band = "{home.band}"
width = "{home.width_mhz} MHz"
"""


def _ap(home: Home) -> str:
    scheme = f', scheme = "{home.scheme}"' if home.scheme else ""
    why = "as told" if home.scheme else "the driver of a device of this width in this kernel"
    return f"""\
# The access point; how it queues and shares the air: {why}.
[node.ap]
profile = "{home.kernel}"
forward = true
{access.interface(home)}
interface.wlan0 = {{ channel = "wifi", role = "ap", address = "10.0.1.1"{scheme} }}
"""


def _stations(home: Home, rates: dict[str, str]) -> list[str]:
    return [_station(home, number, one, rates) for number, one in enumerate(home.stations)]


def _station(home: Home, number: int, one: Station, rates: dict[str, str]) -> str:
    keys = [
        'channel = "wifi"',
        'role = "station"',
        'ap = "ap.wlan0"',
        f'address = "10.0.1.{number + 11}"',
        f"rate = {_rates(home, one, rates)}",
    ]
    said = ""
    if one.place != "rate":
        keys.append(f'{one.place} = "{one.value}"')
    saves = one.power_save or home.power_save
    if saves and saves != "none":
        keys.append(f'power_save = "{saves}"')
    if home.standard == "802.11ax" and one.place != "rate":
        said = (
            "# Fixed at the fastest rate that works there: Linux leaves rates of 802.11ax to the device's firmware.\n"
        )
    return f"""\
[node.{one.name}]
profile = "{home.station_kernel}"
{said}[node.{one.name}.interface.wlan0]
{chr(10).join(keys)}
"""


def _rates(home: Home, one: Station, rates: dict[str, str]) -> str:
    if one.place == "rate":
        return json.dumps(one.value)
    if home.standard == "802.11ax":
        return json.dumps(rates.get(one.name) or fastest_he(home))
    if home.standard in _HT:
        return f'{{ kind = "minstrel_ht", standard = "{home.standard}", streams = {home.streams} }}'
    return f'{{ kind = "minstrel", standard = "{home.standard}" }}'


def _flows(home: Home) -> list[str]:
    """Traffic starts at one second; measurements start later, once it has settled."""
    begins = 'start = "1 s"\nstart_spread = "10 ms"'
    flows = []
    if down := home.having("download"):
        said = _all(home, down, "downloads", "download")
        flows.append(_flow(said, "tcp", '"server"', json.dumps(down), f'name = "down"\n{begins}'))
    for name in home.having("upload"):
        keys = f'name = "up-{name}"\n{begins}'
        flows.append(_flow(f"{name} uploads.", "tcp", json.dumps(name), '"server"', keys))
    for name, hears, speaks in _named(home, "call", "hears", "speaks"):
        flows.append(_flow(f"{name} has a call: G.711, both ways.", "voip", '"server"', json.dumps(name), hears))
        flows.append(_flow("", "voip", json.dumps(name), '"server"', speaks))
    for name, video in _named(home, "video", "video"):
        keys = f'{video}\nrate = "2 Mbit/s"\nbidirectional = true'
        said = f"{name} has the picture of a video call, both ways."
        flows.append(_flow(said, "video", '"server"', json.dumps(name), keys))
    for name, film in _named(home, "streaming", "film"):
        # The player is idle for the length of a segment, and catches up on data that came late.
        keys = f'{film}\nrate = "5 Mbit/s"\nwrite_size = "2.5 MB"\n{begins}'
        said = f"{name} streams video at 5 Mbit/s: a segment of 2.5 MB every 4 s, over one connection."
        flows.append(_flow(said, "tcp", '"server"', json.dumps(name), keys))
    for name, pages in _named(home, "web", "pages"):
        flows.append(_flow(f"{name} loads pages.", "web", json.dumps(name), '"server"', f'{pages}\npage = "google"'))
    for name, sees, acts in _named(home, "game", "game-down", "game-up"):
        # 60 datagrams of 100 bytes per second.
        keys = 'rate = "48 kbit/s"\npayload = "100 B"\ngap = "periodic"'
        said = f"{name} plays a game: 60 datagrams of 100 bytes per second, both ways."
        flows.append(_flow(said, "udp", '"server"', json.dumps(name), f"{sees}\n{keys}"))
        flows.append(_flow("", "udp", json.dumps(name), '"server"', f"{acts}\n{keys}"))
    if pinged := home.having("ping"):
        said = _all(home, pinged, "is pinged", "are pinged")
        flows.append(_flow(said, "ping", '"server"', json.dumps(pinged), 'name = "ping"'))
    return flows


def _all(home: Home, names: list[str], one: str, several: str) -> str:
    """A sentence that names the stations and their activity."""
    if len(names) == len(home.stations):
        return f"Each station {one}."
    return f"{', '.join(names[:-1])} and {names[-1]} {several}." if len(names) > 1 else f"{names[0]} {one}."


def _named(home: Home, kind: str, *flows: str) -> Iterator[tuple[str, ...]]:
    """Stations with such traffic, and the names of their flows; with several stations, the names are made unique."""
    having = home.having(kind)
    for name in having:
        own = f"-{name}" if len(having) > 1 else ""
        yield name, *(f'name = "{flow}{own}"' for flow in flows)


def _flow(comment: str, kind: str, sender: str, receivers: str, keys: str) -> str:
    said = f"# {comment}\n" if comment else ""
    return f'{said}[[flow]]\nkind = "{kind}"\nfrom = {sender}\nto = {receivers}\n{keys}\n'


def _sweep(home: Home) -> str:
    # OpenWrt runs fq_codel above the driver's FIFOs, so `fifo` would make no difference.
    schemes = [*([] if home.is_openwrt else ["fifo"]), "fq_codel", "fq_mac", "airtime", "mac80211"]
    schemes += ["mt76"] if home.width_mhz > 40 else []
    queueing = f'"node.ap.interface.wlan0.scheme" = {json.dumps(schemes)}'
    without = _NO_FIFO if home.is_openwrt else ""
    if home.access is None:
        return f"[sweep]\n{without}{queueing}\n"
    tried = ["off", *(access.shaper(home.access, kind) for kind in ("fq_codel", "cake"))]
    values = "\n".join(f"    {one if one.startswith('{') else json.dumps(one)}," for one in tried)
    return f"""\
# If this line is slower than the Wi-Fi, packets queue in the modem, or in the shaper before it.
# Uncomment the last line to sweep the queueing for Wi-Fi as well.
[sweep]
"node.ap.interface.eth0.shaper" = [
{values}
]
{without}# {queueing}
"""
