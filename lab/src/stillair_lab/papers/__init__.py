"""Published experiments: the claims of each paper, and Stillair's measurements of the same experiments.

The judging rule (`claims`) is independent of runs, and the runs (`runs`) of the rule.

    pages       the report as text, page and folder; why a claim is not reproduced
    artefacts   figures and tables
    robustness  limits of a verdict: claims that can hardly fail, calibration
    measure     from a claim to its numbers
    runs        plans of experiments, and their runs
    claims      the papers' claims, and the judging rule
"""
