"""Settings known only as a range: a claim whose verdict differs between the ends is undecided.

The experiment itself uses the middle. The ends are further runs of the same cells, fewer of them, judged by
the same rule and not used otherwise.
"""

from collections.abc import Mapping

from stillair_lab.papers.claims import judge
from stillair_lab.papers.claims.judge import Judgement

_JUDGED = (judge.REPRODUCED, judge.NOT_REPRODUCED)


def settle(middle: Judgement, ends: Mapping[str, Judgement]) -> Judgement:
    """Verdict over a range: that of the middle, unless an end differs or was not run."""
    if middle.verdict not in _JUDGED or all(end.verdict == middle.verdict for end in ends.values()):
        return middle
    said = ", ".join(f"{end.verdict} {name}" for name, end in ends.items())
    reason = f"{middle.verdict} in the middle of the range, {said}"
    return Judgement(judge.UNDECIDED, reason, middle.worst, middle.tolerance, middle.marginal)
