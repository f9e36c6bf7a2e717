"""Training runs of a profile-guided build: `make wheel`, and `maturin build --pgo` (see pyproject.toml).

The scenarios are typical ones. None is a benchmark (scenarios/bench), so that benchmarks show the effect on
other scenarios.
"""

import tempfile
from pathlib import Path

from stillair import Scenario
from stillair.capture import write_capture

PLAIN = ("home", "cafe", "office", "anomaly-tcp-both", "ath9k-mcs", "examples/upload", "tsq-wired", "bquic-page")
FOLLOWED = ("home", "anomaly-tcp-both")
SHORT = {"duration": "6 s", "warm_up": "1 s"}


def main() -> None:
    """Plain runs, runs with followed packets (`[record] sojourn`), and a capture."""
    for name in PLAIN:
        Scenario(name).run(jobs=1, overrides=SHORT)
    for name in FOLLOWED:
        Scenario(name).run(jobs=1, overrides={**SHORT, "record.sojourn": "true"})
    with tempfile.TemporaryDirectory() as folder:
        write_capture(Scenario("home"), SHORT, None, 0, Path(folder) / "home.pcapng")


if __name__ == "__main__":
    main()
