"""The papers' claims, read from their inventories, and the rule that judges them.

Independent of runs.

    ranges           combines verdicts if a setting is only known as a range
    judge            the judging rule
    causes           why claims are not reproduced
    inventory        the claims of a paper
    kernel_verdicts  real kernels' verdicts on claims
    paper_registry   folders of the papers
"""
