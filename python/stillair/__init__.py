"""Stillair: a Wi-Fi latency testbed in one program.

>>> from stillair import Scenario
>>> result = Scenario("scenarios/anomaly-udp.toml").run(runs=10)
>>> result.over_runs()["goodput_total_mbps"]["mean"]
"""

from stillair._native import InputError, RunError, __version__
from stillair.result import Result
from stillair.scenario import Scenario

__all__ = ["InputError", "Result", "RunError", "Scenario", "__version__"]
