"""Published experiments: what each paper claims, and what Stillair measures when it runs the same.

The rule (`judge`) knows no runs and the runs (`campaign`) know no rule.

    keep             a folder of results
    page             the report as HTML
    why              a missed claim as judged and with one change
    report           a row for each claim
    counts           what verdicts come to
    hardly           claims that can hardly fail
    artefacts        figures and tables
    registry         all experiments by name
    fits             claims that depend on a fit
    measure          from a claim to a number
    scatter          many runs as marks over their data rate
    ranges           one verdict of several, where a setting is known no better than as a range
    campaign         the runs
    samples          what was sampled in a run
    worked           examples without runs
    judge            the rule
    table1_model     Table 1 on paper
    causes           why claims are missed
    plan             how an experiment is run
    claims           what the paper says
    quic             flows over QUIC
    anomaly_model    the analytical model of *Ending the Anomaly*
    formulas         what papers say of their own algorithms
    style            the look of pictures
    words            a claim in words
    packed           a run in little memory
    kernel_verdicts  what the real kernel says of claims
"""
