"""The way between server and access point in the text of a scenario."""

from stillair.cli.new.home import KERNEL, Access, Home
from stillair.explain.access import SHARE


def way(home: Home) -> str:
    """The link and the server behind the access point, which is named `ap` and has that link as `eth0`."""
    own = home.access
    if own is None:
        link, said = f'rate = "1 Gbit/s"\ndelay = "{home.delay}"\n', "A wire that is never the bottleneck."
    else:
        rates = f'{{ down = "{_rate(own.down_mbps)}", up = "{_rate(own.up_mbps)}" }}'
        which = f'line = "{own.line}"  # {rates}' if own.line else f"rate = {rates}"
        link = f'kind = "access"\n{which}\n'
        link += f'buffer = "{own.buffer}"  # of the modem, and of its peer\n' if own.buffer else ""
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


def interface(home: Home) -> str:
    """The access point's interface on that way, as lines of its table."""
    before = (
        ""
        if home.access is None or home.access.shaper == "none"
        else f", shaper = {shaper(home.access, home.access.shaper)}"
    )
    said = f"# The shaper has {SHARE:.0%} of the line's rates, so that packets wait there and not in the modem.\n"
    return f'{said if before else ""}interface.eth0 = {{ link = "wan", address = "10.0.0.1"{before} }}'


def shaper(own: Access, kind: str) -> str:
    """The shaper of a line, with a discipline."""
    down, up = (_rate(rate * SHARE) for rate in (own.down_mbps, own.up_mbps))
    return f'{{ down = "{down}", up = "{up}", qdisc = "{kind}" }}'


def _rate(mbps: float) -> str:
    return f"{round(mbps * 1000) / 1000:g} Mbit/s" if mbps < 1000 else f"{round(mbps * 1000)} kbit/s"
