"""What the papers say, read from their inventories, and the one rule by which it is judged.

Nothing here knows a run.

    ranges           one verdict of several, where a setting is known no better than as a range
    judge            the rule
    causes           why claims are not reproduced
    inventory        what a paper says
    kernel_verdicts  what the real kernel says of claims
    paper_registry   folders of the papers
"""
