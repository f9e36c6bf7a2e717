"""A transport under test for `stillair budget`: constant 10 Mbit/s of datagrams. Replace it with your own."""

import json
import os
from pathlib import Path
from statistics import median

from stillair.link import Budget, Packet

SECONDS = 15
BYTES = 1250

case = Budget(Path(os.environ["STILLAIR_BUDGET"])).case(os.environ["STILLAIR_PATH"], int(os.environ["STILLAIR_SEED"]))
link = case.link()
arrived: list[tuple[float, float]] = []  # arrival time in s, delay in ms
for now in range(0, SECONDS * 10**9, 10**6):
    while isinstance(found := link.poll(now), Packet):
        arrived.append((found.at / 1e9, found.delay / 1e6))
    link.send(now, "server", "client", bytes(BYTES), ecn=2)
seen = link.finish()

delays = sorted(delay for _, delay in arrived)
goodput = len(arrived) * BYTES * 8 / SECONDS / 1e6
rival = seen["flows"]["rival.rival"]["goodput_mbps"] if "rival.rival" in seen.get("flows", {}) else None
# Recovery ends with the last 0.1 s interval after 10 s in which the median delay exceeds 40 ms or nothing arrives.
steps = [[delay for at, delay in arrived if step <= at * 10 < step + 1] for step in range(100, SECONDS * 10)]
late = [n + 1 for n, step in enumerate(steps) if not step or median(step) > 40]
metrics = {
    "goodput_mbps": goodput,
    "delay_p99_ms": delays[len(delays) * 99 // 100],
    "recovery_s": max(late, default=0) / 10,
} | ({} if rival is None else {"fairness": min(goodput / rival, rival / goodput)})
print(json.dumps(metrics))
