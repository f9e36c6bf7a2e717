"""Scenario flows of a crusader test.

spec: Zoxc/crusader 0.3.2, src/crusader-lib/src/test.rs - idle, then download, upload and both, each followed
by idle; UDP packets of 16 bytes to the server and back throughout the test.
"""

from collections.abc import Iterator

from stillair.runs.imports.facts import Crusader

_ORDER = (("download",), ("upload",), ("both down", "both up"))


def _phases(test: Crusader) -> list[tuple[str, ...]]:
    return [phase for phase in _ORDER if phase[0] in test.kinds or phase[-1] in test.kinds]


def seconds(test: Crusader) -> float:
    """Returns the duration of the test, without the time in which a load drains after its end."""
    return max(test.grace_s + len(_phases(test)) * (test.load_s + test.grace_s + _spread(test)), 1.0)


def _spread(test: Crusader) -> float:
    return test.stagger_s * max(test.streams - 1, 0)


def flows(test: Crusader, station: str) -> Iterator[list[str]]:
    """The tables of its flows, each as lines."""
    about = f"# {test.where}: crusader's test, from this machine, TCP flows each way: {test.streams}."
    for kind, (mbps, ms) in test.measured.items():
        about += f" It measured {mbps:.4g} Mbit/s ({kind}" + (f", {ms:.3g} ms)." if ms is not None else ").")
    yield [
        about,
        "[[flow]]",
        'kind = "udp_ping"',
        'name = "latency"',
        f'from = "{station}"',
        'to = "server"',
        f'interval = "{test.ping_ms:.9g} ms"',
        'payload = "16 B"',
    ]
    at = test.grace_s
    for phase in _phases(test):
        for kind in phase:
            ends = (station, "server") if kind in ("upload", "both up") else ("server", station)
            # With both directions loaded, uploads start between the downloads.
            late = test.stagger_s / 2 if kind == "both up" else 0.0
            for number in range(test.streams):
                start = at + late + number * test.stagger_s
                yield [
                    "[[flow]]",
                    'kind = "tcp"',
                    f'name = "{kind.replace(" ", "-")}-{number + 1}"',
                    f'from = "{ends[0]}"',
                    f'to = "{ends[1]}"',
                    f'start = "{start:.9g} s"',
                    f'stop = "{start + test.load_s:.9g} s"',
                ]
        at += test.load_s + test.grace_s + _spread(test)
