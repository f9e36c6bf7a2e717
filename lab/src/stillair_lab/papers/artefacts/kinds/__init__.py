"""Kinds of figures that a plan describes as data: a table `figure.NAME` with its `kind` and content.

Each gives text for the terminal and a picture, for any paper.

    bars       a bar for each value of a word, compared with the paper's numbers
    candles    boxes from a low to a high percentile
    curves     metrics over the values of a word, a curve for each value of another
    points     one metric against others, a point for each value of a word
    selection  cells of a figure
"""
