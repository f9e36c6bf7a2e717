#!/usr/bin/env python3
"""One boot: `run.py NAME 'JSON' [simwifi.KEY=VALUE...]`.

Environment: OUTS (results folder), TOOLS (unpacked hostapd, iw, ping, ...), LINUX (kernel), TMO (time limit
in s).
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
_START_NS = 1_700_000_000_000_000_000


def outs() -> Path:
    """The folder of results."""
    return Path(os.environ.get("OUTS", HERE / "out"))


def boot(name: str, configuration: Mapping[str, Any]) -> tuple[Path, float | None]:
    """Boots the kernel with a configuration.

    Returns the results folder, and the seconds taken; `None` after a time-out.
    """
    shared = HERE / "cur"
    shared.mkdir(exist_ok=True)
    out = outs() / name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / "cfg.json").write_text(json.dumps(configuration), encoding="utf-8")
    # The kernel also seeds its random numbers from the command line and the wall clock. Keep both constant:
    # each results folder is bound to the same path in a mount namespace.
    command = [
        "unshare", "-m", "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"', str(out), str(shared),
        "setarch", "-R", os.environ.get("LINUX", str(HERE / "linux-simwifi")),
        "mem=600M", "root=/dev/root", "rootfstype=hostfs", "rw", f"init={HERE}/init.py", "con=null", "con0=fd:0,fd:1",
        "loglevel=7", "time-travel=inf-cpu", f"time-travel-start={_START_NS}",
        f"simwifi.radios={configuration['stations'] + 1}",
        *(f"simwifi.{key}={value}" for key, value in configuration.get("params", {}).items()),
        f"HERE={HERE}", f"TOOLS={os.environ.get('TOOLS', HERE / 'root')}", f"EXP={shared}/cfg.json", f"OUT={shared}",
    ]  # fmt: skip
    began = time.monotonic()
    with (out / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - fixed commands
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=dict(os.environ, LD_PRELOAD=str(HERE / "seed.so")),
        )
        try:
            process.wait(float(os.environ.get("TMO", "150")))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return out, None
    return out, time.monotonic() - began


def main() -> None:
    """Boots once and prints the end of the kernel log."""
    configuration = json.loads(sys.argv[2])
    params = configuration.setdefault("params", {})
    params.update(word.removeprefix("simwifi.").split("=", 1) for word in sys.argv[3:])
    out, seconds = boot(sys.argv[1], configuration)
    lines = (out / "log").read_text(errors="replace").splitlines()
    print("\n".join(line for line in lines if "channel" not in line)[-3500:])
    print("took too long" if seconds is None else f"{seconds:.1f} s")


if __name__ == "__main__":
    main()
