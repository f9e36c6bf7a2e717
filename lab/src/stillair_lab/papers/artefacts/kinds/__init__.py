"""Kinds of figures that a plan describes by data: a table `figure.NAME` with its `kind` and what is shown.

Each gives text for the terminal and a picture, whatever the paper.

    bars       a bar for each value of a word, beside the paper's numbers
    candles    boxes from a low to a high percentile
    curves     metrics over the values of a word, a curve for each value of another
    points     one metric against others, a point for each value of a word
    selection  which cells a figure shows
"""
