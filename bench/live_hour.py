"""An hour of load between live hosts, made by the real Flent: whether memory stays as it is, and accounts close.

`bench/live_hour.py target/release/stillair-live FLENT [SECONDS]`. Flent's `rrul_be` has four TCP transfers each way
beside four pings. Each minute a line with what the engine's process holds of memory, and how much has come to the doors
of the model; at the end what Flent and the engine say of the run. Exit status 1 if memory grew or there is no result: a
result is made of accounts that close, or not at all.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SCENARIO = Path(__file__).resolve().parents[1] / "scenarios" / "live" / "upload.toml"
MINUTE = 60
GROWTH = 0.05
"""Part by which memory may be more in the last ten minutes than in minutes 11 to 20, when tables have their size."""
EDGES = 10
"""Seconds that Flent's test is longer than its transfers."""


def main(binary: str, flent: str, seconds: int) -> int:
    """Runs it and prints a table; the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        test = [str(Path(flent).absolute()), "rrul_be", "-H", "server", "-l", str(seconds - EDGES), "-D", folder]
        options = ["--set", "flow=[]", "--set", "warm_up=10 s", "--late", "10000000", "--servers"]
        command = [str(Path(binary).absolute()), "run", str(SCENARIO), *options, "--", *test]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        begin: float = time.monotonic()
        held: list[int] = []
        print(f"{'minute':>6} {'RSS kB':>9} {'peak kB':>9} {'CPU s':>8} {'entered':>12} {'left':>12}", flush=True)
        try:
            while (wait := (len(held) + 1) * MINUTE - (time.monotonic() - begin)) > -MINUTE:
                try:
                    process.wait(max(wait, 0))
                    break
                except subprocess.TimeoutExpired:
                    row = minute(binary, process.pid, len(held) + 1)
                    if row is None:
                        break
                    held.append(row)
        finally:
            if process.poll() is None and sys.exc_info()[0]:
                process.terminate()
        text, _ = process.communicate()
    *said, last = text.splitlines() or [""]
    print("\n".join(said))
    if not last.startswith("{"):
        print(f"no result, exit status {process.returncode}")
        return 1
    return judged(json.loads(last), held)


def minute(binary: str, own: int, number: int) -> int | None:
    """A line of the table: what is held now, in kB."""
    asked = subprocess.run([binary, "ps"], capture_output=True, text=True, check=True)
    for run in json.loads(asked.stdout):
        if descends(run["pid"], own):
            process = Path("/proc") / str(run["pid"])
            state = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
            rss, peak = (int(state[key].split()[0]) for key in ("VmRSS", "VmHWM"))
            ticks = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
            doors = run["status"]["external_io"]
            cpu = sum(map(int, ticks)) / 100
            row = f"{number:>6} {rss:>9} {peak:>9} {cpu:>8.1f} {doors['entered']:>12} {doors['left']:>12}"
            print(row, flush=True)
            return rss
    return None


def descends(process: int, of: int) -> bool:
    """Whether a process descends from another."""
    while process > 1:
        if process == of:
            return True
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return False


def judged(result: dict[str, Any], held: list[int]) -> int:
    """Prints what the run came to; the exit status."""
    [run] = result["runs"]
    live = run["live"]
    doors = ", ".join(f"{name} {count}" for name, count in live["external_io"].items())
    print(f"version {result['version']}, {live['elapsed_s']:.0f} s; accounts close; {doors}")
    late = ", ".join(f"{key} {live['lateness'][key]:.0f}" for key in ("p50_us", "p99_us", "max_us", "gap_us"))
    cpu = live["cpu_user_s"] + live["cpu_system_s"]
    print(f"late: {late}; {live['priority']} priority; {cpu / live['elapsed_s']:.3f} core")
    for note in result.get("notes", ()):
        print(f"note: {note}")
    if len(held) < 30:
        print("memory: too short a run to tell")
        return 0
    early, last = max(held[10:20]), max(held[-10:])
    flat = last <= early * (1 + GROWTH)
    words = "flat" if flat else "it GROWS"
    print(f"memory: at most {early} kB in minutes 11 to 20, {last} kB in the last ten: {words}")
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if sys.argv[3:] else 3600))
