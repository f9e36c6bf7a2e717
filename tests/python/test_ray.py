"""A sweep on a Ray cluster, with the code from docs/sweeps.md.

Ray is 80 MB, and has no wheel for some Python versions. Without the package of requirements-ray.txt this test
is skipped; with STILLAIR_RAY=required it fails.
"""

import os
import re
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pytest

from stillair import run_sweep
from test_run_sweep import AXES, TEXT, files

DOCS = Path(__file__).resolve().parents[2] / "docs" / "sweeps.md"


def documented() -> type[Executor]:
    """The executor of the document, as its reader would paste it."""
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    lines = next(block for block in blocks if "class RayExecutor" in block).partition("\nray.init()")[0]
    names: dict[str, Any] = {}
    exec(lines, names)  # noqa: S102 - our own document
    found: type[Executor] = names["RayExecutor"]
    return found


def test_ray_leaves_the_same_bytes(tmp_path: Path) -> None:
    try:
        import ray  # noqa: PLC0415
    except ImportError:
        said = "sweeps are not tested on Ray: pip install -r requirements-ray.txt"
        if os.environ.get("STILLAIR_RAY") == "required":
            pytest.fail(said)
        pytest.skip(said)
    run_sweep(TEXT, AXES, runs=2, jobs=1, folder=tmp_path / "plain", parquet=True)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        executor = documented()(num_cpus=1)
        assert executor.submit(lambda: (0, os.getpid())).result()[1] != os.getpid()
        run_sweep(TEXT, AXES, runs=2, executor=executor, folder=tmp_path / "ray", parquet=True)
    finally:
        ray.shutdown()
    assert files(tmp_path / "ray") == files(tmp_path / "plain")
