"""Calls and pages in Flent data files, named as in Flent's `voip` and `http` tests.

Any test may include them.
"""

from collections.abc import Iterator
from typing import Any

from stillair.results.series import Flow, Series

Values = list[float | None]
Raw = list[dict[str, Any]]


def calls(
    series: Series, t0: float, results: dict[str, Values], raw: dict[str, Raw], meta: dict[str, dict[str, Any]]
) -> dict[str, str]:
    """Adds every call.

    Returns the test parameters that describe the first call, the only one that Flent plots.
    """
    flows = [flow for flow in series.flows if flow.voip is not None]
    for flow in flows:
        name = "VoIP" if flow is flows[0] else f"VoIP {flow.name}"
        steps = series.voice(flow)
        delays = [step.delay_ms for step in steps]
        least = min((delay for delay in delays if delay is not None), default=0.0)
        rates: Values = [1000 * rate for rate in series.mbps(flow)]
        results[name] = rates
        results[f"{name}::bitrate"] = list(rates)
        results[f"{name}::delay"] = delays
        results[f"{name}::jitter"] = [step.jitter_ms for step in steps]
        results[f"{name}::loss"] = [float(step.lost) for step in steps]
        results[f"{name}::induced_delay"] = [None if delay is None else delay - least for delay in delays]
        raw[name] = list(_packets(flow, t0))
        lost = sum(step.lost for step in steps)
        meta[name] = {"UNITS": "Kbps", "RUNNER": "Stillair", **_means(raw[name], lost)}
    if not flows:
        return {}
    return {"voip_host": flows[0].station or flows[0].receiver, "voip_marking": f"0x{flows[0].tos:02x}"}


def pages(
    series: Series, t0: float, results: dict[str, Values], raw: dict[str, Raw], meta: dict[str, dict[str, Any]]
) -> dict[str, str]:
    """Adds the loads of every page. Returns the test parameter that Flent's plots need."""
    flows = [flow for flow in series.flows if flow.loads is not None]
    for number, flow in enumerate(flows):
        name = "HTTP latency" if len(flows) == 1 else f"HTTP latency::{number + 1}"
        loads = flow.loads or []
        results[name] = series.load_ms(flow)
        raw[name] = [
            {"t": t0 + load.at_ns / 1e9, "val": load.took_ns / 1e6, "dur": load.took_ns / 1e9} for load in loads
        ]
        took = [load.took_ns / 1e6 for load in loads]
        mean = sum(took) / len(took) if took else None
        meta[name] = {"UNITS": "ms", "RUNNER": "Stillair", "MEAN_VALUE": mean, "FLOW": flow.name}
    return {"include_http": "true"} if flows else {}


def _packets(flow: Flow, t0: float) -> Iterator[dict[str, Any]]:
    """Received packets; lost ones are gaps in the sequence numbers."""
    # Flent counts gaps and explicit losses; writing both would double the loss.
    last = None
    for packet in flow.voip or []:
        t, delay = t0 + packet.at_ns / 1e9, packet.delay_ns / 1e6
        item: dict[str, Any] = {"t": t, "seq": packet.seq, "val": delay, "owd_up": delay}
        if last is not None:
            item["ipdv_up"] = (packet.delay_ns - last.delay_ns) / 1e6
        yield item
        last = packet


def _means(packets: Raw, lost: int) -> dict[str, float]:
    """Means from which Flent computes its score; empty with fewer than two packets."""
    jitters = [abs(packet["ipdv_up"]) for packet in packets if "ipdv_up" in packet]
    if not jitters:
        return {}
    return {
        "OWD_UP_MEAN": sum(packet["owd_up"] for packet in packets) / len(packets),
        "IPDV_UP_MEAN": sum(jitters) / len(jitters),
        "PACKET_LOSS_RATE": lost / (len(packets) + lost),
    }
