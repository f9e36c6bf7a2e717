"""The way between server and access point in the text of a scenario.

Written with links that are alike in both directions and shapers at their ends: all that knows how this is said is here.
"""

from stillair.cli.new.home import Access, Home

_SHAPED = 0.95
"""Of the link's rate: the queue then stands in the shaper and not in the modem."""


def way(home: Home) -> str:
    """Links and nodes from the server to the access point, which is named `ap` and has what follows as `eth0`."""
    if home.access is None:
        return f"""\
# A server behind the access point, on a wire that is never the bottleneck.
[link.lan]
rate = "1 Gbit/s"
delay = "{home.delay}"

[node.server]
profile = "{home.kernel}"
interface.eth0 = {{ link = "lan", address = "10.0.0.2" }}
"""
    own = home.access
    return _far(home, own) + (_shaped(home, own) if own.shaper != "none" else "")


def interface(home: Home) -> str:
    """The access point's interface on that way, as a line of its table."""
    own = home.access
    if own is None:
        return 'interface.eth0 = { link = "lan", address = "10.0.0.1" }'
    if own.shaper != "none":
        return 'interface.eth0 = { link = "inside", address = "10.0.2.1" }'
    queue = _bottleneck(own.up_mbps, own.buffer)
    return f'interface.eth0 = {{ link = "access", address = "10.0.1.1", qdisc = {queue} }}  # the modem, upwards'


def addresses(home: Home) -> str:
    """The first part of the addresses on the air."""
    return "10.0.1" if home.access is None else "10.0.3"


def _far(home: Home, own: Access) -> str:
    return f"""\
# The Internet: a server, {home.delay} away from the provider.
[link.internet]
rate = "10 Gbit/s"
delay = "{home.delay}"

# The line to the home. Its rates down and up are those of the shapers at its two ends.
[link.access]
rate = "10 Gbit/s"
delay = "1 ms"

[node.server]
profile = "{home.kernel}"
interface.eth0 = {{ link = "internet", address = "10.0.0.2" }}

# The provider's end of the line: {own.down_mbps:g} Mbit/s down, with a buffer of {own.buffer}.
[node.isp]
profile = "{home.kernel}"
forward = true
interface.eth0 = {{ link = "internet", address = "10.0.0.1" }}
interface.eth1 = {{ link = "access", address = "10.0.1.2", qdisc = {_bottleneck(own.down_mbps, own.buffer)} }}
"""


def _shaped(home: Home, own: Access) -> str:
    down, up = (_shaper(own.shaper, rate, is_down) for rate, is_down in ((own.down_mbps, True), (own.up_mbps, False)))
    return f"""
# The router's side towards the line, with a shaper each way at {_SHAPED:.0%} of its rates, so that packets wait in
# {own.shaper} instead of the modem: what comes in is shaped between two virtual devices, as with an ifb.
[link.inside]
kind = "veth"

[node.wan]
profile = "{home.kernel}"
forward = true
interface.eth0 = {{ link = "access", address = "10.0.1.1", qdisc = {up} }}
interface.ifb0 = {{ link = "inside", address = "10.0.2.2", qdisc = {down} }}
"""


def _bottleneck(mbps: float, buffer: str) -> str:
    return f'{{ kind = "tbf", rate = "{_rate(mbps)}", burst = {_burst(mbps)}, latency = "{buffer}" }}'


def _shaper(kind: str, mbps: float, is_down: bool) -> str:
    rate = _rate(mbps * _SHAPED)
    if kind == "cake":
        return f'{{ kind = "cake", bandwidth = "{rate}"{", ingress = true" if is_down else ""} }}'
    return f'{{ kind = "htb", rate = "{rate}", burst = {_burst(mbps)}, cburst = {_burst(mbps)}, child = "{kind}" }}'


def _rate(mbps: float) -> str:
    return f"{round(mbps * 1000) / 1000:g} Mbit/s" if mbps < 1000 else f"{round(mbps * 1000)} kbit/s"


def _burst(mbps: float) -> int:
    """What the line carries in a millisecond, and at least two full packets: more would be seen as a burst."""
    return max(3_028, round(mbps * 1e6 / 8 / 1000))
