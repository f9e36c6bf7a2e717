"""How the experiments of a paper are run, and their runs.

A plan is data; a campaign is a scenario with its cells.

    campaign       the runs of each cell
    plan           how an experiment is run
    metrics        what names of quantities stand for
    sampled        what may be sampled, and which statistics
    scatter_marks  how runs become marks of a scatter plot
    tagged         tables read into dataclasses, by their kind
    compressed     a run in little memory
"""
