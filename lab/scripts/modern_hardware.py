"""The model's predictions for three measured 802.11ac and ax access points, with one TCP flow each.

.venv/bin/python lab/scripts/modern_hardware.py >lab/results/modern-hardware/predictions.txt
"""

import tomllib

import stillair

TEXT = """
name = "modern hardware"
duration = "12 s"
warm_up = "2 s"
[channel.wifi]
band = "5 GHz"
width = "80 MHz"
[link.lan]
rate = "1 Gbit/s"
delay = "0.2 ms"
[node.server]
profile = "{kernel}"
interface.eth0 = {{ link = "lan", address = "10.0.0.2" }}
[node.ap]
profile = "{kernel}"
forward = true
interface.eth0 = {{ link = "lan", address = "10.0.0.1" }}
interface.wlan0 = {{ channel = "wifi", role = "ap", address = "10.0.1.1", scheme = {scheme} }}
[node.client]
profile = "{kernel}"
interface.wlan0 = {{ channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.1.2", rate = "{rate}", error_rate = {errors} }}
[[flow]]
kind = "tcp"
from = "{source}"
to = "{sink}"
"""
# Case, kernel, scheme of the access point, range of rates, directions.
MT7615 = '{ kind = "mt76", frames = 4032 }'
CASES = [
    ("A mt7615, VHT80", "linux-5.10", MT7615, ["vht80-mcs9-nss2-sgi"], ["down"]),
    ("B mt7915, HE80", "linux-5.15", '"mt76"', ["he80-mcs10-nss2-gi1.6", "he80-mcs11-nss2-gi1.6"], ["down"]),
    ("C mt7915, HE80", "linux-6.6", '"mt76"', ["he80-mcs11-nss2-gi0.8"], ["down", "up"]),
    ("C ath11k, HE80", "linux-6.6", '"ath11k"', ["he80-mcs11-nss2-gi0.8"], ["down", "up"]),
]

print(f"stillair {stillair.__version__}, 3 runs from seed 1; Mbit/s with a tenth of the frames lost, and with none")
for name, kernel, scheme, rates, directions in CASES:
    for way in directions:
        ends = ("server", "client") if way == "down" else ("client", "server")
        found = []
        for rate in rates:
            for errors in (0.1, 0):
                text = TEXT.format(kernel=kernel, scheme=scheme, rate=rate, errors=errors, source=ends[0], sink=ends[1])
                result = stillair.Scenario(tomllib.loads(text)).run(3)
                found += [run["goodput_total_mbps"] for run in result.runs]
        print(f"{name:<18} {way:<5} {min(found):6.0f} to {max(found):4.0f}")
