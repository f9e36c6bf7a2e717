"""Plans of a paper's experiments, and their runs.

A plan is data; a campaign is a scenario with its cells.

    campaign       the runs of each cell
    plan           the plan of an experiment
    metrics        definitions of quantities
    sampled        available samples and their statistics
    scatter_marks  definition of a scatter plot's marks
    tagged         reads tables into dataclasses by kind
    compressed     a run in little memory
"""
