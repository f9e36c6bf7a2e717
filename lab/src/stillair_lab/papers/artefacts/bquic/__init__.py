"""The figures and tables of the paper on bursty QUIC.

What stands beside them, and is no part of the paper, is in `table3_variations`.

    tables             Tables I and III
    pages              Figure 2 and Table II
    transfer           Figures 3 to 6
    table3_variations  gains by what the paper leaves open, and other senders
    variants           the two variants, their names and colours
"""
