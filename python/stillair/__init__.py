"""Stillair: a Wi-Fi latency testbed in one program.

>>> from stillair import Scenario
>>> result = Scenario("scenarios/anomaly-udp.toml").run(runs=10)
>>> result.over_runs()["goodput_total_mbps"]["mean"]
"""

TYPE_CHECKING = False  # the one of `typing` costs its import
if TYPE_CHECKING:
    from stillair._native import InputError, RunError, __version__
    from stillair.results.result import Result
    from stillair.runs.scenario import Scenario

__all__ = ["InputError", "Result", "RunError", "Scenario", "__version__"]


def __getattr__(name: str) -> object:
    """Loads what is asked for: the command must be able to answer an interrupt before all is loaded."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - needed here alone

    module = {"Result": "stillair.results.result", "Scenario": "stillair.runs.scenario"}.get(name, "stillair._native")
    globals()[name] = found = getattr(import_module(module), name)
    return found
