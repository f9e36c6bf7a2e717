#!/usr/bin/env python3
"""The guest's init: access point wlan0 (hostapd, open, HT20), stations in namespaces, a server behind veth and netem.

Kernel command line: HERE is the folder of these scripts, OUT the results folder, EXP the configuration.
"""

import ctypes
import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

HERE = os.environ.get("HERE", "")
OUT = Path(os.environ.get("OUT", ""))
PHY = Path("/sys/kernel/debug/ieee80211/phy0")
STATIONS = PHY / "netdev:wlan0/stations"
_POWER_OFF = 0x4321FEDC
_HOSTAPD = """interface=wlan0
driver=nl80211
ssid=sim
hw_mode=a
channel=36
ieee80211n=1
wmm_enabled=1
ht_capab=[SHORT-GI-20]
auth_algs=1
beacon_int=100
"""
_WIRE = (
    "ip netns add srv; ip link add ap0 type veth peer name srv0 netns srv; ip addr add 10.0.0.1/24 dev ap0;"
    "ip link set ap0 up; ip -n srv addr add 10.0.0.2/24 dev srv0; ip -n srv link set srv0 up;"
    "ip -n srv link set lo up; ip -n srv route add default via 10.0.0.1"
)
_NETEM = (
    "tc -n srv qdisc add dev srv0 root netem delay 250us rate 1gbit limit 100000;"
    "tc qdisc add dev ap0 root netem delay 250us limit 100000"
)


def shell(command: str, check: bool = True) -> str:
    """Returns a command's output. With `check`, logs a failing command."""
    done = subprocess.run(  # noqa: S602 - the guest has a single user
        command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if check and done.returncode:
        print("FAILED", command, done.stdout, flush=True)
    return done.stdout


def slurp(path: Path | str) -> str:
    """Returns the text of a file, or the error."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        return f"({error})"


def by_station(name: str) -> dict[str, str]:
    """Content of a mac80211 file for each station of the access point."""
    return {path.parent.name: slurp(path) for path in STATIONS.glob(f"*/{name}")}


class Guest:
    """One run."""

    def __init__(self, experiment: dict[str, Any]) -> None:
        """Takes the configuration."""
        self.experiment = experiment
        self.stations: int = experiment["stations"]
        self.loaded = sorted({flow["sta"] for flow in experiment["flows"]})
        self.processes: list[subprocess.Popen[bytes]] = []
        self.began = 0.0

    def go(self, namespace: str, command: list[str], to: Path | None = None) -> subprocess.Popen[bytes]:
        """Starts a process in a network namespace."""
        with (to or Path(os.devnull)).open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 - fixed commands
                ["ip", "netns", "exec", namespace, *command],  # noqa: S607
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.processes.append(process)
        return process

    def until(self, seconds: float) -> None:
        """Waits until `seconds` after the start."""
        time.sleep(max(0.0, self.began + seconds - time.monotonic()))

    def network(self) -> None:
        """Sets up access point, server and stations, and waits until they are associated and reachable."""
        shell("ip link set lo up; sysctl -qw net.ipv4.ip_forward=1")
        Path("/run/hostapd.conf").write_text(f"{_HOSTAPD}{self.experiment.get('hostapd', '')}\n", encoding="utf-8")
        shell("ip link set wlan0 up")
        shell("hostapd -B -f /run/hostapd.log /run/hostapd.conf")
        time.sleep(0.5)
        shell("ip addr add 10.0.1.1/24 dev wlan0")
        shell(_WIRE)
        offloads = "ip netns exec srv ethtool -K srv0 tso off gso off 2>/dev/null"
        shell(f"{offloads}; ip -n srv link set srv0 gso_max_segs 1", check=False)
        shell(_NETEM)
        for i in range(1, self.stations + 1):
            shell(
                f"ip netns add sta{i}; iw phy phy{i} set netns name sta{i}; ip -n sta{i} link set wlan{i} up;"
                f"ip -n sta{i} link set lo up; ip netns exec sta{i} iw dev wlan{i} connect sim"
            )
        latest = time.monotonic() + 10
        while time.monotonic() < latest and len(list(STATIONS.glob("*"))) != self.stations:
            time.sleep(0.2)
        time.sleep(0.3)
        print("associated", time.monotonic(), len(list(STATIONS.glob("*"))), flush=True)
        for i in range(1, self.stations + 1):
            address = f"10.0.1.{10 + i}"
            shell(f"ip -n sta{i} addr add {address}/24 dev wlan{i}; ip -n sta{i} route add default via 10.0.1.1")
            answers = shell(f"ip netns exec srv ping -n -c 3 -i 0.2 {address}", check=False)
            print(answers.strip().splitlines()[-2:], flush=True)
        for namespace in ["srv", *(f"sta{i}" for i in range(1, self.stations + 1))]:
            for setting in self.experiment.get("sysctls", []):
                shell(f"ip netns exec {namespace} sysctl -qw {setting}")
        for command in self.experiment.get("commands", []):
            print(command, shell(command, check=False), flush=True)

    def sinks(self) -> list[subprocess.Popen[bytes]]:
        """Starts the receivers. Returns the UDP receivers, which count until they are stopped."""
        counting = []
        for i in self.loaded:
            kinds = {flow["kind"] for flow in self.experiment["flows"] if flow["sta"] == i}
            if "udp" in kinds:
                warm = str(self.experiment.get("warm", 5) + 0.3)
                counting.append(self.go(f"sta{i}", [f"{HERE}/udp", "sink", "5000", warm], OUT / f"sink{i}"))
            if "tcp_down" in kinds:
                self.go(f"sta{i}", [f"{HERE}/flow", "sink", "5001"])
        self.go("srv", [f"{HERE}/flow", "sink", "5001"])
        return counting

    def load(self, flow: dict[str, Any]) -> None:
        """Starts a load at its start time."""
        i, start = flow["sta"], flow.get("start", 0)
        self.until(start)
        address, lasts = f"10.0.1.{10 + i}", str(self.experiment["seconds"] - start)
        if flow["kind"] == "udp":
            numbers = [flow["bps"], flow.get("payload", 1470), flow.get("burst", 8), lasts]
            seed = i + 100 * self.experiment.get("rep", 1)
            self.go("srv", [f"{HERE}/udp", "send", address, "5000", *map(str, numbers), str(seed)])
        elif flow["kind"] == "ping":
            count = str(int((self.experiment["seconds"] - start) * 10))
            self.go("srv", ["ping", "-n", "-i", "0.1", "-c", count, "-W", "3", address], OUT / f"ping{i}")
        else:
            sender, to = ("srv", address) if flow["kind"] == "tcp_down" else (f"sta{i}", "10.0.0.2")
            numbers = [flow.get("cc", "cubic"), flow.get("n", 1), lasts, 200, flow.get("stagger_ms", 0)]
            command = [f"{HERE}/flow", "send", to, "5001", *map(str, numbers), str(OUT / f"{flow['kind']}{i}")]
            self.go(sender, command)

    def counters(self) -> dict[str, Any]:
        """All counters at one time."""
        namespaces = ["srv", *(f"sta{i}" for i in self.loaded)]
        snmp = {
            name: shell(f"ip netns exec {name} cat /proc/net/snmp /proc/net/netstat", check=False)
            for name in namespaces
        }
        read: dict[str, Any] = {"t": time.monotonic() - self.began, "simwifi": slurp("/proc/simwifi")}
        return read | {"airtime": by_station("airtime"), "aqm": by_station("aqm"), "snmp": snmp}

    def measure(self) -> dict[str, Any]:
        """Takes samples and counters until the end, and applies changes during the run."""
        end, warm = self.experiment["seconds"], self.experiment.get("warm", 5)
        step, now = self.experiment.get("sample_s", 0.5), 0.0
        todo = sorted(self.experiment.get("steps", []), key=lambda one: one["at"])
        before, series, rates = None, [], []
        while now < end - 1e-6:
            while todo and todo[0]["at"] <= now + 1e-6:
                print(todo[0], shell(todo[0]["cmd"], check=False), flush=True)
                todo.pop(0)
            if before is None and now >= warm - 1e-6:
                before = self.counters()
            at = round(time.monotonic() - self.began, 6)
            lines = slurp("/proc/simwifi").splitlines()
            series.append([at, [line for line in lines if line.startswith(("sta ", "mcs "))]])
            if self.experiment.get("rc_series"):
                rates.append([round(time.monotonic() - self.began, 6), by_station("rc_stats_csv")])
            now += step
            self.until(now)
        return {"before": before, "after": self.counters(), "series": series, "rc_series": rates}

    def rates_up(self) -> dict[str, str]:
        """Rate control state of each loaded station."""
        found = {}
        for i in self.loaded:
            stations = Path(f"/sys/kernel/debug/ieee80211/phy{i}/netdev:wlan{i}/stations")
            for path in list(stations.glob("*/rc_stats"))[:1]:
                found[f"sta{i}"] = slurp(path)
        return found

    def run(self) -> None:
        """Runs the experiment and writes the results."""
        self.network()
        counting = self.sinks()
        time.sleep(0.3)
        self.began = time.monotonic()
        for flow in sorted(self.experiment["flows"], key=lambda flow: flow.get("start", 0)):
            self.load(flow)
        measured = self.measure()
        for sink in counting:
            sink.terminate()
        time.sleep(1)
        settings = ("tcp_limit_output_bytes", "tcp_wmem", "tcp_rmem", "tcp_ecn", "tcp_sack", "tcp_timestamps")
        parameters = sorted(Path("/sys/module/simwifi/parameters").iterdir())
        limits = ("aql_enable", "aql_txq_limit", "aql_threshold", "aql_pending")
        info = measured | {
            "config": self.experiment,
            "uname": " ".join(os.uname()),
            "phyaqm": slurp(PHY / "aqm"),
            "airtime_flags": slurp(PHY / "airtime_flags"),
            "aql": {name: slurp(PHY / name) for name in limits},
            "params": {path.name: slurp(path).strip() for path in parameters},
            "sysctl": {name: slurp(f"/proc/sys/net/ipv4/{name}").strip() for name in settings},
            "rc": by_station("rc_stats"),
            "rc_up": self.rates_up(),
            "staaql": by_station("aql"),
        }
        (OUT / "info.json").write_text(json.dumps(info), encoding="utf-8")
        for process in self.processes:
            process.kill()
        print("DONE", time.monotonic(), flush=True)


def main() -> None:
    """Mounts the guest's file systems, runs, and shuts the guest down."""
    tools = os.environ.get("TOOLS", f"{HERE}/root")
    own = [f"{tools}/{path}" for path in ("usr/sbin", "sbin", "usr/bin", "bin")]
    usual = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
    os.environ["PATH"] = ":".join([*own, *usual])
    libraries = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")
    os.environ["LD_LIBRARY_PATH"] = ":".join(f"{tools}/{path}" for path in libraries)
    mounts = (("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/run"), ("debugfs", "/sys/kernel/debug"))
    for kind, path in mounts:
        shell(f"mount -t {kind} {kind} {path}", check=False)
    print("up", os.uname().release, time.monotonic(), flush=True)
    Guest(json.loads(slurp(os.environ["EXP"]))).run()


if __name__ == "__main__":
    try:
        main()
    except BaseException:  # noqa: BLE001 - the guest must end after any error
        traceback.print_exc()
    print(slurp("/run/hostapd.log")[-800:])
    sys.stdout.flush()
    ctypes.CDLL(None).reboot(_POWER_OFF)
