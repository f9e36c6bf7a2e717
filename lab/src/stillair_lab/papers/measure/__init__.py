"""From a claim to its numbers: the cells that it covers, and the number in each.

`measurer` is the entry point; the other modules each handle one kind of number.

    measurer         from a claim to its numbers
    scatter          many runs as marks by data rate
    source           sources of cells' numbers
    samples          samples of a run
    quic             QUIC flows
    worked_examples  worked examples without runs
    table1_model     the analytical model for Table 1 of *Ending the Anomaly*
    anomaly_model    the paper's analytical model
    formulas         the papers' formulas for their own algorithms
"""
