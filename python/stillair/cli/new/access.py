"""Scenario text of the path between server and access point."""

import json
import math

from stillair.cli.new.home import KERNEL, Access, Home
from stillair.explain.access import RAW, SHARE, share


def way(home: Home) -> str:
    """The link to the server, as `eth0` of the node `ap`."""
    own = home.access
    if own is None:
        link, said = f'rate = "1 Gbit/s"\ndelay = "{home.delay}"\n', "A wire that is never the bottleneck."
    else:
        rates = f'{{ down = "{_rate(own.down_mbps)}", up = "{_rate(own.up_mbps)}" }}'
        which = f'line = "{own.line}"  # {rates}' if own.line else f"rate = {rates}"
        link = f'kind = "access"\n{which}\n'
        link += "" if own.line else _assumed(own)
        link += f'buffer = "{own.buffer}"  # in the modem, and in its peer\n' if own.buffer else ""
        link += f'delay = "{home.delay}"\n'
        said = "The line to the Internet, with a server at its other end."
    return f"""\
# {said}
[link.wan]
{link}
[node.server]
profile = "{KERNEL}"
interface.eth0 = {{ link = "wan", address = "10.0.0.2" }}
"""


def _assumed(own: Access) -> str:
    """The assumed framing of a line given only by its rates."""
    of = own.framing
    return (
        f"# assumed: the framing of a cable line, {of.overhead} bytes per IP packet and at least {of.mpu} in total."
        "\n#   For other lines set overhead, mpu and atm here, as for cake; 'stillair new --line' has ADSL, VDSL"
        " and others.\n"
    )


def interface(home: Home) -> str:
    """The access point's wired interface, as lines of its table."""
    before, said = "", ""
    if home.access is not None and home.access.shaper != "none":
        before = f", shaper = {shaper(home.access, home.access.shaper)}"
        part = f"{100 * _share(home.access, home.access.shaper):.0f} %"
        said = f"# The shaper uses {part} of the line's rates, so that packets queue there and not in the modem.\n"
        if home.access.framing != RAW:
            said += _COUNTS if home.access.shaper == "cake" else _COUNTS_NOT
    return f'{said}interface.eth0 = {{ link = "wan", address = "10.0.0.1"{before} }}'


_COUNTS = "# It counts the line's framing.\n"
_COUNTS_NOT = (
    f"# It ignores the line's framing; including it, full packets use at most {100 * SHARE:.0f} % of the line.\n"
)


def shaper(own: Access, kind: str) -> str:
    """The line's shaper with its qdisc. cake gets the line's framing."""
    part = _share(own, kind)
    # Round down: a product of floats may exceed the exact value slightly.
    down, up = (_rate(math.floor(rate * part * 1000 + 1e-6) / 1000) for rate in (own.down_mbps, own.up_mbps))
    framing = {key: of for key, of in own.framing._asdict().items() if of not in (None, 0, "noatm")}
    keys = "".join(f", {key} = {json.dumps(of)}" for key, of in framing.items())
    qdisc = f'{{ kind = "cake"{keys} }}' if kind == "cake" and keys else f'"{kind}"'
    return f'{{ down = "{down}", up = "{up}", qdisc = {qdisc} }}'


def _share(own: Access, kind: str) -> float:
    """Share of the line's rates to shape to. Other qdiscs than cake run under htb, which ignores framing."""
    return share(own.framing, own.framing) if kind == "cake" else share(own.framing)


def _rate(mbps: float) -> str:
    return f"{round(mbps * 1000) / 1000:g} Mbit/s" if mbps < 1000 else f"{round(mbps * 1000)} kbit/s"
