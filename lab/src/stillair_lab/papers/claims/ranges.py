"""Settings of which sources give a range: a claim whose verdict changes from one end to the other is undecided.

The experiment itself has the middle. The ends of a range are further runs of the same cells, fewer of them; they are
judged by the same rule, and nothing else is made of them.
"""

from collections.abc import Mapping

from stillair_lab.papers.claims import judge
from stillair_lab.papers.claims.judge import Judgement

_JUDGED = (judge.REPRODUCED, judge.NOT_REPRODUCED)


def settle(middle: Judgement, ends: Mapping[str, Judgement]) -> Judgement:
    """The verdict over a range: that of the middle, unless an end has another one or was not run."""
    if middle.verdict not in _JUDGED or all(end.verdict == middle.verdict for end in ends.values()):
        return middle
    said = ", ".join(f"{end.verdict} {name}" for name, end in ends.items())
    reason = f"{middle.verdict} in the middle of the range, {said}"
    return Judgement(judge.UNDECIDED, reason, middle.worst, middle.tolerance, middle.marginal)
