"""The analytical model at the inputs of Table 1 of *Ending the Anomaly*."""

from collections.abc import Mapping

from stillair_lab.papers.claims.inventory import Experiment
from stillair_lab.papers.measure.anomaly_model import Prediction, Station, predict

STATIONS = ("fast1", "fast2", "slow")
SIZE = "mean aggregate size"


def at_printed(table: Experiment, scheme: str) -> dict[str, Prediction]:
    """The model with the printed aggregate sizes."""
    printed = table.printed()
    return at({name: printed[scheme, name, SIZE] for name in STATIONS}, table, scheme)


def at(sizes: Mapping[str, float], table: Experiment, scheme: str) -> dict[str, Prediction]:
    """The model with these mean aggregate sizes and the printed PHY rates."""
    printed = table.printed()
    stations = [Station(aggregate=size, phy_mbps=printed[scheme, name, "PHY rate"]) for name, size in sizes.items()]
    said = predict(stations, airtime_fair=scheme == "airtime")
    return dict(zip(sizes, said, strict=True))


def value(table: Experiment, scheme: str, station: str, quantity: str) -> float:
    """A quantity of the predictions from printed inputs, by field; the sum of all stations for `total`."""
    said = at_printed(table, scheme)
    chosen = said.values() if station == "total" else [said[station]]
    return sum(float(getattr(prediction, quantity)) for prediction in chosen)
