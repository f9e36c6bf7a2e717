"""The campus that is shipped is the one that its script writes."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_campus_is_what_its_script_writes() -> None:
    printed = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "campus.py")], check=True, capture_output=True, text=True
    )
    assert printed.stdout == (ROOT / "scenarios" / "campus.toml").read_text()
