"""The report: a row for each claim, as text, JSON, page or folder; and why a claim is not reproduced.

`registry` resolves names of experiments.

    export    a folder of results
    page      the report as HTML
    why       a claim that is not reproduced, as judged and with one change
    report    a row for each claim
    registry  all experiments by name
    words     a claim in words
"""
