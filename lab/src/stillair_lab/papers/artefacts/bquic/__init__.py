"""The figures and tables of the paper on bursty QUIC.

`table3_variations` contains further settings, which are not part of the paper.

    tables             Tables I and III
    pages              Figure 2 and Table II
    transfer           Figures 3 to 6
    table3_variations  gains by unstated settings, and other senders
    variants           names and colours of the two variants
"""
