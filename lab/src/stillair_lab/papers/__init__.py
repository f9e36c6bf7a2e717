"""Published experiments: what each paper claims, and what Stillair measures when it runs the same.

The rule (`claims`) knows no runs, and the runs (`runs`) know no rule.

    pages       the report: as text, as a page, as a folder; why a claim is not reproduced
    artefacts   figures and tables
    robustness  limits of a verdict: claims that can hardly fail, calibration
    measure     from a claim to its numbers
    runs        how an experiment is run, and its runs
    claims      what the papers say, and the rule
"""
