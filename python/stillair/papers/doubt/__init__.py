"""What to doubt of a verdict: whether a claim can fail at all, and whether it depends on a fitted number.

No verdict of the rule is changed here.

    counts  what verdicts come to
    hardly  claims that can hardly fail
    fits    claims that depend on a fit
"""
