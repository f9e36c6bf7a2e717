"""From a claim to what the runs say about it: which cells it speaks of, and the number in each.

`measurer` is the one way there; the other rooms know one kind of number each.

    measurer         from a claim to its numbers
    scatter          many runs as marks over their data rate
    source           where numbers of cells come from
    samples          what was sampled in a run
    quic             flows over QUIC
    worked_examples  worked examples without runs
    table1_model     Table 1 of *Ending the Anomaly* on paper
    anomaly_model    its analytical model
    formulas         what papers say of their own algorithms
"""
