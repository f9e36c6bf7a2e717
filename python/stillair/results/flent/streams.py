"""TCP streams of one way between two hosts, which Flent has tests for: `tcp_nup` and `tcp_ndown`."""

from typing import NamedTuple

from stillair.results.series import Flow, Series


class Streams(NamedTuple):
    """The streams in the order of the scenario, and which way they go."""

    flows: list[Flow]
    up: bool

    @property
    def test(self) -> str:
        """Flent's test."""
        return "tcp_nup" if self.up else "tcp_ndown"

    @property
    def hosts(self) -> tuple[str, str]:
        """Where Flent would run, and the host that it would be told to test against."""
        sender, receiver = self.flows[0].sender, self.flows[0].receiver
        return (sender, receiver) if self.up else (receiver, sender)

    def names(self) -> list[str]:
        """Flent's series."""
        way = "upload" if self.up else "download"
        return [f"TCP {way}::{number}" for number in range(1, len(self.flows) + 1)]

    def parameters(self) -> dict[str, str]:
        """What Flent would be told beside the test's name."""
        return {f"{'upload' if self.up else 'download'}_streams": str(len(self.flows))}


def is_upload(flow: Flow) -> bool:
    """Whether a station sends it; between two hosts without one, the sender is the client."""
    return flow.station is None or flow.sender == flow.station


def streams(series: Series) -> Streams | None:
    """The streams, if a run has nothing but TCP from one host to one other, and one ping between the two or none."""
    tcp = [flow for flow in series.flows if flow.kind == "tcp"]
    others = [flow for flow in series.flows if flow.kind != "tcp"]
    if len({(flow.sender, flow.receiver) for flow in tcp}) != 1 or len(others) > 1:
        return None
    between = {tcp[0].sender, tcp[0].receiver}
    if any(flow.kind != "ping" or {flow.sender, flow.receiver} != between for flow in others):
        return None
    return Streams(tcp, is_upload(tcp[0]))
