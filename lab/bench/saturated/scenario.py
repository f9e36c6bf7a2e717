"""A case as a Stillair scenario."""

from saturated.cases import Case
from saturated.standard import Rate, rate

KERNEL = "linux-6.6"
BUFFER = 8_000_000
"""UDP socket buffer in bytes, larger than the largest aggregate."""
SETTLE, SECONDS = 1, 5
"""Warm-up and measured time, in s."""
HEADER = 26
"""Every data frame has a QoS header in Stillair."""


def scenario(case: Case) -> str:
    """The scenario as TOML."""
    if case.lacks:
        raise ValueError(case.lacks)
    data = rate(case.rate)
    scheme = _scheme(case)
    channel = [f'band = "{case.band.replace("_", ".")} GHz"', f'width = "{data.width} MHz"']
    if case.hidden:
        channel.append(f"hidden = [{[f's{i}' for i in range(case.stations)]}]".replace("'", '"'))
    lines = [
        f'name = "{case.example}"',
        f'duration = "{SETTLE + SECONDS} s"',
        f'warm_up = "{SETTLE} s"',
        "[channel.wifi]",
        *channel,
        *_node("ap", 1, [*scheme, 'role = "ap"', *_edca(case)]),
    ]
    for i in range(case.stations):
        path = ['role = "station"', 'ap = "ap.wlan0"', f'rate = "{case.rate}"', _chain(case), *scheme]
        lines += _node(f"s{i}", 10 + i, path)
    for i in range(case.stations):
        lines += _flow(case, f"s{i}", data)
    return "\n".join(lines) + "\n"


def _node(name: str, number: int, keys: list[str]) -> list[str]:
    return [
        f"[node.{name}]",
        f'profile = "{KERNEL}"',
        f'sysctl."net.core.wmem_default" = {BUFFER}',
        f"[node.{name}.interface.wlan0]",
        'channel = "wifi"',
        f'address = "10.0.1.{number}"',
        *keys,
    ]


def _scheme(case: Case) -> list[str]:
    """A FIFO above a radio that builds aggregates on transmission; only firmware schemes build A-MSDUs."""
    if case.joined > 1:
        scheme = f'{{ kind = "ath10k", aql = false, amsdu_frames = {case.joined} }}'
    else:
        scheme = '{ kind = "fifo", qlen = 1000, firmware_aggregates = true }'
    return [f"scheme = {scheme}", "retry_limit = 255", *(["rts_threshold = 0"] if case.rts else [])]


def _chain(case: Case) -> str:
    """Retries at one rate until a frame arrives. A last entry without HT keeps frames single."""
    entry = f'{{ rate = "{case.rate}", tries = 15 }}'
    last = entry if case.ampdu else '{ rate = "ofdm-6", tries = 15 }'
    return f"retry_chain = [{entry}, {entry}, {entry}, {last}]"


def _edca(case: Case) -> list[str]:
    """EDCA parameters of the access point, and of stations from its beacons: the standard's, as in ns-3."""
    queue, ac = (1, "vi") if case.video else (2, "be")
    least, most = (3, 4) if case.video else (4, 10)
    aifsn = 2 if case.video else case.aifsn
    txop = case.txop_us or 0
    return [
        f"tx_queue_data{queue}_aifs = {aifsn}",
        f"tx_queue_data{queue}_cwmin = {2**least - 1}",
        f"tx_queue_data{queue}_cwmax = {2**most - 1}",
        f'tx_queue_data{queue}_burst = "{txop} us"',
        f"wmm_ac_{ac}_aifs = {aifsn}",
        f"wmm_ac_{ac}_cwmin = {least}",
        f"wmm_ac_{ac}_cwmax = {most}",
        f"wmm_ac_{ac}_txop_limit = {txop // 32}",
    ]


def load_mbps(case: Case, data: Rate) -> float:
    """Offered payload per station in Mbit/s.

    As in ns-3's examples, the rate is divided by the stations; several offer 10 % more.
    """
    return data.mbps / case.stations * (1.0 if case.stations == 1 else 1.1)


def _flow(case: Case, name: str, data: Rate) -> list[str]:
    ends = (name, "ap") if case.up else ("ap", name)
    return [
        "[[flow]]",
        'kind = "udp"',
        f'from = "{ends[0]}"',
        f'to = "{ends[1]}"',
        f'rate = "{round(1000 * load_mbps(case, data))} kbit/s"',
        f"payload = {case.payload - (HEADER - case.header)}",
        "burst = 8",
        f'dscp = "{"CS5" if case.video else "CS0"}"',
        'start_spread = "10 ms"',
    ]
