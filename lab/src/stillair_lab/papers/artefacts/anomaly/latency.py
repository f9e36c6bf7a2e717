"""Ping under load: Figures 1 and 4 of *Ending the Anomaly*, distributions by scheme and class of stations."""

from typing import TYPE_CHECKING

from stillair_lab.papers.artefacts.anomaly import replies
from stillair_lab.papers.artefacts.anomaly.replies import Curve
from stillair_lab.papers.artefacts.anomaly.schemes import TITLES
from stillair_lab.papers.measure.measurer import Measurer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZE = (6.2, 3.6)


def all_text(of: Measurer) -> str:
    """Figure 1: all stations together."""
    return replies.text(of, _together(of))


def all_picture(of: Measurer) -> "Figure":
    """Figure 1: all stations together."""
    return replies.picture(of, _together(of), *_SIZE)


def text(of: Measurer) -> str:
    """Figure 4: by class of stations."""
    return replies.text(of, _by_class(of))


def picture(of: Measurer) -> "Figure":
    """Figure 4: by class of stations."""
    return replies.picture(of, _by_class(of), *_SIZE)


def _together(of: Measurer) -> list[Curve]:
    return [Curve(scheme, "", TITLES[scheme]) for scheme in of.experiment.setup["schemes"]]


def _by_class(of: Measurer) -> list[Curve]:
    # The paper draws the fast stations as one line, and the slow one separately.
    return [
        Curve(scheme, name, f"{TITLES[scheme]}, {name}", line)
        for scheme in of.experiment.setup["schemes"]
        for name, line in (("fast", "-"), ("slow", "--"))
    ]
