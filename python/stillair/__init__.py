"""Stillair: a simulator for latency in home and office Wi-Fi networks.

>>> from stillair import Scenario
>>> result = Scenario("scenarios/anomaly-udp.toml").run(runs=10)
>>> result.summary()["goodput_total_mbps"]["mean"]
>>> from stillair import run_sweep
>>> table = run_sweep("scenarios/anomaly-udp.toml", {"flow.0.rate": ["5 Mbit/s", "50 Mbit/s"]}, runs=10)
>>> table.to_polars()
"""

TYPE_CHECKING = False  # importing `typing` is slow
if TYPE_CHECKING:
    from stillair._native import InputError, RunError, __version__
    from stillair.plot import Picture
    from stillair.results.result import Result
    from stillair.runs.scenario import Scenario
    from stillair.runs.sweep_result import SweepError, SweepResult, run_sweep

__all__ = [
    "InputError",
    "Picture",
    "Result",
    "RunError",
    "Scenario",
    "SweepError",
    "SweepResult",
    "__version__",
    "run_sweep",
]

_ROOMS = {
    "Result": "stillair.results.result",
    "Scenario": "stillair.runs.scenario",
    "Picture": "stillair.plot",
    **dict.fromkeys(("SweepError", "SweepResult", "run_sweep"), "stillair.runs.sweep_result"),
}


def __getattr__(name: str) -> object:
    """Imports names on first use, so that the command can handle an interrupt early."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only used here

    globals()[name] = found = getattr(import_module(_ROOMS.get(name, "stillair._native")), name)
    return found
