"""Unidirectional TCP streams between two hosts, as in Flent's tests `tcp_nup` and `tcp_ndown`."""

from typing import NamedTuple

from stillair.results.series import Flow, Series


class Streams(NamedTuple):
    """The streams in scenario order, and their direction."""

    flows: list[Flow]
    up: bool

    @property
    def test(self) -> str:
        """Name of the Flent test."""
        return "tcp_nup" if self.up else "tcp_ndown"

    @property
    def hosts(self) -> tuple[str, str]:
        """The host that would run Flent, and the host that it would test against."""
        sender, receiver = self.flows[0].sender, self.flows[0].receiver
        return (sender, receiver) if self.up else (receiver, sender)

    def names(self) -> list[str]:
        """Names of Flent's series."""
        way = "upload" if self.up else "download"
        return [f"TCP {way}::{number}" for number in range(1, len(self.flows) + 1)]

    def parameters(self) -> dict[str, str]:
        """Test parameters in addition to the name."""
        return {f"{'upload' if self.up else 'download'}_streams": str(len(self.flows))}


def is_upload(flow: Flow) -> bool:
    """Returns true if a station sends the flow.

    Between two hosts without a station, the sender is the client.
    """
    return flow.station is None or flow.sender == flow.station


def streams(series: Series) -> Streams | None:
    """Returns the streams if the run has only TCP from one host to another, and at most one ping between them."""
    tcp = [flow for flow in series.flows if flow.kind == "tcp"]
    others = [flow for flow in series.flows if flow.kind != "tcp"]
    if len({(flow.sender, flow.receiver) for flow in tcp}) != 1 or len(others) > 1:
        return None
    between = {tcp[0].sender, tcp[0].receiver}
    if any(flow.kind != "ping" or {flow.sender, flow.receiver} != between for flow in others):
        return None
    return Streams(tcp, is_upload(tcp[0]))
